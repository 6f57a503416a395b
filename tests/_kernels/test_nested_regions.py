"""Nested halves by hand, and in any order of the rows."""

import numpy as np

from calibrant._kernels.nested_regions import grow_regions, region_paths


def test_the_widest_feature_is_halved_first():
    points = np.array([[0.0, 0.0], [0.0, 1.0], [10.0, 0.0], [10.0, 1.0]])
    nodes = grow_regions(points, np.ones(4), 2, 1.0)
    assert nodes.tolist() == [[0.0, 5.0], [1.0, 0.5], [1.0, 0.5]]
    assert region_paths(nodes, points).tolist() == [[1, 3], [1, 4], [2, 5], [2, 6]]
    assert grow_regions(points, np.ones(4), 2, 2.0).tolist() == [[0.0, 5.0], [-1.0, -1.0], [-1.0, -1.0]]


def test_order_and_repetition_change_nothing():
    rng = np.random.default_rng(0)
    points, weight = rng.normal(size=(300, 3)), rng.integers(1, 4, 300)
    nodes = grow_regions(points, weight.astype(float), 4, 5.0)
    order = rng.permutation(np.repeat(np.arange(300), weight))
    np.testing.assert_allclose(grow_regions(points[order], np.ones(len(order)), 4, 5.0), nodes)
