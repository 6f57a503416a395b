"""The parts of ``python -m benchmarks.scale``, as tasks, whose tables other processes write."""

import json
import math
import subprocess
from collections.abc import Iterator
from pathlib import Path

from benchmarks.scale.cells import Task, module

__all__ = ["PARTS", "SIZES", "THREADED", "applied", "fitted", "sliced", "text"]

#: Rows around the size from which tables are read in parts, and well above it.
SIZES = {"text": (999_000, 1_001_000, 5_000_000)} | dict.fromkeys(
    ("slices", "fit", "apply"), (5_000_000,)
)
#: Tasks whose time with several threads is measured.
THREADED = (
    *(
        f"{name}, {kind}, 2 columns"
        for name in ("evaluate", "report")
        for kind in ("csv", "parquet")
    ),
    "evaluate by 1,000 slices",
    *(f"fit, {kind}" for kind in ("csv", "parquet")),
    *(f"apply, {kind}, 12 columns" for kind in ("csv", "parquet")),
)
KINDS, SLICES = ("csv", "parquet"), (1_000, 100_000)
COLUMNS = ("--risk", "risk", "--label", "label")
#: Numbers of other libraries are sums in another order; bins may differ for a risk at their edge.
SAME = {"log_loss": 1e-9, "brier_score": 1e-9, "ece": 1e-6}
#: Mean losses of a table that is read in parts are those of cells of risks, this close.
IN_CELLS = 1e-5


def _table(folder: Path, kind: str, rows: int, slices: int = 0, further: int = 0) -> Path:
    file = folder / f"{rows}_{slices}_{further}.{kind}"
    if not file.exists():
        command = module("benchmarks.scale.tables", file, rows, slices, further)
        subprocess.run(command, check=True)
    return file


def _answers(names: tuple[str, ...], *arguments: Path) -> dict[str, list[str]]:
    words = {"sklearn": "pandas + scikit-learn", "duckdb": "DuckDB", "polars": "Polars"}
    return {
        words[name.partition("_")[0]]: module("benchmarks.scale.answers", name, *arguments)
        for name in names
    }


def _compare(ours: dict[str, float], peer: dict[str, float], least: float = 0.0) -> None:
    for name, tolerance in SAME.items():
        tolerance = max(tolerance, least)
        if not math.isclose(ours[name], peer[name], rel_tol=tolerance, abs_tol=tolerance):
            raise RuntimeError(f"{name}: ours {ours[name]!r}, theirs {peer[name]!r}")


def _same_metrics(ours: str, peer: str) -> None:
    """Compare the JSON of ``calibrant evaluate`` with the numbers of a peer."""
    values = {row["key"]: row["before"]["value"] for row in json.loads(ours)["metrics"]}
    names = {"event_log_loss": "log_loss", "event_brier_score": "brier_score", "event_ece": "ece"}
    values |= {new: values[name] for name, new in names.items() if name in values}
    _compare(values, json.loads(peer), IN_CELLS)


def _same_slices(ours: str, peer: str) -> None:
    mine, its = json.loads(ours), json.loads(peer)
    firsts = [{name: one[f"first_{name}"] for name in SAME} for one in (mine, its)]
    _compare(*firsts)
    _compare(mine, its)
    if mine["slices"] != its["slices"]:
        raise RuntimeError(f"{mine['slices']} slices, theirs {its['slices']}")


def text(folder: Path, rows: int) -> Iterator[Task]:
    """``calibrant evaluate`` and ``report`` of CSV and Parquet, with and without other columns."""
    for kind in KINDS:
        for further in (0, 10):
            file = _table(folder, kind, rows, further=further)
            peers = _answers(("sklearn", "duckdb", "polars"), file)
            what = f"{kind}, {2 + further} columns"
            ours = module("calibrant", "evaluate", file, *COLUMNS, "--json")
            yield Task(f"evaluate, {what}", rows, ours, peers, _same_metrics)
            page = folder / "page.html"
            ours = module("calibrant", "report", file, *COLUMNS, "-o", page, "--force")
            yield Task(f"report, {what}", rows, ours, peers)


def sliced(folder: Path, rows: int) -> Iterator[Task]:
    """``cb.evaluate`` by few and by many slices of Parquet."""
    for slices in SLICES:
        file = _table(folder, "parquet", rows, slices)
        ours = module("benchmarks.scale.answers", "calibrant_slices", file)
        peers = _answers(("duckdb_slices", "polars_slices"), file)
        yield Task(f"evaluate by {slices:,} slices", rows, ours, peers, _same_slices)


def fitted(folder: Path, rows: int) -> Iterator[Task]:
    """``calibrant fit`` of a sigmoid."""
    for kind in KINDS:
        file = _table(folder, kind, rows)
        ours = module("calibrant", *_fit(folder, file))
        yield Task(f"fit, {kind}", rows, ours, _answers(("sklearn_fit",), file))


def _fit(folder, file):
    return ("fit", file, *COLUMNS, "--method", "platt", "-o", folder / "m.calibrant", "--force")


def applied(folder: Path, rows: int) -> Iterator[Task]:
    """``calibrant apply`` of a sigmoid to a table with other columns."""
    small = _table(folder, "parquet", min(rows, 20_000))
    subprocess.run(module("calibrant", *_fit(folder, small)), check=True, capture_output=True)
    for kind in KINDS:
        file, output = _table(folder, kind, rows, further=10), folder / f"out.{kind}"
        ours = module(
            *("calibrant", "apply", folder / "m.calibrant", file, "--risk", "risk"),
            *("-o", output, "--force"),
        )
        peers = _answers(("polars_apply",), file, folder / f"theirs.{kind}")
        yield Task(f"apply, {kind}, 12 columns", rows, ours, peers)


#: Name -> tasks of a folder for tables and a number of rows.
PARTS = {"text": text, "slices": sliced, "fit": fitted, "apply": applied}
