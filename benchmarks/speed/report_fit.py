"""The default report beside one fit of the automatic choice, and its gain out of fold beside nested
folds: ``python benchmarks/speed/report_fit.py [--case 100x2 ...]``.

Columns: CPU seconds of the fit, of the predictions out of fold beyond it, of nested folds (the
whole choice repeated without each of five folds), and of the whole report; then the gain in log
loss out of fold, and that of nested folds less it, a mean over data sets with its error. Exits with
1 if a report takes more than 1.5 fits and 2 seconds.
"""

import argparse
import sys
import time

import numpy as np
from automatic import probabilities_and_labels

import calibrant as cb
from calibrant.core.folds import out_of_fold
from calibrant.core.predictions import read

#: rows and classes -> number of data sets
CASES = {
    "100x2": 20,
    "250x2": 20,
    "2000x2": 5,
    "2000x10": 2,
    "5000x10": 1,
    "15000x2": 1,
    "100000x10": 1,
}


def timed(make):
    """(CPU seconds, result)."""
    start = time.process_time()
    found = make()
    return time.process_time() - start, found


def measured(n, n_classes, seed):
    """Seconds of fit, predictions, nested folds and report, and the gains of the two."""
    P, y = (part[:n] for part in probabilities_and_labels(n, n_classes, None, seed))
    record = read(P, y, classes=range(n_classes))
    seconds, _ = timed(lambda: cb.AutoCalibrator().fit_record(record))
    both, (Q, _, kind) = timed(lambda: cb.AutoCalibrator().fit_out_of_fold(record))
    again, (nested, _) = timed(lambda: out_of_fold(cb.AutoCalibrator(), record))
    report, _ = timed(lambda: cb.report(y, P, classes=range(n_classes)))
    rows = np.arange(n), y
    gain, other = (
        float(np.mean(np.log(np.maximum(one[rows], 1e-15)) - np.log(record.own_probability)))
        for one in (Q, nested)
    )
    return kind, (seconds, both - seconds, again, report, gain, other - gain)


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", nargs="+", choices=list(CASES), default=list(CASES))
    options = parser.parse_args()
    measured(300, 2, 0)  # imports
    head = ("fit s", "out s", "nested s", "report s", "gain", "nested - gain")
    print(f"{'rows':>7} {'K':>3} {'folds':>13}" + "".join(f"{one:>15}" for one in head))
    missed = 0
    for case in options.case:
        n, n_classes = map(int, case.split("x"))
        found = [measured(n, n_classes, seed) for seed in range(CASES[case])]
        values = np.array([one for _, one in found])
        mean, last = values.mean(axis=0), values[:, 5]
        spread = last.std(ddof=1) / len(last) ** 0.5 if len(last) > 1 else np.nan
        short = mean[3] > 1.5 * mean[0] + 2.0
        missed += short
        print(
            f"{n:7,} {n_classes:3} {found[0][0]:>13}"
            + "".join(f"{one:15.3f}" for one in mean[:4])
            + f"{mean[4]:15.5f}{mean[5]:+15.5f} ({spread:.5f}){'  MISSED' if short else ''}",
            flush=True,
        )
    sys.exit(int(missed > 0))


if __name__ == "__main__":
    main()
