"""G23: folders, patterns, gates, --inputs, rows without a prediction and decimal commas work
wherever they make sense.
"""

import json

import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("pyarrow")

ASKED = ("--risk", "p", "--label", "y")


def rows():
    rng = np.random.default_rng(2)
    p = np.round(rng.uniform(0.05, 0.95, 400), 3)
    return list(
        zip(
            p.tolist(),
            (rng.random(400) < p).astype(int).tolist(),
            rng.choice(["a", "b"], 400).tolist(),
            strict=True,
        )
    )


def written(path, rows):
    path.write_text(
        "p,y,site\n" + "".join(f"{p},{y},{site}\n" for p, y, site in rows), encoding="utf-8"
    )


@pytest.fixture
def log(tmp_path):
    """The same rows as one file and as a folder of two."""
    found = rows()
    written(tmp_path / "log.csv", found)
    (tmp_path / "logs").mkdir()
    written(tmp_path / "logs" / "1.csv", found[:150])
    written(tmp_path / "logs" / "2.csv", found[150:])
    return found


def losses(run, name, *arguments):
    told = json.loads(run("evaluate", name, *(arguments or ASKED), "--json").stdout)
    return {row["key"]: row["before"]["value"] for row in told["metrics"]}


def test_g23_fit_and_apply_take_folders(log, run, tmp_path):
    for name, out in (("log.csv", "whole"), ("logs", "parts")):
        run("fit", name, *ASKED, "--method", "platt", "-o", f"{out}.calibrant")
        run("apply", f"{out}.calibrant", name, "--risk", "p", "-o", f"{out}.csv")
    assert (tmp_path / "whole.csv").read_text(encoding="utf-8") == (
        tmp_path / "parts.csv"
    ).read_text(encoding="utf-8")


def test_g23_report_takes_patterns(log, run, tmp_path):
    run("report", "logs/*.csv", *ASKED, "--method", "platt", "-o", "parts.json")
    run("report", "log.csv", *ASKED, "--method", "platt", "-o", "whole.json")
    parts, whole = (
        json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))
        for name in ("parts", "whole")
    )
    assert parts["metrics"] == whole["metrics"]


def test_g23_evaluate_has_gates(log, run):
    assert (
        "Failed: log loss is"
        in run("evaluate", "log.csv", *ASKED, "--fail-if", "log_loss>0.1", code=3).stderr
    )
    run("evaluate", "log.csv", *ASKED, "--fail-if", "log_loss>10")


def test_g23_slices_take_inputs(log, run, tmp_path):
    written(tmp_path / "percent.csv", [(round(p * 100, 1), y, site) for p, y, site in log])
    told = [
        json.loads(run("evaluate", name, *ASKED, "--by", "site", "--json", *more).stdout)["slices"]
        for name, more in (("log.csv", ()), ("percent.csv", ("--inputs", "percent")))
    ]
    assert len(told[0]) == len(told[1]) == 2
    for one, other in zip(*told, strict=True):
        assert one.pop("site") == other.pop("site")
        assert one == pytest.approx(other, abs=1e-9)


def test_g23_rows_without_a_prediction_are_offered_to_be_skipped(log, run, tmp_path):
    written(tmp_path / "holes.csv", [("", 1, "a"), *log, ("", 0, "b")])
    said = run("evaluate", "holes.csv", *ASKED, code=1).stderr
    assert "row 0 is missing (2 in all)" in said
    assert "--skip-missing" in said
    assert losses(run, "holes.csv", *ASKED, "--skip-missing") == losses(run, "log.csv")


@pytest.mark.parametrize("mark", [";", "\t"])
def test_g23_decimal_commas_are_read_and_written(mark, log, run, tmp_path):
    lines = [
        mark.join(("p", "y", "site")),
        *(mark.join((str(p).replace(".", ","), str(y), site)) for p, y, site in log),
    ]
    (tmp_path / "european.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert losses(run, "european.csv") == losses(run, "log.csv")
    run("fit", "log.csv", *ASKED, "--method", "platt")
    for name in ("log", "european"):
        run("apply", "model.calibrant", f"{name}.csv", "--risk", "p", "-o", f"{name}_out.csv")
    plain, european = (
        (tmp_path / f"{name}_out.csv").read_text(encoding="utf-8") for name in ("log", "european")
    )
    assert european.replace(",", ".").replace(mark, ",") == plain
