"""H24: the unit of the one column that a calibrator was fitted on is stored with it, and every
command reads the column in it, or refuses another.
"""

import csv
import json

import numpy as np
import pytest

import calibrant as cb

pytest.importorskip("click")
pytest.importorskip("rich")
UNITS = {
    "probability": lambda p: p,
    "percent": lambda p: 100.0 * p,
    "log_probability": np.log,
    "logit": lambda p: np.log(p / (1.0 - p)),
}


@pytest.fixture
def rows(tmp_path):
    """Small risks (so that percents may be below 1) in a file for each unit."""
    rng = np.random.default_rng(4)
    p = rng.beta(1.0, 30.0, 300) + 1e-4
    y = (rng.random(300) < 2.0 * p).astype(int)
    y[:3] = 1
    for unit, convert in UNITS.items():
        for name in ("p_default", "risk"):
            with open(tmp_path / f"{unit}_{name}.csv", "w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows(
                    [(name, "label"), *zip(convert(p).tolist(), y.tolist(), strict=True)]
                )
    return p, y


def column(path, name):
    with open(path, newline="", encoding="utf-8") as file:
        return np.array([float(row[name]) for row in csv.DictReader(file)])


def numbers(text):
    return {row["key"]: row["after"]["value"] for row in json.loads(text)["metrics"]}


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", ["p_default", "risk"])
def test_h24_every_command_reads_the_unit_of_the_fit(name, unit, rows, run, tmp_path):
    p, y = rows
    file, named = f"{unit}_{name}.csv", ("--risk", name)
    run("fit", file, *named, "--inputs", unit, "--method", "platt", "-o", "m")
    fitted = cb.Platt().fit(p, y)
    run("apply", "m", file, *named, "-o", "out.csv")
    with open(tmp_path / "out.csv", newline="", encoding="utf-8") as opened:
        header = next(csv.reader(opened))
    added = name if unit == "probability" else "calibrated_risk" if name == "risk" else "risk"
    assert header == list(dict.fromkeys([name, "label", added]))
    np.testing.assert_allclose(column(tmp_path / "out.csv", added), fitted.predict(p), rtol=1e-4)
    if added != name:
        np.testing.assert_allclose(column(tmp_path / "out.csv", name), UNITS[unit](p))
    expected = cb.metrics.log_loss(y, fitted.predict(p))
    found = run("evaluate", file, *named, "--calibrator", "m", "--json").stdout
    assert numbers(found)["log_loss"] == pytest.approx(expected, rel=1e-4)
    run("report", file, *named, "--calibrator", "m", "-o", "r.json")
    found = (tmp_path / "r.json").read_text(encoding="utf-8")
    assert numbers(found)["log_loss"] == pytest.approx(expected, rel=1e-4)
    run("export", "m", "-o", "m.json")
    assert unit in run("export", "m", "-o", "m.c").stdout


@pytest.mark.parametrize("unit", UNITS)
def test_h24_a_usual_column_keeps_its_unit_too(unit, rows, run, tmp_path):
    p, y = rows
    run("fit", f"{unit}_risk.csv", "--inputs", unit, "--method", "platt", "-o", "m")
    run("apply", "m", f"{unit}_risk.csv", "-o", "out.csv")
    added = "risk" if unit == "probability" else "calibrated_risk"
    found = column(tmp_path / "out.csv", added)
    np.testing.assert_allclose(found, cb.Platt().fit(p, y).predict(p), rtol=1e-4)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("sets", [(), ("--sets",)], ids=["accept", "sets"])
def test_h24_a_rule_reads_the_unit_of_its_fit(sets, unit, rows, run, tmp_path):
    named = ("--risk", "p_default")
    asked = sets or ("--max-error", 0.3)
    run("decide", f"{unit}_p_default.csv", *named, "--inputs", unit, *asked, "-o", "rule")
    run("apply", "rule", f"{unit}_p_default.csv", *named, "-o", "out.csv")
    with open(tmp_path / "out.csv", newline="", encoding="utf-8") as file:
        found = [list(row.values())[-1] for row in csv.DictReader(file)]
    run("decide", "probability_p_default.csv", *named, *asked, "-o", "same")
    run("apply", "same", "probability_p_default.csv", *named, "-o", "same.csv")
    with open(tmp_path / "same.csv", newline="", encoding="utf-8") as file:
        assert found == [list(row.values())[-1] for row in csv.DictReader(file)]


@pytest.mark.parametrize("command", ["apply", "evaluate", "report"])
def test_h24_another_unit_is_refused(command, rows, run):
    named = ("--risk", "p_default")
    run("fit", "percent_p_default.csv", *named, "--inputs", "percent", "-o", "m")
    asked = {
        "apply": ("m", "probability_p_default.csv", "-o", "o.csv"),
        "evaluate": ("probability_p_default.csv", "--calibrator", "m"),
        "report": ("probability_p_default.csv", "--calibrator", "m", "-o", "o.json"),
    }[command]
    told = run(command, *asked, *named, "--inputs", "probability", code=2).stderr
    assert "was fitted on a column in percent" in told


def test_h24_small_percents_are_not_taken_for_fractions(rows, run, tmp_path):
    """The case of the finding: without --inputs, .9 % was calibrated as 90 %."""
    p, y = rows
    run("fit", "percent_risk.csv", "--inputs", "percent", "--method", "platt", "-o", "m")
    with open(tmp_path / "new.csv", "w", encoding="utf-8") as file:
        file.write("risk\n0.9\n0.5\n")
    run("apply", "m", "new.csv", "-o", "out.csv")
    with open(tmp_path / "out.csv", newline="", encoding="utf-8") as file:
        found = [max(map(float, list(row.values())[1:])) for row in csv.DictReader(file)]
    np.testing.assert_allclose(found, cb.Platt().fit(p, y).predict([0.009, 0.005]), rtol=1e-4)
