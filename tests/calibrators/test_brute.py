"""The brute index agrees with the pruned one, and its bounds hold in single precision."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.calibrators.neighbors import BruteIndex, ExactIndex
from calibrant.calibrators.stored_points import StoredPoints
from calibrant.errors import InputError


def test_the_two_exact_indexes_agree():
    rng = np.random.default_rng(0)
    X, y, queries, group = (
        rng.normal(size=(500, 80)),
        rng.integers(0, 4, 500),
        rng.normal(size=(30, 80)),
        rng.integers(0, 5, 30),
    )
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
    low = index.points_.lower_squares(queries)
    true = ((queries[:, None] - X[None].astype(float)) ** 2).sum(axis=2)
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
        square, room = index.points_.squares_between(a, b)
        assert (np.abs(square - true) <= room).all()
        assert (room > 0.0).all()
        queries, some = rng.normal(0.5, 0.3, (2, 700)), np.array([1, 4, 44])
        part = index.points_.lower_squares(queries, some)
        np.testing.assert_allclose(part, index.points_.lower_squares(queries)[:, some], rtol=1e-6)
        assert index.points_.lower_squares(queries, some[:0]).shape == (2, 0)


def test_no_other_metric():
    """A signal for L1 refuses it, and it never gives L2 distances in place of others."""
    P, X = [[0.9, 0.1], [0.2, 0.8]], np.array([[0.0, 0.0], [3.0, 4.0]])
    with pytest.raises(InputError, match="metric"):
        cb.calibrators.FastSeparation("l1", index=BruteIndex()).fit(
            P, [0, 1], X=X, reference=(X, [0, 1])
        )
    signal = cb.calibrators.FastSeparation(index=BruteIndex()).fit(
        P, [0, 1], X=X, reference=(X, [0, 1])
    )
    assert signal.score(P, X=X).tolist() == [2.5, 2.5]
    with pytest.raises(TypeError):
        BruteIndex("l1")


@pytest.mark.parametrize("offset", [0.0, 1000.0, 1e6])
def test_few_rows_are_read_off_the_origin(offset, monkeypatch):
    rng = np.random.default_rng(4)
    X, y = (rng.normal(size=(3000, 700)) + offset).astype(np.float32), rng.integers(0, 2, 3000)
    index = BruteIndex().fit(X, y, 2)
    read, whole = [], StoredPoints.wide_rows
    monkeypatch.setattr(
        StoredPoints, "wide_rows", lambda self, at: read.append(len(at)) or whole(self, at)
    )
    queries = X[:5].astype(float) + rng.normal(size=(5, 700)) * 0.5
    near = index.nearest(queries, y[:5])
    expected = np.stack([np.sqrt(((X - q) ** 2).sum(axis=1)) for q in queries])
    np.testing.assert_allclose(
        near.same, np.where(y == y[:5, None], expected, np.inf).min(axis=1), rtol=1e-12
    )
    assert sum(read) < 5 * 2 * 100


def test_numbers_whose_squares_overflow_single_precision():
    rng = np.random.default_rng(5)
    X, y = (rng.normal(size=(3000, 700)) * 1e25).astype(np.float32), np.arange(3000) % 2
    queries = np.vstack([X[:2].astype(float) * 1.1, np.full((1, 700), 1e45)])
    near = BruteIndex().fit(X, y, 2).nearest(queries, np.array([0, 1, 0]))
    D = np.stack([np.sqrt(((X - q) ** 2).sum(axis=1)) for q in queries])
    own = y == np.array([0, 1, 0])[:, None]
    np.testing.assert_allclose(near.same, np.where(own, D, np.inf).min(axis=1), rtol=1e-12)
    np.testing.assert_allclose(near.other, np.where(own, np.inf, D).min(axis=1), rtol=1e-12)
