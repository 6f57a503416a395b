"""What a monitor of forecasts claims: outcomes fall between levels as often as the levels are apart."""

from dataclasses import dataclass

import numpy as np

from calibrant._kernels.betting import N_RECALIBRATIONS, cell_factors, node_sums, pit_log_factors, spread
from calibrant._kernels.bins import redrawn_counts
from calibrant.errors import InputError
from calibrant.monitoring.refit_gain import forecast_refit_gain

__all__ = ["PitClaim"]


@dataclass(frozen=True)
class PitClaim:
    """Sums are (C, C), as ``calibrant.forecasts.pit_counts`` makes them: entry (a, b) counts rows whose PIT is in cells a to b.

    Attributes
    ----------
    levels : (L,) ascending, between which there are C = L + 1 cells
    """

    levels: np.ndarray

    n_alternatives = N_RECALIBRATIONS

    def checked(self, sums: np.ndarray) -> np.ndarray:
        """The sums, once they can be such."""
        cells = len(self.levels) + 1
        if sums.shape != (cells, cells) or not np.isfinite(sums).all() or (sums < 0.0).any() or np.tril(sums, -1).any():
            raise InputError(
                f"sums must be ({cells}, {cells}), rows whose PIT is in cells a to b with a <= b between the {len(self.levels)} "
                f"levels; got {sums!r}; make them with forecasts.pit_counts."
            )
        return sums

    def rows(self, sums: np.ndarray) -> float:
        """How many rows they are of."""
        return float(sums.sum())

    def events(self, sums: np.ndarray) -> np.ndarray:
        """(L, 3) rows, summed probability and hits of each event whose rate is claimed: beyond a level, given the one before."""
        return node_sums(spread(sums, self.levels), self.levels)

    def log_factors(self, sums: np.ndarray, low: np.ndarray, high: np.ndarray, learned: bool) -> np.ndarray:
        """(A,) log factors of the stakes, rates being claimed within ``low`` and ``high`` of the stated ones.

        What was ``learned`` of a reference is learned of ties as they are dealt out there; without one, ties pay least.
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
        """(gain in log probability a row of a re-fit on these rows, its standard error), out of fold."""
        return forecast_refit_gain(spread(sums, self.levels), self.levels)

    def stated(self, batches: np.ndarray) -> np.ndarray:
        """(T, 3) rows, rows stated to be within the widest interval between levels, and rows that are, of T batches."""
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
