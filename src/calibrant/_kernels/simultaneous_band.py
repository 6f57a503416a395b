"""How many standard errors a band must reach for a whole curve to lie in it at once: the largest |t| of curves of simulated outcomes."""

from collections.abc import Callable

import numpy as np

from calibrant._kernels.intervals import normal_quantile

__all__ = ["interpolated_loess_errors", "largest_t"]

#: Hits and misses added where a variance is estimated: a stretch without an event has a band too.
ADDED = 1.0


def largest_t(
    matrix: np.ndarray, errors: Callable[[np.ndarray], np.ndarray], probability: np.ndarray, mass: np.ndarray, level: float, n_draws: int,
    random_state: int | np.random.Generator,
) -> float:  # fmt: skip
    """The ``level`` quantile of the largest |t| over the points of a curve that is ``matrix`` (g, m) times the means of outcomes.

    ``probability`` and ``mass`` (m,) say how the outcomes are drawn; ``errors`` turns deviations of the curve (n_draws, g) into the
    standard errors that would be estimated with them.
    """
    times = np.maximum(np.rint(mass), 1.0)
    drawn = np.random.default_rng(random_state).binomial(times.astype(np.int64), probability, (n_draws, len(mass)))
    moved = (drawn / times - probability) * np.sqrt(times / mass) @ matrix.T
    # Never nearer than the interval of one point, as it comes out where hardly any outcome is drawn.
    return max(float(np.quantile((np.abs(moved) / errors(moved)).max(axis=1), level)), normal_quantile(level))


def interpolated_loess_errors(
    matrix: np.ndarray, x: np.ndarray, mass: np.ndarray, grid: np.ndarray
) -> tuple[Callable[..., np.ndarray], Callable[..., np.ndarray]]:
    """(standard errors from curves (..., g), the same curves kept inside (0, 1) for that), p (1 - p) taken as linear between the points."""
    squares = matrix**2 / mass
    effective = 1.0 / squares.sum(axis=1)
    between = np.column_stack([np.interp(x, grid, unit) for unit in np.eye(len(grid))])
    share = squares @ between

    def inside(curve):
        return (np.clip(curve, 0.0, 1.0) * effective + ADDED) / (effective + 2.0 * ADDED)

    def errors(curve):
        kept = inside(curve)
        return np.sqrt((kept * (1.0 - kept)) @ share.T)

    return errors, inside
