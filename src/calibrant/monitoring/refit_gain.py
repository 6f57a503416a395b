"""What a re-fit would gain, out of fold, from sums by bin or by cell alone."""

import numpy as np
from scipy import optimize

from calibrant._kernels.betting import cell_shares
from calibrant._kernels.softmax import ZERO_FLOOR
from calibrant.maps.platt import Platt

__all__ = ["forecast_refit_gain", "refit_gain"]

N_FOLDS = 5


def refit_gain(sums: np.ndarray) -> tuple[float, float]:
    """(gain in log loss a row, its standard error) of a sigmoid of the log-odds fitted to other folds.

    From (B, 3) sums by bin, rows, summed score and hits, of at least some twenty rows. The rows of a bin are dealt to folds at random,
    right and wrong ones by their numbers, which needs no rows; each counts with the mean score of its bin.
    """
    filled = sums[:, 0] > 0.0
    n, total, hits = sums[filled].T
    score = np.clip(total / n, 0.0, 1.0)

    def gain(rest: np.ndarray) -> np.ndarray:
        fitted = Platt().fit(np.tile(score, 2), np.repeat([1.0, 0.0], len(score)), sample_weight=rest)
        new, old = np.clip(fitted.predict(score), ZERO_FLOOR, 1.0), np.clip(score, ZERO_FLOOR, 1.0)
        return np.concatenate([np.log(new / old), np.log(np.maximum(1.0 - new, ZERO_FLOOR) / np.maximum(1.0 - old, ZERO_FLOOR))])

    return _out_of_fold(np.concatenate([hits, n - hits]), gain)


def forecast_refit_gain(cells: np.ndarray, levels: np.ndarray) -> tuple[float, float]:
    """(gain in log probability of the cell a row, its standard error) of a mean and std of the normal scores fitted to other folds.

    From the (C,) rows by cell between the levels, of at least some twenty rows, which are dealt to folds at random.
    """
    claimed = cell_shares(levels, np.zeros(1), np.ones(1))[0]

    def gain(rest: np.ndarray) -> np.ndarray:
        # One row more as it was claimed to be keeps the fit finite.
        counts = rest + claimed

        def loss(x: np.ndarray) -> float:
            return -float(counts @ np.log(cell_shares(levels, x[:1], np.exp(x[1:]))[0]))

        found = optimize.minimize(loss, np.zeros(2), method="Nelder-Mead", bounds=[(-10.0, 10.0), (-5.0, 5.0)]).x
        return np.log(cell_shares(levels, found[:1], np.exp(found[1:]))[0] / claimed)

    return _out_of_fold(cells, gain)


def _out_of_fold(counts, gain):
    """(mean, its standard error) of ``gain(counts of the other folds)``, a number for each kind of row, over the rows of each fold."""
    rng, fold = np.random.default_rng(0), np.full(N_FOLDS, 1.0 / N_FOLDS)
    dealt = rng.multinomial(np.rint(counts).astype(np.int64), fold)
    each = np.array([gain(np.delete(dealt, k, axis=1).sum(axis=1).astype(np.float64)) for k in range(N_FOLDS)])
    count = dealt.T.astype(np.float64)
    whole = count.sum()
    mean = float((count * each).sum() / whole)
    return mean, float(np.sqrt((count * np.square(each - mean)).sum() / whole / max(whole - 1.0, 1.0)))
