"""Eight digits with their prediction sets (two of one class, two of two, two that miss, two empty),
and the coverage of each class.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import calibrant as cb

X, y = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(y))
X, y = X[order], y[order]
model = LogisticRegression(C=0.001, max_iter=200).fit(X[:300], y[:300])
P = model.predict_proba(X[300:])
sets = cb.ConformalSets(level=0.9).fit(P[:700], y[300:1000])
found, labels = sets.predict_set(P[700:]), sets.labels(P[700:])
size, held = found.sum(axis=1), found[np.arange(797), y[1000:]]
kinds = (held & (size == 1), held & (size == 2), ~held & (size == 1), size == 0)
picks = [row for kind in kinds for row in np.flatnonzero(kind)[:2]]


def digits():
    """Draw the digits with their sets."""
    _, axes = plt.subplots(2, 4, figsize=(7, 4.1), layout="constrained")
    for ax, row in zip(axes.flat, picks, strict=True):
        ax.imshow(X[1000 + row].reshape(8, 8), cmap="gray_r")
        ax.set_axis_off()
        words = "{" + ", ".join(str(label) for label in labels[row]) + "}"
        words = words if held[row] else f"{words} misses {y[1000 + row]}"
        ax.set_title(words, fontsize="large", color="black" if held[row] else "#c2410c")


def coverage():
    """Draw the coverage of each class."""
    cb.displays.SetCoverageDisplay.from_sets(y[1000:], found, said=0.9, by="class")
