"""Held-out predictions in brief: scores of every mean as from the whole predictions; folds of
pieces.
"""

import numpy as np
import pytest

from calibrant.calibrators.candidates import CANDIDATES
from calibrant.calibrators.held_out import HeldOut, canonical
from calibrant.core.predictions import read


def pieces(n=300, K=3, seed=0):
    rng = np.random.default_rng(seed)
    P = np.round(rng.dirichlet(np.ones(K), n), 1) + 0.01
    return canonical(read(P / P.sum(axis=1, keepdims=True), rng.integers(0, K, n)))


@pytest.mark.parametrize("objective", ["log_loss", "brier"])
def test_scores_of_a_mean_are_those_of_whole_predictions(objective):
    rows, rng = pieces(), np.random.default_rng(1)
    held_out, whole = HeldOut(rows, CANDIDATES[:3], objective), np.empty((3, len(rows.row), 3))
    folds = rng.integers(0, 4, len(rows.row))
    for k in range(4):
        held, place = rows.inside(folds == k)
        Q = [rng.dirichlet(np.ones(3), len(held)) for _ in range(3)]
        held_out.add(folds == k, place, Q)
        whole[:, folds == k] = [q[place] for q in Q]
    pool = np.array([0.5, 0.3, 0.2])
    mean, own = np.tensordot(pool, whole, axes=1), np.arange(len(rows.row))
    hit = mean[own, rows.labels]
    expected = -np.log(hit) if objective == "log_loss" else (mean**2).sum(axis=1) - 2 * hit + 1
    np.testing.assert_allclose(held_out.losses(pool), expected)
    each = (
        -np.log(mean).mean(axis=1) if objective == "log_loss" else (mean**2).sum(axis=1) - 2 / 3 + 1
    )
    assert held_out.unknown(pool) == pytest.approx(np.average(each, weights=rows.weight))
    two = held_out.only([0, 2])
    np.testing.assert_allclose(
        two.losses(np.array([0.4, 0.6])), held_out.losses(np.array([0.4, 0.0, 0.6]))
    )


def test_a_split_has_every_piece_once():
    rows = pieces()
    held = np.random.default_rng(2).random(len(rows.row)) < 0.3
    fitted, (out, place) = rows.outside(held), rows.inside(held)
    assert fitted.weights.sum() == pytest.approx(rows.weight[~held].sum())
    np.testing.assert_array_equal(out.labels[place], rows.labels[held])
    np.testing.assert_allclose(out.probabilities[place], rows.record.probabilities[rows.row[held]])
