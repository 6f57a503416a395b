"""What a monitor of probabilities claims: in each bin of the score, hits as often as is said."""

from dataclasses import dataclass

import numpy as np

from calibrant._kernels.betting import N_ALTERNATIVES, log_factors
from calibrant._kernels.intervals import clopper_pearson
from calibrant.errors import InputError
from calibrant.monitoring.refit_gain import refit_gain

__all__ = ["ScoreClaim", "learned_band"]


@dataclass(frozen=True)
class ScoreClaim:
    """Sums are (B, 3): rows, summed score and hits of each bin."""

    n_alternatives = N_ALTERNATIVES

    def checked(self, sums: np.ndarray) -> np.ndarray:
        """The sums, once they can be such."""
        if sums.ndim != 2 or sums.shape[1] != 3 or not np.isfinite(sums).all() or (sums < 0.0).any() or (sums[:, 1:] > sums[:, :1]).any():
            raise InputError(f"sums must be (B, 3): rows, summed score and hits of each bin, the last two at most the first; got {sums!r}.")
        return sums

    def rows(self, sums: np.ndarray) -> float:
        """How many rows they are of."""
        return float(sums[:, 0].sum())

    def events(self, sums: np.ndarray) -> np.ndarray:
        """(B, 3) rows, summed probability and hits of each event whose rate is claimed."""
        return sums

    def log_factors(self, sums: np.ndarray, low: np.ndarray, high: np.ndarray, learned: bool) -> np.ndarray:
        """(A,) log factors of the stakes, rates being claimed within ``low`` and ``high`` of the mean score."""
        return log_factors(sums, low, high)

    def errors(self, batches: np.ndarray) -> np.ndarray:
        """(T, B, 3) of T batches: what the calibration error is counted from."""
        return batches

    def redrawn(self, sums: np.ndarray, n_draws: int) -> np.ndarray:
        """(n_draws, B, 3) as the error would be counted from other rows like these, seeded."""
        n, _, hits = np.rint(sums).astype(np.int64).T
        draws = np.repeat(sums[None], n_draws, axis=0)
        draws[..., 2] = np.random.default_rng(0).binomial(n, hits / np.maximum(n, 1), (n_draws, len(n)))
        return draws

    def refit_gain(self, sums: np.ndarray) -> tuple[float, float]:
        """(gain in log loss a row of a re-fit on these rows, its standard error), out of fold."""
        return refit_gain(sums)

    def stated(self, batches: np.ndarray) -> np.ndarray:
        """(T, 3) rows, summed probability and hits of T batches."""
        return batches.sum(axis=1)


def learned_band(events: np.ndarray, alpha: float, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """(low, high), (B,) each: where the rates seen in a reference may lie, as offsets from what was said; together at 1 - alpha."""
    n, total, hits = events.T
    low, high = clopper_pearson(hits, n, 1.0 - alpha / max(float((n > 0.0).sum()), 1.0))
    score = np.divide(total, n, out=np.zeros(len(n)), where=n > 0.0)
    # Nothing is claimed of a bin that had no rows.
    return np.where(n > 0.0, low - score, -1.0) - tolerance, np.where(n > 0.0, high - score, 1.0) + tolerance
