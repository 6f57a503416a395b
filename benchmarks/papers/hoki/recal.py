"""ReCal, a baseline of the paper: temperatures for groups of rows, grouped by what a lossy
transformation does to their confidence.

Jang, Lee and Weimer, "Improving classifier confidence using lossy label-invariant transformations",
2020. Written from the method: draw one of the transformations; group the rows by whether it changes
the label and whether it raises the label's confidence; fit a temperature in each of the four
groups, drawn towards 1 by the group's share of the rows; refuse what raises the calibration error;
repeat on the rescaled probabilities until the error stands still. The benchmark needs it only for
the images it has.
"""

import numpy as np

import calibrant as cb
from calibrant import metrics

MAX_ROUNDS, STANDSTILL = 100, 1e-6


class ReCal:
    """Fit on log-probabilities (n, K), those of the transformed inputs (T, n, K) and labels;
    predict replays the rounds.
    """

    def __init__(self, seed=0):
        self.seed = seed

    def fit(self, logits, transformed, y):
        rng = np.random.default_rng(self.seed)
        self.rounds_, previous = [], 1.0
        for which in rng.integers(0, len(transformed), MAX_ROUNDS):
            group = _group(logits, transformed[which])
            scales, refused = _scales(logits, y, group)
            self.rounds_.append((int(which), scales))
            logits = _normalised(logits * scales[group][:, None])
            error = _ece(logits, y)
            if not refused and abs(error - previous) < STANDSTILL:
                break
            previous = error
        return self

    def predict_proba(self, logits, transformed):
        for which, scales in self.rounds_:
            logits = _normalised(logits * scales[_group(logits, transformed[which])][:, None])
        return np.exp(logits)


def _normalised(logits):
    shifted = logits - logits.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def _group(logits, transformed):
    """0 to 3: twice whether the label stays, plus whether its confidence does not rise."""
    rows, label = np.arange(len(logits)), logits.argmax(axis=1)
    rises = transformed[rows, label] > logits[rows, label]
    return 2 * (transformed.argmax(axis=1) == label) + ~rises


def _scales(logits, y, group):
    """(4,) factors of the logits, 1 where they would raise the error; and whether all were
    refused.
    """
    scales = np.ones(4)
    for g in np.unique(group):
        rows = group == g
        fitted = cb.TemperatureScaling(inputs="logit").fit(logits[rows], y[rows])
        share = rows.mean()
        scales[g] = (1.0 - share) + share / fitted.temperature_
    if _ece(_normalised(logits * scales[group][:, None]), y) > _ece(logits, y):
        return np.ones(4), True
    for g in np.unique(group):
        rows = group == g
        if _ece(_normalised(logits[rows] * scales[g]), y[rows]) > _ece(logits[rows], y[rows]):
            scales[g] = 1.0
    return scales, False


def _ece(logits, y):
    return metrics.expected_calibration_error(y, np.exp(logits))
