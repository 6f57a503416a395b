"""How many standard errors a band must reach for a whole curve to lie in it at once: the largest |t| of curves of simulated outcomes."""

from collections.abc import Callable

import numpy as np
from scipy import sparse

from calibrant._kernels.intervals import normal_quantile

__all__ = ["clustered_band", "interpolated_loess_errors", "largest_t"]

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


def clustered_band(
    matrix: np.ndarray, index: np.ndarray, moves: np.ndarray, cluster: np.ndarray, level: float, n_draws: int, rng: np.random.Generator
) -> tuple[np.ndarray, float]:  # fmt: skip
    """(standard errors (g,), how many of them a band must reach) of a curve that is ``matrix`` (g, m) times means of rows in clusters.

    ``moves`` (n,) is what each row moves the mean of column ``index`` by: its weight times its residual over the mass.
    The errors are cluster-robust (CR1), stretched by t / z for a normal quantile to be Student's; the reach is had by turning the
    signs of whole clusters.
    """
    of_clusters = sparse.csr_array((moves, (index, cluster)), shape=(matrix.shape[1], int(cluster.max()) + 1))
    pulled = (of_clusters.T @ matrix.T).T
    freedom = len(np.unique(cluster)) - 1.0
    squares = np.square(pulled).sum(axis=1) * (freedom + 1.0) / freedom
    turned = (2.0 * rng.integers(0, 2, (n_draws, pulled.shape[1])) - 1.0) @ pulled.T
    z = normal_quantile(level)
    reach = np.quantile((np.abs(turned) / np.sqrt(np.where(squares > 0.0, squares, 1.0))).max(axis=1), level)
    return np.sqrt(squares) * normal_quantile(level, freedom) / z, max(float(reach), z)
