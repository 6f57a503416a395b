"""What a monitor bets against: claims on rates, and on positions of outcomes in their forecasts."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import optimize

from calibrant._kernels.betting import (
    N_ALTERNATIVES,
    N_RECALIBRATIONS,
    cell_factors,
    cell_shares,
    log_factors,
    node_sums,
    pit_log_factors,
    spread,
)
from calibrant._kernels.bins import redrawn_counts
from calibrant._kernels.intervals import clopper_pearson
from calibrant._kernels.softmax import ZERO_FLOOR
from calibrant.contracts.domain import Domain
from calibrant.contracts.reading import CLASSIFICATION, REGRESSION
from calibrant.errors import InputError
from calibrant.maps.platt import Platt

__all__ = ["PitClaim", "ScoreClaim", "forecast_refit_gain", "learned_band", "refit_gain"]

N_FOLDS = 5


def refit_gain(sums: np.ndarray) -> tuple[float, float]:
    """(gain in log loss a row, its standard error) of a sigmoid of the log-odds fitted to other
    folds.

    From (B, 3) sums by bin, rows, summed score and hits, of at least some twenty rows. The rows of
    a bin are dealt to folds at random, right and wrong ones by their numbers, which needs no rows;
    each counts with the mean score of its bin.
    """
    filled = sums[:, 0] > 0.0
    n, total, hits = sums[filled].T
    score = np.clip(total / n, 0.0, 1.0)

    def gain(rest: np.ndarray) -> np.ndarray:
        fitted = Platt().fit(
            np.tile(score, 2), np.repeat([1.0, 0.0], len(score)), sample_weight=rest
        )
        new, old = np.clip(fitted.predict(score), ZERO_FLOOR, 1.0), np.clip(score, ZERO_FLOOR, 1.0)
        return np.concatenate(
            [
                np.log(new / old),
                np.log(np.maximum(1.0 - new, ZERO_FLOOR) / np.maximum(1.0 - old, ZERO_FLOOR)),
            ]
        )

    return _out_of_fold(np.concatenate([hits, n - hits]), gain)


def forecast_refit_gain(cells: np.ndarray, levels: np.ndarray) -> tuple[float, float]:
    """(gain in log probability of the cell a row, its standard error) of a mean and std of the
    normal scores fitted to other folds.

    From the (C,) rows by cell between the levels, of at least some twenty rows, which are dealt to
    folds at random.
    """
    claimed = cell_shares(levels, np.zeros(1), np.ones(1))[0]

    def gain(rest: np.ndarray) -> np.ndarray:
        # One row more as it was claimed to be keeps the fit finite.
        counts = rest + claimed

        def loss(x: np.ndarray) -> float:
            return -float(counts @ np.log(cell_shares(levels, x[:1], np.exp(x[1:]))[0]))

        found = optimize.minimize(
            loss, np.zeros(2), method="Nelder-Mead", bounds=[(-10.0, 10.0), (-5.0, 5.0)]
        ).x
        return np.log(cell_shares(levels, found[:1], np.exp(found[1:]))[0] / claimed)

    return _out_of_fold(cells, gain)


def _out_of_fold(counts, gain):
    """(mean, its standard error) of ``gain(counts of the other folds)``, a number for each kind
    of row, over the rows of each fold.
    """
    rng, fold = np.random.default_rng(0), np.full(N_FOLDS, 1.0 / N_FOLDS)
    dealt = rng.multinomial(np.rint(counts).astype(np.int64), fold)
    each = np.array(
        [gain(np.delete(dealt, k, axis=1).sum(axis=1).astype(np.float64)) for k in range(N_FOLDS)]
    )
    count = dealt.T.astype(np.float64)
    whole = count.sum()
    mean = float((count * each).sum() / whole)
    return mean, float(
        np.sqrt((count * np.square(each - mean)).sum() / whole / max(whole - 1.0, 1.0))
    )


@dataclass(frozen=True)
class ScoreClaim:
    """Sums are (B, 3): rows, summed score and hits of each bin."""

    n_alternatives = N_ALTERNATIVES
    domain: ClassVar[Domain] = CLASSIFICATION
    remedy: ClassVar[str] = 'target="forecast"'

    def checked(self, sums: np.ndarray) -> np.ndarray:
        """The sums, once they can be such."""
        if (
            sums.ndim != 2
            or sums.shape[1] != 3
            or not np.isfinite(sums).all()
            or (sums < 0.0).any()
            or (sums[:, 1:] > sums[:, :1]).any()
        ):
            raise InputError(
                "sums must be (B, 3): rows, summed score and hits of each bin, the last two at"
                f" most the first; got {sums!r}."
            )
        return sums

    def rows(self, sums: np.ndarray) -> float:
        """How many rows they are of."""
        return float(sums[:, 0].sum())

    def events(self, sums: np.ndarray) -> np.ndarray:
        """(B, 3) rows, summed probability and hits of each event whose rate is claimed."""
        return sums

    def log_factors(
        self, sums: np.ndarray, low: np.ndarray, high: np.ndarray, learned: bool
    ) -> np.ndarray:
        """(A,) log factors of the stakes, rates being claimed within ``low`` and ``high`` of the
        mean score.
        """
        return log_factors(sums, low, high)

    def errors(self, batches: np.ndarray) -> np.ndarray:
        """(T, B, 3) of T batches: what the calibration error is counted from."""
        return batches

    def redrawn(self, sums: np.ndarray, n_draws: int) -> np.ndarray:
        """(n_draws, B, 3) as the error would be counted from other rows like these, seeded."""
        n, _, hits = np.rint(sums).astype(np.int64).T
        draws = np.repeat(sums[None], n_draws, axis=0)
        draws[..., 2] = np.random.default_rng(0).binomial(
            n, hits / np.maximum(n, 1), (n_draws, len(n))
        )
        return draws

    def refit_gain(self, sums: np.ndarray) -> tuple[float, float]:
        """(gain in log loss a row of a re-fit on these rows, its standard error), out of fold."""
        return refit_gain(sums)

    def stated(self, batches: np.ndarray) -> np.ndarray:
        """(T, 3) rows, summed probability and hits of T batches."""
        return batches.sum(axis=1)


def learned_band(
    events: np.ndarray, alpha: float, tolerance: float
) -> tuple[np.ndarray, np.ndarray]:
    """(low, high), (B,) each: where the rates seen in a reference may lie, as offsets from what
    was said; together at 1 - alpha.
    """
    n, total, hits = events.T
    low, high = clopper_pearson(hits, n, 1.0 - alpha / max(float((n > 0.0).sum()), 1.0))
    score = np.divide(total, n, out=np.zeros(len(n)), where=n > 0.0)
    # Nothing is claimed of a bin that had no rows.
    return (
        np.where(n > 0.0, low - score, -1.0) - tolerance,
        np.where(n > 0.0, high - score, 1.0) + tolerance,
    )


@dataclass(frozen=True)
class PitClaim:
    """Sums are (C, C), as ``calibrant.forecasts.pit_counts`` makes them: entry (a, b) counts rows
    whose PIT is in cells a to b.

    Attributes
    ----------
    levels : (L,) ascending, between which there are C = L + 1 cells
    """

    levels: np.ndarray

    n_alternatives = N_RECALIBRATIONS
    domain: ClassVar[Domain] = REGRESSION
    remedy: ClassVar[str] = "their mean and std=, or another target"

    def checked(self, sums: np.ndarray) -> np.ndarray:
        """The sums, once they can be such."""
        cells = len(self.levels) + 1
        if (
            sums.shape != (cells, cells)
            or not np.isfinite(sums).all()
            or (sums < 0.0).any()
            or np.tril(sums, -1).any()
        ):
            raise InputError(
                f"sums must be ({cells}, {cells}), rows whose PIT is in cells a to b with a <= b"
                f" between the {len(self.levels)} levels; got {sums!r}; make them with"
                " forecasts.pit_counts."
            )
        return sums

    def rows(self, sums: np.ndarray) -> float:
        """How many rows they are of."""
        return float(sums.sum())

    def events(self, sums: np.ndarray) -> np.ndarray:
        """(L, 3) rows, summed probability and hits of each event whose rate is claimed: beyond a
        level, given the one before.
        """
        return node_sums(spread(sums, self.levels), self.levels)

    def log_factors(
        self, sums: np.ndarray, low: np.ndarray, high: np.ndarray, learned: bool
    ) -> np.ndarray:
        """(A,) log factors of the stakes, rates being claimed within ``low`` and ``high`` of the
        stated ones.

        What was ``learned`` of a reference is learned of ties as they are dealt out there; without
        one, ties pay least.
        """
        factors = cell_factors(self.levels, low, high)
        return factors @ spread(sums, self.levels) if learned else pit_log_factors(sums, factors)

    def errors(self, batches: np.ndarray) -> np.ndarray:
        """(T, L, 3) rows, rows stated to be below each level, and rows that are, of T batches."""
        return _below(spread(batches, self.levels), self.levels)

    def redrawn(self, sums: np.ndarray, n_draws: int) -> np.ndarray:
        """(n_draws, L, 3) as the error would be counted from other rows like these, seeded."""
        cells = spread(sums, self.levels)
        return _below(redrawn_counts(cells[None], self.levels, n_draws, 0)[:, 0], self.levels)

    def refit_gain(self, sums: np.ndarray) -> tuple[float, float]:
        """(gain in log probability a row of a re-fit on these rows, its standard error), out of
        fold.
        """
        return forecast_refit_gain(spread(sums, self.levels), self.levels)

    def stated(self, batches: np.ndarray) -> np.ndarray:
        """(T, 3) rows, rows stated to be within the widest interval between levels, and rows
        that are, of T batches.
        """
        cells = spread(batches, self.levels)
        n, inside = cells.sum(axis=-1), cells[..., 1:-1].sum(axis=-1)
        return np.stack([n, n * (self.levels[-1] - self.levels[0]), inside], axis=-1)

    def words(self, sums: np.ndarray) -> str:
        """What the rows show, in words."""
        n, stated, inside = self.stated(sums[None])[0]
        middle = int(np.argmin(np.abs(self.levels - 0.5)))
        below = np.cumsum(spread(sums, self.levels))[middle]
        named = "median" if self.levels[middle] == 0.5 else f"{self.levels[middle]:g} quantile"
        share, held, lower = (f"{100.0 * part / n:.3g} %" for part in (stated, inside, below))
        return f"{share} intervals hold {held} of the outcomes, and {lower} are below the {named}"


def _below(cells, levels):
    n, below = cells.sum(axis=-1, keepdims=True), np.cumsum(cells, axis=-1)[..., :-1]
    return np.stack(np.broadcast_arrays(n, n * levels, below), axis=-1)
