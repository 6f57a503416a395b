"""Accuracy and log loss of networks on new rows without labels whose class rates have changed.

Half of a test set has labels; from the other half rows are drawn by new rates. ``LabelShift``
weights the labelled rows; "rows as before" is their unweighted metric, and CBPE the expectation by
an isotonic map of the confidence. ``estimate_performance`` ("inputs") assumes that the inputs
changed and the labels given them did not, which new rates break.
"""

from typing import Any

import numpy as np
from benchmarks.arena.outputs import FOLDER as STAGE2
from benchmarks.questions.table import goal, line
from sklearn.isotonic import IsotonicRegression

import calibrant as cb
from calibrant.calibrators import LabelShift

__all__ = ["run"]

SETS = ("nn_cifar10_test_set", "nn_imdb_test_set")
#: Labelled and new rows, and concentrations of the Dirichlet law of the new rates.
OLD, NEW, SPREAD = 2_000, 1_000, (0.5, 3.0)
METRICS = {"accuracy": cb.metrics.accuracy, "log_loss": cb.metrics.log_loss}
METHODS = ("LabelShift", "inputs", "CBPE", "rows as before")


def _drawn(name: str, spread: float, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """(P, y) of labelled rows, then of new ones at drawn rates."""
    with np.load(STAGE2 / f"{name}.npz") as held:
        P, y = held["probs"].astype(np.float64), held["label"].astype(int)
    order = rng.permutation(len(y))
    old, rest = order[:OLD], order[OLD:]
    rates = rng.dirichlet(np.full(P.shape[1], spread))
    weight = (rates / np.bincount(y[rest], minlength=P.shape[1]))[y[rest]]
    new = rng.choice(rest, NEW, p=weight / weight.sum())
    return P[old], y[old], P[new], y[new]


def _cbpe(P: np.ndarray, y: np.ndarray, P_new: np.ndarray, key: str) -> float:
    """By the chance that the answer is right; the log loss by chances of each class in turn."""
    if key == "accuracy":
        right = (P.argmax(axis=1) == y).astype(float)
        fit = IsotonicRegression(out_of_bounds="clip").fit(P.max(axis=1), right)
        return float(fit.predict(P_new.max(axis=1)).mean())
    found = [
        IsotonicRegression(out_of_bounds="clip").fit(P[:, k], y == k).predict(P_new[:, k])
        for k in range(P.shape[1])
    ]
    chance = np.column_stack(found)
    chance /= np.maximum(chance.sum(axis=1, keepdims=True), 1e-12)
    return float(-(chance * np.log(np.maximum(P_new, 1e-12))).sum(axis=1).mean())


def _errors(rows: tuple[np.ndarray, ...], key: str) -> tuple[list[float], float]:
    """(error of each method, whether the weighted interval holds the value of the new rows)."""
    P, y, P_new, y_new = rows
    metric: Any = METRICS[key]
    true = metric(y_new, P_new)
    weight = LabelShift("shrunk").fit(P, y, P_new).sample_weight(y)
    ours = metric.interval(y, P, sample_weight=weight, weight_kind="sampling")
    inputs = cb.estimate_performance(P_new, reference=(P, y), metric=key)
    values = (ours.value, inputs.value, _cbpe(P, y, P_new, key), metric(y, P))
    # The labels of the new rows vary too, about as those of as many labelled rows.
    room = np.sqrt(1.0 + OLD / NEW)
    low, high = (ours.value + room * (end - ours.value) for end in (ours.low, ours.high))
    return [abs(one - true) for one in values], float(low <= true <= high)


def run(repeats: int) -> None:
    """Print the mean absolute errors of each set and spread of the rates, and the goals."""
    found = []
    for key in METRICS:
        print(f"\n{key}: mean absolute error in points, {repeats} draws")
        line("set, concentration of the rates", [*METHODS, "inside"])
        for name in SETS:
            for spread in SPREAD:
                rng = np.random.default_rng(0)
                draws = [_errors(_drawn(name, spread, rng), key) for _ in range(repeats)]
                errors = 100.0 * np.mean([one for one, _ in draws], axis=0)
                held = float(np.mean([inside for _, inside in draws]))
                line(f"{name}, {spread:g}", [*(f"{one:.2f}" for one in errors), f"{held:.2f}"])
                found.append([*errors, held])
    table = np.array(found)
    for k, name in enumerate(METHODS[1:], 1):
        ratio = np.exp(np.log(table[:, 0] / table[:, k]).mean())
        better = int((table[:, 0] < table[:, k]).sum())
        words = f"{ratio:.2f} times, lower in {better} of {len(table)}"
        goal(f"error of LabelShift below that of {name}", words, ratio < 1.0)
    goal("intervals hold in at least .93", f"{table[:, -1].mean():.3f}", table[:, -1].mean() > 0.93)
