"""Which ends a conformal interval has, what each of them promises, and what is done where it would be infinite."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from calibrant._kernels.order_statistic import order_statistic, rows_needed
from calibrant.errors import InputError, SparseDataWarning, warn

__all__ = ["ConformalEnds"]


@dataclass(frozen=True)
class ConformalEnds:
    """The ends of all intervals of one fit.

    Attributes
    ----------
    side : {"both", "lower", "upper"}
        The end that there is; the other is the bound.
    symmetric : whether one order statistic moves both ends, or each has its own.
    bounds : (low, high) that no outcome passes.
    unit : {"rows", "clusters"}
        What the masses of the scores count.
    """

    side: Literal["both", "lower", "upper"] = "both"
    symmetric: bool = True
    bounds: tuple[float, float] = (-np.inf, np.inf)
    unit: Literal["rows", "clusters"] = "rows"

    @property
    def over(self) -> str:
        """What a promise is an average over."""
        return "new rows" if self.unit == "rows" else "one row, drawn by chance, of each new cluster"

    def require_within(self, y: np.ndarray | None) -> None:
        """Raise InputError where the bounds are none, or an outcome passes them."""
        if not (len(self.bounds) == 2 and self.bounds[0] < self.bounds[1]):
            raise InputError(f"bounds must be (low, high), the low one below the high one; got {self.bounds!r}.")
        if y is not None and ((y < self.bounds[0]) | (y > self.bounds[1])).any():
            raise InputError(f"no outcome may pass bounds, {self.bounds!r}; y goes from {y.min():g} to {y.max():g}; mend one of them.")

    @property
    def joint(self) -> bool:
        """Whether both ends are moved by the same order statistic."""
        return self.symmetric and self.side == "both"

    def level_of_each(self, level: float) -> float:
        """The level that one end's order statistic is taken at: two ends of their own share what may be missed."""
        return 0.5 + 0.5 * level if self.side == "both" and not self.symmetric else level

    def reach(self, scores: np.ndarray, mass: np.ndarray, level: np.ndarray | float) -> np.ndarray:
        """The order statistic of ascending scores at the level of one end."""
        return order_statistic(scores, mass, level, shares=self.unit == "clusters")

    def limited(self, low: np.ndarray, high: np.ndarray, level: float, n: float) -> tuple[np.ndarray, np.ndarray]:
        """The interval with the ends there are, within the bounds; a warning where one is infinite for want of rows."""
        low, high = np.array(low), np.array(high)
        if self.side == "upper":
            low[...] = -np.inf
        elif self.side == "lower":
            high[...] = np.inf
        else:
            # Ends that cross are both the middle between them.
            crossed = low > high
            low[crossed] = high[crossed] = 0.5 * (low[crossed] + high[crossed])
        low, high = np.clip(low, *self.bounds), np.clip(high, *self.bounds)
        self._say_infinite(low, high, level, n)
        return low, high

    def _say_infinite(self, low, high, level, n):
        asked = [end for end, side in ((low, "lower"), (high, "upper")) if self.side in ("both", side)]
        if any(np.isinf(end).any() for end in asked):
            needed = rows_needed(self.level_of_each(level))
            warn(
                f"level {level:g} needs {needed:,} calibration {self.unit}; there are {n:,.0f}, so an end is infinite; "
                "have more of them measured, ask for a lower level, or pass bounds=(low, high) that no outcome passes.",
                SparseDataWarning,
            )
