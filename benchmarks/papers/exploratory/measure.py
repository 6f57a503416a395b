"""NLL, ECE_1 and ECE_2 of the confidence, per predicted class, for every method on one ensemble."""

import warnings

import numpy as np
from benchmarks.papers.exploratory.methods import METHODS
from sklearn.base import clone

from calibrant._numerics.bins import equal_width_index, grouped_sums
from calibrant.errors import CalibrationWarning

MEASURES = ("NLL", "ECE1", "ECE2")
#: Confidences of every method are kept this far from 0 and 1.
FLOOR = 1e-3
BINS = 10
#: A class with fewer positives than this in either test set is listed apart.
FEWEST = 20


def nll(confidence, correct, floor=FLOOR):
    """Mean of -log c over right and -log(1 - c) over wrong predictions."""
    c = np.clip(confidence, floor, 1.0 - floor)
    return float(-np.log(np.where(correct, c, 1.0 - c)).mean())


def ece(confidence, correct, power):
    """(sum of share x |confidence - accuracy|^p)^(1/p) over ten equal bins."""
    sums = grouped_sums(
        equal_width_index(confidence, BINS), BINS, [confidence, correct.astype(float)]
    )
    filled = sums[:, 0] > 0
    gap = np.abs(sums[filled, 1] - sums[filled, 2]) / sums[filled, 0]
    return float((sums[filled, 0] / sums[:, 0].sum() @ gap**power) ** (1.0 / power))


def ensemble(said, labels, floor=FLOOR, methods=METHODS):
    """(scores (methods, 2 test sets, K classes, 3 measures), positives (2, K)); nan where a
    class is never predicted.
    """
    predicted = {name: z.argmax(axis=1) for name, z in said.items()}
    sets, n_classes = tuple(said), said["test1"].shape[1]
    positives = np.stack([np.bincount(predicted[name], minlength=n_classes) for name in sets])
    scores = np.full((len(methods), 2, n_classes, len(MEASURES)), np.nan)
    for m, calibrator in enumerate(fitted(said["test1"], labels["test1"], methods).values()):
        for t, name in enumerate(sets):
            confidence, correct = (
                calibrator.predict_confidence(said[name]),
                predicted[name] == labels[name],
            )
            for k in np.flatnonzero(positives[t]):
                own = predicted[name] == k
                c, right = confidence[own], correct[own]
                scores[m, t, k] = nll(c, right, floor), ece(c, right, 1), ece(c, right, 2)
    return scores, positives


def fitted(logits, labels, methods=METHODS):
    """Every method fitted on test set 1."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        return {name: clone(method).fit(logits, labels) for name, method in methods.items()}


def macro(scores, positives):
    """Mean over the classes with enough positives in both sets: (methods, 2, 3), and the mask of
    those classes.
    """
    enough = (positives >= FEWEST).all(axis=0)
    return np.nanmean(scores[:, :, enough], axis=2), enough
