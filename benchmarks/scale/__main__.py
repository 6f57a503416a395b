"""CPU seconds and peak memory of tables of any size, beside other libraries:
``python -m benchmarks.scale``.

Each cell runs in a fresh process with one thread, imports included, in turns with the cells beside
it; times are medians of ``--repeats``. The numbers of all must agree. ``--rows N`` makes tables of
N rows, ``--only text slices`` runs some of the parts, and ``--store`` keeps the numbers in
``measured.json``, from which the guide's page on 10^10 rows shows them.

- text: evaluate and report of CSV and Parquet, with and without ten other columns
- slices: evaluate by 1,000 and by 100,000 slices
- fit, apply: a sigmoid, fitted and applied
- audit, engines: the rows of ``benchmarks/scale/audit.py`` and ``engines.py``
- entered: functions and files that ``calibrant evaluate TABLE`` enters
- threads: seconds for 10^6 further rows, with one thread and with two
- pieces: bytes of rows and slices, seconds of slices and files
"""

import argparse
import json
import platform
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.scale.cells import HEADS, cost, line, measured, module, threaded
from benchmarks.scale.entered import GOALS
from benchmarks.scale.parts import PARTS, SIZES, THREADED

__all__ = ["STORED", "main"]

STORED = Path(__file__).with_name("measured.json")
OTHERS = ("audit", "engines")
PIECES, FURTHER = 1_000_000, (1_001_000, 12_000_000)
#: Prints the rows of another file of this folder.
ROWS = """
import json
from benchmarks.scale.{name} import rows
print(json.dumps(list(rows({rows}))))
"""
#: What stands in a row that is no dictionary.
KEYS = ("what", "cpu_s", "peer", "peer_cpu_s", "ratio")


def main(arguments: list[str]) -> int:
    """Print the table of each part, and store the numbers if asked to; always 0."""
    options = _parser().parse_args(arguments)
    stored = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}
    for name in options.only:
        print(f"\n{name}", flush=True)
        stored[name] = _part(name, options.rows, options.repeats)
        if options.store:
            stored["machine"] = _machine()
            STORED.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.scale",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names = [*PARTS, *(name for name in OTHERS if _exists(name)), "entered", "threads", "pieces"]
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    parser.add_argument("--rows", type=int, nargs="+", help="rows of the tables")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--store", action="store_true", help=f"write {STORED.name}")
    return parser


def _exists(name: str) -> bool:
    return find_spec(f"benchmarks.scale.{name}") is not None


def _part(name: str, sizes: list[int] | None, repeats: int) -> Any:
    """Print a part's table, and return its numbers."""
    if name == "entered":
        found = json.loads(cost(module("benchmarks.scale.entered")).text)
        for what, number in found.items():
            print(f"{what}: {number:,} (at most {GOALS[what]:,})")
        return found
    if name == "pieces":
        rows = max(sizes) if sizes else PIECES
        found = json.loads(cost(module("benchmarks.scale.pieces", rows)).text)
        for what, number in found.items():
            print(f"{what:24} {number:.4g}")
        return found
    if name in OTHERS:
        code = ROWS.format(name=name, rows=max(sizes) if sizes else "")
        found = [
            row if isinstance(row, dict) else dict(zip(KEYS, row, strict=True))
            for row in json.loads(cost([sys.executable, "-c", code]).text)
        ]
        for row in found:
            print("  ".join(f"{key} {value}" for key, value in row.items()))
        return found
    if name == "threads":
        return _threads(sizes or FURTHER, repeats)
    print(HEADS)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes or SIZES[name]:
            for task in PARTS[name](Path(folder), size):
                for row in measured(task, repeats):
                    print(line(row), flush=True)
                    rows.append(row)
    return rows


def _threads(sizes: Sequence[int], repeats: int) -> list[dict[str, Any]]:
    few, many = (min(sizes), max(sizes)) if len(sizes) > 1 else (sizes[0] // 2, sizes[0])
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for part in PARTS.values():
            for small, large in zip(part(Path(folder), few), part(Path(folder), many), strict=True):
                if small.what in THREADED:
                    rows.append(threaded({few: small, many: large}, repeats))
                    print(
                        "  ".join(f"{key} {value}" for key, value in rows[-1].items()), flush=True
                    )
    return rows


def _machine() -> str:
    """The processor, by name where the system tells it."""
    file = Path("/proc/cpuinfo")
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    name = next((text.partition(": ")[2] for text in lines if text.startswith("model name")), "")
    return name or platform.machine()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
