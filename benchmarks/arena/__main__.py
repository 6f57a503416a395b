"""``python -m benchmarks.arena``: run what is missing, then print the tables. See --help."""

import argparse
from functools import partial
from pathlib import Path

from benchmarks.arena import cases, results
from benchmarks.arena.outside import BESIDE, outside
from benchmarks.arena.run import race, work
from benchmarks.arena.table import AUTOMATIC


def options():
    """What the command line takes."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.arena",
        description="Calibrators against each other and against doing nothing.",
    )
    parser.add_argument(
        "--full",
        action="store_true",
        help="every data set, model, size and 5 seeds, instead of at most 150 runs",
    )
    parser.add_argument(
        "--folder",
        type=Path,
        help="npz files (probabilities, labels) of your own, instead of the built-in cases",
    )
    parser.add_argument(
        "--part",
        choices=cases.PARTS,
        help=(
            "two-class tabular sets to choose by, or set aside to judge by; tabular sets of more"
            " classes; larger models' outputs; tables and networks drawn by a rule, to choose by or"
            " fresh; all parts to judge by"
        ),
    )
    parser.add_argument(
        "--seeds", type=int, help="how many seeds (1; 5 with --full, 2 with --folder)"
    )
    parser.add_argument("--methods", nargs="+", metavar="NAME", help="run these only")
    parser.add_argument(
        "--method",
        action="append",
        metavar="PACKAGE:CLASS",
        help="one of your own, with fit(P, y) and predict_proba(P); may be repeated",
    )
    parser.add_argument(
        "--peers",
        action="store_true",
        help="run the peers that this environment has, instead of calibrant's methods",
    )
    parser.add_argument(
        "--results", type=Path, default=results.RESULTS, help="where the results are kept"
    )
    parser.add_argument(
        "--no-folds",
        action="store_true",
        help="leave out the peers' folds of the calibration rows, which choose one of them",
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--again", action="store_true", help="run what is done already once more")
    parser.add_argument(
        "--report", action="store_true", help="run nothing, only report what is there"
    )
    parser.add_argument(
        "--before",
        type=Path,
        nargs="+",
        default=(),
        metavar="FOLDER",
        help="report older results of ours beside those of now, by slice",
    )
    parser.add_argument(
        "--of", default=AUTOMATIC, metavar="NAME", help=f"the method shown by slice ({AUTOMATIC})"
    )
    parser.add_argument(
        "--docs", type=Path, help="write the page and its pictures into this folder of the docs"
    )
    return parser.parse_args()


def main():
    """Race, then report."""
    chosen = options()
    if chosen.part:
        runs = cases.PARTS[chosen.part](seeds=chosen.seeds or 1)
    else:
        runs = (
            cases.runs_of(chosen.folder, chosen.seeds or 2)
            if chosen.folder
            else cases.grid(chosen.full, chosen.seeds)
        )
    if not runs:
        raise SystemExit(
            "no runs: no npz file with probabilities and labels, or none of the part's data sets,"
            " is there"
        )
    if not chosen.report:
        for entry in chosen.method or ():
            outside(entry)  # what cannot be loaded is said before anything runs
        names = chosen.methods or (BESIDE if chosen.method else None)
        race(
            runs,
            "peers" if chosen.peers else "calibrant",
            names,
            chosen.results,
            chosen.jobs,
            chosen.again,
            partial(work, folds=not chosen.no_folds),
        )
        for entry in chosen.method or ():
            race(runs, entry, None, chosen.results, chosen.jobs, chosen.again)
    if not chosen.peers:
        from benchmarks.arena.report import report

        page = chosen.part or "judged"
        print(report(runs, chosen.results, chosen.docs, chosen.before, chosen.of, page))


if __name__ == "__main__":
    main()
