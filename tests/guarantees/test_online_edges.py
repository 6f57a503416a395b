"""Limits that learn, where the miscoverage in use is 0 or 1 and where the feedback ends, by numbers
worked by hand.

Plain functions: ``tools/mutants/hand.py`` runs them on sources that are wrong on purpose.
"""

import math

import numpy as np

from calibrant._numerics.conformal import feedback, rank_within, saturation
from calibrant.monitoring.score_limits import ScoreLimits


def _limits(method="aci", **options):
    settings = {"level": 0.75, "method": method, "rate": None, "ends": 1, "window": 30, "delay": 0}
    return ScoreLimits.start(np.arange(1.0, 20.0), **(settings | options))


def test_a_miscoverage_of_zero_is_everything_and_of_one_nothing():
    limits = _limits()
    for alpha, limit in ((0.0, np.inf), (1e-9, 19.0), (1.0 - 1e-9, 1.0), (1.0, -np.inf)):
        limits.control = np.array([alpha])
        assert limits.predict(alpha).tolist() == [limit]


def test_nothing_is_at_most_an_empty_limit():
    limits = _limits()
    limits.control = np.array([1.0])
    assert limits.learn("row", -np.inf).tolist() == [True]


def test_a_score_at_its_limit_is_a_hit():
    limits = _limits()
    assert limits.predict("row").tolist() == [15.0]
    assert limits.learn("row", 15.0).tolist() == [False]
    # alpha = .25 + .02 * .25
    assert math.isclose(limits.control[0], 0.255)


def test_the_feedback_is_infinite_from_its_limit_on():
    limit = saturation(90.0, 0.75, 0)
    assert math.isclose(limit, 3.0 * math.sqrt(0.75 * 0.25 * 100.0))
    assert feedback(0.5 * math.pi * limit, limit) == math.inf
    assert feedback(-0.5 * math.pi * limit, limit) == -math.inf
    assert feedback(0.5 * math.pi * limit * (1.0 - 1e-9), limit) < math.inf


def test_the_delay_counts_the_labels_between():
    limits = _limits()
    for row in range(4):
        limits.predict(row)
    limits.learn(0, 1.0)
    assert limits.delay == 0
    limits.learn(3, 1.0)
    assert limits.delay == 1
    limits.learn(1, 1.0)
    assert limits.delay == 2


def test_the_promise_of_two_ends_is_twice_that_of_one():
    rows = 1_000
    for ends, level in ((1, 0.8), (2, 0.9)):
        limits = _limits("aci", ends=ends, level=level, rate=0.05)
        off = ends * (level + 0.05) / (0.05 * rows)
        assert math.isclose(limits.guarantee("coverage", rows).least, 0.8 - off)


def test_ranks_stay_within_the_scores():
    assert [rank_within(9, level) for level in (0.0, 0.9, 0.91, 1.0)] == [1, 9, 9, 9]
