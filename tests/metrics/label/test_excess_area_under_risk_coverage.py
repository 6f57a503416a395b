"""What imperfect ranking adds to the area under the risk-coverage curve."""

import numpy as np
import pytest

from calibrant import metrics

excess = metrics.excess_area_under_risk_coverage


def test_by_hand_with_ties():
    # Area (1 - ln(3) / 2) / 3: see test_area_under_risk_coverage; the best possible at risk 1/3 is
    # 1/3 + 2/3 ln(2/3).
    best = 1 / 3 + 2 / 3 * np.log(2 / 3)
    assert excess([1, 1, 0], [0.9, 0.7, 0.7]) == pytest.approx((1 - 0.5 * np.log(3.0)) / 3 - best)


def test_a_perfect_ranking_has_none():
    y = np.array([1] * 70 + [0] * 30)
    p = np.append(np.linspace(0.9, 0.8, 70), np.linspace(0.79, 0.6, 30))
    assert excess(y, p) == pytest.approx(0.0, abs=1e-12)
    assert excess(y, p[::-1]) > 0.3


@pytest.mark.parametrize("right", [1, 3, 9])
def test_a_constant_confidence_ranks_nothing(right):
    # The risk is r at every coverage, so the area is r and the excess -(1 - r) ln(1 - r).
    share = right / 10
    y = np.array([1] * right + [0] * (10 - right))
    assert excess(y, np.full(10, 0.7)) == pytest.approx(-share * np.log(share))


def test_all_right_or_all_wrong_leaves_nothing_to_rank():
    p = np.array([0.6, 0.7, 0.8])
    assert excess([1, 1, 1], p) == pytest.approx(0.0, abs=1e-12)
    assert excess([0, 0, 0], p) == pytest.approx(0.0, abs=1e-12)
    assert excess([0], [0.3]) == 0.0


def test_weights_are_repetition():
    rng = np.random.default_rng(0)
    p, weight = rng.uniform(0.5, 1.0, 60).round(2), rng.integers(0, 4, 60)
    y = (rng.random(60) < p).astype(int)
    assert excess(y, p, sample_weight=weight) == pytest.approx(
        excess(np.repeat(y, weight), np.repeat(p, weight))
    )


def test_it_sees_the_ranking_where_accuracies_differ():
    """A weaker model that ranks well has less of it than a stronger one that ranks at random,
    though its area is the larger.
    """
    rng = np.random.default_rng(0)
    n = 2000
    weak_y, weak_p = np.array([1] * 1200 + [0] * 800), np.linspace(0.99, 0.51, n)
    strong_y, strong_p = (rng.random(n) < 0.85).astype(int), rng.uniform(0.5, 1.0, n)
    assert excess(weak_y, weak_p) < 0.01 < 0.1 < excess(strong_y, strong_p)
    assert metrics.area_under_risk_coverage(weak_y, weak_p) < metrics.area_under_risk_coverage(
        strong_y, strong_p
    )
