"""Stored points: the shift that keeps products sharp gives every number back, and bounds hold
for any numbers.
"""

import numpy as np
import pytest

import calibrant as cb
from calibrant.calibrators.neighbors import ExactIndex
from calibrant.calibrators.stored_points import StoredPoints
from calibrant.errors import InputError


def squares(queries, rows):
    """(m, n) squared distances from differences in float64."""
    return np.stack([((rows - query) ** 2).sum(axis=1) for query in queries])


def made(kind, rng, n=3000, d=700):
    """(n, d) numbers of several sorts, large enough for float32."""
    normal = lambda: rng.normal(size=(n, d))  # noqa: E731
    return {
        "pixels": lambda: rng.integers(0, 256, (n, d)).astype(np.uint8),
        "16 bit": lambda: rng.integers(30_000, 31_000, (n, d)).astype(np.int16),
        "bool": lambda: rng.integers(0, 2, (n, d)).astype(bool),
        "int64": lambda: rng.integers(10**9, 10**9 + 300, (n, d)),
        "half": lambda: normal().astype(np.float16),
        "unit": lambda: rng.random((n, d)).astype(np.float32),
        "offset": lambda: (normal() + 1000.0).astype(np.float32),
        "far": lambda: normal() + 1e12,
        "mixed": lambda: (
            normal() * 10.0 ** rng.integers(-20, 15, d) + rng.normal(size=d) * 100.0
        ).astype(np.float32),
        "an outlier": lambda: np.vstack([normal()[1:] + 50.0, np.full((1, d), 20_000.0)]).astype(
            np.float32
        ),
        "constant": lambda: np.full((n, d), 0.1, dtype=np.float32),
        "huge": lambda: (normal() * 1e25).astype(np.float32),
        "tiny": lambda: (normal() * 1e-25).astype(np.float32),
        "subnormal products": lambda: np.vstack(
            [normal()[2:] * 1e-21, np.ones((1, d)), -np.ones((1, d))]
        ).astype(np.float32),
    }[kind]()


KINDS = [
    "pixels",
    "16 bit",
    "bool",
    "int64",
    "half",
    "unit",
    "offset",
    "far",
    "mixed",
    "an outlier",
    "constant",
    "huge",
    "tiny",
    "subnormal products",
]


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_come_back_and_bounds_hold(kind):
    rng = np.random.default_rng(0)
    X = made(kind, rng)
    wide = X.astype(np.float64)
    points = StoredPoints(X, np.zeros(len(X), dtype=int), 1)
    assert points.points.dtype == (np.float64 if X.dtype in (np.int64, np.float64) else np.float32)
    assert (points.wide_rows(slice(0, len(X))) == wide).all()
    queries = np.vstack([wide[:2], wide[-1:], wide[:1] * 1.01, wide[:1] + 1e45])
    some, low = np.array([0, 1, 5, 2999]), points.lower_squares(queries)
    true = squares(queries, wide)
    assert (low <= true * (1.0 + 1e-12)).all()
    assert np.isfinite(low).all()
    assert (points.lower_squares(queries, some) <= true[:, some] * (1.0 + 1e-12)).all()
    gap, room = points.squares_between(some, np.arange(8))
    assert (np.abs(gap - squares(wide[some], wide[:8])) <= room).all()
    assert (room > 0.0).all()


@pytest.mark.parametrize("kind", ["offset", "far", "16 bit", "an outlier"])
def test_bounds_stay_sharp_off_the_origin(kind):
    X = made(kind, np.random.default_rng(1))
    points = StoredPoints(X, np.zeros(len(X), dtype=int), 1)
    queries = X[:4].astype(np.float64)
    low, true = points.lower_squares(queries)[:, 4:-1], squares(queries, X[4:-1].astype(np.float64))
    assert (low > 0.99 * true).all()


def test_added_rows_that_the_shift_does_not_suit():
    rng = np.random.default_rng(2)
    first, more = (
        (rng.normal(size=(3000, 700)) + 1000.0).astype(np.float32),
        rng.normal(size=(5, 700)).astype(np.float32),
    )
    points, order = StoredPoints(first, np.arange(3000) % 2, 2).extended(
        more, np.array([0, 0, 1, 1, 1])
    )
    assert points.points.dtype == np.float32
    every = np.concatenate([np.concatenate([first[::2], first[1::2]]), more])[order].astype(
        np.float64
    )
    assert (points.wide_rows(slice(0, 3005)) == every).all()
    assert points.groups.tolist() == [0] * 1502 + [1] * 1503
    wide, _ = points.extended(more.astype(np.float64) / 3.0, np.zeros(5, dtype=int))
    assert wide.points.dtype == np.float64
    assert (wide.wide_rows(np.arange(1502, 1507)) == more.astype(np.float64) / 3.0).all()


def test_centre_and_radius():
    X = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 3.0]])
    for metric, radius in (("l2", 17.0**0.5), ("l1", 5.0), ("linf", 4.0)):
        centre, found = StoredPoints(X, np.array([1, 0, 1]), 2).centre_and_radius(metric)
        assert centre.tolist() == [2.0, 1.0]
        assert found == pytest.approx(radius, rel=1e-15)


@pytest.fixture
def mapped(tmp_path):
    rng = np.random.default_rng(9)
    np.save(tmp_path / "train.npy", rng.integers(0, 256, (400, 80)).astype(np.uint8))
    return np.load(tmp_path / "train.npy", mmap_mode="r"), rng.integers(0, 3, 400)


@pytest.mark.parametrize("column_scale", [None, np.linspace(0.5, 3.0, 80)])
def test_bounds_of_points_on_disk(mapped, column_scale):
    X, y = mapped
    points = StoredPoints(X, y, 3, column_scale)
    wide = X[np.argsort(y, kind="stable")] * (1.0 if column_scale is None else column_scale)
    assert points.on_disk
    assert (points.wide_rows(slice(0, 400)) == wide).all()
    low, true = points.lower_squares(wide[:5] + 0.25), squares(wide[:5] + 0.25, wide)
    assert (low <= true * (1.0 + 1e-12)).all()
    assert (low >= true * 0.999).all()


@pytest.mark.parametrize(
    "signal",
    [
        cb.calibrators.FastSeparation(),
        cb.calibrators.FastSeparation(scale="standard"),
        cb.calibrators.PairwiseSeparation(),
    ],
)
def test_points_on_disk_saved_loaded_and_added_to(mapped, tmp_path, signal):
    """A saved file is complete; what comes back from it lies in memory, is counted, and can be
    added to.
    """
    X, y = mapped
    P, queries = (
        np.eye(3)[np.arange(9) % 3],
        np.random.default_rng(3).integers(0, 256, (9, 80)).astype(np.uint8),
    )
    signal.fit(P, np.arange(9) % 3, X=queries, reference=(X, y))
    with pytest.raises(InputError, match="memory-mapped"):
        signal.add(X[:1], [0])
    again = cb.load(signal.save(tmp_path / "signal.calibrant"))
    assert not again.index_.points_.on_disk
    assert again.nbytes_ == signal.nbytes_ + X.nbytes
    assert (again.score(P, X=queries) == signal.score(P, X=queries)).all()
    again.add(queries, np.arange(9) % 3)
    plain = type(signal)(**signal.get_params()).fit(
        P, np.arange(9) % 3, X=queries, reference=(np.array(X), y)
    )
    plain.space_, before = signal.space_, plain.index_
    plain.index_ = (
        type(before)()
        .fit(np.array(X), y, 3, signal.space_.column_scale_)
        .add(queries, np.arange(9) % 3)
    )
    np.testing.assert_allclose(again.score(P, X=queries), plain.score(P, X=queries), rtol=1e-12)


def test_every_distance_of_points_loaded_and_added_to(mapped, tmp_path):
    X, y = mapped
    index = cb.load(ExactIndex("l1").fit(X, y, 3).save(tmp_path / "index.calibrant")).add(
        X[:7] // 2, np.full(7, 2)
    )
    near = index.nearest(X[:7] // 2, np.full(7, 2))
    assert near.same.tolist() == [0.0] * 7
