"""Sums over pairs, pair by pair."""

import numpy as np

from calibrant._kernels import calibration_kernel
from calibrant._kernels.calibration_kernel import (
    distances,
    kernel_row_sums,
    median_distance,
    null_statistics,
)

RNG = np.random.default_rng(0)
P, GAPS, WEIGHT = RNG.dirichlet(np.ones(3), 7), RNG.normal(size=(7, 3)), RNG.uniform(0.5, 2.0, 7)


def test_distances_pair_by_pair():
    expected = [[np.linalg.norm(a - b) for b in P[:3]] for a in P]
    np.testing.assert_allclose(distances(P, P[:3]), expected, atol=1e-7)


def test_row_sums_pair_by_pair_in_blocks_of_any_size(monkeypatch):
    h = np.array(
        [
            [np.exp(-np.linalg.norm(a - b) / 0.4) * (g @ k) for b, k in zip(P, GAPS, strict=True)]
            for a, g in zip(P, GAPS, strict=True)
        ]
    )
    for entries in (4_000_000, 21, 14, 1):
        monkeypatch.setattr(calibration_kernel, "BLOCK_ENTRIES", entries)
        sums, squares = kernel_row_sums(P, GAPS, WEIGHT, 0.4)
        np.testing.assert_allclose(sums, h @ WEIGHT, atol=1e-6)
        np.testing.assert_allclose(squares, (h * h) @ WEIGHT, atol=1e-6)


def test_the_median_distance():
    """Of two points that are 500 quantiles in equal parts more than half of the pairs are apart;
    of one point it is 1.
    """
    two = np.array([[0.0, 1.0], [1.0, 0.0]])
    np.testing.assert_allclose(median_distance(two, np.ones(2)), np.sqrt(2.0))
    assert median_distance(two, np.array([1.0, 9.0])) == 1.0
    assert median_distance(two[:1], np.ones(1)) == 1.0
    # Three in four quantiles are the third part apart.
    line = np.column_stack([np.arange(4) / 3.0, np.zeros(4)])
    np.testing.assert_allclose(median_distance(line, np.ones(4)), 1.0 / 3.0)


def test_statistics_of_drawn_labels(monkeypatch):
    """Their mean is sum over i of K_ii Var, which is 0 for a kernel of zero diagonal; their
    spread is that of labels drawn here.
    """
    kernel = np.exp(-distances(P, P))
    np.fill_diagonal(kernel, 0.0)
    found = null_statistics(kernel, P, 20_000, np.random.default_rng(1))
    drawn = (RNG.random((20_000, 7, 1)) > np.cumsum(P, axis=1)[:, :-1]).sum(axis=2)
    off = np.eye(3)[drawn] - P
    own = np.einsum("bik,ij,bjk->b", off, kernel, off)
    np.testing.assert_allclose(found.mean(), 0.0, atol=4 * own.std() / np.sqrt(20_000))
    np.testing.assert_allclose(found.std(), own.std(), rtol=0.05)
    np.testing.assert_allclose(
        np.quantile(found, [0.1, 0.9]), np.quantile(own, [0.1, 0.9]), atol=0.05 * own.std()
    )
    monkeypatch.setattr(calibration_kernel, "DRAWS_AT_ONCE", 63)
    some = null_statistics(kernel, P, 8, np.random.default_rng(1))
    np.testing.assert_allclose(some, found[:8])
