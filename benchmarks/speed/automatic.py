"""The automatic choice against its targets, beside structured matrix scaling alone and
scikit-learn: CPU time in one process each.

Run: python benchmarks/speed/automatic.py [--case NAME ...] [--repeats R] Exits 1 when the automatic
choice misses a target of CPU time, or of memory where the case has one. Stored outputs (CIFAR-100)
come from CALIBRANT_DATA where that has them; the rest is planted, so that anyone can run it.
"""

import argparse
import multiprocessing
import os
import resource
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator

import calibrant as cb
from calibrant.metrics import log_loss

STORED = (
    Path(os.environ.get("CALIBRANT_DATA", "../shared/data"))
    / "network_outputs"
    / "densenet-bc-100-cifar100.npz"
)
#: name -> (rows to fit, classes, decimals of the scores or None, most CPU seconds, most GB of
#: memory or None)
CASES = {
    "two classes": (15_000, 2, None, 0.2, None),
    "two classes, tied in 3 digits": (15_000, 2, 3, 0.3, None),
    "two classes, tied in 2 digits": (15_000, 2, 2, 0.3, None),
    "ten classes": (5_000, 10, None, 0.5, None),
    "ten classes, many rows": (100_000, 10, None, 2.5, None),
    "a hundred classes": (5_000, 100, None, 3.0, None),
    "a thousand classes": (25_000, 1_000, None, 4.0, 0.8),
}
TEST_ROWS = 5_000
#: Methods of its CalibratedClassifierCV, by what the table calls them.
SCIKIT_LEARN = {"scikit-learn, isotonic": "isotonic", "scikit-learn, temperature": "temperature"}


def probabilities_and_labels(n, n_classes, decimals, seed=0):
    """Rows to fit and to test: stored outputs, or those of a planted overconfident model,
    float32 beyond a million entries.
    """
    rng = np.random.default_rng(seed)
    total = n + TEST_ROWS
    if n_classes == 100 and STORED.exists():
        with np.load(STORED) as z:
            rows = rng.permutation(len(z["labels"]))[:total]
            P = np.clip(z["probabilities"][rows].astype(np.float64), 1e-12, 1.0)
            return P / P.sum(axis=1, keepdims=True), z["labels"][rows].astype(int)
    P = rng.standard_normal(
        (total, n_classes), dtype=np.float32 if total * n_classes > 1_000_000 else np.float64
    )
    P[np.arange(total), rng.integers(0, n_classes, total)] += 5.0 if n_classes > 2 else 1.5
    y = np.empty(total, dtype=int)
    for start in range(0, total, 5_000):
        block = P[start : start + 5_000]
        y[start : start + 5_000] = (block + rng.gumbel(size=block.shape)).argmax(axis=1)
        block *= 2.0
        block -= block.max(axis=1, keepdims=True)
        np.exp(block, out=block)
        block /= block.sum(axis=1, keepdims=True)
    if decimals is not None:
        second = np.round(P[:, 1], decimals)
        P = np.column_stack([1.0 - second, second])
    return P, y


class Said(ClassifierMixin, BaseEstimator):
    """A fitted model whose features are its predictions: what scikit-learn calibrates."""

    def fit(self, X, y):
        """Note the classes."""
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        """The predictions as they are."""
        return X

    def predict(self, X):
        """The class of the largest."""
        return self.classes_[X.argmax(axis=1)]


def fitted_and_seconds(name, P, y, repeats):
    """(what predicts, least CPU seconds of a fit)."""
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        if name in SCIKIT_LEARN:
            said = FrozenEstimator(Said().fit(P, np.arange(P.shape[1])))
            model = CalibratedClassifierCV(said, method=SCIKIT_LEARN[name]).fit(P, y)
        else:
            model = {"automatic": cb.AutoCalibrator, "SMS": cb.calibrators.StructuredMatrixScaling}[
                name
            ]().fit(P, y)
        seconds.append(time.process_time() - start)
    return model, min(seconds)


def measured(case, name, repeats):
    """[CPU seconds, peak GB, test log loss] of one method on one case, in a process of its own."""
    n, n_classes, decimals, _, _ = CASES[case]
    P, y = probabilities_and_labels(n, n_classes, decimals)
    held, truth, P, y = P[n:].copy(), y[n:], P[:n].copy(), y[:n]
    small = np.random.default_rng(1).dirichlet(np.ones(n_classes if n_classes < 20 else 3), 200)
    fitted_and_seconds(name, small, small.argmax(axis=1), 1)  # imports
    model, seconds = fitted_and_seconds(name, P, y, repeats if n * n_classes < 1_000_000 else 1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return (
        seconds,
        peak,
        log_loss(truth, np.maximum(model.predict_proba(held), 1e-12), classes=range(n_classes)),
    )


def main():
    """Print a row for each case and method; exit 1 when the automatic choice misses a target."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    missed = 0
    for case in options.case:
        n, n_classes, _, most, memory = CASES[case]
        print(
            f"{case}: {n:,} x {n_classes:,}, at most {most:g} s CPU"
            + (f" and {memory:g} GB" if memory else "")
        )
        for name in ("automatic", "SMS", *SCIKIT_LEARN):
            if name != "automatic" and n_classes == 1_000:
                continue  # minutes each
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                seconds, peak, loss = pool.apply(measured, (case, name, options.repeats))
            short = name == "automatic" and (
                seconds > most or (memory is not None and peak > memory)
            )
            missed += short
            print(
                f"  {name:26s}{seconds:8.3f} s  {peak:5.2f} GB  test log loss"
                f" {loss:.4f}{'  MISSED' if short else ''}",
                flush=True,
            )
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
