"""The same runs where the class rates are others: ``python -m benchmarks.arena.shifted`` after both
parts of the arena's tabular half.

Of the rows to test on, those of one class are thinned out until its odds are a quarter of what they
were; which class, the data set's name decides. All methods were fitted at the old rates: their
losses on the rows that are left are read from the results. The automatic choice is fitted once more
with ``unlabeled=`` the predictions of these rows.
"""

import argparse
from pathlib import Path

import numpy as np
from benchmarks.arena import cases, predictions, results, scores, slices
from benchmarks.arena import table as numbers
from benchmarks.arena.tabular import drawn

import calibrant as cb

ODDS = 4.0
TOLD = "AutoCalibrator(unlabeled)"
HEADER = (
    "rows",
    "runs",
    "calibrator",
    "log loss",
    "win rate over peers",
    "worse than doing nothing (95 %)",
)


def kept(run, y):
    """The test rows of a run that are left, as positions among them, for their labels y."""
    rare = drawn(run.case.group, 2) % 2
    rng = np.random.default_rng(run.seed)
    return np.flatnonzero((y != rare) | (rng.random(len(y)) < 1.0 / ODDS))


def _files(folder, run, name):
    return results.path_of(folder, f"{run.name}~shifted", name)


def work(run, folder):
    """Fit the automatic choice of one run with the predictions of the rows that are left."""
    if _files(folder, run, TOLD).exists():
        return
    P, y = predictions.load(run.case)
    fit, test = predictions.split(run, len(y))
    left = test[kept(run, y[test])]
    Q = cb.AutoCalibrator().fit(P[fit], y[fit], unlabeled=P[left]).predict_proba(P[left])
    results.save(
        folder,
        f"{run.name}~shifted",
        TOLD,
        log_loss=scores.log_losses(Q, y[left]),
        kept=kept(run, y[test]),
    )


def rows(table, folder):
    """The cells of the table: by calibration rows, the automatic choice with and without the
    predictions; ``table`` holds the runs.
    """
    peers = [name for name, peer in zip(table.methods, table.peer, strict=True) if peer]
    names = [numbers.NOTHING, numbers.AUTOMATIC, *peers]
    found = []
    for run in table.runs:
        if not _files(folder, run, TOLD).exists():
            continue
        told = results.load(folder, f"{run.name}~shifted", TOLD)
        losses = [
            results.load(folder, run.name, name)["log_loss"][told["kept"]].mean(dtype=np.float64)
            for name in names
        ]
        found.append((run.size, told["log_loss"].mean(), *losses))
    found = np.array(found).reshape(-1, 2 + len(names))
    cells = []
    for size in np.unique(found[:, 0]):
        told, nothing, ours, *theirs = found[found[:, 0] == size, 1:].T
        for name, own in ((numbers.AUTOMATIC, ours), ("the same with ``unlabeled=``", told)):
            wins = f"{slices.win_rate(own, np.array(theirs)):.3f}" if theirs else ""
            cells.append(
                (
                    f"{size:,.0f}",
                    str(len(own)),
                    name,
                    f"{own.mean():.4f}",
                    wins,
                    slices.harm(own, nothing),
                )
            )
        cells.append(
            (f"{size:,.0f}", str(len(nothing)), numbers.NOTHING, f"{nothing.mean():.4f}", "", "")
        )
    return cells


def main():
    """Fit what is missing and print the table."""
    from benchmarks.arena.report import text

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=results.RESULTS)
    folder = parser.parse_args().results
    for run in cases.tabular_runs(True):
        work(run, folder)
    print(
        text(
            rows(numbers.shared(numbers.collect(cases.tabular_runs(True), folder)), folder), HEADER
        )
    )


if __name__ == "__main__":
    main()
