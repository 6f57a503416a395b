"""The brute index agrees with the pruned one, and its bounds hold in single precision."""

import numpy as np

from calibrant.neighbors.brute import BruteIndex
from calibrant.neighbors.exact import ExactIndex


def test_the_two_exact_indexes_agree():
    rng = np.random.default_rng(0)
    X, y, queries, group = rng.normal(size=(500, 80)), rng.integers(0, 4, 500), rng.normal(size=(30, 80)), rng.integers(0, 5, 30)
    a, b = (index.fit(X, y, 5).nearest(queries, group) for index in (BruteIndex(), ExactIndex()))
    np.testing.assert_allclose(a.same, b.same, atol=1e-12)
    np.testing.assert_allclose(a.other, b.other, atol=1e-12)
    assert (a.same_row == b.same_row).all()
    assert (a.other_row == b.other_row).all()


def test_bounds_in_single_precision():
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 256, (3000, 700)).astype(np.uint8), np.zeros(3000, dtype=int)
    index = BruteIndex().fit(X, y, 1)
    assert index.points_.points.dtype == np.float32
    queries = np.vstack([X[:3], rng.integers(0, 256, (3, 700))]).astype(float)
    low = index.lower_squares(queries)
    true = ((queries[:, None] - index.points_.points[None]) ** 2).sum(axis=2)
    assert (low <= true + 1e-9).all()
    assert (low >= true - 1e-3 * (queries**2).sum(axis=1)[:, None]).all()
    assert index.nearest(queries[:3], y[:3]).same.tolist() == [0.0, 0.0, 0.0]


def test_bounds_between_points_and_on_some_of_them():
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 256, (3000, 700)).astype(np.uint8), np.zeros(3000, dtype=int)
    X[7] = X[5]
    wide, a, b = X.astype(float), np.arange(40), np.arange(3, 9)
    for index in (BruteIndex().fit(X, y, 1), BruteIndex().fit(X[:50] / 255.0, y[:50], 1)):
        scale = 1.0 if len(index.points_) == 3000 else 255.0
        true = ((wide[a][:, None] - wide[b]) ** 2).sum(axis=2) / scale**2
        square, room = index.squares_between(a, b)
        assert (np.abs(square - true) <= room).all()
        assert (room > 0.0).all()
        queries, some = rng.normal(0.5, 0.3, (2, 700)), np.array([1, 4, 44])
        part = index.lower_squares(queries, some)
        np.testing.assert_allclose(part, index.lower_squares(queries)[:, some], rtol=1e-6)
        assert index.lower_squares(queries, some[:0]).shape == (2, 0)
