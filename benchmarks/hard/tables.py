"""All tables, beside those of another revision; the commands that print them."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.hard.auditing import audits, order, rules
from benchmarks.hard.comparing import clusters, paired, verdicts
from benchmarks.hard.draws import Line
from benchmarks.hard.intervals import classes, forecasts, intervals, separated, weights
from tools.measure import ROOT, checkout

__all__ = ["BEFORE", "TABLES", "main"]

BEFORE = "527bd88"
#: Table -> its lines, of so many samples.
TABLES: dict[str, Callable[[int], Iterator[Line]]] = {
    "paired": paired,
    "verdicts": verdicts,
    "weights": weights,
    "clusters": clusters,
    "intervals": intervals,
    "separated": separated,
    "forecasts": forecasts,
    "classes": classes,
    "audits": audits,
    "order": order,
    "rules": rules,
}
#: What a table found: {law: [found, wanted, samples asked for]}.
Found = dict[str, list[Any]]


def main(
    arguments: Sequence[str],
    tables: Sequence[str] = tuple(TABLES),
    page: Callable[..., None] | None = None,
) -> int:
    """Print the tables before and after; ``page`` writes them into the documentation."""
    given = _parser(tables, page).parse_args([one for one in arguments if one != "--hard"])
    warnings.simplefilter("ignore")
    before = {} if given.alone else _before(given.before, given.only, given.repeats)
    now: dict[str, Found] = {}
    for name in given.only:
        print(
            f"\n{name:80s} {'' if given.alone else given.before:>8s} {'now':>8s}   should be",
            flush=True,
        )
        now[name] = _printed(name, given.repeats, before.get(name, {}))
        if given.output:
            given.output.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
    if page is not None and given.page:
        page(now, before)
    return 0


def _printed(name: str, repeats: int, before: Found) -> Found:
    found: Found = {}
    for said, share, wanted in TABLES[name](repeats):
        was = f"{before[said][0]:8.3f}" if said in before else " " * 8
        print(f"  {said:78s} {was} {share:8.3f}   {wanted}", flush=True)
        found[said] = [share, wanted, repeats]
    return found


def _parser(tables: Sequence[str], page: Any) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Hard distributions, before and after.")
    parser.add_argument("--hard", action="store_true", help="these tables")
    parser.add_argument("--only", nargs="+", choices=tables, default=list(tables))
    parser.add_argument(
        "--repeats", type=int, default=400, help="samples of each law; of costly ones a part"
    )
    parser.add_argument(
        "--before",
        metavar="REV",
        default=BEFORE,
        help="the revision beside it; what was found at the default one is kept",
    )
    parser.add_argument("--alone", action="store_true", help="print no other revision")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.json")
    if page is not None:
        parser.add_argument(
            "--page", action="store_true", help="put both onto the documentation's page"
        )
    return parser


def _before(revision: str, tables: Sequence[str], repeats: int) -> dict[str, Found]:
    """What was kept of the revision, or what its sources give now."""
    kept = Path(__file__).with_name(f"before_{revision}.json")
    if kept.exists():
        return json.loads(kept.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        root, output = checkout(revision, Path(folder)), Path(folder) / "found.json"
        path = os.pathsep.join([str(root / "src"), str(ROOT)])
        again = ["--alone", "--only", *tables, "--repeats", str(repeats), "-o", str(output)]
        command = [sys.executable, "-m", "benchmarks.hard", *again]
        subprocess.run(
            command, env={**os.environ, "PYTHONPATH": path}, check=True, stdout=sys.stderr
        )
        return json.loads(output.read_text(encoding="utf-8"))
