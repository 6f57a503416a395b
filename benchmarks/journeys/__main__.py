"""What a person takes away, beside what is so: ``python -m benchmarks.journeys``.

In worlds whose truth is known (``worlds.py``) calibrant is used as a person uses it, and what it
says or does is judged by that truth. Printed by journey and in all: wrong advice, missed help,
false comfort, false alarm, and doors that disagree; and what following the report costs. A fault
that the product states the rate of (5 % of a test) counts as too many only beyond Monte Carlo.

``--at REV`` runs another revision by these same journeys; ``--beside FILE`` prints its outcomes,
written by ``-o``, next to the new ones (default: ``before_527bd88.json``).
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

from benchmarks.journeys.outcomes import KINDS, faults_by_journey
from benchmarks.journeys.running import JOURNEYS, run
from benchmarks.journeys.worlds import WORLDS
from tools.measure import ROOT, checkout

__all__ = ["main"]

BEFORE = Path(__file__).with_name("before_527bd88.json")


def main(arguments: list[str]) -> int:
    """Run, print, and write what was asked for; always 0."""
    options = _parser().parse_args(arguments)
    if options.at:
        return _at(options.at, arguments)
    warnings.simplefilter("ignore")
    worlds = [one for one in WORLDS if not options.world or one.name in options.world]
    journeys = [one for one in JOURNEYS if not options.journey or one.name in options.journey]
    cells = run(worlds, journeys, options.repeats, options.quick)
    result = {
        "revision": options.called or _head(),
        "quick": options.quick,
        "repeats": options.repeats,
        "table": faults_by_journey(cells),
        "cells": [cell.to_dict() for cell in cells],
    }
    beside = None
    if options.beside is not None and options.beside.exists():
        beside = json.loads(options.beside.read_text(encoding="utf-8"))
    _print(result, beside, options.verbose)
    if options.output:
        options.output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks.journeys", description=__doc__)
    parser.add_argument("--at", metavar="REV", help="run the sources of this revision")
    parser.add_argument("--called", help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="one repeat of the cheap questions")
    parser.add_argument("--repeats", type=float, default=1.0, metavar="R", help="times as many")
    parser.add_argument("--world", action="append", choices=[one.name for one in WORLDS])
    parser.add_argument("--journey", action="append", choices=[one.name for one in JOURNEYS])
    parser.add_argument("--beside", type=Path, default=BEFORE, metavar="FILE.json")
    parser.add_argument("--verbose", action="store_true", help="also the cells with any fault")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.json")
    return parser


def _at(revision: str, arguments: list[str]) -> int:
    """The same journeys on the sources of a revision, in a process of their own."""
    at = arguments.index("--at") if "--at" in arguments else None
    rest = (
        arguments[:at] + arguments[at + 2 :]
        if at is not None
        else [one for one in arguments if not one.startswith("--at=")]
    )
    with tempfile.TemporaryDirectory() as folder:
        root = checkout(revision, Path(folder))
        path = os.pathsep.join([str(root / "src"), str(ROOT)])
        command = [sys.executable, "-m", "benchmarks.journeys", *rest, "--called", revision]
        return subprocess.run(
            command, env={**os.environ, "PYTHONPATH": path}, check=False
        ).returncode


def _head() -> str:
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or "unknown"


def _print(result: dict[str, Any], beside: dict[str, Any] | None, verbose: bool) -> None:
    """The tables, then the cells with more faults than are allowed."""
    columns = ([beside] if beside else []) + [result]
    print(" | ".join([f"{'faults of answers judged':26s}", *(f"{kind:>14s}" for kind in KINDS)]))
    for journey in result["table"]:
        for one in columns:
            row = one["table"].get(journey, {})
            shown = [f"{_share(row.get(kind)):>14s}" for kind in KINDS]
            print(" | ".join([f"{journey[:17]:17s} {one['revision'][:8]:8s}", *shown]))
    for one in columns:
        advice = [cell for cell in one["cells"] if cell.get("regret") is not None]
        advice = [cell for cell in advice if cell["question"].startswith("advice on")]
        asked = sum(cell["asked"] for cell in advice)
        if asked:
            regret = sum(cell["regret"] for cell in advice) / asked
            print(f"{one['revision'][:8]}: following the report costs {regret:.4f} nats a row")
    print("\nMore than what is allowed, beyond Monte Carlo:")
    for cell in result["cells"]:
        if cell["too_many"] or (verbose and cell["faults"]):
            where = f"{cell['journey']}, {cell['world']}: {cell['question']}"
            print(f"- {where}: {cell['kind']} {cell['faults']} of {cell['asked']}")
            for detail in cell["details"][:1]:
                print(f"    {detail[:300]}")


def _share(row: list[int] | None) -> str:
    """Faults of answers, and the cells with too many: "3/40 (1)"."""
    return "" if row is None or not row[1] else f"{row[0]}/{row[1]} ({row[2]})"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
