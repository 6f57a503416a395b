"""The benchmark of tables of any size: costs of processes, equal numbers, small runs."""

import json
import sys

import pytest

pytest.importorskip("polars")
pytest.importorskip("duckdb")

from benchmarks.scale import __main__ as command
from benchmarks.scale import cells, parts

GRANDCHILD = """
import subprocess, sys
burn = "import time\\nwhile time.process_time() < 0.4: pass"
subprocess.run([sys.executable, "-c", burn], check=True)
held = bytearray(b"x") * 100_000_000
print("done")
"""


def test_a_cost_counts_all_processes_and_the_peak():
    cost = cells.cost([sys.executable, "-c", GRANDCHILD])
    assert cost.cpu_s >= 0.4
    assert cost.peak_mib > 95.0
    assert cost.text == "done\n"


def test_a_failure_is_an_error():
    with pytest.raises(RuntimeError, match="no such thing"):
        cells.cost([sys.executable, "-c", "raise SystemExit('no such thing')"])


def test_other_numbers_are_an_error():
    ours = {"log_loss": 0.5, "brier_score": 0.2, "ece": 0.01}
    parts._compare(ours, {**ours, "ece": 0.01 + 1e-8})
    with pytest.raises(RuntimeError, match="log_loss"):
        parts._compare(ours, {**ours, "log_loss": 0.5 + 1e-8})


@pytest.mark.skipif(sys.platform != "linux", reason="peaks of memory are in other units")
def test_a_small_run_prints_and_stores_each_row(monkeypatch, tmp_path, capsys):
    file = tmp_path / "measured.json"
    file.write_text(json.dumps({"fit": "as it was"}), encoding="utf-8")
    monkeypatch.setattr(command, "STORED", file)
    monkeypatch.setattr(parts, "KINDS", ("csv",))
    monkeypatch.setattr(parts, "SLICES", (50,))
    run = ["--only", "slices", "apply", "--rows", "3000", "--repeats", "1", "--store"]
    assert command.main(run) == 0
    printed = capsys.readouterr().out
    stored = json.loads(file.read_text(encoding="utf-8"))
    assert stored["fit"] == "as it was"
    assert {row["peer"] for row in stored["slices"]} == {"DuckDB", "Polars"}
    for row in (*stored["slices"], *stored["apply"]):
        assert row["rows"] == 3000
        assert row["ratio"] == pytest.approx(row["cpu_s"] / row["peer_cpu_s"], rel=0.01)
        assert f"{row['cpu_s']:8.2f}" in printed
