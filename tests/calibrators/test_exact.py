"""The exact index: ties, memory, threads and bounds that never pass the truth."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from calibrant._numerics import separation as bounds
from calibrant._numerics.threads import threads
from calibrant.calibrators.neighbors import ExactIndex
from calibrant.calibrators.stored_points import StoredPoints, distances
from calibrant.errors import InputError


@pytest.fixture(scope="module")
def cloud():
    rng = np.random.default_rng(0)
    mix = rng.normal(size=(20, 120))
    return (
        rng.normal(size=(1500, 20)) @ mix + rng.normal(size=(1500, 120)),
        rng.integers(0, 5, 1500),
        rng.normal(size=(40, 20)) @ mix,
    )


def counted(monkeypatch):
    """Numbers of the rows whose true distances are taken from now on."""
    looked = []
    monkeypatch.setattr(
        "calibrant.calibrators.neighbors.distances",
        lambda m, q, rows: looked.append(len(rows)) or distances(m, q, rows),
    )
    return looked


@pytest.mark.parametrize("metric", ["l2", "linf"])
def test_few_rows_are_looked_at(cloud, monkeypatch, metric):
    X, y, queries = cloud
    index = ExactIndex(metric).fit(X, y, 5)
    looked = counted(monkeypatch)
    index.nearest(queries, np.zeros(40, dtype=int))
    assert sum(looked) < 0.2 * 40 * len(X)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_table_bounds_never_pass_the_true_distance(cloud, scale):
    X, y, queries = cloud[0] * scale, cloud[1], cloud[2] * scale
    for shift in (0.0, 100.0 * scale):
        index = ExactIndex().fit(X + shift, y, 5)
        low, base = index._bounds(queries + shift)
        points = index.points_.wide_rows(slice(0, len(X)))
        true = ((queries[:, None] + shift - points[None]) ** 2).sum(axis=2) / index.unit_**2
        assert (low + base[:, None] <= true * (1.0 + 1e-9)).all()
        assert np.median((low + base[:, None]) / true) > 0.5
        index = ExactIndex("l1").fit(X + shift, y, 5)
        low, base = index._bounds(queries + shift)
        true = np.abs(queries[:, None] + shift - points[None]).sum(axis=2)
        assert (low + base[:, None] <= true).all()
        assert np.median(low / true) > 0.2
        index = ExactIndex("linf").fit(X + shift, y, 5)
        low, _ = index._bounds(queries + shift)
        true = np.abs(queries[:, None] + shift - points[None]).max(axis=2)
        assert (low <= true).all()
        assert np.median(low / true) > 0.9


def test_directions_are_orthonormal(cloud):
    X = cloud[0]
    basis = bounds.leading_directions(lambda rows: X[rows], len(X), X.mean(axis=0), 16)
    np.testing.assert_allclose(basis.T @ basis, np.eye(16), atol=1e-12)


@pytest.mark.parametrize("values", [2, 256])
def test_largest_difference_is_shared_by_many_rows(values, monkeypatch):
    """Pixels saturate: rows as far as the nearest one known, of which there are many, cannot be
    nearer and are not looked at.
    """
    rng = np.random.default_rng(0)
    X, y, queries = (
        rng.integers(0, values, (800, 100)),
        rng.integers(0, 3, 800),
        rng.integers(0, values, (30, 100)),
    )
    index = ExactIndex("linf").fit(X, y, 3)
    looked = counted(monkeypatch)
    group = np.arange(30) % 3
    near = index.nearest(queries, group)
    D = np.abs(queries[:, None] - X[None]).max(axis=2)
    own = y[None] == group[:, None]
    assert near.same.tolist() == np.where(own, D, 2 * values).min(axis=1).tolist()
    assert near.other.tolist() == np.where(own, 2 * values, D).min(axis=1).tolist()
    assert sum(looked) < 0.2 * 30 * len(X)


def test_features_that_tell_rows_apart():
    X = np.zeros((40, 6))
    X[20:, 4], X[::2, 1] = 3.0, 1.0
    found = bounds.telling_features(lambda rows: X[rows], len(X), X.mean(axis=0), 2)
    assert found[0] == 4
    assert len(set(found.tolist())) == 2


def test_threads_change_no_bit(cloud):
    X, y, queries = cloud
    index = ExactIndex().fit(X, y, 5)
    queries = np.tile(queries, (10, 1))
    found = []
    for n in (1, 3):
        with threads(n):
            near = index.nearest(queries, np.arange(400) % 5)
        found.append((near.same, near.same_row, near.other, near.other_row))
    for a, b in zip(*found, strict=True):
        assert (a == b).all()


def test_whole_numbers_take_less_memory():
    X = np.random.default_rng(0).integers(0, 256, (4000, 600)).astype(np.uint8)
    y = np.zeros(4000, dtype=int)
    small, wide = ExactIndex().fit(X, y, 1), ExactIndex().fit(X / 255.0, y, 1)
    assert small.points_.points.dtype == np.float32
    assert small.nbytes < 0.6 * wide.nbytes
    assert small.nearest(X[:3], y[:3]).same.tolist() == [0.0, 0.0, 0.0]
    # Rows are screened in the narrower type; what is returned is exact all the same.
    queries = np.random.default_rng(1).normal(128.0, 60.0, (3, 600))
    near = small.nearest(queries, np.zeros(3, dtype=int))
    expected = np.sqrt(((queries[:, None] - X[None].astype(float)) ** 2).sum(axis=2)).min(axis=1)
    np.testing.assert_allclose(near.same, expected, rtol=1e-14)


def test_numbers_whose_products_overflow_single_precision():
    rng = np.random.default_rng(2)
    X = (rng.normal(size=(3000, 700)) * 1e25).astype(np.float32)
    index = ExactIndex().fit(X, np.zeros(3000, dtype=int), 1)
    assert index.points_.points.dtype == np.float32
    expected = np.linalg.norm(X[1:].astype(float) - X[0].astype(float), axis=1).min()
    later = ExactIndex().fit(X[1:], np.zeros(2999, dtype=int), 1)
    assert later.nearest(X[:1].astype(float), np.array([0])).same[0] == pytest.approx(
        expected, rel=1e-12
    )


def test_memory_of_a_batch_is_bounded(cloud, monkeypatch):
    X, y, queries = cloud
    index = ExactIndex().fit(X, y, 5)
    monkeypatch.setattr("calibrant.calibrators.neighbors.PART_BYTES", 4 * 64 * 100)
    sizes, whole = [], ExactIndex._bounds

    def counted(self, queries, part):
        low, base = whole(self, queries, part)
        sizes.append(low.size)
        return low, base

    monkeypatch.setattr(ExactIndex, "_bounds", counted)
    index.nearest(np.tile(queries, (4, 1)), np.zeros(160, dtype=int))
    assert max(sizes) == 64 * 100


@pytest.mark.parametrize("n_bytes", [4 * 64 * 70, 4 * 64 * 1499])
@pytest.mark.parametrize("metric", ["l2", "l1", "linf"])
def test_parts_of_the_points_change_no_distance(cloud, monkeypatch, metric, n_bytes):
    X, y, queries = cloud
    index = ExactIndex(metric).fit(X, y, 5)
    group = np.arange(40) % 6 % 5
    whole = index.nearest(queries, group)
    monkeypatch.setattr("calibrant.calibrators.neighbors.PART_BYTES", n_bytes)
    parts = index.nearest(queries, group)
    assert (parts.same == whole.same).all()
    assert (parts.other == whole.other).all()
    assert (parts.same_row == whole.same_row).all()
    assert (parts.other_row == whole.other_row).all()


def gathered(monkeypatch):
    """Numbers of the rows that are read one by one to be multiplied from now on."""
    rows, whole = [], StoredPoints.lower_squares

    def counted(self, queries, positions=None):
        rows.append(0 if isinstance(positions, slice) else len(positions))
        return whole(self, queries, positions)

    monkeypatch.setattr(StoredPoints, "lower_squares", counted)
    return rows


@pytest.mark.parametrize("scale", [1e-15, 1.0, 1e25])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_where_the_table_excludes_few_rows_products_do(monkeypatch, scale, kind):
    """Features that do not vary together: 64 of 400 directions tell little of a distance."""
    rng = np.random.default_rng(0)
    X, y = (rng.normal(size=(6000, 400)) * scale).astype(kind), rng.integers(0, 3, 6000)
    queries, group = rng.normal(size=(64, 400)) * scale, rng.integers(0, 3, 64)
    index = ExactIndex().fit(X, y, 3)
    assert index.points_.points.dtype == kind
    rows = gathered(monkeypatch)
    near = index.nearest(queries, group)
    assert sum(rows) < 0.1 * 64 * len(X)
    D = cdist(queries, X.astype(np.float64))
    own = y == group[:, None]
    np.testing.assert_allclose(near.same, np.where(own, D, np.inf).min(axis=1), rtol=1e-12)
    np.testing.assert_allclose(near.other, np.where(own, np.inf, D).min(axis=1), rtol=1e-12)
    rows.clear()
    monkeypatch.setattr("calibrant.calibrators.neighbors.READ_COST", 0)
    alone = index.nearest(queries, group)
    assert sum(rows) > 0.5 * 64 * len(X)
    for name in ("same", "same_row", "other", "other_row"):
        assert (getattr(alone, name) == getattr(near, name)).all()


@pytest.mark.parametrize("metric", ["l2", "l1"])
@pytest.mark.parametrize("n_bytes", [2**23, 4 * 64 * 300])
@pytest.mark.parametrize("cost", [0, 1000])
def test_of_equally_near_rows_the_first_is_returned(monkeypatch, metric, n_bytes, cost):
    """Whatever rounding, products or parts do to the order of their bounds."""
    rng = np.random.default_rng(0)
    X, y = np.tile(rng.integers(0, 2, (100, 90)), (10, 1)), rng.integers(0, 3, 1000)
    queries, group = rng.integers(0, 2, (64, 90)), np.sort(rng.integers(0, 3, 64))
    index = ExactIndex(metric, n_directions=16).fit(X, y, 3)
    monkeypatch.setattr("calibrant.calibrators.neighbors.PART_BYTES", n_bytes)
    monkeypatch.setattr("calibrant.calibrators.neighbors.READ_COST", cost)
    near = index.nearest(queries, group)
    # Sums of whole numbers, without rounding.
    D = np.abs(queries[:, None] - index.points_.wide_rows(slice(0, 1000))).sum(axis=2)
    own = index.points_.groups == group[:, None]
    assert near.same_row.tolist() == np.where(own, D, np.inf).argmin(axis=1).tolist()
    assert near.other_row.tolist() == np.where(own, np.inf, D).argmin(axis=1).tolist()


def test_points_on_disk_are_read_row_by_row(tmp_path, monkeypatch):
    """A product of all features would read the whole file."""
    rng = np.random.default_rng(0)
    np.save(tmp_path / "X.npy", rng.normal(size=(900, 300)))
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    index = ExactIndex().fit(X, np.arange(900) % 2, 2)
    rows = gathered(monkeypatch)
    index.nearest(rng.normal(size=(20, 300)), np.arange(20) % 2)
    assert 0 not in rows


def test_all_points_the_same():
    X, y = np.ones((10, 3)), np.arange(10) % 2
    near = ExactIndex().fit(X, y, 2).nearest(np.zeros((1, 3)), np.array([0]))
    assert near.same[0] == near.other[0] == pytest.approx(3**0.5)


@pytest.mark.parametrize("offset", [1.7e15, -3e12, 0.0])
@pytest.mark.parametrize("metric", ["l2", "l1", "linf"])
def test_exact_wherever_the_data_lie(metric, offset):
    """Far off the origin a group of features sums to numbers with few digits left; the bounds
    may not pass the truth for it.
    """
    wrong = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        # Features that vary together, for which the bounds on sums of groups are as tight as they
        # can be.
        X, queries = (
            np.repeat(rng.normal(size=(n, 8)), 10, axis=1) * 5 + offset for n in (400, 50)
        )
        y, group = rng.integers(0, 3, 400), rng.integers(0, 3, 50)
        near = ExactIndex(metric, n_directions=16).fit(X, y, 3).nearest(queries, group)
        D = cdist(queries, X, {"l2": "euclidean", "l1": "cityblock", "linf": "chebyshev"}[metric])
        own = y == group[:, None]
        for found, expected in (
            (near.same, np.where(own, D, np.inf).min(axis=1)),
            (near.other, np.where(own, np.inf, D).min(axis=1)),
        ):
            wrong += (np.abs(found - expected) > 1e-12 * expected).sum()
    assert wrong == 0


@pytest.mark.parametrize("metric", ["l2", "l1", "linf"])
def test_queries_and_added_points_out_of_this_world(metric):
    """Numbers past what single precision holds: no warning, the right distances, and no point of
    the group among the others.
    """
    X, y = np.array([[-1.0], [-2.0], [-4.0], [-3.0]]), np.array([0, 0, 1, 1])
    index = ExactIndex(metric).fit(X, y, 2)
    for query in (1e45, -1e45, 1e100):
        near = index.nearest(np.array([[query]]), np.array([0]))
        assert near.same == near.other == abs(query)
        assert near.same_row < 2 <= near.other_row
    index.add(np.array([[1e60], [1e30]]), np.array([1, 0]))
    near = index.nearest(np.array([[1e60], [-1e60], [0.0]]), np.array([0, 1, 0]))
    assert near.other.tolist() == [0.0, 1e60, 3.0]
    assert near.same.tolist() == [1e60, 1e60, 1.0]


@pytest.mark.parametrize("n", [2.5, 0, -1, "many", None, True, np.nan])
def test_number_of_directions(n):
    with pytest.raises(InputError, match="n_directions must be a whole number"):
        ExactIndex(n_directions=n).fit(np.ones((2, 2)), np.array([0, 1]), 2)
    assert (
        ExactIndex(n_directions=np.int64(3)).fit(np.eye(4), np.arange(4) % 2, 2).table_.shape[1]
        == 4
    )


@pytest.mark.parametrize("metric", ["l2", "l1", "linf"])
def test_numbers_whose_squares_overflow_are_refused(metric):
    X, y = np.array([[0.0], [1e-300], [3e-300]]), np.array([0, 1, 1])
    index = ExactIndex(metric).fit(X, y, 2)
    assert index.nearest(np.array([[1e45]]), np.array([0])).other_row[0] > 0
    with pytest.raises(InputError, match="within 1e"):
        index.nearest(np.array([[1e200]]), np.array([0]))
    with pytest.raises(InputError, match="within 1e"):
        ExactIndex(metric).fit(np.array([[-1e200], [1e200]]), np.array([0, 1]), 2)


def test_unknown_metric():
    with pytest.raises(InputError, match="metric"):
        ExactIndex("cosine").fit(np.ones((2, 2)), np.array([0, 1]), 2)
