"""Tables of every kind by every command: costs, clusters, confidences, and rows without a
prediction.
"""

import csv
import importlib
import json
import os

import numpy as np
import pytest

import calibrant as cb
from calibrant.cli.group import COMMANDS, WANTED

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
    assert "2.csv has no labels yet and is left out" in run("evaluate", "logs").stderr
    (tmp_path / "logs" / "2.csv").write_text("z,y\n0.5,1\n", encoding="utf-8")
    assert "2.csv must have the columns of" in run("evaluate", "logs", code=1).stderr
    (tmp_path / "logs" / "2.csv").unlink()
    np.savez(tmp_path / "logs" / "2.npz", probabilities=log[0], labels=log[1])
    assert "must all be CSV, Parquet or JSON lines" in run("evaluate", "logs", code=1).stderr
    (tmp_path / "empty").mkdir()
    assert "it has none" in run("evaluate", "empty", code=1).stderr


def test_thousands_of_a_european_table(run, tmp_path):
    rng = np.random.default_rng(7)
    rows = [
        (round(float(p), 4), int(rng.random() < p), round(float(rng.uniform(1, 9e6)), 2))
        for p in rng.uniform(0.05, 0.95, 120)
    ]
    plain = "\n".join(f"{p},{y},{income}" for p, y, income in rows)
    points = str.maketrans(",.", ".,")
    european = "\n".join(
        ";".join((f"{p}".translate(points), str(y), f"{income:,}".translate(points)))
        for p, y, income in rows
    )
    (tmp_path / "plain.csv").write_text(f"p,y,income\n{plain}\n", encoding="utf-8")
    (tmp_path / "european.csv").write_text(f"p;y;income\n{european}\n", encoding="utf-8")
    asked = "--risk", "p", "--label", "y", "--groups", "income", "--json"
    told = [
        {**json.loads(run("audit", name, *asked).stdout), "file": ""}
        for name in ("plain.csv", "european.csv")
    ]
    assert told[0] == told[1]
    assert len(told[0]["groups"]) == 5


def test_no_word_is_cut_in_eighty_columns(log, run, tmp_path, monkeypatch):
    """As on a terminal: every line fits, and every word of the wide log is there."""
    tables = importlib.import_module("calibrant.cli.tables")
    asked = "--risk", "p", "--label", "y"
    commands = [
        ("evaluate", "log.csv", *asked, "--method", "platt"),
        ("evaluate", "log.csv", *asked, "--by", "answer"),
        ("audit", "log.csv", *asked, "--groups", "patient,answer"),
    ]
    for command in commands:
        monkeypatch.setattr(tables, "width", lambda: 1000)
        wide = run(*command).stdout.split()
        monkeypatch.setattr(tables, "width", lambda: 80)
        narrow = run(*command).stdout
        sentences = (".", ":", ";", ")")  # which the terminal's own width breaks
        assert all(len(line) <= 80 for line in narrow.splitlines() if not line.endswith(sentences))
        assert sorted(narrow.split()) == sorted(wide)


def test_sentences_continue_below_at_a_blank_on_a_terminal(capsys, monkeypatch):
    wording = importlib.import_module("calibrant.cli.wording")
    text = "The risks are too high: " + "word " * 30
    wording.say(text)
    assert capsys.readouterr().out == f"{text}\n"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr(wording, "get_terminal_size", lambda: os.terminal_size((80, 24)))
    wording.say(f'{text}\n {{"json": "{text}"}}')
    *lines, last = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert max(map(len, lines)) <= 80
    assert " ".join(lines).split() == text.split()
    assert last == f' {{"json": "{text}"}}'


def test_a_report_says_its_answer_and_its_path(log, run):
    told = run("report", "log.csv", "--risk", "p", "--label", "y", "--method", "platt").stdout
    page = run(
        "report", "log.csv", "--risk", "p", "--label", "y", "--method", "platt", "-o", "r.json"
    )
    assert page.exit_code == 0
    with open("r.json", encoding="utf-8") as file:
        verdict = json.load(file)["verdict"]
    lines = told.splitlines()
    assert lines[0] == verdict["state"].capitalize()
    assert lines[1] == verdict["sentence"]
    assert lines[2] == f"→ {verdict['action']}"
    assert lines[-1] == "report.html"


def test_the_help_groups_the_commands_by_what_a_person_wants(run):
    text = run("--help").stdout
    listed = [name for names in WANTED.values() for name in names]
    assert sorted(listed) == sorted(COMMANDS)
    places = [text.index(f"\n{wanted}:\n") for wanted in WANTED]
    assert places == sorted(places)
    for wanted, names in WANTED.items():
        part = text.partition(f"\n{wanted}:\n")[2].partition("\n\n")[0]
        assert [line.split()[0] for line in part.splitlines()] == list(names)
