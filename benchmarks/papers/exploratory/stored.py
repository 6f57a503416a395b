"""Stored outputs of networks and classifiers in five random halves: the paper's claims where the
ensembles of MNIST do not speak.

In each split the first half of the rows takes the place of test set 1 (fitted on), the second that
of test set 2.
"""

import numpy as np
from benchmarks.papers.outputs import DATA, TITLES, read

__all__ = ["halves", "names", "read", "short", "spread", "title"]

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


def title(path):
    """The name of an output in the tables."""
    return TITLES[f"{path.parent.name}/{path.stem}"]


def halves(logits, labels):
    """For each seed ({"test1", "test2"} -> logits, the same -> labels)."""
    for seed in SEEDS:
        order = np.random.default_rng(seed).permutation(len(labels))
        rows = dict(zip(("test1", "test2"), np.split(order, [len(order) // 2]), strict=True))
        yield {t: logits[r] for t, r in rows.items()}, {t: labels[r] for t, r in rows.items()}


def spread(values):
    """A mean over splits and the range seen, as text."""
    return f"{np.mean(values):+.4f} [{np.min(values):+.4f}, {np.max(values):+.4f}]"


def short(values):
    """A mean over splits without its leading zero, the range where signs differ, and in bold where
    it is above 0: a cell of the stored tables.
    """
    texts = [
        f"{v:+.3f}".replace("0.", ".", 1) if abs(v) < 1.0 else f"{v:+.3f}"
        for v in (np.mean(values), np.min(values), np.max(values))
    ]
    cell = f"**{texts[0]}**" if np.mean(values) > 0.0 else texts[0]
    return cell + (f" [{texts[1]}, {texts[2]}]" if np.min(values) < 0.0 < np.max(values) else "")
