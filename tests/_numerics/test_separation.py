"""Exact searches for the separation of points: pairs, true radii, and bounds that leave most
rows out.
"""

import numpy as np
import pytest
from scipy import optimize

from calibrant._numerics import separation as kernel
from calibrant._numerics.separation import (
    bisectors,
    distance_to_polyhedron,
    feature_groups,
    group_sums,
    largest_bisector,
    largest_differences,
    leading_directions,
    lower_maximum,
    max_min,
    min_max,
    nearest_of,
    projected,
    query_table,
    row_table,
    sums_room,
    telling_features,
    zone_radius,
)

# -- distance bounds ----------------------------------------------------------------------------
# Bounds of distances: never above the true one, near it where nothing is left out, and what
# they are made of.


RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(40, 6)) * np.array([5.0, 3.0, 1.0, 0.5, 0.2, 0.1])
CENTRE = ROWS.mean(axis=0)


def rows_at(rows):
    return ROWS[rows].copy()


def test_leading_directions_are_orthonormal_and_principal():
    basis = leading_directions(rows_at, 40, CENTRE, 2)
    np.testing.assert_allclose(basis.T @ basis, np.eye(2), atol=1e-12)
    axes = np.linalg.svd(ROWS - CENTRE)[2][:2].T
    np.testing.assert_allclose(np.linalg.norm(axes.T @ basis, axis=0), 1.0, atol=1e-3)
    assert leading_directions(rows_at, 40, CENTRE, 6) is None


def test_projections_keep_the_norm():
    basis = leading_directions(rows_at, 40, CENTRE, 2)
    found = projected(ROWS, CENTRE, basis, 4.0)
    np.testing.assert_allclose(found[:, :2], (ROWS - CENTRE) @ basis / 4.0)
    np.testing.assert_allclose((found**2).sum(axis=1), ((ROWS - CENTRE) ** 2).sum(axis=1) / 16.0)
    np.testing.assert_allclose(projected(ROWS, CENTRE, None, 4.0), (ROWS - CENTRE) / 4.0)


def test_the_tables_bound_squared_distances_from_below_and_closely():
    scale = np.abs(ROWS - CENTRE).max() * 3.0
    points, queries = (ROWS[:30] - CENTRE) / scale, (ROWS[30:] - CENTRE) / scale
    table, add = query_table(queries)
    found = (table @ row_table(points).T).astype(np.float64) + add[:, None]
    true = ((queries[:, None] - points) ** 2).sum(axis=2)
    assert (found <= true).all()
    room = 1e-4 * ((queries**2).sum(axis=1)[:, None] + (points**2).sum(axis=1))
    assert (found >= true - room - 1e-6).all()
    assert row_table(points).dtype == table.dtype == np.float32
    assert row_table(points).shape == (30, 7)


def test_a_query_that_is_too_far_is_bounded_by_the_points_alone():
    points = np.array([[0.5, 0.5], [1.0, 0.0]])
    table, add = query_table(np.array([[2.0**61, 0.0], [0.5, 0.5]]))
    found = (table @ row_table(points).T).astype(np.float64) + add[:, None]
    np.testing.assert_allclose(found[0], [0.5, 1.0], atol=1e-3)
    np.testing.assert_allclose(found[1], [0.0, 0.5], atol=1e-3)
    assert (found <= [[np.inf, np.inf], [0.0, 0.5]]).all()


def test_groups_of_features_bound_the_distance_of_sums():
    groups = feature_groups(rows_at, 40, CENTRE, 3)
    assert set(np.unique(groups)) <= {-1.0, 0.0, 1.0}
    np.testing.assert_array_equal(np.abs(groups).sum(axis=1), 1.0)
    sums = group_sums(ROWS - CENTRE, groups)
    np.testing.assert_allclose(sums, (ROWS - CENTRE) @ groups)
    apart = np.abs(sums[:, None] - sums).sum(axis=2)
    assert (apart <= np.abs(ROWS[:, None] - ROWS).sum(axis=2) + 1e-9).all()
    assert feature_groups(rows_at, 40, CENTRE, 6) is None
    assert group_sums(ROWS, None) is ROWS
    # Features that rise and fall together are one group, with their signs.
    both = np.column_stack([ROWS[:, 0], -ROWS[:, 0], ROWS[:, 1], ROWS[:, 1]])
    found = feature_groups(lambda rows: both[rows].copy(), 40, both.mean(axis=0), 2)
    np.testing.assert_array_equal(np.abs(found.T @ np.array([1.0, -1.0, 1.0, 1.0])).sum(), 4.0)
    # Constant rows have no groups of their own: the features are dealt out.
    dealt = feature_groups(lambda rows: np.ones((len(rows), 5)), 40, np.ones(5), 2)
    np.testing.assert_array_equal(np.abs(dealt), np.eye(2)[[0, 1, 0, 1, 0]])


def test_the_room_for_rounding():
    assert sums_room(10) == 28 * np.finfo(np.float64).eps


def test_features_that_see_most_of_the_largest_difference():
    assert telling_features(rows_at, 40, CENTRE, 6).tolist() == list(range(6))
    found = telling_features(rows_at, 40, CENTRE, 2)
    half = np.abs(ROWS[:20] - ROWS[20:])
    first = int(half.sum(axis=0).argmax())
    gain = np.maximum(half, half[:, [first]]).sum(axis=0)
    gain[first] = -1.0
    assert found.tolist() == [first, int(gain.argmax())]


def test_largest_differences_one_by_one():
    found = largest_differences(ROWS[:3], ROWS[3:].T)
    np.testing.assert_allclose(found, np.abs(ROWS[:3, None] - ROWS[3:]).max(axis=2))


def test_what_is_left_to_rounding_by_hand():
    """Three in a hundred thousand of the squares, more from 243 coordinates on; and a query is
    too far at 2^60 only.
    """
    few = np.array([[0.5, 0.5]])
    np.testing.assert_allclose(row_table(few), [[-1.0, -1.0, (1.0 - 3e-5) * 0.5]], rtol=1e-7)
    np.testing.assert_allclose(query_table(few)[1], [(1.0 - 3e-5) * 0.5], rtol=1e-12)
    many = np.full((1, 400), 0.01)
    np.testing.assert_allclose(
        query_table(many)[1], [(1.0 - 408 * np.finfo(np.float32).eps) * 0.04], rtol=1e-12
    )
    table, add = query_table(np.array([[2.0**40, 0.0], [2.0**59.9, 0.0]]))
    assert add[0] > 2.0**79
    assert add[1] > 2.0**119
    assert (table[:, 0] > 0.0).all()


def test_queries_too_far_for_single_precision_keep_the_squares_of_the_points_alone():
    table, add = query_table(np.array([[2.0**59, 1.0], [2.0**60, 0.0], [np.inf, 0.0], [3.0, -4.0]]))
    assert table.dtype == np.float32
    assert table.tolist() == [
        [2.0**59, 1.0, 1.0],
        [0.0, 0.0, 1.0],
        [0.0, 0.0, 1.0],
        [3.0, -4.0, 1.0],
    ]
    np.testing.assert_allclose(add[[0, 3]], [2.0**118, 25.0], rtol=1e-4)
    assert (add[[0, 3]] < [2.0**118 + 1.0, 25.0]).all()
    # A hair below nothing, that what is below the least float of single precision cannot lift the
    # bound.
    assert add[1:3].tolist() == [-20.0 * float(np.finfo(np.float32).tiny)] * 2


def test_the_table_of_points_is_twice_their_coordinates_and_a_little_less_than_their_squares():
    table = row_table(np.array([[0.5, -0.25, 0.0], [0.0, 0.0, 1.0]]))
    assert table[:, :3].tolist() == [[-1.0, 0.5, 0.0], [0.0, 0.0, -2.0]]
    np.testing.assert_allclose(table[:, 3], np.array([0.3125, 1.0]) * (1.0 - 3e-5), rtol=1e-7)
    wide = row_table(np.full((1, 992), 0.01))
    np.testing.assert_allclose(
        wide[0, -1], 0.0992 * (1.0 - 1000.0 * np.finfo(np.float32).eps), rtol=1e-7
    )


# -- maximal zone -------------------------------------------------------------------------------
# Projections on cells, against quadratic programs, and the radius of a zone by all cells.


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


def shortest(normals, offsets):
    """By a general method, from a point that is far inside."""
    rules = {"type": "ineq", "fun": lambda z: normals @ z - offsets, "jac": lambda z: normals}
    start = np.linalg.lstsq(normals, offsets + 1.0, rcond=None)[0]
    return optimize.minimize(
        lambda z: z @ z,
        start,
        jac=lambda z: 2 * z,
        constraints=rules,
        method="SLSQP",
        options={"ftol": 1e-14},
    ).x


def test_the_shortest_vector_by_hand():
    """A half plane 3 away; a corner; a rule that is met already, and one without a direction."""
    np.testing.assert_allclose(
        distance_to_polyhedron(np.array([[2.0, 0.0]]), np.array([6.0])), [3.0, 0.0]
    )
    np.testing.assert_allclose(
        distance_to_polyhedron(np.array([[1.0, 0.0], [0.0, 5.0]]), np.array([3.0, 20.0])),
        [3.0, 4.0],
    )
    np.testing.assert_allclose(
        distance_to_polyhedron(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([3.0, -1.0])),
        [3.0, 0.0],
    )
    assert distance_to_polyhedron(np.array([[1.0, 0.0]]), np.array([-1.0])).tolist() == [0.0, 0.0]
    assert distance_to_polyhedron(np.array([[1.0, 0.0]]), np.array([0.0])).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("seed", range(6))
def test_it_is_that_of_a_quadratic_program(seed):
    rng = np.random.default_rng(seed)
    normals, inside = rng.normal(size=(7, 3)), 2.0 * rng.normal(size=3)
    offsets = normals @ inside - rng.uniform(0.05, 0.5, 7)
    np.testing.assert_allclose(
        distance_to_polyhedron(normals, offsets), shortest(normals, offsets), atol=1e-5
    )


@pytest.mark.parametrize("seed", range(4))
def test_the_radius_is_the_least_distance_to_any_cell(seed):
    rng = np.random.default_rng(seed)
    points, query = rng.normal(size=(24, 2)), 0.3 * rng.normal(size=2)
    first = np.arange(24) % 3 == 0
    square = ((points - query) ** 2).sum(axis=1)
    low_p, low_c = np.where(first, square, np.inf) * 0.95, np.where(first, np.inf, square) * 0.95
    c, radii = points[~first], []
    for p in points[first]:
        normals, offsets = p - c, 0.5 * ((p @ p) - (c * c).sum(axis=1)) - (p - c) @ query
        z = distance_to_polyhedron(normals, offsets)
        if (normals @ z >= offsets - 1e-9).all():
            radii.append(np.linalg.norm(z))
    np.testing.assert_allclose(
        zone_radius(query, low_p, low_c, Points(points), -np.inf), min(radii), rtol=1e-7
    )


def test_a_twin_has_a_cell_or_none_as_is_asked():
    points = np.array([[1.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])
    low_p, low_c = np.array([1.0, np.inf, np.inf]), np.array([np.inf, 1.0, 1.0])
    assert zone_radius(np.zeros(2), low_p, low_c, Points(points), np.inf) == np.inf
    assert zone_radius(np.zeros(2), low_p, low_c, Points(points), -np.inf) == pytest.approx(
        0.0, abs=1e-9
    )


# -- pairwise separation ------------------------------------------------------------------------
# Pruned searches over pairs of points, against all pairs.


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
            max_min(query, low_p, low_c, Points(points), np.inf),
            every.min(axis=0).max(),
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
