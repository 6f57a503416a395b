"""Fast separation: against brute force, its laws, its traps, and the scale of columns."""

import tracemalloc
import warnings
from inspect import unwrap

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.tree import DecisionTreeClassifier
from tests.calibrators.separation import SCIPY, clouds, nearest, scores

import calibrant as cb
from calibrant.calibrators.neighbors import METRICS, ExactIndex
from calibrant.errors import CalibrationWarning, InputError


def brute(X, predicted, X_train, y_train, metric="l2"):
    """Definition 5, by all distances."""
    own, other = nearest(X, predicted, X_train, y_train, metric)
    return 0.5 * (other - own)


@pytest.mark.parametrize("metric", list(METRICS))
@given(data=clouds())
@settings(max_examples=25, deadline=None)
def test_equals_brute_force(metric, data):
    np.testing.assert_allclose(
        scores(cb.calibrators.FastSeparation(metric), *data), brute(*data, metric), atol=1e-12
    )


@given(data=clouds(), seed=st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_rotation_and_translation_change_nothing(data, seed):
    X, predicted, X_train, y_train = data
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(X.shape[1],) * 2))[0]
    move = rng.normal(size=X.shape[1]) * 10
    moved = scores(
        cb.calibrators.FastSeparation(), X @ turn + move, predicted, X_train @ turn + move, y_train
    )
    np.testing.assert_allclose(moved, scores(cb.calibrators.FastSeparation(), *data), atol=1e-10)


@pytest.mark.parametrize("metric", list(METRICS))
@given(data=clouds(), factor=st.sampled_from([1e-150, 1e-8, 3.0, 1e8, 1e100]))
@settings(max_examples=15, deadline=None)
def test_scale_equivariance(metric, data, factor):
    X, predicted, X_train, y_train = data
    scaled = scores(
        cb.calibrators.FastSeparation(metric), X * factor, predicted, X_train * factor, y_train
    )
    np.testing.assert_allclose(
        scaled / factor, scores(cb.calibrators.FastSeparation(metric), *data), atol=1e-10
    )


@pytest.mark.parametrize("metric", list(METRICS))
@given(data=clouds(whole=True), seed=st.integers(0, 1000))
@settings(max_examples=15, deadline=None)
def test_row_order_of_the_training_set_is_irrelevant(metric, data, seed):
    X, predicted, X_train, y_train = data
    order = np.random.default_rng(seed).permutation(len(y_train))
    shuffled = scores(
        cb.calibrators.FastSeparation(metric), X, predicted, X_train[order], y_train[order]
    )
    np.testing.assert_allclose(
        shuffled, scores(cb.calibrators.FastSeparation(metric), *data), atol=1e-12
    )


def test_many_dimensions_and_classes_through_the_bound():
    rng = np.random.default_rng(0)
    centre = rng.normal(size=(12, 150)) * 3
    y = rng.integers(0, 12, 3000)
    X_train = centre[y] + rng.normal(size=(3000, 150))
    X = centre[rng.integers(0, 12, 60)] + rng.normal(size=(60, 150)) * 2
    predicted = rng.integers(0, 12, 60)
    for metric in METRICS:
        found = scores(cb.calibrators.FastSeparation(metric), X, predicted, X_train, y)
        np.testing.assert_allclose(found, brute(X, predicted, X_train, y, metric), atol=1e-11)


def test_far_from_the_origin_stays_exact():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 500)
    X_train, X = rng.normal(size=(500, 100)) + 1e6, rng.normal(size=(30, 100)) + 1e6
    predicted = rng.integers(0, 3, 30)
    np.testing.assert_allclose(
        scores(cb.calibrators.FastSeparation(), X, predicted, X_train, y),
        brute(X, predicted, X_train, y),
        atol=1e-8,
    )


def test_an_outlier_of_the_training_set_does_not_hurt():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 400)
    X_train, X, predicted = (
        rng.normal(size=(400, 80)),
        rng.normal(size=(20, 80)),
        rng.integers(0, 2, 20),
    )
    X_train[0] = 1e9
    np.testing.assert_allclose(
        scores(cb.calibrators.FastSeparation(), X, predicted, X_train, y),
        brute(X, predicted, X_train, y),
        atol=1e-9,
    )


def test_duplicates_across_classes_tie_at_zero():
    X_train, y = np.array([[0.0, 0.0], [0.0, 0.0], [5.0, 0.0]]), np.array([0, 1, 1])
    assert scores(
        cb.calibrators.FastSeparation(), np.array([[1.0, 1.0]]), np.array([0]), X_train, y
    ).tolist() == [0.0]


def test_a_training_point_scores_half_the_way_to_the_others():
    X_train, y = np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([0, 1])
    assert scores(
        cb.calibrators.FastSeparation(), X_train, np.array([0, 0]), X_train, y
    ).tolist() == [
        2.5,
        -2.5,
    ]


@pytest.mark.parametrize("metric", list(METRICS))
@given(data=clouds(), reach=st.sampled_from([1.0, 5.0, 1e4]))
@settings(max_examples=15, deadline=None)
def test_a_predicted_class_absent_from_training_is_as_dangerous_as_can_be(metric, data, reach):
    """Minus the radius of the training set about its mean, beyond which no score lies; plus it
    where every point is of the class.
    """
    X, predicted, X_train, y_train = data
    radius = cdist(X_train.mean(axis=0)[None], X_train, SCIPY[metric]).max()
    absent = scores(cb.calibrators.FastSeparation(metric), X, np.full(len(X), 3), X_train, y_train)
    np.testing.assert_allclose(absent, np.full(len(X), -radius), rtol=1e-12)
    only = scores(
        cb.calibrators.FastSeparation(metric),
        X,
        np.zeros(len(X), dtype=int),
        X_train,
        np.zeros(len(X_train), dtype=int),
    )
    np.testing.assert_allclose(only, np.full(len(X), radius), rtol=1e-12)
    far = scores(cb.calibrators.FastSeparation(metric), X * reach, predicted, X_train, y_train)
    assert np.abs(far).max() <= radius + 1e-11 * reach


def test_labels_of_the_model_are_the_papers_partition():
    """With the model's own labels of the training set as its labels, F is what the paper writes;
    this model errs on one in ten.
    """
    rng = np.random.default_rng(4)
    X_train, X = rng.normal(size=(60, 2)), rng.normal(size=(40, 2))
    y = (X_train[:, 0] + rng.normal(scale=0.7, size=60) > 0).astype(int)
    model = DecisionTreeClassifier(max_depth=1).fit(X_train, y)
    own, predicted = model.predict(X_train), model.predict(X)
    by_model, by_truth = (
        scores(cb.calibrators.FastSeparation(), X, predicted, X_train, labels)
        for labels in (own, y)
    )
    np.testing.assert_allclose(by_model, brute(X, predicted, X_train, own), atol=1e-12)
    np.testing.assert_allclose(by_truth, brute(X, predicted, X_train, y), atol=1e-12)
    assert (by_model != by_truth).any()


def test_added_points_are_as_if_there_from_the_start():
    rng = np.random.default_rng(6)
    X_train, y = rng.normal(size=(300, 90)), rng.integers(0, 3, 300)
    X, predicted = rng.normal(size=(20, 90)), rng.integers(0, 3, 20)
    P = np.eye(3)[predicted]
    for metric in METRICS:
        some = cb.calibrators.FastSeparation(metric, scale="none").fit(
            P, predicted, X=X, reference=(X_train[:200], y[:200])
        )
        some.add(X_train[200:250], y[200:250]).add(X_train[250:], y[250:].tolist())
        np.testing.assert_allclose(
            some.score(P, X=X), brute(X, predicted, X_train, y, metric), atol=1e-12
        )
    with pytest.raises(InputError, match="only the classes"):
        some.add(X_train[:1], [7])


def test_columns_of_other_units_are_standardised_with_a_warning():
    rng = np.random.default_rng(7)
    X_train, y = rng.normal(size=(200, 4)) * [1.0, 1e4, 1e-3, 1e5], rng.integers(0, 2, 200)
    P = np.tile([0.8, 0.2], (200, 1))
    with pytest.warns(CalibrationWarning, match="standardised"):
        auto = cb.calibrators.FastSeparation().fit(P, y, X=X_train, reference=(X_train, y))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asked = cb.calibrators.FastSeparation(scale="standard").fit(
            P, y, X=X_train, reference=(X_train, y)
        )
        raw = cb.calibrators.FastSeparation(scale="none").fit(
            P, y, X=X_train, reference=(X_train, y)
        )
    X = rng.normal(size=(200, 4)) * [1.0, 1e4, 1e-3, 1e5]
    assert (auto.score(P, X=X) == asked.score(P, X=X)).all()
    np.testing.assert_allclose(
        asked.score(P, X=X),
        brute(X / X_train.std(0), np.zeros(200), X_train / X_train.std(0), y),
        atol=1e-10,
    )
    assert np.abs(raw.score(P, X=X)).max() > 100


def test_columns_on_one_scale_and_images_are_left_alone():
    rng = np.random.default_rng(8)
    y, P = rng.integers(0, 2, 50), np.tile([0.8, 0.2], (50, 1))
    for X in (
        rng.normal(size=(50, 3)),
        rng.integers(0, 256, (50, 4, 4)).astype(np.uint8),
        rng.random((50, 3, 3)) * [1.0, 1e-4, 1e-4],
    ):
        assert (
            cb.calibrators.FastSeparation().fit(P, y, X=X, reference=(X, y)).space_.column_scale_
            is None
        )


def test_memory_mapped_training_set(tmp_path):
    rng = np.random.default_rng(9)
    X_train, y = rng.integers(0, 256, (400, 8, 10)).astype(np.uint8), rng.integers(0, 3, 400)
    X, predicted = rng.integers(0, 256, (15, 8, 10)).astype(np.uint8), rng.integers(0, 3, 15)
    np.save(tmp_path / "train.npy", X_train)
    mapped = np.load(tmp_path / "train.npy", mmap_mode="r")
    P = np.eye(3)[predicted]
    for scale in ("none", "standard"):
        signal = cb.calibrators.FastSeparation(scale=scale).fit(
            P, predicted, X=X, reference=(mapped, y)
        )
        plain = cb.calibrators.FastSeparation(scale=scale).fit(
            P, predicted, X=X, reference=(X_train, y)
        )
        assert isinstance(signal.index_.points_.points, np.memmap)
        np.testing.assert_allclose(signal.score(P, X=X), plain.score(P, X=X), atol=1e-9)
        assert signal.nbytes_ < plain.nbytes_
    with pytest.raises(InputError, match="memory-mapped"):
        signal.add(X_train[:1], [0])


@pytest.mark.parametrize("metric", list(METRICS))
def test_a_training_set_on_disk_never_comes_into_memory_whole(tmp_path, monkeypatch, metric):
    """Training and search on 6 MB allocate less than half of that, though float64 rows of it
    would be 48 MB.
    """
    shape, rng = (3_000, 2_000), np.random.default_rng(12)
    mapped = np.lib.format.open_memmap(tmp_path / "train.npy", "w+", np.uint8, shape)
    mapped[:] = rng.integers(0, 256, shape, dtype=np.uint8)
    y, X, predicted = rng.integers(0, 3, len(mapped)), mapped[:4] // 2, np.arange(4) % 3
    # The modules that the index itself uses: doctests of the same run may have loaded others of the
    # same names.
    index = unwrap(ExactIndex.fit).__globals__
    for module in (index, index["StoredPoints"].slices.__globals__):
        monkeypatch.setitem(module, "BLOCK_BYTES", 2**18)
    monkeypatch.setattr(index["bounds"], "SAMPLE_NUMBERS", 2**15)
    monkeypatch.setattr(index["bounds"], "FEWEST_ROWS", 16)
    signal = cb.calibrators.FastSeparation(metric, index=ExactIndex(metric, n_directions=8))
    # The first call loads modules, whose memory does not count.
    scores(signal, X, predicted, mapped[:60], y[:60])
    tracemalloc.start()
    try:
        found = scores(signal, X, predicted, mapped, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < mapped.nbytes / 2
    expected = brute(X.astype(float), predicted, np.asarray(mapped, dtype=float), y, metric)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_features_by_a_callable():
    rng = np.random.default_rng(10)
    X_train, y, X, predicted = (
        rng.normal(size=(50, 6)),
        rng.integers(0, 2, 50),
        rng.normal(size=(9, 6)),
        rng.integers(0, 2, 9),
    )
    layer = rng.normal(size=(6, 3))
    got = scores(
        cb.calibrators.FastSeparation(features=lambda rows: np.maximum(rows @ layer, 0.0)),
        X,
        predicted,
        X_train,
        y,
    )
    np.testing.assert_allclose(
        got,
        brute(np.maximum(X @ layer, 0), predicted, np.maximum(X_train @ layer, 0), y),
        atol=1e-12,
    )


def test_features_of_a_long_array_are_taken_in_blocks(monkeypatch):
    monkeypatch.setattr("calibrant.calibrators.reductions.BLOCK_ROWS", 16)
    rng, sizes = np.random.default_rng(13), []
    X_train, y, X, predicted = (
        rng.normal(size=(50, 6)),
        rng.integers(0, 2, 50),
        rng.normal(size=(9, 6)),
        rng.integers(0, 2, 9),
    )

    def layer(rows):
        sizes.append(len(rows))
        return rows[:, ::2] ** 2

    got = scores(cb.calibrators.FastSeparation(features=layer), X, predicted, X_train, y)
    assert max(sizes) == 16
    np.testing.assert_allclose(
        got, brute(X[:, ::2] ** 2, predicted, X_train[:, ::2] ** 2, y), atol=1e-12
    )


def test_progress_reaches_the_end():
    rng, seen = np.random.default_rng(11), []
    signal = cb.calibrators.FastSeparation(progress=lambda done, total: seen.append((done, total)))
    scores(
        signal,
        rng.normal(size=(700, 2)),
        rng.integers(0, 2, 700),
        rng.normal(size=(20, 2)),
        rng.integers(0, 2, 20),
    )
    assert seen[-1] == (700, 700)
    assert len(seen) > 1
    assert seen == sorted(set(seen))


def test_bad_input_is_refused_by_name():
    P, y, X = np.tile([0.8, 0.2], (4, 1)), [0, 1, 0, 1], np.arange(8.0).reshape(4, 2)
    for options, word in (({"metric": "cosine"}, "metric"), ({"scale": "minmax"}, "scale")):
        with pytest.raises(InputError, match=word):
            cb.calibrators.FastSeparation(**options).fit(P, y, X=X, reference=(X, y))
    with pytest.raises(InputError, match="finite"):
        cb.calibrators.FastSeparation().fit(P, y, X=X, reference=(np.where(X == 3.0, np.nan, X), y))
    with pytest.raises(InputError, match="reference"):
        cb.calibrators.FastSeparation().fit(P, y, X=X)
