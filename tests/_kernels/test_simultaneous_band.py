"""Bands that hold a whole curve: standard errors written out, and reaches from the same draws."""

import numpy as np
from scipy import stats

from calibrant._kernels.splines import clustered_band, interpolated_loess_errors, largest_t

MATRIX = np.array([[0.5, 0.5, 0.0], [0.0, 0.3, 0.7]])


def test_errors_interpolate_the_variance_of_a_share():
    x, mass, grid = np.array([0.0, 0.5, 1.0]), np.array([4.0, 2.0, 10.0]), np.array([0.0, 1.0])
    errors, inside = interpolated_loess_errors(MATRIX, x, mass, grid)
    effective = np.array([1 / (0.25 / 4 + 0.25 / 2), 1 / (0.09 / 2 + 0.49 / 10)])
    curve = np.array([0.2, 1.4])
    kept = (np.clip(curve, 0, 1) * effective + 1) / (effective + 2)
    np.testing.assert_allclose(inside(curve), kept)
    variance = kept * (1 - kept)
    between = np.array([variance[0], variance.mean(), variance[1]])
    np.testing.assert_allclose(errors(curve), np.sqrt((MATRIX**2 / mass) @ between))


def test_the_largest_t_of_one_point_is_that_of_a_normal_and_never_less():
    one = np.ones((1, 1))
    found = largest_t(
        one,
        lambda moved: np.full(moved.shape, np.sqrt(0.25 / 400)),
        np.array([0.5]),
        np.array([400.0]),
        0.9,
        4000,
        0,
    )
    np.testing.assert_allclose(found, 1.645, atol=0.08)
    wide = largest_t(
        one, lambda moved: np.full(moved.shape, 9.0), np.array([0.5]), np.array([400.0]), 0.9, 50, 0
    )
    np.testing.assert_allclose(wide, stats.norm.ppf(0.95))
    # Two independent points: the level's square root.
    two = largest_t(
        np.eye(2),
        lambda moved: np.full(moved.shape, 0.025),
        np.full(2, 0.5),
        np.full(2, 400.0),
        0.9,
        4000,
        0,
    )
    np.testing.assert_allclose(two, stats.norm.ppf(0.5 + np.sqrt(0.9) / 2), atol=0.08)
    # Masses that are not whole are drawn as the nearest whole number and moved by as much more or
    # less.
    part = largest_t(
        one,
        lambda moved: np.full(moved.shape, np.sqrt(0.25 / 0.4)),
        np.array([0.5]),
        np.array([0.4]),
        0.5,
        50,
        0,
    )
    np.testing.assert_allclose(part, 1.0)


def test_a_clustered_band_written_out():
    rng = np.random.default_rng(0)
    index, cluster, moves = rng.integers(0, 3, 20), rng.integers(0, 4, 20), rng.normal(size=20)
    found, reach = clustered_band(MATRIX, index, moves, cluster, 0.9, 300, np.random.default_rng(5))
    pulled = np.array(
        [
            [
                sum(
                    MATRIX[g, i] * m
                    for i, m, c in zip(index, moves, cluster, strict=True)
                    if c == k
                )
                for k in range(4)
            ]
            for g in range(2)
        ]
    )
    squares = (pulled**2).sum(axis=1) * 4 / 3
    np.testing.assert_allclose(
        found, np.sqrt(squares) * stats.t.ppf(0.95, 3) / stats.norm.ppf(0.95)
    )
    signs = 2.0 * np.random.default_rng(5).integers(0, 2, (300, 4)) - 1.0
    largest = (np.abs(signs @ pulled.T) / np.sqrt(squares)).max(axis=1)
    np.testing.assert_allclose(reach, max(np.quantile(largest, 0.9), stats.norm.ppf(0.95)))
