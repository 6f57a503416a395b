"""Tables of every kind by every command: costs, clusters, confidences, and rows without a
prediction.
"""

import csv
import json

import numpy as np
import pytest

import calibrant as cb

pytest.importorskip("click")
pytest.importorskip("rich")


@pytest.fixture
def log(tmp_path):
    rng = np.random.default_rng(4)
    p = np.round(rng.uniform(0.05, 0.95, 200), 3)
    y = (rng.random(200) < p).astype(int)
    lines = [
        f"{a},{b},{c},{'x' if b else 'z'}\n"
        for a, b, c in zip(p, y, np.arange(200) // 4, strict=True)
    ]
    (tmp_path / "log.csv").write_text("p,y,patient,answer\n" + "".join(lines), encoding="utf-8")
    return p, y


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_costs_set_the_threshold_of_the_report(log, run, tmp_path):
    asked = "report", "log.csv", "--method", "platt", "-o", "r.json"
    assert "need each other" in run(*asked, "--cost-false-positive", "1", code=2).stderr
    run(*asked, "--cost-false-positive", "1", "--cost-false-negative", "4")
    p, y = log
    want = cb.report(
        y,
        p,
        calibrator=cb.Platt(),
        cost_false_positive=1.0,
        cost_false_negative=4.0,
        title="log.csv",
    ).to_dict()
    assert (
        json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["thresholds"]
        == want["thresholds"]
    )


def test_fit_takes_clusters(log, run, tmp_path):
    run("fit", "log.csv", "--cluster", "patient")
    p, y = log
    want = cb.AutoCalibrator().fit(p, y, cluster=(np.arange(200) // 4).astype(str)).predict_proba(p)
    np.testing.assert_allclose(cb.load(tmp_path / "model.calibrant").predict_proba(p), want)


def test_a_confidence_is_right_where_the_answer_is_the_label(log, run):
    told = [
        json.loads(run("evaluate", "log.csv", "--confidence", "p", *asked, "--json").stdout)[
            "metrics"
        ]
        for asked in (("--label", "y"), ("--label", "truth", "--predicted", "answer"))
        if asked[1] == "y" or _with_truth(run)
    ]
    assert told[0] == told[1]


def _with_truth(run):
    """Add the column of the true answer, which is always x."""
    rows = rows_of("log.csv")
    with open("log.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0], "truth"])
        writer.writeheader()
        writer.writerows({**row, "truth": "x"} for row in rows)
    return True


def test_apply_keeps_rows_without_a_prediction(log, run, tmp_path):
    text = (tmp_path / "log.csv").read_text(encoding="utf-8")
    (tmp_path / "holes.csv").write_text(f"{text},1,7,x\n", encoding="utf-8")
    run("fit", "log.csv", "--method", "platt")
    asked = "apply", "model.calibrant", "holes.csv", "--risk", "p", "-o", "out.csv"
    assert "--skip-missing" in run(*asked, code=1).stderr
    assert (
        "200 rows calibrated; 1 rows without a prediction have no result"
        in run(*asked, "--skip-missing").stdout
    )
    out = rows_of(tmp_path / "out.csv")
    assert len(out) == 201
    assert out[-1] == {"p": "", "y": "1", "patient": "7", "answer": "x"}
    run("apply", "model.calibrant", "log.csv", "--risk", "p", "-o", "whole.csv")
    assert out[:-1] == rows_of(tmp_path / "whole.csv")


def test_files_of_one_table_are_alike(log, run, tmp_path):
    (tmp_path / "logs").mkdir()
    text = (tmp_path / "log.csv").read_text(encoding="utf-8")
    (tmp_path / "logs" / "1.csv").write_text(text, encoding="utf-8")
    (tmp_path / "logs" / "2.csv").write_text("p,z\n0.5,1\n", encoding="utf-8")
    assert "2.csv must have the columns of" in run("evaluate", "logs", code=1).stderr
    (tmp_path / "logs" / "2.csv").unlink()
    np.savez(tmp_path / "logs" / "2.npz", probabilities=log[0], labels=log[1])
    assert "must all be CSV, Parquet or JSON lines" in run("evaluate", "logs", code=1).stderr
    (tmp_path / "empty").mkdir()
    assert "it has none" in run("evaluate", "empty", code=1).stderr
