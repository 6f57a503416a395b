"""The latent functions of the paper's figure 2, here of the authors' ten classifiers.

    python -m benchmarks.papers.gp.figures    # figure_2.csv; ten fits, a few seconds of CPU

Each function is fitted to the first of the ten folds of ``run.py``, 1,000 rows, and stored at 40
scores between the smallest and the largest of them, less its value at the middle: a constant has no
effect on the softmax. The documentation draws it.
"""

import numpy as np
from benchmarks.papers import stored
from benchmarks.papers.gp.protocol import folds, lift_zeros

import calibrant as cb

N_POINTS = 40


def latent(P, y):
    """[score, prior, mean, low, high] at scores that are evenly spaced in their logarithm."""
    cal = cb.calibrators.GaussianProcessCalibration().fit(lift_zeros(P), y)
    found = cal.latent(np.geomspace(1e-3, 1.0 - 1e-6, N_POINTS))
    columns = [found.prior, found.mean, found.low, found.high]
    middle = N_POINTS // 2
    shifts = [found.prior[middle], *[found.mean[middle]] * 3]
    parts = [column - shift for column, shift in zip(columns, shifts, strict=True)]
    return np.column_stack([found.score, *parts])


def main():
    """Fit the first fold of each classifier, and store."""
    rows = [["data", "classifier", "score", "prior", "mean", "low", "high"]]
    for dataset in ("kitti", "mnist"):
        for classifier, fold, P, y, train, _ in folds(dataset):
            if fold == 0:
                for values in latent(P[train], y[train]):
                    rows.append([dataset, classifier, *(f"{value:.4f}" for value in values)])
    stored.write("gp", "figure_2", rows)
    print(f"figure_2.csv: {len(rows) - 1} rows")


if __name__ == "__main__":
    main()
