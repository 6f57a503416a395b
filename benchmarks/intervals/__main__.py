"""Conformal intervals at 50, 90 and 99 %, ours beside MAPIE's and crepes', on the same forecasts,
in one run.

Run: python -m benchmarks.intervals [--peers PYTHON] [--seeds 5] [--data diabetes yacht] PYTHON is
the interpreter of an environment with mapie and crepes; without it ours are run alone. Simulated
sets are what methods were chosen on, the real ones (five need CALIBRANT_DATA) what they are judged
on.
"""

import argparse
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from benchmarks.intervals.cases import SIMULATED, Case, case, names
from benchmarks.intervals.few_rows import few_rows
from benchmarks.intervals.methods import ours
from benchmarks.intervals.table import Results, judged, table

BASELINE = "calibrant scaled"


def main() -> None:
    """Run, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.intervals", description=__doc__)
    parser.add_argument("--peers", help="python of an environment with mapie and crepes")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--data", nargs="*", choices=names(), default=names())
    given = parser.parse_args()
    cases = [case(name, seed) for name in given.data for seed in range(given.seeds)]
    results: Results = {}
    for one in cases:
        for method, ends, seconds in ours(one):
            _keep(results, one, method, ends, seconds)
    if given.peers:
        _with_peers(results, cases, given.peers)
    for title, sets in (
        ("simulated", SIMULATED),
        ("real", [name for name in names() if name not in SIMULATED]),
    ):
        if set(sets) & set(given.data):
            print(
                f"\n{title}: width and score relative to {BASELINE!r}, geometric"
                f" means\n{table(results, sets, BASELINE)}"
            )
    print("\nAll rows used for model and intervals, 90 %\n" + few_rows(given.data, given.seeds))


def _keep(results, one, method, ends, seconds):
    for j, values in enumerate(judged(ends, one.held["y_test"], seconds)):
        results[one.name, one.seed, method, j] = values


def _with_peers(results: Results, cases: list[Case], python: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "cases.npz", Path(folder) / "ends.npz"
        np.savez(
            source,
            **{
                f"{k}|{name}": values
                for k, one in enumerate(cases)
                for name, values in one.held.items()
            },
        )
        subprocess.run(
            [python, str(Path(__file__).with_name("peers.py")), str(source), str(target)],
            check=True,
        )
        with np.load(target) as file:
            found = {key: file[key] for key in file.files}
    for key in found:
        number, method, what = key.split("|")
        if what == "ends":
            _keep(
                results,
                cases[int(number)],
                method,
                found[key],
                float(found[f"{number}|{method}|seconds"]),
            )


if __name__ == "__main__":
    main()
