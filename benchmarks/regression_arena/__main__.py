"""``python -m benchmarks.regression_arena``: run what is missing, then print the tables. See
--help.
"""

import argparse
from pathlib import Path

from benchmarks.regression_arena import cases
from benchmarks.regression_arena.run import RESULTS, race


def options():
    """What the command line takes."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.regression_arena",
        description="Calibrators of error bars against each other and against doing nothing.",
    )
    parser.add_argument(
        "--part",
        choices=cases.PARTS,
        default="new",
        help="which sets: see benchmarks/regression_arena/cases.py (new)",
    )
    parser.add_argument("--seeds", type=int, help="permutations of the rows (5 of uci, else 1)")
    parser.add_argument("--data", nargs="+", metavar="SET", help="these sets only")
    parser.add_argument("--methods", nargs="+", metavar="NAME", help="run these only")
    parser.add_argument(
        "--peers",
        action="store_true",
        help="run the peers that this environment has, after ours are done",
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the results are kept")
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    parser.add_argument("--again", action="store_true", help="run what is done already once more")
    parser.add_argument(
        "--report", action="store_true", help="run nothing, only report what is there"
    )
    parser.add_argument(
        "--docs", type=Path, help="write the page and its picture into this folder of the docs"
    )
    return parser.parse_args()


def main():
    """Race, then report."""
    chosen = options()
    runs = cases.runs_of(chosen.part, chosen.seeds, chosen.data)
    if not chosen.report:
        race(
            runs,
            "peers" if chosen.peers else "calibrant",
            chosen.methods,
            chosen.results,
            chosen.jobs,
            chosen.again,
        )
    if not chosen.peers:
        from benchmarks.regression_arena.report import report

        print(report(runs, chosen.results, chosen.docs))


if __name__ == "__main__":
    main()
