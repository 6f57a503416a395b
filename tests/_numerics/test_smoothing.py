"""Smoothing on cells, against sums over all cells and their reflections."""

import numpy as np

from calibrant._numerics import smoothing
from calibrant._numerics.smoothing import (
    deposit,
    gaussian_smoother,
    loess_matrix,
    pooled_scores,
    score_grid,
    weighted_quantile,
)


def test_each_value_is_shared_between_the_two_nearest_centres():
    """Centres of four cells: .125, .375, .625, .875; beyond the outer ones all goes to them."""
    found = deposit(
        np.array([0.0, 0.25, 0.375, 0.8125, 1.0]), np.array([1.0, 2.0, 4.0, 8.0, 16.0]), 4
    )
    np.testing.assert_allclose(found, [1.0 + 1.0, 1.0 + 4.0, 2.0, 6.0 + 16.0])


def test_the_gaussian_is_reflected_at_both_ends():
    cells, sigma = 64, 0.06
    masses = np.zeros(cells)
    masses[[3, 40]] = 1.0, 2.0
    centre = (np.arange(cells) + 0.5) / cells
    expected = np.zeros(cells)
    for image in range(-2, 3):
        for at, mass in ((centre[3], 1.0), (centre[40], 2.0)):
            for mirrored in (at + 2.0 * image, 2.0 * image - at):
                expected += (
                    mass
                    * np.exp(-0.5 * ((centre - mirrored) / sigma) ** 2)
                    / (sigma * np.sqrt(2 * np.pi) * cells)
                )
    np.testing.assert_allclose(gaussian_smoother(masses)(sigma), expected, atol=1e-10)


# -- loess --------------------------------------------------------------------------------------
# Local quadratic regression, by least squares at each point.


RNG = np.random.default_rng(0)
X = np.sort(RNG.random(30))


def by_least_squares(x, mass, at, need):
    """Weights on the means at x of a quadratic with tricube weights over the nearest rows that
    hold ``need``.
    """
    order = np.argsort(np.abs(x - at))
    width = np.abs(x - at)[order][np.searchsorted(np.cumsum(mass[order]), need - 1e-9)] * (
        1.0 + 1e-9
    )
    kernel = mass * np.maximum(1.0 - (np.abs(x - at) / width) ** 3, 0.0) ** 3
    design = (x - at)[:, None] ** np.arange(3)
    return np.linalg.solve((design.T * kernel) @ design, design.T * kernel)[0]


def test_it_is_least_squares_at_each_point():
    mass = RNG.integers(1, 4, 30).astype(float)
    grid = np.array([0.0, X[3], 0.4, 0.55, X[-1], 1.0])
    found = loess_matrix(X, mass, grid, 0.5)
    need = np.floor(0.5 * mass.sum() + 1e-5)
    np.testing.assert_allclose(
        found, [by_least_squares(X, mass, at, need) for at in grid], atol=1e-8
    )
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_a_quadratic_is_kept_and_weights_below_one_are_shares():
    grid = np.linspace(0.1, 0.9, 130)
    values = 1.0 + 2.0 * X - 3.0 * X**2
    for mass in (np.ones(30), np.full(30, 1.0 / 300.0)):
        np.testing.assert_allclose(
            loess_matrix(X, mass, grid, 0.6) @ values, 1.0 + 2.0 * grid - 3.0 * grid**2
        )
    np.testing.assert_allclose(
        loess_matrix(X, np.full(30, 0.01), grid, 0.6),
        loess_matrix(X, np.ones(30), grid, 0.6),
        atol=1e-9,
    )


def test_runs_of_ties():
    """One score has no curve, two have a line; a run of ties is its own mean."""
    np.testing.assert_allclose(
        loess_matrix(np.array([0.4]), np.array([5.0]), np.array([0.4]), 0.75), [[1.0]]
    )
    np.testing.assert_allclose(
        loess_matrix(np.array([0.2, 0.6]), np.array([9.0, 1.0]), np.array([0.2, 0.6]), 0.75)[0],
        [1.0, 0.0],
    )
    line = loess_matrix(np.array([0.2, 0.6]), np.array([3.0, 3.0]), np.array([0.3]), 1.0)
    assert np.isfinite(line).all()
    np.testing.assert_allclose(line.sum(), 1.0)


def test_scores_are_pooled_only_when_they_are_many(monkeypatch):
    score, weight = np.array([0.3, 0.1, 0.3]), np.array([1.0, 2.0, 3.0])
    x, mass, index = pooled_scores(score, weight)
    assert (x.tolist(), mass.tolist(), index.tolist()) == ([0.1, 0.3], [2.0, 4.0], [1, 0, 1])
    monkeypatch.setattr(smoothing, "MANY_SCORES", 4)
    score = np.array([0.0, 0.1, 0.2, 0.9, 1.0])
    # Two rows and three, the latter cut at the middle of the range.
    x, mass, index = pooled_scores(score, np.ones(5))
    np.testing.assert_allclose(x, [0.05, 0.2, 0.95])
    np.testing.assert_allclose(mass, np.bincount(index))
    assert pooled_scores(score[:4], np.ones(4))[0].tolist() == [0.0, 0.1, 0.2, 0.9]


def test_half_of_the_grid_is_even_and_half_at_quantiles():
    x, mass = np.array([0.0, 0.1, 0.2, 1.0]), np.array([1.0, 5.0, 3.0, 1.0])
    # Even: 0, 1/2, 1; quantiles at 0, 1/2 and 1 of the mass.
    np.testing.assert_allclose(score_grid(x, mass, 6), [0.0, 0.1, 0.5, 1.0])
    np.testing.assert_allclose(score_grid(x, mass, 7), [0.0, 0.1, 0.2, 0.5, 1.0])


def test_weighted_quantiles_by_hand():
    values, mass = np.array([3.0, 1.0, 2.0]), np.array([2.0, 1.0, 1.0])
    assert [weighted_quantile(values, mass, q) for q in (0.0, 0.25, 0.26, 0.5, 0.51, 1.0)] == [
        1.0,
        1.0,
        2.0,
        2.0,
        3.0,
        3.0,
    ]


def test_groups_of_many_scores_do_not_depend_on_the_order_of_the_rows():
    rng = np.random.default_rng(8)
    score = np.round(rng.beta(0.5, 3.0, 60_000), 5)
    order = rng.permutation(len(score))
    x, mass, index = pooled_scores(score, np.ones(len(score)))
    again = pooled_scores(score[order], np.ones(len(score)))
    assert np.array_equal(x, again[0])
    assert np.array_equal(mass, again[1])
    assert np.array_equal(index[order], again[2])
    # Each group's mean, of equal mass or narrow where scores are sparse; ties are not parted.
    assert np.allclose(np.bincount(index, score) / np.bincount(index), x, rtol=1e-12)
    assert len(x) > 2_500
    low, high = (np.full(len(x), end) for end in (np.inf, -np.inf))
    np.minimum.at(low, index, score)
    np.maximum.at(high, index, score)
    assert (low[1:] > high[:-1]).all()
    assert (high - low).max() <= np.ptp(score) / 2_500
    assert mass.max() <= len(score) / 2_500 + np.unique(score, return_counts=True)[1].max()
