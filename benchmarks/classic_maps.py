"""Every classic map on the five KITTI classifiers, beside the same method of the peers.

Run: python benchmarks/classic_maps.py Protocol: for seed 0..4,
``default_rng(seed).permutation(n)``, the first n // 2 rows fit, the rest test; probabilities
clipped to [1e-12, 1]. Log loss, means over the seeds. Needs CALIBRANT_DATA (default
../shared/data); the peers' numbers are read from reference/peers.json beside it. Exits 1 when Beta,
Platt or Venn-Abers is worse than the same method of a peer by more than 0.002.
"""

import json
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np

import calibrant as cb
from calibrant import metrics

DATA = Path(os.environ.get("CALIBRANT_DATA", "../shared/data"))
SETS = (
    "1layer-nn-kitti",
    "adaboost-kitti",
    "mondrian-forest-kitti",
    "random-forest-kitti",
    "xgboost-kitti",
)
MAPS = {
    "uncalibrated": None,
    "Platt": cb.Platt(),
    "Platt, probability": cb.Platt(scale="probability"),
    "Beta": cb.calibrators.Beta(),
    "Beta, am": cb.calibrators.Beta(parameters="am"),
    "Beta, ab": cb.calibrators.Beta(parameters="ab"),
    "Isotonic": cb.Isotonic(),
    "CenteredIsotonic": cb.calibrators.CenteredIsotonic(),
    "VennAbers": cb.calibrators.VennAbers(),
    "VennAbers, 5 parts": cb.calibrators.VennAbers(n_splits=5),
    "Spline": cb.calibrators.Spline(),
    "NearIsotonic": cb.calibrators.NearIsotonic(),
    "BayesianBinning": cb.calibrators.BayesianBinning(),
    "ScalingBinning": cb.calibrators.ScalingBinning(),
    "HistogramBinning, mass": cb.calibrators.HistogramBinning(strategy="mass"),
}
#: The same method of a peer.
PEERS = {
    "Platt": "probmetrics affine-OvR",
    "Platt, probability": "sklearn sigmoid(proba)",
    "Beta": "probmetrics beta-OvR",
    "VennAbers": "probmetrics ivap",
    "Isotonic": "probmetrics isotonic-mix",
}
JUDGED = ("Platt", "Platt, probability", "Beta", "VennAbers")
SLACK = 0.002


def read(name):
    """(probabilities clipped and normalised, labels) of one stored file."""
    data = np.load(DATA / "classifier_outputs" / f"{name}.npz")
    P = np.clip(data["probabilities"].astype(np.float64), 1e-12, 1.0)
    return P / P.sum(axis=1, keepdims=True), data["labels"].astype(np.intp)


def run(map_, P, y):
    """(mean log loss, mean CPU seconds of a fit)."""
    losses, spent = [], []
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(y))
        fit, test = order[: len(y) // 2], order[len(y) // 2 :]
        calibrator = cb.calibrators.Identity() if map_ is None else cb.OneVsRest(map_)
        start = time.process_time()
        calibrator.fit(P[fit], y[fit])
        spent.append(time.process_time() - start)
        losses.append(metrics.log_loss(y[test], calibrator.predict_proba(P[test])))
    return float(np.mean(losses)), float(np.mean(spent))


def report(name, peers):
    """Print one data set's table; returns the lines of what is worse than its peer."""
    P, y = read(name)
    print(f"\n{name}: {len(y) // 2:,} rows to fit")
    missed = []
    for label, map_ in MAPS.items():
        loss, spent = run(map_, P, y)
        peer = peers.get(PEERS.get(label, ""))
        beside = "" if peer is None else f"   {PEERS[label]} {peer:.4f} ({loss - peer:+.4f})"
        print(f"  {label:24s} {loss:.4f}  {1e3 * spent:6.1f} ms{beside}")
        if label in JUDGED and peer is not None and loss > peer + SLACK:
            missed.append(f"{label} on {name}: {loss:.4f} against {peer:.4f}")
    return missed


def main():
    """Print the tables and the verdict."""
    if not DATA.exists():
        print(
            f"{DATA} is not there: set CALIBRANT_DATA to the folder that holds classifier_outputs/"
        )
        return 0
    path = DATA.parent / "reference" / "peers.json"
    peers = json.loads(path.read_text(encoding="utf-8"))["log_loss"] if path.exists() else {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        missed = [line for name in SETS for line in report(name, peers.get(name, {}))]
    print(
        "\n"
        + (
            "\n".join(missed)
            if missed
            else f"Platt, Beta and Venn-Abers: nowhere worse than the peer by more than {SLACK}"
        )
    )
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
