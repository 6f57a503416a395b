"""Tables above a size are read in parts by themselves: the same numbers, to the error that is
stated, through the real command line.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import calibrant as cb
from calibrant.cli import tables
from calibrant.reporting.report import Report

pandas = pytest.importorskip("pandas")
pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

ROWS = 2000
#: What every number of cells may be off by, and intervals, which are drawn anew, beside it.
CELLS, DRAWN = 1e-4, 0.2
#: How far other folds may move a number, as a share of the width of its interval.
FOLDS = 0.25


@pytest.fixture
def large(monkeypatch):
    """Every table of the test is large, until ``large(False)``."""

    def switch(on=True):
        monkeypatch.setenv("CALIBRANT_STREAMED_ROWS", "1000" if on else "1000000")

    switch()
    return switch


def frame_of(K, seed=0):
    rng = np.random.default_rng(seed)
    z = 1.5 * rng.normal(size=(ROWS, K))
    P = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    label = (P.cumsum(axis=1) > rng.random((ROWS, 1))).argmax(axis=1)
    sure = P**1.5 / (P**1.5).sum(axis=1, keepdims=True)
    made = pandas.DataFrame(sure, columns=[f"p_{name}" for name in "abcde"[:K]])
    return made.assign(
        label=np.array(list("abcde"))[label],
        note=[f'row "{i}", é' for i in range(ROWS)],
        times=rng.integers(1, 4, ROWS),
    )


def risks(seed=0):
    rng = np.random.default_rng(seed)
    z = rng.normal(-1.0, 1.5, ROWS)
    happened = rng.random(ROWS) < 1.0 / (1.0 + np.exp(-z))
    return pandas.DataFrame(
        {"risk": 1.0 / (1.0 + np.exp(-1.4 * z)), "label": np.where(happened, "yes", "no")}
    )


def write(frame, path):
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_json(path, orient="records", lines=True)
    return path.name


def metrics_of(text):
    return {row["key"]: row for row in json.loads(text)["metrics"]}


def agree(ours, theirs, tolerance, when="before"):
    assert ours.keys() == theirs.keys()
    for key, row in ours.items():
        one, other = row[when], theirs[key][when]
        assert one["value"] == pytest.approx(other["value"], abs=tolerance), key
        if one["low"] is not None:
            wide = max(other["high"] - other["low"], 1e-3)
            assert (
                abs(one["low"] - other["low"]) + abs(one["high"] - other["high"])
                < DRAWN * wide + tolerance
            ), key


@pytest.mark.parametrize("kind", ["parquet", "csv", "jsonl"])
def test_evaluate_of_many_classes_is_exact_but_for_ranks(run, large, tmp_path, kind):
    name = write(frame_of(4), tmp_path / f"rows.{kind}")
    streamed = run("evaluate", name, "--json")
    large(False)
    whole = metrics_of(run("evaluate", name, "--json").stdout)
    ours = metrics_of(streamed.stdout)
    assert "read in parts" in streamed.stderr
    agree(
        {k: v for k, v in ours.items() if k != "aurc"},
        {k: v for k, v in whole.items() if k != "aurc"},
        CELLS,
    )
    for key in ("accuracy", "log_loss", "brier_score", "ece", "classwise_ece"):
        assert ours[key]["before"]["value"] == pytest.approx(
            whole[key]["before"]["value"], rel=1e-9
        )
    assert ours["aurc"]["before"]["value"] == pytest.approx(
        whole["aurc"]["before"]["value"], abs=CELLS
    )


@pytest.mark.parametrize("fitted", [False, True])
def test_changes_of_rankings_are_paired(run, large, tmp_path, fitted):
    """They are of a sample, here of all rows: intervals as narrow as those of the whole table."""
    name = write(frame_of(4), tmp_path / "rows.csv")
    options = ["--method", "temperature"]
    if fitted:
        other = write(frame_of(4, seed=1), tmp_path / "other.csv")
        run("fit", other, *options, "-o", "a.calibrant")
        options = ["--calibrator", "a.calibrant"]
    ours = metrics_of(run("evaluate", name, *options, "--json").stdout)
    large(False)
    whole = metrics_of(run("evaluate", name, *options, "--json").stdout)
    for key in ("confidence_auroc", "aurc"):
        one, other = ours[key]["change"], whole[key]["change"]
        assert one["method"] == other["method"]
        assert one["value"] == pytest.approx(other["value"], abs=5e-4)
        width = other["high"] - other["low"]
        assert one["high"] - one["low"] == pytest.approx(width, rel=0.25, abs=1e-4)


@pytest.mark.parametrize("kind", ["csv"])
def test_evaluate_of_an_event(run, large, tmp_path, kind):
    name = write(risks(), tmp_path / f"rows.{kind}")
    ours = metrics_of(run("evaluate", name, "--json").stdout)
    large(False)
    agree(ours, metrics_of(run("evaluate", name, "--json").stdout), 5e-4)


def test_weights_are_rows(run, large, tmp_path):
    weighted = frame_of(3)
    name = write(weighted, tmp_path / "weighted.parquet")
    again = write(
        weighted.loc[weighted.index.repeat(weighted["times"])], tmp_path / "again.parquet"
    )
    ours, theirs = (
        json.loads(run("evaluate", *one, "--json").stdout)
        for one in ((name, "--weight", "times"), (again,))
    )
    assert ours["data"]["n"] == theirs["data"]["n"] == theirs["data"]["rows"]
    assert ours["data"]["rows"] == ROWS
    assert ours["metrics"][1]["before"]["value"] == pytest.approx(
        theirs["metrics"][1]["before"]["value"], rel=1e-9
    )


@pytest.mark.parametrize(
    ("frame", "method"),
    [(frame_of(3), "temperature"), (risks(), "platt")],
    ids=["classes", "event"],
)
def test_report_says_the_same_of_a_calibration(run, large, tmp_path, frame, method):
    name = write(frame, tmp_path / "rows.parquet")
    run("report", name, "--method", method, "-o", "streamed.json")
    large(False)
    run("report", name, "--method", method, "-o", "whole.json")
    ours, theirs = (
        json.loads((tmp_path / f"{one}.json").read_text(encoding="utf-8"))
        for one in ("streamed", "whole")
    )
    assert ours["verdict"]["model"] == theirs["verdict"]["model"]
    assert ours["calibrator"]["evaluation"] == "out-of-fold"
    # Folds are dealt otherwise, so that the fits are of other rows: the losses differ by much less
    # than their intervals are wide.
    for one, other in zip(ours["metrics"], theirs["metrics"], strict=True):
        if one["after"] is not None and one["key"] in (
            "log_loss",
            "brier_score",
            "event_brier_score",
        ):
            wide = other["after"]["high"] - other["after"]["low"]
            assert abs(one["after"]["value"] - other["after"]["value"]) < FOLDS * wide
            assert abs(one["change"]["value"] - other["change"]["value"]) < FOLDS * (
                other["change"]["high"] - other["change"]["low"]
            )
    assert any("read in parts" in caution for caution in ours["cautions"])
    assert "read in parts" in Report(ours).to_html()


def test_the_report_does_not_depend_on_the_engine_or_on_threads(run, large, tmp_path, monkeypatch):
    name = write(frame_of(3), tmp_path / "rows.parquet")
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("CALIBRANT_THREADS", threads)
        found.append(metrics_of(run("evaluate", name, "--method", "temperature", "--json").stdout))
    for key, row in found[0].items():
        assert row["after"]["value"] == pytest.approx(found[1][key]["after"]["value"], rel=1e-9)


@pytest.mark.parametrize("method", ["platt", "temperature"])
def test_fit_of_two_classes(run, large, tmp_path, method):
    name = write(risks(), tmp_path / "rows.csv")
    said = run("fit", name, "--method", method, "-o", "streamed.calibrant").output
    assert ("in cells" if method == "platt" else "sample of 2,000 of 2,000 rows") in said
    large(False)
    run("fit", name, "--method", method, "-o", "whole.calibrant")
    ours, theirs = (cb.load(tmp_path / f"{one}.calibrant") for one in ("streamed", "whole"))
    p = np.linspace(0.001, 0.999, 200)
    assert ours.classes_.tolist() == theirs.classes_.tolist()
    assert ours.predict_proba(p) == pytest.approx(theirs.predict_proba(p), abs=CELLS)


@pytest.mark.parametrize("kind", ["parquet", "csv", "jsonl"])
def test_apply_writes_the_same_bytes(run, large, tmp_path, kind):
    name = write(frame_of(3), tmp_path / f"rows.{kind}")
    run("fit", name, "--method", "vector", "-o", "cal.calibrant")
    run("apply", "cal.calibrant", name, "-o", f"streamed.{kind}")
    large(False)
    run("apply", "cal.calibrant", name, "-o", f"whole.{kind}")
    if kind == "parquet":
        assert pyarrow.parquet.read_table(tmp_path / "streamed.parquet").equals(
            pyarrow.parquet.read_table(tmp_path / "whole.parquet")
        )
    else:
        assert (tmp_path / f"streamed.{kind}").read_bytes() == (
            tmp_path / f"whole.{kind}"
        ).read_bytes()


def test_apply_in_several_parts(run, large, tmp_path, monkeypatch):
    monkeypatch.setattr("calibrant.tables.texts.PART_CELLS", 2000)
    frame = frame_of(3)
    for kind in ("csv", "parquet"):
        name = write(frame, tmp_path / f"rows.{kind}")
        run("fit", name, "--method", "temperature", "-o", "cal.calibrant", "--force")
        run("apply", "cal.calibrant", name, "-o", f"out.{kind}")
        read = pandas.read_csv if kind == "csv" else pandas.read_parquet
        assert read(tmp_path / f"out.{kind}")["note"].tolist() == frame["note"].tolist()
    bad = frame.assign(p_a=frame["p_a"].astype(object))
    bad.loc[1500, "p_a"] = "none"
    name = write(bad, tmp_path / "bad.csv")
    failed = run("apply", "cal.calibrant", name, "-o", "never.csv", code=1)
    assert "row 1500 is 'none'" in failed.output  # a row of the file, not of its part
    assert not (tmp_path / "never.csv").exists()


def test_what_needs_rows_is_of_a_sample_and_says_so(run, large, tmp_path):
    frame = frame_of(3).assign(group=np.arange(ROWS) % 2, visit=np.arange(ROWS) // 4)
    name = write(frame, tmp_path / "rows.parquet")
    said = run("report", name, "--method", "temperature", "--groups", "group", "-o", "groups.json")
    assert "seeded sample" in said.stderr
    found = json.loads((tmp_path / "groups.json").read_text(encoding="utf-8"))
    assert "seeded sample" in found["data"]["read"]
    assert 900 < found["data"]["rows"] < 1100
    run("report", name, "--method", "temperature", "--cluster", "visit", "-o", "clusters.json")
    clusters = json.loads((tmp_path / "clusters.json").read_text(encoding="utf-8"))["data"]
    assert clusters["rows"] == 4 * clusters["clusters"], "clusters are drawn whole"


@pytest.mark.parametrize("folder", [False, True])
def test_every_row_is_checked_where_a_sample_is_read(run, large, monkeypatch, tmp_path, folder):
    """A row outside the sample is refused with the words of the whole table."""
    monkeypatch.setenv("CALIBRANT_STREAMED_ROWS", "100")
    frame = pandas.DataFrame({"p": [0.2, 0.7, 0.9, 0.4] * 100, "label": [0, 1, 1, 0] * 100})
    frame = frame.assign(w=1, who=[f"P{i // 4}" for i in range(400)], day="2026-01-01")
    bad = {"p": 1.5, "label": 2, "w": -1, "who": None, "day": "soon"}
    for column, value in bad.items():
        doubtful = frame.astype({column: object})
        doubtful.loc[333, column] = value
        place = tmp_path / (column if folder else f"{column}.csv")
        place.mkdir() if folder else None
        for i, part in enumerate((doubtful[:100], doubtful[100:]) if folder else (doubtful,)):
            part.to_csv(place / f"{i}.csv" if folder else place, index=False)
        options = ["evaluate", place.name, "--cluster", "who", "--weight", "w"]
        if column == "day":
            options = ["report", place.name, "--time", "day"]
        ours = run(*options, code=1).stderr
        with monkeypatch.context() as patch:
            patch.setenv("CALIBRANT_STREAMED_ROWS", "1000000")
            whole = run(*options, code=1).stderr
        # Some counts are of the part that has the row.
        words = ours[ours.index("Error") :].replace("in its part of the table", "in all")
        assert re.sub("1 of [0-9]+", "1 of 400", words) == whole[whole.index("Error") :]


def test_rows_without_a_value_are_counted_where_a_sample_is_read(run, large, tmp_path):
    frame = risks()
    frame["who"] = [f"P{i // 4}" for i in range(ROWS)]
    frame.loc[[3, 1999], "risk"] = None
    name = write(frame, tmp_path / "rows.csv")
    assert "row 3 is missing" in run("evaluate", name, "--cluster", "who", code=1).stderr
    left = run("evaluate", name, "--cluster", "who", "--skip-missing").stderr
    assert "2 of 2,000 rows are left out" in left


def test_labels_that_come_late_are_known(run, large, tmp_path):
    frame = risks().sort_values("label")
    name = write(frame, tmp_path / "rows.csv")
    assert json.loads(run("evaluate", name, "--json").stdout)["data"]["classes"] == ["no", "yes"]
    wrong = frame.replace({"label": {"yes": "maybe"}})
    assert (
        "--positive"
        in run("evaluate", write(wrong, tmp_path / "wrong.csv"), "--json", code=1).output
    )


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no SIGINT to one process")
def test_labels_of_one_number_stay_apart(run, large, tmp_path):
    """The label 01 is no event where 1 is, as in a small table."""
    frame = risks()
    no = np.where(np.arange(ROWS) % 2 == 0, "01", "0")
    frame.assign(label=np.where(frame.label == "yes", "1", no)).to_csv(
        tmp_path / "t.csv", index=False
    )
    asked = ("evaluate", tmp_path / "t.csv", "--positive", "1", "--json")
    parts = metrics_of(run(*asked).stdout)
    large(False)
    agree(parts, metrics_of(run(*asked).stdout), CELLS)


def test_interrupted_runs_leave_nothing_behind(large, tmp_path):
    frame = pandas.concat([frame_of(3)] * 60)
    write(frame, tmp_path / "rows.csv")
    cb.TemperatureScaling(classes=list("abc")).fit(
        frame.iloc[:500, :3].to_numpy(), frame["label"].iloc[:500]
    ).save(tmp_path / "cal.calibrant")
    (tmp_path / "out.csv").write_text("as it was", encoding="utf-8")
    command = [
        sys.executable,
        "-c",
        INTERRUPTED,
        "apply",
        "cal.calibrant",
        "rows.csv",
        "-o",
        "out.csv",
        "--force",
    ]
    running = subprocess.Popen(
        command,
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    for _ in range(600):
        if any(path.name.endswith(".part") for path in tmp_path.iterdir()):
            break
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    error = running.communicate(timeout=60)[1]
    assert running.returncode == 130
    assert "Interrupted." in error
    assert (tmp_path / "out.csv").read_text(encoding="utf-8") == "as it was"
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "cal.calibrant",
        "out.csv",
        "rows.csv",
    ]


#: The command with a pause after each part, so that it can be interrupted.
INTERRUPTED = """
import sys, time
from calibrant.tables import sources, texts
from calibrant.cli.main import main
texts.PART_CELLS = 20_000
one = sources.CsvSource.parts.__func__
def slowly(cls, *given):
    for part in one(cls, *given):
        yield part
        time.sleep(0.2)
sources.CsvSource.parts = classmethod(slowly)
main(sys.argv[1:])
"""


def test_nothing_of_a_bar_is_written_where_no_terminal_is(run, large, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "SHORT", 0.0)
    name = write(frame_of(3), tmp_path / "rows.parquet")
    assert (
        run("evaluate", name).stderr
        == f"{name} has 2,000 rows: it is read in parts, and sums are added up.\n"
    )


def test_a_wrong_size_is_refused(run, monkeypatch, tmp_path):
    monkeypatch.setenv("CALIBRANT_STREAMED_ROWS", "many")
    name = write(risks(), tmp_path / "rows.csv")
    assert "CALIBRANT_STREAMED_ROWS" in run("evaluate", name, code=1).output
