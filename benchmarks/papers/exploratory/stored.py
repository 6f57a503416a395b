"""Stored outputs of networks and classifiers in five random halves: the paper's claims where the
ensembles of MNIST do not speak.

In each split the first half of the rows takes the place of test set 1 (fitted on), the second that
of test set 2.
"""

import os
from pathlib import Path

import numpy as np

DATA = Path(
    os.environ.get("CALIBRANT_DATA", Path(__file__).resolve().parents[4] / "shared" / "data")
)
FOLDERS = {
    "network_outputs": "*.npz",
    "classifier_outputs": "*-mnist.npz",
    "stage2": "nn_[ct]i*.npz",
}
SEEDS = range(5)


def names():
    """{name: path} of what there is, in order."""
    found = {
        path.stem: path
        for folder, pattern in FOLDERS.items()
        for path in sorted((DATA / folder).glob(pattern))
    }
    if not found:
        raise SystemExit(
            f"no stored outputs in {DATA}; set CALIBRANT_DATA to the folder that holds"
            " network_outputs/"
        )
    return found


def read(path):
    """(log-probabilities or logits (n, K) float64, labels (n,)), under whichever of their names
    the file has them.
    """
    with np.load(path) as kept:
        labels = kept["labels" if "labels" in kept else "label"].astype(np.intp)
        if "logits" in kept:
            return kept["logits"].astype(np.float64), labels
        P = kept["probabilities" if "probabilities" in kept else "probs"].astype(np.float64)
    return np.log(np.clip(P, 1e-12, 1.0)), labels


def halves(logits, labels):
    """For each seed ({"test1", "test2"} -> logits, the same -> labels)."""
    for seed in SEEDS:
        order = np.random.default_rng(seed).permutation(len(labels))
        rows = dict(zip(("test1", "test2"), np.split(order, [len(order) // 2]), strict=True))
        yield {t: logits[r] for t, r in rows.items()}, {t: labels[r] for t, r in rows.items()}


def spread(values):
    """A mean over splits and the range seen, as text."""
    return f"{np.mean(values):+.4f} [{np.min(values):+.4f}, {np.max(values):+.4f}]"
