"""Probabilities and labels that prediction sets are made for. NumPy only: the peers' environment
imports it too.

The simulation is a reconstruction: 100 classes, normal log-odds of standard deviation 1.5 and 4
more for the true class, which gives the sizes and coverages that were written down of another
(randomised APS 8.43 at 90.2 %, MAPIE's default 9.04 at 92.3 %).
"""

import os
from pathlib import Path

import numpy as np

__all__ = ["NETWORKS", "ROWS", "anchor", "network"]

DATA = Path(os.environ.get("CALIBRANT_DATA", "../shared/data"))
ROWS = 10_000
#: Name -> (file, key of the numbers, key of the labels, whether they are logits)
NETWORKS = {
    "cifar10 lenet": ("network_outputs/lenet-5-cifar10", "probabilities", "labels", False),
    "cifar10 wideresnet": (
        "network_outputs/wideresnet-16-4-cifar10",
        "probabilities",
        "labels",
        False,
    ),
    "cifar100 densenet": (
        "network_outputs/densenet-bc-100-cifar100",
        "probabilities",
        "labels",
        False,
    ),
    "tiny imagenet 200": ("stage2/nn_tinyimagenet200_linear", "logits", "label", True),
    "imagenet 1000 views": ("stage2/nn_imagenet1k_lite0_views", "logits", "label", True),
    "imagenet 1000 lowres": ("stage2/nn_imagenet1k_lite0_lowres", "logits", "label", True),
}


def softmax(logits):
    """Rows that sum to 1."""
    P = np.exp(logits - logits.max(axis=1, keepdims=True))
    return P / P.sum(axis=1, keepdims=True)


def anchor(seed):
    """(P, y) to calibrate on and (P, y) to test on, 10,000 rows of 100 classes each."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 100, 2 * ROWS)
    logits = 1.5 * rng.normal(size=(2 * ROWS, 100))
    logits[np.arange(2 * ROWS), y] += 4.0
    P = softmax(logits)
    return P[:ROWS], y[:ROWS], P[ROWS:], y[ROWS:]


def network(name, seed):
    """The same of a stored network's outputs, in halves; None where the file is missing."""
    file, numbers, labels, logits = NETWORKS[name]
    path = DATA / f"{file}.npz"
    if not path.is_file():
        return None
    with np.load(path) as held:
        P, y = held[numbers].astype(np.float64), held[labels].astype(int)
    P = softmax(P) if logits else P / P.sum(axis=1, keepdims=True)
    order = np.random.default_rng(seed).permutation(len(y))
    one, other = order[: len(y) // 2], order[len(y) // 2 :]
    return P[one], y[one], P[other], y[other]
