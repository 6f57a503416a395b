"""``calibrant audit``: what it prints, its JSON, its gate and what it refuses."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import calibrant as cb
from calibrant.cli.group import group


def _run(*arguments):
    return CliRunner().invoke(group, [str(one) for one in arguments])


@pytest.fixture
def table(tmp_path):
    """(path, frame): 20 points too little said of women of the south."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "p": rng.uniform(0.2, 0.6, 3000),
            "sex": rng.choice(["f", "m"], 3000),
            "south": rng.choice(["yes", "no", None], 3000),
        }
    )
    off = 0.2 * ((frame.sex == "f") & (frame.south == "yes"))
    frame["label"] = (rng.random(3000) < frame.p + off).astype(int)
    path = tmp_path / "log.parquet"
    frame.to_parquet(path)
    return path, frame


def test_it_prints_the_sentence_and_the_worst_groups(table):
    path, frame = table
    result = _run("audit", path, "--groups", "sex,south")
    assert result.exit_code == 0, result.output
    first, *rest = result.output.splitlines()
    assert first == cb.audit(frame.label, frame.p, frame[["sex", "south"]]).sentence
    assert any("sex f × south yes" in line and line.rstrip().endswith("off") for line in rest)


def test_its_json_is_that_of_python(table):
    path, frame = table
    found = json.loads(_run("audit", path, "--groups", "sex,south", "--json").output)
    expected = cb.audit(frame.label, frame.p, frame[["sex", "south"]]).to_dict()
    assert found == {"file": str(path), **expected}


@pytest.mark.parametrize(
    ("gate", "code"), [("group_gap>0.05", 3), ("groups_off>0", 3), ("group_gap>0.5", 0)]
)
def test_its_gate(table, gate, code):
    result = _run("audit", table[0], "--groups", "sex,south", "--fail-if", gate)
    assert result.exit_code == code
    assert ("Failed" in result.output) == (code == 3)


def test_forecasts_have_groups_too(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"mean": 0.0, "std": 1.0, "store": np.repeat(["a", "b"], 500)})
    frame["y"] = rng.normal(size=1000) + (frame.store == "b")
    frame.to_csv(tmp_path / "f.csv", index=False)
    assert "b × mean" in _run("audit", tmp_path / "f.csv", "--groups", "store").output


def test_what_it_refuses(table):
    path, _ = table
    assert "holds no 'age'" in _run("audit", path, "--groups", "sex,age").output
    assert _run("audit", path).exit_code == 2
    assert _run("audit", path, "--groups", "sex", "--fail-if", "after.group_gap>0").exit_code == 2
    assert "Traceback" not in _run("audit", path, "--groups", "label").output


def test_a_report_shows_the_groups_before_and_after_and_gates_on_them(table, tmp_path):
    path, _ = table
    out = tmp_path / "report"
    asked = "report", path, "--groups", "sex,south", "--method", "isotonic"
    result = _run(*asked, "-o", f"{out}.json", "--fail-if", "group_gap>0.05")
    assert result.exit_code == 3, result.output
    assert "Largest gap of a miscalibrated group before calibration" in result.output
    told = json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))["audit"]
    assert "sex f × south yes" in told["before"]["sentence"]
    assert told["after"]["n_groups"] == told["before"]["n_groups"] == 11
    for suffix in (".md", ".html"):
        assert _run(*asked, "-o", f"{out}{suffix}").exit_code == 0
        text = out.with_suffix(suffix).read_text(encoding="utf-8")
        assert told["after"]["sentence"] in text


def test_a_folder_is_a_table(table, tmp_path):
    path, frame = table
    (tmp_path / "parts").mkdir()
    for i, rows in enumerate((slice(0, 900), slice(900, None))):
        frame.iloc[rows].to_parquet(tmp_path / "parts" / f"{i}.parquet")
    one, other = (
        json.loads(_run("audit", name, "--groups", "sex,south", "--json").output)
        for name in (path, tmp_path / "parts")
    )
    assert one | {"file": ""} == other | {"file": ""}


def test_its_page_is_that_of_python(table, tmp_path):
    path, frame = table
    page, data = tmp_path / "page.html", tmp_path / "page.json"
    printed = _run("audit", path, "--groups", "sex,south", "-o", page)
    assert printed.exit_code == 0, printed.output
    assert printed.output.splitlines()[-1] == str(page)
    text = page.read_text("utf-8")
    assert "Groups are off" in text
    assert "sex f × south yes" in text
    assert _run("audit", path, "--groups", "sex,south", "-o", page).exit_code == 1
    assert _run("audit", path, "--groups", "sex", "-o", page, "--force").exit_code == 0
    assert _run("audit", path, "--groups", "sex,south", "-o", data, "--json").exit_code == 0
    found = cb.report(cb.audit(frame.label, frame.p, frame[["sex", "south"]])).to_dict()
    assert json.loads(data.read_text("utf-8")) == found
