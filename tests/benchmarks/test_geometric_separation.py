"""The geometric benchmark's own arithmetic: splits by track, the authors' way, every method on
small data, and what is kept.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.papers.geometric import (
    authors,
    data,
    figures,
    kept,
    measure,
    methods,
    models,
    page,
    pictures,
    published,
    tables,
)
from benchmarks.speed import neighbors

import calibrant as cb
from calibrant.metrics import expected_calibration_error


@pytest.fixture
def problem(tmp_path, monkeypatch):
    """Three blobs under a model whose scores are too sure, with nothing kept from before."""
    monkeypatch.setattr(kept, "CACHE", tmp_path)
    rng, sizes = np.random.default_rng(0), {"train": 300, "validation": 400, "test": 500}
    mean = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
    y = {part: rng.integers(0, 3, n) for part, n in sizes.items()}
    X = {part: mean[labels] + rng.normal(size=(len(labels), 2)) for part, labels in y.items()}
    z = {
        part: -((X[part][:, None] - mean) ** 2).sum(axis=2)
        + rng.normal(0.0, 1.0, (len(X[part]), 3))
        for part in ("validation", "test")
    }
    said = {part: np.exp(v) / np.exp(v).sum(axis=1, keepdims=True) for part, v in z.items()}
    return methods.Problem("blobs", data.Split(X, y, None, 3), said)


def test_whole_tracks_go_to_one_side():
    groups = np.random.default_rng(0).integers(0, 40, 600)
    rest, test = data._by_group(np.arange(600), groups, 0.2, 0)
    assert set(groups[rest]) & set(groups[test]) == set()
    assert sorted([*rest, *test]) == list(range(600))


def test_the_authors_way_is_fast_separation(problem):
    X, y, group = problem.data.X, problem.y["train"], problem.said["test"].argmax(axis=1)
    theirs, _, size = authors.authors_way(X["train"], y, X["test"], group, 3)
    ours = problem.scores("fast l2", cb.calibrators.FastSeparation(scale="none"))
    np.testing.assert_allclose(theirs, ours["test"], atol=1e-12)
    assert size == 3 * X["train"].nbytes


def test_what_was_computed_is_read_again(problem):
    made = problem.scores("fast l2", cb.calibrators.FastSeparation())
    again = problem.scores("fast l2", None)
    assert all((made[part] == again[part]).all() for part in ("validation", "test", "seconds"))


def test_every_method_gives_measures_and_separation_helps(problem):
    found = methods.baselines(problem) | methods.separations(
        problem, "fast l2", problem.scores("fast l2", cb.calibrators.FastSeparation())
    )
    assert set(page.ECE_COLUMNS.values()) <= set(found)
    values = {method: measure.measures(*pair) for method, pair in found.items()}
    assert all(np.isfinite(list(of.values())).all() for of in values.values())
    assert values["fast l2, combined"]["NLL"] < values["isotonic, top label"]["NLL"]
    record = {"methods": values, "model": "rf", "data": "blobs"}
    assert page.faults("blobs rf [l2]", [record]) == []
    worse = record | {
        "methods": values | {"fast l2, combined": values["uncalibrated"] | {"NLL": 9.0}}
    }
    assert any(
        "NLL of combined is 9.0000" in fault for fault in page.faults("blobs rf [l2]", [worse])
    )


def test_pictures_show_what_was_measured(problem, tmp_path):
    whole, scores = figures.one(problem, {})
    records = [whole | {"reduction": "none", "t": 1, "figure_5": figures.figure_5(problem, scores)}]
    subset = figures.reductions(None)["random subset"]
    records += [
        figures.one(problem, subset(2))[0] | {"reduction": "random subset", "t": 2}
        for _ in range(2)
    ]
    pictures.draw({"blobs rf": records}, tmp_path)
    assert sorted(path.name for path in tmp_path.glob("*.png")) == [
        f"figure_{i}.png" for i in (5, 6, 7, 8)
    ]
    (ax,) = pictures.figure_7({"blobs rf": records}).axes
    assert [bar.get_height() for bar in ax.patches] == pytest.approx(
        [r["paper"]["ECE"] for r in records[:2]]
    )


def test_a_rows_name_says_what_it_was_run_with():
    options = SimpleNamespace(full_boosting=True, epochs=30, rows=None, by_frame=True)
    assert models.label("mnist", "gb", options) == "mnist gb, full boosting"
    assert models.label("mnist", "cnn", options) == "mnist cnn, 30 epochs"
    assert models.label("gtsrb", "cnn", options) == "gtsrb cnn, 30 epochs, by frame"
    assert (
        models.label(
            "a/b.npz", "rf", SimpleNamespace(full_boosting=True, epochs=30, rows=9, by_frame=False)
        )
        == "a_b.npz rf, 9 rows"
    )


def test_data_of_the_reader_are_run_where_they_are_and_named_where_not(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(data, "DATA", tmp_path)
    options = tables.parsed(["--models", "rf"])
    assert ("fashion", "rf") not in tables.asked(options)
    assert "fashion: left out, because" in capsys.readouterr().err
    images = np.zeros((5, 2, 2), dtype=np.uint8)
    np.savez(tmp_path / "fashion_mnist.npz", images=images, labels=np.arange(5))
    assert ("fashion", "rf") in tables.asked(options)
    assert not capsys.readouterr().err
    X, y, shape, _ = data.load("fashion")
    assert (X.shape, y.tolist(), shape) == ((5, 4), [0, 1, 2, 3, 4], (2, 2))
    assert published.TABLE_2["fashion", "rf"]["isotonic, one-vs-rest"] == 1.03


def test_simulated_features_have_few_dimensions_and_their_classes_lie_apart():
    for name, few in (("features", True), ("noise", False)):
        X, y = neighbors.simulated(name, 4000, 0)
        again, _ = neighbors.simulated(name, 4000, 1)
        assert X.dtype == np.float32
        assert not (again == X).any()
        variance = np.linalg.eigvalsh(np.cov(X.T))[::-1]
        assert (variance[:16].sum() > 0.8 * variance.sum()) == few
        index = cb.calibrators.ExactIndex().fit(X[:3000], y[:3000], neighbors.CLASSES)
        near = index.nearest(X[3000:], y[3000:])
        assert ((near.same < near.other).mean() > 0.5) == few


def test_measures_of_a_confidence():
    rng = np.random.default_rng(1)
    confidence = rng.random(500).round(2)
    right = (rng.random(500) < confidence).astype(float)
    two = np.column_stack([confidence, 1.0 - confidence])
    expected = expected_calibration_error((right == 0).astype(int), two, n_bins=15)
    own = np.maximum(confidence, 1.0 - confidence)
    agrees = np.where(confidence >= 0.5, right, 1.0 - right)
    assert measure.ece(own, agrees) == pytest.approx(float(expected), abs=1e-12)
    assert measure.aurc(np.array([0.9, 0.8, 0.8]), np.array([1.0, 1.0, 0.0])) == pytest.approx(
        (0 + 0.25 + 1 / 3) / 3
    )
