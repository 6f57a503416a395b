"""Log loss: known answers, exact zeros, and scikit-learn's numbers."""

import numpy as np
import pytest
from sklearn.metrics import log_loss as sklearn_log_loss

from calibrant.metrics import log_loss


def drawn(n=300, n_classes=4, seed=0):
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.ones(n_classes), n)
    return (
        (P.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1),
        P,
        rng.integers(1, 4, n).astype(float),
    )


def test_hand_worked():
    assert log_loss([0, 1], [[0.9, 0.1], [0.5, 0.5]]) == pytest.approx(
        -(np.log(0.9) + np.log(0.5)) / 2, rel=1e-15
    )
    assert log_loss([1, 0], [0.25, 0.25], sample_weight=[3, 1]) == pytest.approx(
        -(3 * np.log(0.25) + np.log(0.75)) / 4, rel=1e-15
    )


def test_equals_scikit_learn():
    y, P, weight = drawn()
    assert log_loss(y, P, sample_weight=weight) == pytest.approx(
        sklearn_log_loss(y, P, sample_weight=weight), rel=1e-12
    )


def test_a_true_class_given_exactly_0_counts_as_1e_12():
    assert log_loss([1], [[1.0, 0.0]]) == pytest.approx(-np.log(1e-12), rel=1e-12)
    # A row that knows smaller probabilities does not rank an exact zero above them.
    assert log_loss([2], [[1.0 - 1e-30, 1e-30, 0.0]]) == pytest.approx(-np.log(1e-30), rel=1e-12)


def test_a_uniform_forecast_scores_the_log_of_the_number_of_classes():
    assert log_loss([0, 5, 9], np.full((3, 10), 0.1)) == pytest.approx(np.log(10), rel=1e-14)


@pytest.mark.parametrize("p", [1e-300, 1e-30, 1e-9, 1e-3])
def test_small_losses_keep_their_relative_precision(p):
    assert log_loss([0], [p]) == pytest.approx(-np.log1p(-p), rel=1e-12, abs=0)
    assert log_loss([1], [p]) == pytest.approx(-np.log(p), rel=1e-12)


def test_large_logits_do_not_overflow():
    assert log_loss([0, 1], [[1e4, 0.0], [1e4, 0.0]], inputs="logit") == pytest.approx(5000.0)


def test_analytic_interval_is_near_the_normal_one_and_skew():
    y, P, _ = drawn()
    loss = -np.log(P[np.arange(len(y)), y])
    half = 1.959963984540054 * loss.std(ddof=1) / np.sqrt(len(y))
    interval = log_loss.interval(y, P)
    assert interval.method == "analytic"
    assert (interval.low, interval.high) == pytest.approx(
        (loss.mean() - half, loss.mean() + half), abs=0.15 * half
    )
    # Large losses are rare: more of them may be unseen than seen too often.
    assert interval.high - interval.value > interval.value - interval.low


def test_bootstrap_agrees_with_the_analytic_interval():
    y, P, weight = drawn(1000)
    a = log_loss.interval(y, P, sample_weight=weight)
    b = log_loss.interval(y, P, sample_weight=weight, method="bootstrap")
    assert b.method == "bootstrap"
    assert (b.high - b.low) / (a.high - a.low) == pytest.approx(1.0, abs=0.1)


def test_one_row_tells_nothing_about_the_spread():
    interval = log_loss.interval([0], [[0.5, 0.5]])
    assert (interval.low, interval.high) == (0.0, np.inf)


@pytest.mark.parametrize("p", [5e-324, 1e-310, 1e-301, 1e-299])
def test_a_subnormal_probability_of_the_true_class_is_finite(p):
    assert log_loss([0], [[p, 1.0 - p]]) == pytest.approx(-np.log(p))
