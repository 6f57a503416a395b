"""Tables 1, 2, S1 and S2 of the paper for KITTI and MNIST, beside what was published.

    python -m benchmarks.papers.gp.run  # everything, resumed where it stopped
    python -m benchmarks.papers.gp.run --datasets kitti --methods gp temperature
    python -m benchmarks.papers.gp.run --tables  # only print what is there

Needs CALIBRANT_DATA (default ../shared/data); the published numbers are those of the stored tables.
Folds are kept in results/ one by one, and rows of ten folds are stored; what was found is in
README.md. Exits 1 when fewer than 8 of
10 rows of GPcalib are within 0.003 of the published ones: 8 to 10 are, by machine.
"""

import argparse
import json
import sys
from pathlib import Path

from benchmarks.papers.gp import methods, protocol, tables

#: Rows near the published ones on the machine that had fewest.
FEWEST = 8
RESULTS = Path(__file__).resolve().parent / "results" / "folds.jsonl"


def kept():
    """Every fold measured so far."""
    return (
        [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()]
        if RESULTS.exists()
        else []
    )


def measure(dataset, names, n_folds):
    """Append the folds that are missing."""
    done = {(r["dataset"], r["classifier"], r["fold"], r["row"]) for r in kept()}
    RESULTS.parent.mkdir(exist_ok=True)
    for classifier, fold, P, y, train, test in protocol.folds(dataset):
        for name in names if fold < n_folds else ():
            if (dataset, classifier, fold, methods.METHODS[name][1][0]) in done:
                continue
            found, seconds = methods.run(name, P[train], y[train], P[test])
            with RESULTS.open("a") as file:
                for row, Q in found.items():
                    where = {"dataset": dataset, "classifier": classifier, "fold": fold, "row": row}
                    file.write(
                        json.dumps(
                            {**where, **protocol.measures(y[test], Q), "seconds": round(seconds, 3)}
                        )
                        + "\n"
                    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--datasets", nargs="+", choices=tuple(protocol.TEST_ROWS), default=list(protocol.TEST_ROWS)
    )
    parser.add_argument(
        "--methods", nargs="+", choices=tuple(methods.METHODS), default=list(methods.METHODS)
    )
    parser.add_argument("--folds", type=int, default=protocol.FOLDS)
    parser.add_argument("--tables", action="store_true", help="run nothing")
    options = parser.parse_args()
    for name in () if options.tables else options.methods:
        for dataset in options.datasets:
            measure(dataset, [name], options.folds)
    found = tables.means(kept())
    for dataset in options.datasets:
        print(tables.markdown(dataset, found), end="\n\n")
    tables.keep(found)
    near, text = tables.judge(found)
    print(text)
    return int(near < FEWEST)


if __name__ == "__main__":
    sys.exit(main())
