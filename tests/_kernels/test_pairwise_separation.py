"""Pruned searches over pairs of points, against all pairs."""

import numpy as np
import pytest

from calibrant._kernels import separation as kernel
from calibrant._kernels.separation import (
    bisectors,
    largest_bisector,
    lower_maximum,
    max_min,
    min_max,
    nearest_of,
)


class Points:
    """Points in memory whose squared distances are exact."""

    def __init__(self, points):
        self.points, self.read = points, 0

    def wide_rows(self, rows):
        self.read += len(rows)
        return self.points[rows]

    def squares_between(self, a, b):
        gap = ((self.points[a][:, None] - self.points[b]) ** 2).sum(axis=2)
        return gap, 1e-12 * (1.0 + gap)

    def lower_squares(self, queries, positions):
        return ((queries[:, None] - self.points[positions]) ** 2).sum(axis=2) * (1.0 - 1e-12)


def sides(n, seed, d=3):
    """(points, query, lower bounds of the first side, and of the other, which has the nearest);
    bounds are up to a tenth too low.
    """
    rng = np.random.default_rng(seed)
    points, query = rng.normal(size=(n, d)), 0.5 * rng.normal(size=d)
    square = ((points - query) ** 2).sum(axis=1) * rng.uniform(0.9, 1.0, n)
    first = rng.random(n) < 0.5
    first[((points - query) ** 2).sum(axis=1).argmin()] = False
    return points, query, np.where(first, square, np.inf), np.where(first, np.inf, square)


def every_bisector(points, query, p, c):
    z = points - query
    return np.array(
        [
            [(z[i] @ z[i] - z[j] @ z[j]) / (2 * np.linalg.norm(points[i] - points[j])) for j in c]
            for i in p
        ]
    )


def test_bisectors_by_hand():
    """From 0 the bisector of (3, 0) and (1, 0) is 2 away; of points that are one, as is asked."""
    zp, zc = np.array([[3.0, 0.0], [0.0, 2.0]]), np.array([[1.0, 0.0], [0.0, 2.0]])
    found = bisectors(zp, np.array([9.0, 4.0]), zc, np.array([1.0, 4.0]), -np.inf)
    np.testing.assert_allclose(
        found, [[2.0, 5.0 / (2 * np.sqrt(13))], [3.0 / (2 * np.sqrt(5)), -np.inf]]
    )


def test_points_near_each_other_and_far_from_the_query_keep_their_digits():
    """(1e6, 0) and (1e6, 1e-4) are 1e-4 apart; of their products nothing of it would be left."""
    zp, zc = np.array([[1e6, 1e-4]]), np.array([[1e6, 0.0]])
    found = bisectors(zp, np.array([1e12 + 1e-8]), zc, np.array([1e12 - 1.0]), 0.0)
    np.testing.assert_allclose(found, [[1.0 / 2e-4]], rtol=1e-3)


def test_the_nearest_are_the_true_ones_whatever_the_bounds(monkeypatch):
    for read in (2_048, 3):
        monkeypatch.setattr(kernel, "READ", read)
        for seed in range(5):
            points, query, low, _ = sides(40, seed)
            rows, z, square = nearest_of(query, low, Points(points), 4)
            true = np.where(np.isinf(low), np.inf, ((points - query) ** 2).sum(axis=1))
            assert rows[0] == true.argmin()
            np.testing.assert_allclose(z, points[rows] - query)
            np.testing.assert_allclose(square, true[rows])
            assert (np.diff(square) >= 0.0).all()
    few = nearest_of(query, np.where(np.arange(40) == 7, 0.0, np.inf), Points(points), 4)
    assert few[0].tolist() == [7]
    assert len(nearest_of(query, np.full(40, np.inf), Points(points), 2)[0]) == 0


@pytest.mark.parametrize("seed", range(4))
def test_minimax_and_maximin_are_those_of_all_pairs(seed, monkeypatch):
    for first, largest in ((32, 256), (2, 3)):
        monkeypatch.setattr(kernel, "FIRST_BLOCK", first)
        monkeypatch.setattr(kernel, "LARGEST_BLOCK", largest)
        points, query, low_p, low_c = sides(60, seed)
        p, c = np.flatnonzero(np.isfinite(low_p)), np.flatnonzero(np.isfinite(low_c))
        every = every_bisector(points, query, p, c)
        value, place = min_max(query, low_p, low_c, Points(points), np.inf)
        np.testing.assert_allclose(value, every.max(axis=1).min())
        assert place == p[every.max(axis=1).argmin()]
        np.testing.assert_allclose(
            max_min(query, low_p, low_c, Points(points), np.inf), every.min(axis=0).max()
        )
        counts = []
        min_max(query, low_p, low_c, Points(points), np.inf, counts)
        assert 1 <= counts[0][0] <= len(p)
        assert counts[0][0] <= counts[0][1] <= len(p)


def test_the_largest_bisector_of_one_point():
    points, query, low_p, low_c = sides(50, 9)
    far = np.flatnonzero(np.isfinite(low_p))[-1]
    z = points[far] - query
    c = np.flatnonzero(np.isfinite(low_c))
    found = largest_bisector(query, far, z, z @ z, low_c, Points(points), np.inf)
    np.testing.assert_allclose(found, max(every_bisector(points, query, [far], c).max(), -np.inf))


def test_lower_bounds_are_below_and_only_of_points_that_are_nearer():
    found = lower_maximum(
        np.array([9.0, 0.5]),
        np.array([1.0, 4.0]),
        np.array([[4.0, 1.0], [1.0, 1.0]]),
        np.zeros((2, 2)),
    )
    np.testing.assert_allclose(found, [max(8.0 / 4.0, 5.0 / 2.0), -np.inf], rtol=1e-7)


def test_no_more_points_are_read_than_their_bounds_ask_for():
    """Eight first, then as many again twice over, while the next bound is above the best found."""
    rng = np.random.default_rng(5)
    points = rng.normal(size=(400, 2))
    points[0] = [3.0, 0.0]
    query, low_c = np.zeros(2), (points**2).sum(axis=1)
    low_c[0] = np.inf
    held = Points(points)
    found = largest_bisector(query, 0, points[0], 9.0, low_c, held, np.inf)
    c = np.flatnonzero(low_c <= 9.0)
    every = np.sort(every_bisector(points, query, [0], c)[0])[::-1]
    np.testing.assert_allclose(found, every[0])
    # The bounds are the bisectors themselves here, so that none beyond the first eight has one
    # above the best.
    assert held.read == 8
