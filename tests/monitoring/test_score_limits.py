"""Limits against adversaries, with delay; the bounds are exact inequalities."""

import math
from collections import deque

import numpy as np
import pytest

from calibrant.errors import InputError
from calibrant.monitoring.score_limits import ScoreLimits, plain_key, require_method

SEED = np.random.default_rng(5).random(60)


def started(method, *, level=0.9, ends=1, rate=None, scores=SEED, window=100, delay=0):
    return ScoreLimits.start(
        scores, level=level, method=method, rate=rate, ends=ends, window=window, delay=delay
    )


def beyond(limit, t, rng):
    """A miss whenever one is possible."""
    return limit + 1.0 if np.isfinite(limit) else rng.random()


def within(limit, t, rng):
    """A hit whenever one is possible."""
    return limit - 1.0 if np.isfinite(limit) else rng.random()


def turning(limit, t, rng):
    """Misses for 150 rows, then hits for as many."""
    return beyond(limit, t, rng) if t % 300 < 150 else within(limit, t, rng)


def growing(limit, t, rng):
    """Scores that grow and shrink by powers of ten."""
    return rng.random() * 10.0 ** (t // 40 % 7)


def bounded(limit, t, rng):
    """Scores from 0 to 1: just above the limit if that is possible."""
    return min(1.0, max(0.0, limit + 1e-6)) if t % 500 < 300 else 0.0


@pytest.mark.parametrize("adversary", [beyond, within, turning, growing, bounded])
@pytest.mark.parametrize(
    ("method", "rate"), [("pid", None), ("aci", 0.005), ("aci", 0.2), ("tracking", 0.2)]
)
@pytest.mark.parametrize(("delay", "expected"), [(0, 0), (7, 0), (7, 7)])
def test_misses_are_within_the_bound_after_every_row(adversary, method, rate, delay, expected):
    rng, waiting, total = np.random.default_rng(1), deque(), 0
    limits = started(method, rate=rate, delay=expected)
    for t in range(500):
        waiting.append((t, adversary(float(limits.predict(t)[0]), t, rng)))
        if len(waiting) > delay:
            total += int(limits.learn(*waiting.popleft())[0])
            assert abs(total / limits.n - 0.1) <= limits.deviation(limits.n) + 1e-12
    assert limits.delay == delay


def test_bounds_are_the_published_formulas():
    aci = started("aci", rate=0.05)
    aci.delay = 3
    assert aci.deviation(1_000) == pytest.approx((0.9 + 0.05 * 4) / (0.05 * 1_000))
    tracking = started("tracking", rate=0.5)
    step = 0.5 * np.abs(SEED).mean()
    expected = (SEED.max() - SEED.min() + step) / (step * 1_000)
    assert tracking.deviation(1_000) == pytest.approx(expected)
    pid = started("pid")
    assert pid.deviation(1_000) == pytest.approx(
        (0.5 * math.pi * 3.0 * math.sqrt(0.09 * 1_010) + 1.0) / 1_000
    )
    pid.delay = 3
    assert pid.deviation(1_000) == pytest.approx(
        (0.5 * math.pi * 3.0 * math.sqrt(0.09 * 4 * 1_040) + 4.0) / 1_000
    )


def test_adaptive_conformal_inference_by_hand():
    limits = started("aci", level=0.75, rate=0.25, scores=np.arange(1.0, 20.0))
    # Of 19 scores the 15th; a miss lowers alpha from .25 to .0625.
    assert limits.predict("a").tolist() == [15.0]
    assert limits.learn("a", 15.5).tolist() == [True]
    assert limits.control == pytest.approx([0.0625])
    # The twenty scores now hold 15.5; the rank is ceil(21 * .9375) = 20.
    assert limits.predict("b").tolist() == [19.0]
    limits.learn("b", 30.0)
    assert limits.control == pytest.approx([-0.125])
    assert limits.predict("c").tolist() == [np.inf]
    assert limits.learn("c", 1e9).tolist() == [False]
    assert limits.control == pytest.approx([-0.0625])


def test_an_empty_limit_misses_every_score():
    limits = started("aci", level=0.1, rate=0.9)
    limits.control = np.array([1.2])
    assert limits.predict("a").tolist() == [-np.inf]
    assert limits.learn("a", -np.inf).tolist() == [True]


def test_quantile_tracking_by_hand():
    limits = started("tracking", level=0.75, rate=0.5, scores=np.ones(10))
    assert limits.predict("a").tolist() == [1.0]
    limits.learn("a", 1.0)  # a hit: less .5 * .25
    assert limits.control == pytest.approx([0.875])
    limits.learn("b", 1.0)  # a miss: plus .5 * .75
    assert limits.control == pytest.approx([1.25])


def test_labels_out_of_order_meet_the_limits_of_their_rows():
    limits = started("tracking", scores=np.ones(10))
    limits.predict("early")
    limits.control = np.array([5.0])
    limits.predict("late")
    assert limits.learn("late", 3.0).tolist() == [False]
    assert limits.learn("early", 3.0).tolist() == [True]
    assert limits.delay == 1
    assert limits.pending == {}


def test_equal_keys_are_served_in_order():
    limits = started("tracking", scores=np.ones(10))
    for value in (1.0, 2.0):
        limits.control = np.array([value])
        limits.predict("row")
    assert limits.learn("row", 1.5).tolist() == [True]
    assert limits.learn("row", 1.5).tolist() == [False]


def test_the_experts_lose_at_most_the_regret_more_than_the_best():
    rng = np.random.default_rng(3)
    scores = np.abs(rng.normal(size=1_500)) * np.where(np.arange(1_500) // 300 % 2, 4.0, 1.0)
    limits = started("aggregated", scores=scores[:40])
    before, lost = limits.losses.copy(), 0.0
    for t, score in enumerate(scores[40:]):
        limit = float(limits.predict(t)[0])
        lost += max(0.9 * (score - limit), 0.1 * (limit - score))
        limits.learn(t, float(score))
    each = (limits.losses - before)[0]
    assert lost <= each.min() + 2.0 * limits.gap.sum() + float(before.max())
    assert lost < 1.02 * each.min()
    assert limits.guarantee("coverage", None) is None


def test_experts_are_compared_with_the_delay_from_the_start():
    """Errors that halve in three days: yesterday's tells today's, and not that in ten days."""
    noise, scores = np.random.default_rng(2).normal(size=600), np.zeros(600)
    for t in range(1, 600):
        scores[t] = 0.8 * scores[t - 1] + noise[t]
    best = {}
    for delay in (0, 10):
        losses = started("aggregated", scores=scores, ends=2, delay=delay).losses.sum(axis=0)
        best[delay] = int(losses.argmin())
    assert best[0] == 9  # a half-life of .7 rows
    assert best[10] != 9


def test_two_ends_share_the_scores():
    scores = np.random.default_rng(4).exponential(size=200)
    limits = started("aci", level=0.95, ends=2, scores=scores, window=200)
    low, high = limits.predict(0)
    ordered = np.sort(scores)
    # The rank is ceil(201 * .95) = 191, from below and from above.
    assert high == pytest.approx(ordered[190])
    assert low == pytest.approx(-ordered[9])
    assert limits.learn(0, float(ordered[0]) - 1.0).tolist() == [True, False]


def test_infinite_scores_are_counted_and_not_learned():
    limits = started("pid")
    limits.learn("a", np.inf)
    assert limits.n == 1
    assert np.isfinite(limits.ordered[:, :60]).all()
    assert np.isfinite(limits.predict("b")).all()
    tracking = started("tracking")
    tracking.learn("a", np.inf)
    assert tracking.guarantee("coverage", None).least == 0.0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((1.5, "pid", None, 100, 0), "level"),
        ((0.9, "ada", None, 100, 0), "method"),
        ((0.9, "pid", 0.1, 100, 0), "rate must be None"),
        ((0.9, "aci", 2.0, 100, 0), "rate"),
        ((0.9, "aci", None, 3, 0), "window"),
        ((0.9, "aci", None, 50, -1), "delay"),
    ],
)
def test_options_are_checked(options, words):
    with pytest.raises(InputError, match=words):
        require_method(*options)


def test_few_or_infinite_calibration_scores_are_refused():
    with pytest.raises(InputError, match="10 rows or more"):
        started("pid", scores=np.ones(9))
    with pytest.raises(InputError, match="finite"):
        started("pid", scores=np.append(np.ones(20), np.inf))


def test_a_key_is_plain():
    assert plain_key((np.int64(3), np.datetime64("2026-01-02"))) == (3, "2026-01-02")
    with pytest.raises(InputError, match="key must be"):
        plain_key([3])
