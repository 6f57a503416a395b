"""Claims that a monitor tests: on rates, and on positions of outcomes in their forecasts."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy

from calibrant._numerics.bins import redrawn_counts
from calibrant._numerics.intervals import clopper_pearson
from calibrant._numerics.logistic import ZERO_FLOOR, intercept_at_unit_slope, log_odds, sigmoid
from calibrant._numerics.online import (
    N_ALTERNATIVES,
    N_RECALIBRATIONS,
    cell_factors,
    cell_shares,
    log_factors,
    node_sums,
    pit_log_factors,
    spread,
)
from calibrant.calibrators.maps.sigmoids import Platt
from calibrant.core.domain import Domain
from calibrant.core.reading import CLASSIFICATION, REGRESSION
from calibrant.core.text_table import percent
from calibrant.errors import InputError

__all__ = [
    "PitClaim",
    "ScoreClaim",
    "forecast_refit_gain",
    "learned_band",
    "refit_gain",
    "reweighted_gain",
]

N_FOLDS = 5
#: Level of the test of a change of the scores.
INPUTS = 0.001
#: A gain in log loss, and its standard error.
Gain = tuple[float, float]


def refit_gain(sums: np.ndarray, kind: str = "re-fit", over: str | None = None) -> Gain:
    """Return (gain in log loss a row, its standard error) of a sigmoid of the log-odds, fitted to
    other folds; of an offset of them alone with the kind "re-offset"; or beyond that of another
    kind, ``over``.

    Reads (B, 3) sums by bin: rows, summed score and hits, with at least some twenty rows. The rows
    of a bin are assigned to folds at random, right and wrong ones by their numbers, which needs no
    rows; each has the mean score of its bin.
    """
    filled = sums[:, 0] > 0.0
    n, total, hits = sums[filled].T
    score = np.clip(total / n, 0.0, 1.0)

    def gain(counts: np.ndarray) -> np.ndarray:
        gains = _gain_of(score, _refit(score, counts, kind))
        return gains if over is None else gains - _gain_of(score, _refit(score, counts, over))

    return _out_of_fold(np.concatenate([hits, n - hits]), gain)


def reweighted_gain(earlier: np.ndarray, sums: np.ndarray) -> Gain:
    """Return (gain, its standard error) of a sigmoid that is fitted to the rows of ``earlier``,
    weighted by bin to the scores of ``sums``.
    """
    n, total, hits = sums[(earlier[:, 0] > 0.0) & (sums[:, 0] > 0.0)].T
    before, total_before, hits_before = earlier[(earlier[:, 0] > 0.0) & (sums[:, 0] > 0.0)].T
    counts = np.concatenate([hits_before, before - hits_before]) * np.tile(n / before, 2)
    new = _refit(
        np.clip(total_before / before, 0.0, 1.0), counts, "re-fit", points=np.clip(total / n, 0, 1)
    )
    gains, observed = _gain_of(np.clip(total / n, 0.0, 1.0), new), np.concatenate([hits, n - hits])
    mean = float(observed @ gains / observed.sum())
    return mean, float(np.sqrt(observed @ (gains - mean) ** 2) / observed.sum())


def _refit(
    score: np.ndarray, counts: np.ndarray, kind: str, points: np.ndarray | None = None
) -> np.ndarray:
    """Return the probabilities after a fit on hits and misses of each score (2 B,)."""
    points, scores = score if points is None else points, np.tile(score, 2)
    hit = np.repeat([1.0, 0.0], len(score))
    if kind == "re-fit":
        return Platt().fit(scores, hit, sample_weight=counts).predict(points)
    inner = np.clip(scores, ZERO_FLOOR, 1.0 - 1e-15)
    offset = intercept_at_unit_slope(inner, hit, counts)
    return points if offset is None else sigmoid(log_odds(inner[: len(points)]) + offset[0])


def _gain_of(score: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Return (2 B,) the log loss that hits and misses of each score lose by new probabilities."""
    new, old = np.clip(new, ZERO_FLOOR, 1.0), np.clip(score, ZERO_FLOOR, 1.0)
    missed = np.maximum(1.0 - new, ZERO_FLOOR) / np.maximum(1.0 - old, ZERO_FLOOR)
    return np.log(np.concatenate([new / old, missed]))


def forecast_refit_gain(
    cells: np.ndarray, levels: np.ndarray, kind: str = "re-fit", over: str | None = None
) -> Gain:
    """Return (gain in log probability of the cell a row, its standard error) of a mean and std of
    the normal scores, fitted to other folds; of a mean alone with the kind "re-offset"; or beyond
    that of another kind, ``over``.

    Reads the (C,) rows by cell between the levels, at least some twenty, which are assigned to
    folds at random.
    """
    claimed = cell_shares(levels, np.zeros(1), np.ones(1))[0]

    def fitted(counts: np.ndarray, free: int) -> np.ndarray:
        def shares(x: np.ndarray) -> np.ndarray:
            return cell_shares(levels, x[:1], np.exp(np.append(x, 0.0)[1:2]))[0]

        fit = scipy.optimize.minimize(
            lambda x: -float(counts @ np.log(shares(x))),
            np.zeros(free),
            method="Nelder-Mead",
            bounds=[(-10.0, 10.0), (-5.0, 5.0)][:free],
        )
        return np.log(shares(fit.x) / claimed)

    def gain(counts: np.ndarray) -> np.ndarray:
        # One additional row with the claimed probabilities keeps the fit finite.
        gains = fitted(counts + claimed, 1 + (kind == "re-fit"))
        return gains if over is None else gains - fitted(counts + claimed, 1 + (over == "re-fit"))

    return _out_of_fold(cells, gain)


def _out_of_fold(counts: np.ndarray, gain: Any) -> tuple[float, float]:
    """Return (mean, its standard error) of ``gain(counts of the other folds)``, a number for each
    kind of row, over the rows of each fold.
    """
    rng, fold = np.random.default_rng(0), np.full(N_FOLDS, 1.0 / N_FOLDS)
    dealt = rng.multinomial(np.rint(counts).astype(np.int64), fold)
    gains = np.array(
        [gain(np.delete(dealt, k, axis=1).sum(axis=1).astype(np.float64)) for k in range(N_FOLDS)]
    )
    count = dealt.T.astype(np.float64)
    total = count.sum()
    mean = float((count * gains).sum() / total)
    return mean, float(
        np.sqrt((count * np.square(gains - mean)).sum() / total / max(total - 1.0, 1.0))
    )


@dataclass(frozen=True)
class ScoreClaim:
    """Claim on sums (B, 3): rows, summed score and hits of each bin."""

    n_alternatives = N_ALTERNATIVES
    domain: ClassVar[Domain] = CLASSIFICATION
    remedy: ClassVar[str] = 'target="forecast"'

    def checked(self, sums: np.ndarray) -> np.ndarray:
        """Return the sums, validated."""
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
        """Return the number of rows."""
        return float(sums[:, 0].sum())

    def events(self, sums: np.ndarray) -> np.ndarray:
        """Return (B, 3) rows, summed probability and hits of each event with a claimed rate."""
        return sums

    def log_factors(
        self, sums: np.ndarray, low: np.ndarray, high: np.ndarray, learned: bool
    ) -> np.ndarray:
        """Return (A,) log factors of the stakes, with rates claimed within ``low`` and ``high`` of
        the mean score.
        """
        return log_factors(sums, low, high)

    def errors(self, batches: np.ndarray) -> np.ndarray:
        """Return (T, B, 3) sums of T batches for the calibration error."""
        return batches

    def redrawn(self, sums: np.ndarray, n_draws: int) -> np.ndarray:
        """Return (n_draws, B, 3) seeded resamples of the sums for the calibration error."""
        n, _, hits = np.rint(sums).astype(np.int64).T
        draws = np.repeat(sums[None], n_draws, axis=0)
        draws[..., 2] = np.random.default_rng(0).binomial(
            n, hits / np.maximum(n, 1), (n_draws, len(n))
        )
        return draws

    def refit_gain(self, sums: np.ndarray, kind: str = "re-fit", over: str | None = None) -> Gain:
        """Return (gain in log loss a row of a re-fit on these rows, its standard error), out of
        fold.
        """
        return refit_gain(sums, kind, over)

    def inputs_changed(self, earlier: np.ndarray, sums: np.ndarray) -> bool:
        """Return whether the scores have another distribution than earlier, by a chi-squared
        test.
        """
        counts = np.stack([earlier[:, 0], sums[:, 0]])
        counts = counts[:, counts.sum(axis=0) > 0.0]
        of_test: Any = scipy.stats.chi2_contingency(counts) if counts.shape[1] > 1 else None
        return of_test is not None and bool(of_test.pvalue <= INPUTS)

    def stated(self, batches: np.ndarray) -> np.ndarray:
        """Return (T, 3) rows, summed probability and hits of T batches."""
        return batches.sum(axis=1)


def learned_band(
    events: np.ndarray, alpha: float, tolerance: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return (low, high), (B,) each: simultaneous limits at 1 - alpha of the rates in a reference,
    as offsets from the predictions.
    """
    n, total, hits = events.T
    low, high = clopper_pearson(hits, n, 1.0 - alpha / max(float((n > 0.0).sum()), 1.0))
    score = np.divide(total, n, out=np.zeros(len(n)), where=n > 0.0)
    # A bin without rows has no claim.
    return (
        np.where(n > 0.0, low - score, -1.0) - tolerance,
        np.where(n > 0.0, high - score, 1.0) + tolerance,
    )


@dataclass(frozen=True)
class PitClaim:
    """Claim on sums (C, C) from ``calibrant.core.forecast_record``: entry (a, b) counts rows whose
    PIT is in cells a to b.

    Attributes
    ----------
    levels : (L,) ascending, the limits of C = L + 1 cells
    """

    levels: np.ndarray

    n_alternatives = N_RECALIBRATIONS
    domain: ClassVar[Domain] = REGRESSION
    remedy: ClassVar[str] = "their mean and std=, or another target"

    def checked(self, sums: np.ndarray) -> np.ndarray:
        """Return the sums, validated."""
        cells = len(self.levels) + 1
        if (
            sums.shape != (cells, cells)
            or not np.isfinite(sums).all()
            or (sums < 0.0).any()
            or np.tril(sums, -1).any()
        ):
            raise InputError(
                f"sums must be ({cells}, {cells}), rows whose PIT is in cells a to b with a <= b"
                f" between the {len(self.levels)} levels; got {sums!r}; compute them with"
                " pit_counts of calibrant.core.forecast_record."
            )
        return sums

    def rows(self, sums: np.ndarray) -> float:
        """Return the number of rows."""
        return float(sums.sum())

    def events(self, sums: np.ndarray) -> np.ndarray:
        """Return (L, 3) rows, summed probability and hits of each event with a claimed rate: beyond
        a level, given the previous one.
        """
        return node_sums(spread(sums, self.levels), self.levels)

    def log_factors(
        self, sums: np.ndarray, low: np.ndarray, high: np.ndarray, learned: bool
    ) -> np.ndarray:
        """Return (A,) log factors of the stakes, with rates claimed within ``low`` and ``high`` of
        the stated ones.

        A claim ``learned`` from a reference splits ties as there; without one, ties count at their
        lowest payoff.
        """
        factors = cell_factors(self.levels, low, high)
        return factors @ spread(sums, self.levels) if learned else pit_log_factors(sums, factors)

    def errors(self, batches: np.ndarray) -> np.ndarray:
        """Return (T, L, 3) rows, and the stated and observed rows below each level, of T
        batches.
        """
        return _level_sums(spread(batches, self.levels), self.levels)

    def redrawn(self, sums: np.ndarray, n_draws: int) -> np.ndarray:
        """Return (n_draws, L, 3) seeded resamples of the sums for the calibration error."""
        cells = spread(sums, self.levels)
        return _level_sums(redrawn_counts(cells[None], self.levels, n_draws, 0)[:, 0], self.levels)

    def refit_gain(self, sums: np.ndarray, kind: str = "re-fit", over: str | None = None) -> Gain:
        """Return (gain in log probability a row of a re-fit on these rows, its standard error), out
        of fold.
        """
        return forecast_refit_gain(spread(sums, self.levels), self.levels, kind, over)

    def stated(self, batches: np.ndarray) -> np.ndarray:
        """Return (T, 3) rows, and the stated and observed rows within the widest interval between
        levels, of T batches.
        """
        cells = spread(batches, self.levels)
        n, inside = cells.sum(axis=-1), cells[..., 1:-1].sum(axis=-1)
        return np.stack([n, n * (self.levels[-1] - self.levels[0]), inside], axis=-1)

    def words(self, sums: np.ndarray) -> str:
        """Describe coverage and median of the rows in words."""
        n, stated, inside = self.stated(sums[None])[0]
        middle = int(np.argmin(np.abs(self.levels - 0.5)))
        below = np.cumsum(spread(sums, self.levels))[middle]
        quantile = "median" if self.levels[middle] == 0.5 else f"{self.levels[middle]:g} quantile"
        coverage, lower = percent(inside / n), percent(below / n)
        intervals = f"{100.0 * stated / n:g} % intervals"
        return f"{intervals} hold {coverage} of the outcomes, and {lower} are below the {quantile}"


def _level_sums(cells: np.ndarray, levels: np.ndarray) -> np.ndarray:
    n, below = cells.sum(axis=-1, keepdims=True), np.cumsum(cells, axis=-1)[..., :-1]
    return np.stack(np.broadcast_arrays(n, n * levels, below), axis=-1)
