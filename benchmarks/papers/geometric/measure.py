"""ECE (15 bins), log loss, Brier score and AURC of a confidence."""

import numpy as np

from calibrant._numerics.bins import equal_width_index, grouped_sums

MEASURES = ("ECE", "NLL", "Brier", "AURC")
#: Confidences are kept this far from 0 and 1 in the log loss, which isotonic maps would else make
#: infinite.
FLOOR = 1e-4


def measures(confidence, right):
    """ECE in %, log loss, Brier score in %, AURC x 1000 (the expectation over orders of ties)."""
    c = np.clip(confidence, FLOOR, 1.0 - FLOOR)
    return {
        "ECE": 100.0 * ece(confidence, right),
        "NLL": float(-np.log(np.where(right > 0, c, 1.0 - c)).mean()),
        "Brier": 100.0 * float(((confidence - right) ** 2).mean()),
        "AURC": 1000.0 * aurc(confidence, right),
    }


def ece(confidence, right, n_bins=15):
    """Sum over equal bins of |mean confidence - accuracy|, by their shares."""
    sums = grouped_sums(equal_width_index(confidence, n_bins), n_bins, [confidence, right])
    return float(np.abs(sums[:, 1] - sums[:, 2]).sum() / sums[:, 0].sum())


def aurc(confidence, right):
    """Mean over coverages of the error of the most confident rows; tied rows err at the rate of
    their tie.
    """
    _, tie = np.unique(-confidence, return_inverse=True)
    rate = np.bincount(tie, 1.0 - right) / np.bincount(tie)
    wrong = rate[np.sort(tie)]
    return float((np.cumsum(wrong) / np.arange(1, len(wrong) + 1)).mean())
