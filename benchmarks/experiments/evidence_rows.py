"""What the automatic choice loses when its evidence comes from part of the rows.

Run: python -m benchmarks.experiments.evidence_rows [--full] Each line compares the choice with the
evidence of all rows: the change of the log loss on other rows, and the CPU seconds of both fits.
Simulated rows have the law of their labels, so that the expected log loss is exact. Stored outputs
have few rows; their evidence comes from 4,000 rows, fewer than the rule needs.
"""

import argparse
import os
import time
from pathlib import Path
from unittest.mock import patch

import numpy as np

import calibrant as cb
from calibrant.select import auto

DATA = Path(os.environ.get("CALIBRANT_DATA", "../shared/data"))
STORED_ROWS = 4_000


def simulated(n, n_classes, kind, seed):
    """(P, y, P of other rows, true probabilities of these) of a model that is wrong by ``kind``."""
    rng = np.random.default_rng([seed, n, n_classes])
    total = n + 20_000
    z = rng.standard_normal((total, n_classes)) * rng.uniform(0.5, 2.0, (total, 1))
    z[np.arange(total), rng.integers(0, n_classes, total)] += np.log(4.0 * n_classes)
    truth = z.copy()
    if kind == "sharp":
        truth /= 1.7
    elif kind == "classes":
        truth = truth * rng.uniform(0.6, 1.0, n_classes) + rng.normal(0.0, 0.4, n_classes)
    elif kind == "bent":
        truth = np.sign(z) * np.abs(z) ** 0.8 + 0.3 * np.sin(2.0 * z)
    y = (truth + rng.gumbel(size=truth.shape)).argmax(axis=1)
    P, Q = (np.exp(a - a.max(axis=1, keepdims=True)) for a in (z, truth))
    P, Q = P / P.sum(axis=1, keepdims=True), Q / Q.sum(axis=1, keepdims=True)
    return P[:n], y[:n], P[n:], Q[n:]


def stored(path, seed):
    """The same of stored outputs; the labels of other rows stand for the true probabilities."""
    with np.load(path) as z:
        P, y = np.clip(z["probabilities"].astype(np.float64), 1e-12, 1.0), z["labels"].astype(int)
    order = np.random.default_rng(seed).permutation(len(y))
    P, y = (P / P.sum(axis=1, keepdims=True))[order], y[order]
    n = 4 * len(y) // 5
    return P[:n], y[:n], P[n:], np.eye(P.shape[1])[y[n:]]


def compared(name, rows, part):
    """Print and return the relative change of the log loss."""
    P, y, P_new, truth = rows
    loss, seconds = [], []
    for evidence, entries in ((10**9, 10**12), part):
        with (
            patch.object(auto, "EVIDENCE_ROWS", evidence),
            patch.object(auto, "EVIDENCE_ENTRIES", entries),
        ):
            start = time.process_time()
            choice = cb.AutoCalibrator().fit(P, y)
            seconds.append(time.process_time() - start)
        Q = np.maximum(choice.predict_proba(P_new), 1e-15)
        loss.append(-(truth * np.log(Q)).sum(axis=1).mean())
    change = loss[1] / loss[0] - 1.0
    print(
        f"{name:44s} log loss {loss[0]:.5f} {100 * change:+.4f} %   {seconds[0]:.2f} ->"
        f" {seconds[1]:.2f} s",
        flush=True,
    )
    return change


def main():
    """Print a line for each set, and the mean change."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="three seeds instead of one")
    seeds = range(3 if parser.parse_args().full else 1)
    rule = auto.EVIDENCE_ROWS, auto.EVIDENCE_ENTRIES
    found = [
        compared(f"{n:,} x {K}, {kind}, {seed}", simulated(n, K, kind, seed), rule)
        for n, K in ((100_000, 2), (20_000, 2), (60_000, 10), (20_000, 10), (25_000, 50))
        for kind in ("right", "sharp", "classes", "bent")
        for seed in seeds
    ]
    print(f"simulated: mean {100 * np.mean(found):+.4f} %, largest {100 * max(found):+.4f} %")
    found = [
        compared(f"{path.stem}, {seed}", stored(path, seed), (STORED_ROWS, rule[1]))
        for path in sorted(DATA.glob("*_outputs/*.npz"))
        for seed in seeds
    ]
    if found:
        print(f"stored: mean {100 * np.mean(found):+.4f} %, largest {100 * max(found):+.4f} %")


if __name__ == "__main__":
    main()
