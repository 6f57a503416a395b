"""The driver of CalArena's format: its scores by hand and beside the numbers of its own code,
and a small stand-in of its files.
"""

import csv

import numpy as np
import pytest
from benchmarks.arena import calarena
from benchmarks.arena.calibrators import Method

import calibrant as cb
from calibrant import metrics


def stored(n_classes, seed=0):
    """(dataset, model, arrays) as CalArena keeps them: float32, two classes as the probability
    of the second.
    """
    rng = np.random.default_rng(seed)
    for model in ("one", "two"):
        P = rng.dirichlet(np.ones(n_classes), 400)
        y = (rng.random((400, 1)) > P.cumsum(axis=1)).sum(axis=1).astype(np.int32)
        said = P**3 / (P**3).sum(axis=1, keepdims=True)
        said = (said[:, 1] if n_classes == 2 else said).astype(np.float32)
        yield (
            "set",
            model,
            {
                "probas_cal": said[:200],
                "labels_cal": y[:200],
                "probas_test": said[200:],
                "labels_test": y[200:],
            },
        )


def test_its_scores_by_hand():
    Q, y = np.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8], [1.0, 0.0]]), np.array([0, 1, 0, 1])
    found = calarena.scored(Q, y, binary=True)
    assert list(found) == ["brier", "logloss", "kuiper", "ece-15", "accuracy"]
    assert found["brier"] == pytest.approx(2 * (0.1**2 + 0.4**2 + 0.8**2 + 1.0) / 4)
    assert found["logloss"] == pytest.approx(
        -(np.log(0.9) + np.log(0.6) + np.log(0.2) + np.log(np.finfo(np.float32).tiny)) / 4, rel=1e-6
    )
    # From the least probable: 1, .9, 1.3, .5 quarters.
    assert found["kuiper"] == pytest.approx(1.3 / 4)
    assert found["ece-15"] == pytest.approx((1.0 + 0.1 + 0.4 + 0.8) / 4, abs=1e-6)
    assert found["accuracy"] == 0.5


@pytest.mark.parametrize("n_classes", [2, 4])
def test_its_scores_are_ours_where_the_definitions_are(n_classes):
    rng = np.random.default_rng(1)
    Q, y = rng.dirichlet(np.ones(n_classes), 500), rng.integers(0, n_classes, 500)
    found = calarena.scored(Q, y, binary=n_classes == 2)
    ece = (
        metrics.positive_class_calibration_error
        if n_classes == 2
        else metrics.expected_calibration_error
    )
    assert found["brier"] == pytest.approx(metrics.brier_score(y, Q))
    assert found["logloss"] == pytest.approx(metrics.log_loss(y, Q), rel=1e-6)
    assert found["ece-15"] == pytest.approx(ece(y, Q), abs=1e-6)


#: probmetrics 1.3 (torchmetrics 1.9) on the arrays of the next test: exact 0 and 1 among them, and
#: of four classes one without a row.
THEIRS = {
    2: {
        "brier": 0.7880772,
        "logloss": 2.1463327,
        "kuiper": 0.2024062,
        "ece-15": 0.3593402,
        "accuracy": 0.5133333,
    },
    4: {"brier": 1.0887066, "logloss": 3.2211344, "ece-15": 0.4172603, "accuracy": 0.2366667},
}


@pytest.mark.parametrize("n_classes", [2, 4])
def test_its_scores_are_those_of_its_own_code(n_classes):
    rng = np.random.default_rng(7)
    Q, y = (
        rng.dirichlet(np.full(n_classes, 0.3), 300).astype(np.float32),
        rng.integers(0, 2 if n_classes == 2 else 3, 300),
    )
    Q[:3], y[:3] = np.eye(n_classes)[[0, 1, 1]], [0, 1, 0]
    assert calarena.scored(Q.astype(float), y, n_classes == 2) == pytest.approx(
        THEIRS[n_classes], abs=1e-6
    )


def test_a_class_that_the_labels_lack_is_left_out_of_its_calibration_error():
    Q, y = np.array([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1]]), np.array([0, 1])
    assert calarena.top_or_event_error(Q, y) == pytest.approx((0.3 / 0.9 + 1 - 0.7 / 0.9) / 2)


@pytest.mark.parametrize(("n_classes", "columns"), [(2, 10), (3, 10)])
def test_a_row_of_results_has_its_columns(n_classes, columns):
    method = Method("TemperatureScaling", cb.TemperatureScaling)
    rows = list(calarena.run_method(method, stored(n_classes), n_classes == 2))
    assert [row["model"] for row in rows] == ["one", "two"]
    assert len(rows[0]) == columns
    assert {"TemperatureScaling_logloss", "TemperatureScaling_time"} < set(rows[0])
    assert ("n_classes" in rows[0]) == (n_classes == 3)
    base = list(
        calarena.run_method(
            Method("Identity", cb.calibrators.Identity), stored(n_classes), n_classes == 2
        )
    )
    assert all(
        a["TemperatureScaling_logloss"] < b["Identity_logloss"]
        for a, b in zip(rows, base, strict=True)
    )


def test_a_method_that_fails_leaves_the_probabilities_and_says_so(capsys):
    class Broken:
        def fit(self, P, y):
            raise RuntimeError("no")

    row = next(calarena.run_method(Method("Broken", Broken), stored(2), True))
    same = next(calarena.run_method(Method("Identity", cb.calibrators.Identity), stored(2), True))
    assert row["Broken_brier"] == pytest.approx(same["Identity_brier"], rel=1e-6)
    assert "RuntimeError: no" in capsys.readouterr().err


def test_from_its_files_to_its_results(tmp_path, monkeypatch):
    h5py = pytest.importorskip("h5py", reason="CalArena's arrays are HDF5")
    with h5py.File(tmp_path / "small-binary.h5", "w") as h5:
        for dataset, model, arrays in stored(2):
            for name, values in arrays.items():
                h5.create_dataset(f"{dataset}/{model}/{name}", data=values, compression="gzip")
    (tmp_path / "small-binary-experiments.csv").write_text(
        "dataset,model,cal_size,test_size\nset,two,200,200\nset,one,200,200\n", encoding="utf-8"
    )
    options = [
        "--benchmark",
        "small-binary",
        "--benchmarks_dir",
        str(tmp_path),
        "--results_dir",
        str(tmp_path / "results"),
    ]
    monkeypatch.setattr("sys.argv", ["calarena", *options, "--methods", "Identity"])
    calarena.main()
    with (tmp_path / "results" / "small-binary" / "Identity.csv").open(
        newline="", encoding="utf-8"
    ) as file:
        rows = list(csv.DictReader(file))
    assert [row["model"] for row in rows] == ["two", "one"]
    assert list(rows[0]) == [
        "dataset",
        "model",
        "cal_size",
        "test_size",
        "Identity_brier",
        "Identity_logloss",
        "Identity_kuiper",
        "Identity_ece-15",
        "Identity_accuracy",
        "Identity_time",
    ]


def test_its_win_rates_by_hand(tmp_path, monkeypatch, capsys):
    scores = {"A": (0.1, 0.2, 0.3), "B": (0.2, 0.1, 0.3), "C": (0.3, 0.4, 0.4), "D": ("", "", 0.0)}
    for k, (name, losses) in enumerate(scores.items()):
        folder = tmp_path / ("ours" if k == 0 else "theirs") / "cv-binary"
        folder.mkdir(parents=True, exist_ok=True)
        lines = [f"set,{j},{loss}" for j, loss in enumerate(losses)]
        (folder / f"{name}.csv").write_text(
            "\n".join([f"dataset,model,{name}_logloss", *lines, "more,0,0.5" if k else ""]),
            encoding="utf-8",
        )
    options = ["--benchmark", "CV-binary", "--report", "--results_dir", str(tmp_path / "ours")]
    monkeypatch.setattr("sys.argv", ["x", *options, "--beside", str(tmp_path / "theirs")])
    calarena.main()
    printed = [line.split() for line in capsys.readouterr().out.splitlines()]
    # A beats both, C and C; B C, both and C; a tie is no win, and D lacks scores.
    assert [(row[0], row[1]) for row in printed] == [("A", "0.667"), ("B", "0.667"), ("C", "0.000")]
    assert calarena.win_rates([tmp_path / "ours"], "cv-binary") == []
    low, high = calarena.win_rates([tmp_path / k for k in ("ours", "theirs")], "cv-binary")[0][2:]
    assert 0.5 <= low < 0.667 < high <= 1.0
