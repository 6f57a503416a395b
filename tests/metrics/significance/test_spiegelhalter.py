"""Spiegelhalter's statistic by its formula, and what it sees."""

import math

import numpy as np
import pytest
from scipy import stats

from calibrant import metrics

spiegelhalter = metrics.spiegelhalter_test
RNG = np.random.default_rng(1)
P = RNG.random(200)
Y = (RNG.random(200) < P).astype(int)


def test_by_hand():
    # (.7)(.4) twice less (.3)(.4) twice, over the root of four times (.4)^2 (.21).
    found = spiegelhalter([1, 0, 0, 1], [0.3, 0.3, 0.7, 0.7])
    assert found.statistic == pytest.approx(
        (0.7 * 0.4 - 0.3 * 0.4 + 0.7 * 0.4 - 0.3 * 0.4) / math.sqrt(4 * 0.16 * 0.21)
    )
    assert found.n == 4.0


def test_it_is_the_brier_score_less_what_is_expected_of_it():
    """In loops, from the law of each row's squared error: mean s(1 - s), variance (1 - 2s)^2 s(1
    - s).
    """
    excess = sum((y - p) ** 2 - p * (1 - p) for y, p in zip(Y, P, strict=True))
    z = excess / math.sqrt(sum((1 - 2 * p) ** 2 * p * (1 - p) for p in P))
    found = spiegelhalter(Y, P)
    assert found.statistic == pytest.approx(z)
    assert found.p_value == pytest.approx(2 * stats.norm.sf(abs(z)))


def test_scores_too_extreme_are_above_and_too_timid_below():
    rng = np.random.default_rng(2)
    odds = 2.0 * rng.normal(size=1000)
    y = (rng.random(1000) < 1 / (1 + np.exp(-odds))).astype(int)
    extreme, right, timid = (
        spiegelhalter(y, 1 / (1 + np.exp(-factor * odds))) for factor in (2.0, 1.0, 0.5)
    )
    # Four standard deviations, which chance alone does not reach.
    assert extreme.statistic > 10.0 > 4.0 > abs(right.statistic)
    assert timid.statistic < -5.0
    assert extreme.p_value < 1e-20 < 1e-4 < right.p_value


def test_it_is_blind_to_errors_that_balance():
    """90 of 200 hit at 0.3 and 170 of 200 at 0.7: off by +.15 at both, with tilts of +.4 and
    -.4; plain to a test with bins.
    """
    p = np.repeat([0.3, 0.3, 0.7, 0.7], 100)
    y = np.repeat([1, 0, 1, 0], [90, 110, 170, 30])
    assert spiegelhalter(y, p).statistic == pytest.approx(0.0, abs=1e-9)
    assert metrics.hosmer_lemeshow_test(y, p).p_value < 1e-6


@pytest.mark.parametrize(
    ("y", "p", "p_value"),
    [([1, 1], [0.0, 0.0], 0.0), ([1, 0], [1.0, 0.0], 1.0), ([1, 0], [0.5, 0.5], 1.0)],
)
def test_without_variance_only_the_impossible_counts(y, p, p_value):
    found = spiegelhalter(y, p)
    assert found.p_value == p_value
    assert found.statistic == (np.inf if p_value == 0.0 else 0.0)


def test_the_target_decides_whose_probability():
    Q = RNG.dirichlet(np.ones(3), 150)
    y = RNG.integers(0, 3, 150)
    assert spiegelhalter(y, Q, target=2).statistic == pytest.approx(
        spiegelhalter((y == 2).astype(int), Q[:, 2]).statistic
    )
    right = (Q.argmax(axis=1) == y).astype(int)
    assert spiegelhalter(y, Q, target="answer").statistic == pytest.approx(
        spiegelhalter(right, Q.max(axis=1)).statistic
    )
    # Nothing changes when the two classes trade places.
    assert spiegelhalter(Y, P, target=0).statistic == pytest.approx(spiegelhalter(Y, P).statistic)
