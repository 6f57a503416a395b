"""What an experiment with a fixed method is judged by: stored outputs, structured and ensemble
matrix scaling, log loss and Brier score.

For each output the rows are permuted; the method is fitted on 250 or 1,000 rows of the first half
and judged on the second (5,000 rows of it at most). Whatever a method chooses, it chooses on its
calibration rows or on simulations.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from benchmarks.arena import cases, predictions, scores

import calibrant as cb
from calibrant.errors import CalibrationWarning

SIZES = (250, 1_000)
MOST_CLASSES, MOST_TEST = 100, 5_000
REFERENCES = {
    "temperature scaling": cb.TemperatureScaling,
    "structured matrix scaling": cb.scalings.StructuredMatrixScaling,
    "ensemble matrix scaling": cb.scalings.EnsembleMatrixScaling,
    "automatic choice": cb.AutoCalibrator,
}
#: A run is won or lost where the difference is this many paired standard errors.
CLEARLY = 1.96
HEADER = (
    "method",
    "against",
    "rows",
    "runs",
    "log loss",
    "lower in",
    "clearly lower",
    "clearly higher",
    "Brier score",
    "lower in",
)


@dataclass(frozen=True)
class Task:
    """The rows to fit on and those to judge by."""

    name: str
    P: np.ndarray
    y: np.ndarray
    P_test: np.ndarray
    y_test: np.ndarray


def tasks():
    """One after the other: networks', classifiers', risk models' and a language model's stored
    outputs, at both sizes.
    """
    for case in (*cases.stored(), *cases.output_cases()):
        P, y = predictions.load(case)
        if P.shape[1] > MOST_CLASSES:
            continue
        order = np.random.default_rng(0).permutation(len(y))
        test = order[len(y) // 2 :][:MOST_TEST]
        for size in SIZES:
            fit = order[: len(y) // 2][:size]
            yield Task(f"{case.name}, {size:,} rows", P[fit], y[fit], P[test], y[test])


def probabilities(method, task):
    """The test rows of a task by ``method()``, fitted on its other rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        return method().fit(task.P, task.y).predict_proba(task.P_test)


def judge(methods):
    """Rows of the table (see ``HEADER``): each of ``methods``, name -> makes it, against each
    reference.
    """
    found = {}
    for task in tasks():
        for name, method in (REFERENCES | methods).items():
            Q = scores.checked(probabilities(method, task), task.P_test.shape)
            found.setdefault(name, []).append(
                (
                    len(task.y),
                    scores.log_losses(Q, task.y_test),
                    scores.brier_scores(Q, task.y_test),
                )
            )
    return [
        _row(name, other, size, found) for name in methods for other in REFERENCES for size in SIZES
    ]


def _row(name, other, size, found):
    pairs = [
        (mine, theirs)
        for mine, theirs in zip(found[name], found[other], strict=True)
        if mine[0] == size
    ]
    cells, clear = [], []
    for k in (1, 2):
        means = np.array([(mine[k].mean(), theirs[k].mean()) for mine, theirs in pairs])
        cells += [
            f"{100 * (means[:, 0] / means[:, 1] - 1).mean():+.2f} %",
            f"{100 * (means[:, 0] < means[:, 1]).mean():.0f} %",
        ]
    for mine, theirs in pairs:
        gap = mine[1] - theirs[1]
        clear.append(gap.mean() / max(gap.std(ddof=1) / np.sqrt(len(gap)), 1e-300))
    lower, higher = int((np.array(clear) < -CLEARLY).sum()), int((np.array(clear) > CLEARLY).sum())
    return (
        name,
        other,
        f"{size:,}",
        str(len(pairs)),
        *cells[:2],
        str(lower),
        str(higher),
        *cells[2:],
    )


def show(methods):
    """Print the table."""
    from benchmarks.arena.report import text

    print(text(judge(methods), HEADER))
