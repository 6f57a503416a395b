"""Section 13.4 and Figure 16: networks of 10,000 steps, whose scores nearly all are 1, and what is
left to calibrate.

    python -m benchmarks.papers.exploratory.fully_trained --networks 4  # some 300 CPU seconds a
    network; needs torch

Every network by itself, and all together as one ensemble (the paper's are of ten out of 1,000).
Fitted on test set 1, read on test set 2.
"""

import argparse

import numpy as np
from benchmarks.papers.exploratory import helps, measure, networks, stored
from benchmarks.papers.exploratory.methods import METHODS

STEPS = 10_000
#: "most of the resulting optimal cutoffs fall between 0.99 and 1.00", "only four TP scores less
#: than 0.99".
CROWDED = 0.99
TRIED = {name: METHODS[name] for name in (*helps.COMPARED, "KDE b_mon")} | helps.LITERAL


def sparsity(said, labels):
    """(rows, 2) for each predicted class of test set 1: right predictions below 0.99, wrong
    predictions.
    """
    predicted = said["test1"].argmax(axis=1)
    score = np.exp(said["test1"] - np.logaddexp.reduce(said["test1"], axis=1, keepdims=True)).max(
        axis=1
    )
    right = predicted == labels["test1"]
    return np.stack(
        [
            np.bincount(predicted[rows], minlength=10)
            for rows in (right & (score < CROWDED), ~right)
        ],
        axis=1,
    )


def cutoffs(said, labels):
    """The optimal cutoffs of the cumulative confidence, one for each class that has one."""
    found = measure.fitted(said["test1"], labels["test1"], {"CwOC": TRIED["CwOC"]})["CwOC"]
    return np.array(
        [m.cutoff_ for m in found.maps_.values() if np.isfinite(getattr(m, "cutoff_", np.nan))]
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--networks", type=int, default=4)
    options = parser.parse_args()
    networks.fill("balanced", options.networks, STEPS)
    pool, labels = networks.pool("balanced", options.networks, STEPS)
    members = [
        {t: z[i].astype(np.float64) for t, z in pool.items()} for i in range(options.networks)
    ]
    together = {t: z.sum(axis=0, dtype=np.float64) for t, z in pool.items()}
    for name, those in (("one network", members), (f"ensemble of {options.networks}", [together])):
        show(name, those, labels)


def show(name, outputs, labels):
    accuracy = [np.mean(said["test2"].argmax(axis=1) == labels["test2"]) for said in outputs]
    sparse, cut = (
        np.stack([sparsity(said, labels) for said in outputs]),
        np.concatenate([cutoffs(said, labels) for said in outputs]),
    )
    print(f"\n{name}: right on test set 2 {min(accuracy):.4f} to {max(accuracy):.4f}")
    for told, counts in zip(
        (f"right predictions below {CROWDED}", "wrong predictions"),
        np.moveaxis(sparse, 2, 0),
        strict=True,
    ):
        print(
            f"  {told} a class on test set 1: {counts.min()} to {counts.max()}, median"
            f" {np.median(counts):g}; of digit 0 {counts[:, 0]}"
        )
    print(f"  cutoffs of CwOC above {CROWDED}: {(cut >= CROWDED).sum()} of {len(cut)} classes")
    nll = np.stack([helps.losses(said, labels, TRIED)[:, 1] for said in outputs])
    for m, method in enumerate(TRIED):
        print(
            f"  {method:30s} NLL {nll[:, m].mean():.4f}  less uncalibrated"
            f" {stored.spread(nll[:, m] - nll[:, 0])}"
        )


if __name__ == "__main__":
    main()
