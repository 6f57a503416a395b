"""Bounds of distances: never above the true one, near it where nothing is left out, and what
they are made of.
"""

import numpy as np

from calibrant._kernels.separation import (
    feature_groups,
    group_sums,
    largest_differences,
    leading_directions,
    projected,
    query_table,
    row_table,
    sums_room,
    telling_features,
)

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
