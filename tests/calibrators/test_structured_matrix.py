"""SMS: what the paper minimises, planted confusions, many classes."""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant._numerics.logistic import log_softmax, softmax


def _confused(n, n_classes=4, seed=0):
    """Labels of class 0 are drawn from class 1's column as often as from its own."""
    rng = np.random.default_rng(seed)
    z = log_softmax(rng.normal(size=(n, n_classes)) * 2)
    mixing = np.eye(n_classes)
    mixing[0, :2] = 0.5
    return softmax(z), (z @ mixing.T + rng.gumbel(size=z.shape)).argmax(axis=1)


def test_it_is_the_minimum_of_the_published_objective():
    P, y = _confused(200)
    cal = cb.calibrators.StructuredMatrixScaling().fit(P, y)
    z = np.log(200 / 201 * cb.TemperatureScaling().fit(P, y).predict_proba(P) + 1 / (201 * 4))

    def objective(matrix, shift):
        change = matrix - np.eye(4)
        diagonal = change.diagonal()
        penalty = 4 / 200 * (diagonal @ diagonal + shift @ shift) + 12 / 200 * (
            (change**2).sum() - diagonal @ diagonal
        )
        return -log_softmax(z @ matrix.T + shift)[np.arange(200), y].mean() + penalty

    best = objective(cal.matrix_, cal.shift_)
    rng = np.random.default_rng(1)
    for _ in range(200):
        size = 10 ** rng.uniform(-4, 0)
        assert (
            objective(
                cal.matrix_ + size * rng.normal(size=(4, 4)), cal.shift_ + size * rng.normal(size=4)
            )
            > best
        )


def test_repairs_planted_confusions_and_stays_near_temperature_on_few_rows():
    P, y = _confused(6000)

    def loss(cls, n):
        return metrics.log_loss(y[3000:], cls().fit(P[:n], y[:n]).predict_proba(P[3000:]))

    assert (
        loss(cb.calibrators.StructuredMatrixScaling, 3000)
        < loss(cb.calibrators.StructuredVectorScaling, 3000) - 0.02
    )
    assert loss(cb.calibrators.StructuredMatrixScaling, 30) < loss(cb.TemperatureScaling, 30) + 0.01


def test_hundred_classes_converge():
    P, y = _confused(1000, 100)
    cal = cb.calibrators.StructuredMatrixScaling().fit(P, y)
    assert cal.status_ == "converged"
    assert cal.gradient_ <= 1e-8


@pytest.mark.parametrize("bad", [-1.0, float("nan"), "strong", True])
def test_a_bad_ridge_is_refused(bad):
    with pytest.raises(cb.errors.InputError, match="ridge must be a finite number"):
        cb.calibrators.StructuredMatrixScaling(ridge=bad).fit([[0.5, 0.5]], [0])
