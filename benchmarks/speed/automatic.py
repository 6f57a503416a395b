"""The automatic choice against structured matrix scaling alone: 5,000 rows, 100 classes, CPU time in one process.

Run: python benchmarks/speed/automatic.py [--rows N] [--classes K] [--repeats R]
The rows are drawn from the stored DenseNet outputs on CIFAR-100 where CALIBRANT_DATA has them and K is 100, else planted. Exits 1 when the
automatic choice takes more than ten times as long.
"""

import argparse
import os
import sys
import time
from pathlib import Path

import numpy as np

import calibrant as cb
from calibrant.metrics import log_loss

ALLOWED_RATIO = 10.0
STORED = Path(os.environ.get("CALIBRANT_DATA", "../shared/data")) / "network_outputs" / "densenet-bc-100-cifar100.npz"


def probabilities_and_labels(n, n_classes, seed=0):
    """n rows to fit and as many to test: stored outputs, or those of a planted overconfident model."""
    rng = np.random.default_rng(seed)
    if n_classes == 100 and STORED.exists():
        with np.load(STORED) as z:
            rows = rng.permutation(len(z["labels"]))[: 2 * n]
            return np.clip(z["probabilities"][rows].astype(np.float64), 1e-12, 1.0), z["labels"][rows].astype(int), STORED.stem
    logits = rng.normal(size=(2 * n, n_classes))
    logits[np.arange(2 * n), rng.integers(0, n_classes, 2 * n)] += 5.0
    y = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    P = np.exp(2.0 * logits - 2.0 * logits.max(axis=1, keepdims=True))
    return P / P.sum(axis=1, keepdims=True), y, "planted"


def timed(make, P, y, repeats):
    """(fitted calibrator, least CPU seconds of a fit)."""
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        fitted = make().fit(P, y)
        seconds.append(time.process_time() - start)
    return fitted, min(seconds)


def main():
    """Print both times and test log losses; exit 1 when the ratio is above the allowed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=5_000)
    parser.add_argument("--classes", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    P, y, name = probabilities_and_labels(options.rows, options.classes)
    P, n = P / P.sum(axis=1, keepdims=True), len(y) // 2
    print(f"{name}: {n:,} rows to fit, {P.shape[1]:,} classes, best of {options.repeats}, {cb.get_threads()} thread(s)")
    seconds = {}
    for make in (cb.StructuredMatrixScaling, cb.AutoCalibrator):
        fitted, seconds[make] = timed(make, P[:n], y[:n], options.repeats)
        print(f"{make.__name__:26s}{seconds[make]:8.3f} s CPU  test log loss {log_loss(y[n:], fitted.predict_proba(P[n:])):.4f}")
    print(fitted.explain())
    ratio = seconds[cb.AutoCalibrator] / seconds[cb.StructuredMatrixScaling]
    print(f"ratio {ratio:.2f} (at most {ALLOWED_RATIO:g})")
    return int(ratio > ALLOWED_RATIO)


if __name__ == "__main__":
    sys.exit(main())
