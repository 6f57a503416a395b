"""The pieces of a rising curve over one signal: a line in standard units, and smooth steps."""

from dataclasses import dataclass

import numpy as np

from calibrant._kernels.smoothing import weighted_quantile
from calibrant._kernels.softmax import clipped_log_odds, inner_limits
from calibrant._support.saving import Saved

__all__ = ["SignalCurve"]

#: Where the steps stand, as shares of the rows at or below; right and wrong rows count half each, as the few wrong ones say as much.
SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97, 1.0)


@dataclass(frozen=True)
class SignalCurve(Saved):
    """Columns that rise with a signal: every sum of them with non-negative factors does too.

    Attributes
    ----------
    limits : the lowest score and the smallest gap from 1 that count, for a signal in [0, 1], which is read on the logit scale; or None.
    centre, spread : of the signal on that scale.
    knots : (q,) in standard units: each is the middle of a step, which rises between the two beside it; a signal of one value has none.
    """

    limits: tuple[float, float] | None
    centre: float
    spread: float
    knots: np.ndarray

    @classmethod
    def learn(cls, score: np.ndarray, correct: np.ndarray, weight: np.ndarray, domain: str) -> "SignalCurve":
        """From the scores of the rows to fit, right or wrong; ``domain`` is "unit" or "real"."""
        limits = inner_limits(score, weight.sum()) if domain == "unit" else None
        x = _scaled(score, limits)
        centre = float(np.average(x, weights=weight))
        spread = float(np.sqrt(np.average((x - centre) ** 2, weights=weight)))
        # A spread that is only rounding error carries no slope.
        spread = spread if spread > 1e-12 * float(np.abs(x).max()) else np.inf
        z = (x - centre) / spread
        right = float(weight @ correct)
        balanced = weight * np.where(correct > 0.0, 1.0 / max(right, 1.0), 1.0 / max(float(weight.sum()) - right, 1.0))
        return cls(limits, centre, spread, np.unique([weighted_quantile(z, balanced, share) for share in SHARES]))

    def columns(self, score: np.ndarray) -> np.ndarray:
        """(n, 1 + q): the signal in standard units, then its steps, each from 0 to 1."""
        z = (_scaled(score, self.limits) - self.centre) / self.spread
        return np.column_stack([z, _steps(z, self.knots)])


def _scaled(score, limits):
    return score if limits is None else clipped_log_odds(score, limits)


def _steps(z, knots):
    """(n, q): integrals of the hat functions of the knots, scaled to end at 1; none for a single knot."""
    width = np.diff(knots)
    if not len(width):
        return np.empty((len(z), 0))
    t = np.clip((z[:, None] - knots[:-1]) / width, 0.0, 1.0)
    out = np.zeros((len(z), len(knots)))
    out[:, 1:] += 0.5 * t * t * width
    out[:, :-1] += (t - 0.5 * t * t) * width
    return out / (0.5 * (np.append(width, 0.0) + np.append(0.0, width)))
