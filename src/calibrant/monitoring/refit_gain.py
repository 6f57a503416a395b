"""What a re-fit would gain, out of fold, from sums by bin alone."""

import numpy as np

from calibrant._kernels.softmax import ZERO_FLOOR
from calibrant.maps.platt import Platt

__all__ = ["refit_gain"]

N_FOLDS = 5


def refit_gain(sums: np.ndarray) -> tuple[float, float]:
    """(gain in log loss a row, its standard error) of a sigmoid of the log-odds fitted to other folds.

    From (B, 3) sums by bin, rows, summed score and hits, of at least some twenty rows. The rows of a bin are dealt to folds at random,
    right and wrong ones by their numbers, which needs no rows; each counts with the mean score of its bin.
    """
    filled = sums[:, 0] > 0.0
    n, total, hits = sums[filled].T
    score = np.clip(total / n, 0.0, 1.0)
    rng, fold = np.random.default_rng(0), np.full(N_FOLDS, 1.0 / N_FOLDS)
    right, wrong = (rng.multinomial(np.rint(count).astype(np.int64), fold) for count in (hits, n - hits))
    gains, counts = [], []
    for k in range(N_FOLDS):
        rest = np.concatenate([right.sum(axis=1) - right[:, k], wrong.sum(axis=1) - wrong[:, k]])
        fitted = Platt().fit(np.tile(score, 2), np.repeat([1.0, 0.0], len(score)), sample_weight=rest)
        new, old = np.clip(fitted.predict(score), ZERO_FLOOR, 1.0), np.clip(score, ZERO_FLOOR, 1.0)
        gains += [np.log(new / old), np.log(np.maximum(1.0 - new, ZERO_FLOOR) / np.maximum(1.0 - old, ZERO_FLOOR))]
        counts += [right[:, k], wrong[:, k]]
    gain, count = np.concatenate(gains), np.concatenate(counts)
    whole = count.sum()
    mean = count @ gain / whole
    return float(mean), float(np.sqrt(count @ np.square(gain - mean) / whole / max(whole - 1.0, 1.0)))
