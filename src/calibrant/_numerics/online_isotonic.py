"""Sliding isotonic regression: counts in cells that are forgotten, pooled at the end of a block."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression

from calibrant._numerics.online_logistic import DEEPEST, State, log_likelihood

__all__ = ["CENTRES", "Cells", "begin_isotonic"]

#: Cells of the log-odds.
WIDTH, CENTRES = 0.2, 0.2 * np.arange(-32.0, 33.0)
#: Rows in a cell that the start counts as.
ROWS = 0.25


@dataclass(frozen=True)
class Cells:
    """Log-odds x (1, B) and outcomes y (1, B) of a block; the parameters are values of cells."""

    x: np.ndarray
    y: np.ndarray

    def forecast(self, theta: np.ndarray) -> np.ndarray:
        """Probabilities (J, 1, B), linear between the centres of the cells."""
        place = self._place()
        low = np.minimum(place.astype(np.intp), len(CENTRES) - 2)
        value, share = theta[:, :, 0], place - low
        return ((1.0 - share) * value[:, low] + share * value[:, low + 1])[:, None]

    def _place(self) -> np.ndarray:
        return np.clip((self.x[0] - CENTRES[0]) / WIDTH, 0.0, len(CENTRES) - 1.0)

    def ahead(self, state: State) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As of a :class:`Design`; the values change only at the end of a block."""
        path = state["theta"][:, :, None]
        return state["theta"], path, log_likelihood(self.forecast(path), self.y)

    def learnt(self, state: State) -> tuple[State, np.ndarray, np.ndarray]:
        """The state after a whole block, and the last two of :meth:`ahead`."""
        cell, kept = np.rint(self._place()).astype(np.intp), np.exp2(-len(self.y.T) * state["rate"])
        new = {
            name: kept[:, None] * (state[name] + np.bincount(cell, weight, len(CENTRES)))
            for name, weight in (("rows", None), ("hits", self.y[0]))
        }
        # Offsets keep the fits of the rates apart, in one call.
        mass, offset = new["rows"] + ROWS, 2.0 * np.arange(len(kept))[:, None]
        mean = (new["hits"] + ROWS * state["start"]) / mass + offset
        fit = isotonic_regression(mean.ravel(), weights=mass.ravel()).x
        least = np.exp(-DEEPEST)
        new["theta"] = np.clip(fit.reshape(mean.shape) - offset, least, 1.0 - least)
        return state | new, *self.ahead(state)[1:]


def begin_isotonic(start: np.ndarray, rate: np.ndarray) -> State:
    """State before the first row, from probabilities at the centres of the cells; an infinite rate
    keeps them.
    """
    theta = np.tile(start, (len(rate), 1))
    none = np.zeros_like(theta)
    return {"start": start, "rate": rate, "rows": none, "hits": none, "theta": theta}
