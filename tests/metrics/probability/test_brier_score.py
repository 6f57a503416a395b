"""Brier score: known answers, the factor 2, and scikit-learn's numbers."""

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss

from calibrant.metrics import brier_score


def test_hand_worked():
    assert brier_score([1], [[0.2, 0.5, 0.3]]) == pytest.approx(0.2**2 + 0.5**2 + 0.3**2, rel=1e-14)
    assert brier_score([1, 0], [0.8, 0.8]) == pytest.approx((2 * 0.04 + 2 * 0.64) / 2, rel=1e-14)


@pytest.mark.parametrize("scale_by_half", [True, False])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_equals_scikit_learn(n_classes, scale_by_half):
    pytest.importorskip(
        "sklearn", minversion="1.7", reason="scale_by_half came with scikit-learn 1.7"
    )
    rng = np.random.default_rng(0)
    P, y, weight = (
        rng.dirichlet(np.ones(n_classes), 200),
        rng.integers(0, n_classes, 200),
        rng.random(200),
    )
    theirs = brier_score_loss(
        y, P, sample_weight=weight, scale_by_half=scale_by_half, labels=np.arange(n_classes)
    )
    assert brier_score(y, P, sample_weight=weight, scale_by_half=scale_by_half) == pytest.approx(
        theirs, rel=1e-12
    )


def test_the_worst_is_2_or_halved_1():
    assert brier_score([0], [[0.0, 1.0]]) == 2.0
    assert brier_score([0], [[0.0, 1.0]], scale_by_half=True) == 1.0


def test_nearly_perfect_rows_do_not_cancel():
    assert brier_score([0], [1e-9]) == pytest.approx(2e-18, rel=1e-6)


def test_interval_is_normal_and_stays_in_the_range():
    interval = brier_score.interval([0, 1, 0, 1], [0.1, 0.9, 0.2, 0.1])
    assert interval.method == "analytic"
    assert 0.0 <= interval.low < interval.value < interval.high <= 2.0
