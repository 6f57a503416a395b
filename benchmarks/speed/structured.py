"""Structured vector and matrix scaling at K = 100 against probmetrics, in one process.

Run: python benchmarks/speed/structured.py The peer needs an environment of its own: pip install
probmetrics==1.3.0 numba torch calibrant; without it only our times are printed. With CALIBRANT_DATA
(default ../shared/data) the rows are a CIFAR-100 network's, else simulated.
"""

import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np

import calibrant as cb
from calibrant._numerics.threads import set_threads

REPEATS = 5
ROWS = 5_000
OURS = {
    "svs": cb.calibrators.StructuredVectorScaling,
    "sms": cb.calibrators.StructuredMatrixScaling,
}


def rows():
    """(P_fit, y_fit, P_test, y_test) over 100 classes."""
    path = (
        Path(os.environ.get("CALIBRANT_DATA", "../shared/data"))
        / "network_outputs"
        / "densenet-bc-100-cifar100.npz"
    )
    if path.exists():
        data = np.load(path)
        P, y = (
            np.clip(data["probabilities"].astype(np.float64), 1e-12, 1.0),
            data["labels"].astype(np.intp),
        )
    else:
        rng = np.random.default_rng(0)
        logits = 2.0 * rng.normal(size=(2 * ROWS, 100))
        y = (logits * rng.uniform(0.7, 1.3, 100) + rng.gumbel(size=logits.shape)).argmax(axis=1)
        P = np.exp(1.5 * logits)
    P /= P.sum(axis=1, keepdims=True)
    order = np.random.default_rng(0).permutation(len(y))
    fit, test = order[:ROWS], order[ROWS:]
    return P[fit], y[fit], P[test], y[test]


def peer_maker():
    """``get_calibrator`` of probmetrics, or None with a line that says why."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import torch
            from probmetrics.calibrators import get_calibrator
    except ImportError as error:
        print(
            f"probmetrics is left out: {error}. Install it beside calibrant: pip install"
            " probmetrics==1.3.0 numba torch"
        )
        return None
    torch.set_num_threads(1)
    return get_calibrator


def timed(make, P, y):
    """(fitted object, least CPU seconds of the fit)."""
    best, fitted = np.inf, None
    for _ in range(REPEATS + 1):  # the first one compiles
        calibrator = make()
        start = time.process_time()
        fitted = calibrator.fit(P, y) or calibrator
        best = min(best, time.process_time() - start)
    return fitted, best


def main():
    """Print CPU times and log losses; exit 1 when a method of ours takes longer than the peer's."""
    set_threads(1)  # one thread each: CPU seconds then compare like with like
    P, y, test_P, test_y = rows()
    make_peer = peer_maker()
    slower = False
    print(f"{len(y):,} rows, {P.shape[1]} classes, best of {REPEATS}, one thread each")
    for name, cls in OURS.items():
        found = {"calibrant": timed(cls, P, y)}
        if make_peer is not None:
            found["probmetrics"] = timed(lambda name=name: make_peer(name), P, y)
        for library, (fitted, cpu) in found.items():
            Q = np.asarray(fitted.predict_proba(test_P))
            loss = -np.log(Q[np.arange(len(test_y)), test_y]).mean()
            print(f"{name} {library:12s} fit {cpu:.3f} s CPU   test log loss {loss:.5f}")
        slower |= "probmetrics" in found and found["calibrant"][1] > found["probmetrics"][1]
    return int(slower)


if __name__ == "__main__":
    sys.exit(main())
