"""MNIST as Appendix A splits it: 50,000 to train, 10,000 as test set 1, MNIST's own 10,000 as
test set 2; and imbalanced variants.
"""

import os
from pathlib import Path

import numpy as np

DATA = (
    Path(os.environ.get("CALIBRANT_DATA", Path(__file__).resolve().parents[4] / "shared" / "data"))
    / "mnist.npz"
)
#: What the networks are trained on, by variant: "shifted" thins the training set only, "imbalanced"
#: all three sets alike.
VARIANTS = {"balanced": "balanced", "imbalanced": "imbalanced", "shifted": "imbalanced"}
#: Share of each digit kept in the imbalanced variants.
SHARES = (0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.20, 0.40, 0.70, 1.00)
#: The two digits a fifth of whose labels are exchanged, and that fifth.
EXCHANGED, EXCHANGED_SHARE = (4, 9), 0.2


def splits(path=DATA):
    """{"train", "test1", "test2"} -> (images (n, 784) uint8, digits (n,) int64)."""
    if not Path(path).exists():
        raise SystemExit(
            f"{path} is not there; set CALIBRANT_DATA to the folder that holds mnist.npz"
        )
    with np.load(path) as archive:
        images, digits = archive["images"].reshape(-1, 784), archive["labels"].astype(np.int64)
    order = np.random.default_rng(0).permutation(60_000)
    rows = {"train": order[:50_000], "test1": order[50_000:], "test2": np.arange(60_000, 70_000)}
    return {name: (images[index], digits[index]) for name, index in rows.items()}


def labelled(variant, digits):
    """{set name -> (rows kept, their labels)} of a variant, from {set name -> digits}; seed 0."""
    if variant not in VARIANTS:
        raise SystemExit(f"variant must be one of {tuple(VARIANTS)}; got {variant!r}")
    rng, out = np.random.default_rng(0), {}
    for name, truth in digits.items():
        rows = np.arange(len(truth))
        if variant == "imbalanced" or (variant == "shifted" and name == "train"):
            rows = thinned(truth, rng)
        out[name] = rows, truth[rows] if variant == "balanced" else exchanged(truth[rows], rng)
    return out


def thinned(digits, rng):
    """Rows kept, in order: of each digit its share of SHARES, drawn at random."""
    of_digit = [np.flatnonzero(digits == d) for d in range(10)]
    kept = [
        rng.choice(rows, round(share * len(rows)), replace=False)
        for rows, share in zip(of_digit, SHARES, strict=True)
    ]
    return np.sort(np.concatenate(kept))


def exchanged(labels, rng):
    """The labels with a fifth of each of the two digits of EXCHANGED called the other."""
    out = labels.copy()
    for old, new in (EXCHANGED, EXCHANGED[::-1]):
        rows = np.flatnonzero(labels == old)
        out[rng.choice(rows, round(EXCHANGED_SHARE * len(rows)), replace=False)] = new
    return out
