"""G20: 0_1 in a file is a text, not the number 1."""

import json

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")

RISKS = ["0_1", "0.2", "0.7", "0.9", "0.4", "0.1"]


def csv_of(risks):
    return "risk,label\n" + "".join(f"{risk},{i % 2}\n" for i, risk in enumerate(risks))


def lines_of(risks):
    return "".join(
        json.dumps({"risk": risk, "label": i % 2}) + "\n" for i, risk in enumerate(risks)
    )


@pytest.mark.parametrize(("name", "written"), [("log.csv", csv_of), ("log.jsonl", lines_of)])
def test_g20_an_underscore_is_no_part_of_a_number(name, written, run, tmp_path):
    (tmp_path / name).write_text(written(RISKS), encoding="utf-8")
    assert "'risk' must hold numbers; row 0 is '0_1'" in run("evaluate", name, code=1).stderr
    (tmp_path / name).write_text(written(["0.01", *RISKS[1:]]), encoding="utf-8")
    run("evaluate", name)
