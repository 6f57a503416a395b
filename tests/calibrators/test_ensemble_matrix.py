"""EMS: the mean of its parts, bends repaired, no harm on few rows."""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant._numerics.logistic import log_softmax, softmax


def _bent(n, n_classes=4, seed=0):
    """A model whose small probabilities are crushed, as a forest's are not, and whose first
    class comes too seldom.
    """
    rng = np.random.default_rng(seed)
    z = log_softmax(rng.normal(size=(n, n_classes)) * 2.5)
    truth = np.maximum(z, -2.5)
    truth[:, 0] += 0.7
    return softmax(z), (truth + rng.gumbel(size=z.shape)).argmax(axis=1)


def _loss(cal, P, y, fit, test):
    return metrics.log_loss(y[test], cal.fit(P[fit], y[fit]).predict_proba(P[test]))


def test_repairs_bends_that_structured_scaling_leaves():
    P, y = _bent(6000)
    fit, test = slice(3000), slice(3000, None)
    assert (
        _loss(cb.calibrators.EnsembleMatrixScaling(), P, y, fit, test)
        < _loss(cb.calibrators.StructuredMatrixScaling(), P, y, fit, test) - 0.01
    )


def test_does_no_harm_on_few_rows():
    P, y = _bent(3040)
    losses = [
        _loss(cal, P, y, slice(40), slice(40, None))
        for cal in (cb.calibrators.EnsembleMatrixScaling(), cb.TemperatureScaling())
    ]
    assert losses[0] < losses[1] + 0.01


def test_no_penalised_step_away_from_the_first_part_is_better():
    P, y = _bent(200)
    cal = cb.calibrators.EnsembleMatrixScaling().fit(P, y)
    z = np.log(200 / 201 * cb.TemperatureScaling().fit(P, y).predict_proba(P) + 1 / (201 * 4))
    features = np.hstack([z, 4 * (np.exp(z) - 0.25)])

    def objective(matrix, shift):
        change = matrix - np.eye(4, 8)
        diagonal = np.concatenate([change[:, :4].diagonal(), change[:, 4:].diagonal()])
        penalty = 2 * (
            4 / 200 * (diagonal @ diagonal + shift @ shift)
            + 12 / 200 * ((change**2).sum() - diagonal @ diagonal)
        )
        return -log_softmax(features @ matrix.T + shift)[np.arange(200), y].mean() + penalty

    best = objective(cal.matrix_, cal.shift_)
    rng = np.random.default_rng(1)
    for _ in range(100):
        size = 10 ** rng.uniform(-4, 0)
        assert (
            objective(
                cal.matrix_ + size * rng.normal(size=(4, 8)), cal.shift_ + size * rng.normal(size=4)
            )
            > best
        )


def test_status_and_refusal():
    P, y = _bent(300, 60)
    cal = cb.calibrators.EnsembleMatrixScaling().fit(P, y)
    assert cal.status_ == "converged"
    assert cal.gradient_ <= 1e-7
    with pytest.raises(cb.errors.InputError, match="ridge must be a finite number"):
        cb.calibrators.EnsembleMatrixScaling(ridge=-1).fit([[0.5, 0.5]], [0])
