"""The rows of each group, of each of many overlapping groups, and of nested regions."""

import numpy as np
import pytest

from calibrant._numerics.clusters import (
    grow_regions,
    membership,
    region_paths,
    row_sums,
    rows_by_group,
    scaled_columns,
    scaled_rows,
)


@pytest.mark.parametrize("n_groups", [1, 5, 70_000])
def test_each_group_gets_its_rows_in_order(n_groups):
    group = np.random.default_rng(0).integers(0, n_groups, 300)
    rows = rows_by_group(group, n_groups + 1)
    assert len(rows) == n_groups + 1
    for g in np.unique(group):
        assert rows[g].tolist() == np.flatnonzero(group == g).tolist()
    assert sum(map(len, rows)) == 300
    assert len(rows[-1]) == 0


# -- memberships --------------------------------------------------------------------------------


def test_by_hand():
    matrix = membership(np.array([0, 0, 1, 1]), np.array([0, 2, 1, 1]), (3, 3))
    assert matrix.toarray().tolist() == [[1.0, 0.0, 1.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0]]
    assert membership(np.array([1]), np.array([0]), (2, 1), np.array([0.5])).toarray().tolist() == [
        [0.0],
        [0.5],
    ]
    assert scaled_columns(matrix, np.array([2.0, 3.0, 5.0])).toarray().tolist() == [
        [2.0, 0.0, 5.0],
        [0.0, 6.0, 0.0],
        [0.0] * 3,
    ]
    assert scaled_rows(matrix, np.array([2.0, 3.0, 5.0])).toarray().tolist() == [
        [2.0, 0.0, 2.0],
        [0.0, 6.0, 0.0],
        [0.0] * 3,
    ]
    assert row_sums(matrix).tolist() == [2.0, 2.0, 0.0]


# -- nested regions -----------------------------------------------------------------------------
# Nested halves by hand, and in any order of the rows.


def test_the_widest_feature_is_halved_first():
    points = np.array([[0.0, 0.0], [0.0, 1.0], [10.0, 0.0], [10.0, 1.0]])
    nodes = grow_regions(points, np.ones(4), 2, 1.0)
    assert nodes.tolist() == [[0.0, 5.0], [1.0, 0.5], [1.0, 0.5]]
    assert region_paths(nodes, points).tolist() == [[1, 3], [1, 4], [2, 5], [2, 6]]
    assert grow_regions(points, np.ones(4), 2, 2.0).tolist() == [
        [0.0, 5.0],
        [-1.0, -1.0],
        [-1.0, -1.0],
    ]


def test_order_and_repetition_change_nothing():
    rng = np.random.default_rng(0)
    points, weight = rng.normal(size=(300, 3)), rng.integers(1, 4, 300)
    nodes = grow_regions(points, weight.astype(float), 4, 5.0)
    order = rng.permutation(np.repeat(np.arange(300), weight))
    np.testing.assert_allclose(grow_regions(points[order], np.ones(len(order)), 4, 5.0), nodes)


def test_regions_of_depth_three_have_seven_nodes():
    points = np.arange(8.0)[:, None]
    nodes = grow_regions(points, np.ones(8), 3, 1.0)
    assert nodes[:, 1].tolist() == [3.5, 1.5, 5.5, 0.5, 2.5, 4.5, 6.5]
    assert region_paths(nodes, points)[:, 2].tolist() == list(range(7, 15))
    assert region_paths(nodes, np.array([[3.5]])).tolist() == [[1, 4, 10]]


def test_what_is_halved_and_where():
    # A feature that hardly varies is never halved; both halves need the least weight, of which
    # twice as much must be there.
    assert grow_regions(np.array([[0.0], [1e-5]]), np.ones(2), 1, 1.0).tolist() == [[-1.0, -1.0]]
    assert grow_regions(np.array([[0.0], [1e-4]]), np.ones(2), 1, 1.0).tolist() == [[0.0, 5e-5]]
    line = np.array([[0.0], [1.0], [2.0]])
    assert grow_regions(line, np.array([1.0, 1.0, 4.0]), 1, 2.0).tolist() == [[0.0, 1.5]]
    assert grow_regions(line, np.array([1.0, 1.0, 4.0]), 1, 2.5).tolist() == [[-1.0, -1.0]]
    # Where the feature that varies most cannot be halved, the next one is; of two that vary as
    # much, the first.
    skewed = np.array([[0.0, 0.0], [0.0, 0.5], [0.0, 1.0], [9.0, 1.5]])
    assert grow_regions(skewed, np.ones(4), 1, 2.0).tolist() == [[1.0, 0.75]]
    assert grow_regions(np.array([[0.0, 1.0], [1.0, 0.0]]), np.ones(2), 1, 1.0).tolist() == [
        [0.0, 0.5]
    ]
