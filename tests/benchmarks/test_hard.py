"""The tables on laws that do not flatter: what is kept of the first revision, and what the doors
print.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.hard import tables

KEPT = json.loads(
    (Path(tables.__file__).parent / f"before_{tables.BEFORE}.json").read_text(encoding="utf-8")
)


def test_every_table_is_kept_as_it_was_before():
    assert list(KEPT) == list(tables.TABLES)
    assert all(line[2] >= 400 for found in KEPT.values() for line in found.values())
    # G4: true risks beside 1.5 times sharper ones were called worse; the bootstrap moved with names
    # (G7).
    assert KEPT["paired"]["sharp, 1.5 x sharper, n = 50: called better"][0] > 0.3
    assert KEPT["order"]["bootstrap: the names of clusters move a limit"][0] == 1.0


def test_a_table_has_a_value_before_for_every_law(tmp_path, capsys):
    assert (
        tables.main(
            ["--hard", "--only", "separated", "--repeats", "2", "-o", str(tmp_path / "now.json")]
        )
        == 0
    )
    found = json.loads((tmp_path / "now.json").read_text(encoding="utf-8"))["separated"]
    assert list(found) == list(KEPT["separated"])
    assert [line[0] for line in found.values()] == [1.0, 1.0]
    assert "0.000    1.000   1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("module", "table"),
    [("metrics.coverage", "separated"), ("metrics.paired", "paired"), ("groups.audit", "order")],
)
def test_three_commands_are_doors_to_the_tables(module, table):
    command = [
        sys.executable,
        "-m",
        f"benchmarks.{module}",
        "--hard",
        "--only",
        table,
        "--repeats",
        "1",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert all(law in done.stdout for law in KEPT[table])


#: What falls short still, by 2.5 standard errors of 400 samples or more; of the coverage by chance
#: (.943 of 6,000 samples).
SHORT = {
    "nll, std unrelated to errors, n = 60: holds",
    "nll, skewed errors, n = 60: holds",
    "coverage, skewed errors, n = 200: holds",
    "calibration_slope, one row in twenty says .97, truly .55, n = 100: holds",
}


def test_what_falls_short_is_named():
    """Run again what is kept of now:
    ``python -m benchmarks.hard --alone -o benchmarks/hard/after.json``.
    """
    after = json.loads((Path(tables.__file__).parent / "after.json").read_text(encoding="utf-8"))
    assert list(after) == list(KEPT)
    # What is new since has nothing before it.
    assert all(set(KEPT[name]) <= set(found) for name, found in after.items())
    limits = {
        ".95": lambda v: v < 0.92,
        "at most .05": lambda v: v > 0.08,
        "at most .025": lambda v: v > 0.05,
        "0": lambda v: v > 0,
    }
    found = {
        law
        for table in after.values()
        for law, (v, w, _) in table.items()
        if w in limits and limits[w](v)
    }
    assert found == SHORT
