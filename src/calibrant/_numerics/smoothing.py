"""Smoothing on [0, 1]: kernels with reflection on a grid, and local quadratic regression."""

from typing import Any

import numpy as np
from scipy import fft

from calibrant._numerics import bins

__all__ = [
    "deposit",
    "gaussian_smoother",
    "loess_matrix",
    "pooled_scores",
    "score_grid",
    "weighted_quantile",
]


def deposit(score: np.ndarray, values: np.ndarray, cells: int) -> np.ndarray:
    """Sum of the values at each of the cell centres (j + 1/2) / cells, each value shared between
    the two nearest, (cells,).
    """
    place = np.clip(score * cells - 0.5, 0.0, cells - 1.0)
    left = np.minimum(place.astype(np.intp), cells - 2)
    share = place - left
    out = np.bincount(left, weights=values * (1.0 - share), minlength=cells)
    out[1:] += np.bincount(left, weights=values * share, minlength=cells)[: cells - 1]
    return out


def gaussian_smoother(masses: np.ndarray) -> Any:
    """A function of sigma that gives the masses smoothed by a reflected Gaussian of that width
    (in the cosine basis: exact on the grid).
    """
    coefficients = fft.dct(masses, type=2)
    frequency = np.pi * np.arange(len(masses))

    def smoothed(sigma: float) -> np.ndarray:
        return fft.idct(coefficients * np.exp(-0.5 * (frequency * sigma) ** 2), type=2)

    return smoothed


MANY_SCORES = 5000
BLOCK_POINTS = 64
#: A column without its projection on the lower powers is rounding below this share of its square.
ROUNDING = 1e-22


def pooled_scores(
    score: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(distinct scores x ascending, their mass, index of each row in x); more than 5,000 become the
    means of at most 5,000 groups.

    The groups hold an equal share of the mass and span 1 / 2,500 of the range at most, so that
    sparse tails are not merged.
    """
    unique, index = np.unique(score, return_inverse=True)
    if len(unique) > MANY_SCORES:
        parts = MANY_SCORES // 2
        cells = np.minimum(
            ((score - unique[0]) * (parts / (unique[-1] - unique[0]))).astype(np.intp), parts - 1
        )
        _, index = np.unique(
            bins.equal_mass_groups(score, parts, weight) + cells, return_inverse=True
        )
    mass, total = bins.grouped_sums(index, index.max() + 1, [score], weight).T
    return total / mass, mass, index


def score_grid(x: np.ndarray, mass: np.ndarray, n_points: int) -> np.ndarray:
    """Ascending points from the lowest score to the highest: half at equal steps, half at
    quantiles.
    """
    share = np.linspace(0.0, 1.0, n_points - n_points // 2)
    place = np.searchsorted(np.cumsum(mass), share * mass.sum() * (1.0 - 1e-12))
    return np.unique(np.concatenate([np.linspace(x[0], x[-1], n_points // 2), x[place], x[-1:]]))


def loess_matrix(x: np.ndarray, mass: np.ndarray, grid: np.ndarray, span: float) -> np.ndarray:
    """(grid, m) weights of a local quadratic fit with tricube weights over the nearest ``span``
    of the mass; x ascending, distinct.
    """
    width = _widths(x, mass, grid, span)
    starts = range(0, len(grid), BLOCK_POINTS)
    return np.concatenate(
        [_rows(x, mass, *(a[k : k + BLOCK_POINTS, None] for a in (grid, width))) for k in starts]
    )


def _widths(x: np.ndarray, mass: np.ndarray, grid: np.ndarray, span: float) -> np.ndarray:
    """(grid,) distance within which the nearest whole rows up to ``span`` of the mass lie."""
    upto = np.cumsum(mass)
    # Whole rows, rounded down; weights that add up to less than one are shares.
    need = np.floor(span * upto[-1] + 1e-5) or span * upto[-1]
    # The nearest rows lie in one of the shortest runs of scores that hold enough: the last begun by
    # then or the first ended after.
    last = np.searchsorted(upto, (upto - mass + need) * (1.0 - 1e-12))
    first = x[last < len(x)]
    last = x[last[last < len(x)]]
    after = np.searchsorted(first + last, 2.0 * grid)
    below = np.where(after > 0, grid - first[after - 1], np.inf)
    above = np.where(after < len(first), last[np.minimum(after, len(first) - 1)] - grid, np.inf)
    width = np.minimum(below, above)
    # A span that is one run of ties, here or at its far end, still takes in that run.
    return np.where(width > 0.0, width * (1.0 + 1e-9), 1e-9)


def _rows(x: np.ndarray, mass: np.ndarray, grid: np.ndarray, width: np.ndarray) -> np.ndarray:
    """Rows of the matrix by polynomials orthogonal under the kernel, which stay accurate where
    nearly all scores are equal.
    """
    u = (x - grid) / width
    kernel = mass * np.maximum(1.0 - np.abs(u) ** 3, 0.0) ** 3

    def total(values: np.ndarray) -> np.ndarray:
        return (kernel * values).sum(axis=1, keepdims=True)

    held = total(1.0)
    centre = total(u) / held
    line = u - centre
    spread = total(line**2)
    straight = spread > ROUNDING * total(u**2)
    spread = np.where(straight, spread, 1.0)
    lean, level = total(u * line**2) / spread, spread / held
    curve = (u - lean) * line - level
    bend = total(curve**2)
    curved = straight & (bend > ROUNDING * total(u**4))
    at_line = np.where(straight, -centre / spread, 0.0)
    at_curve = np.where(curved, (centre * lean - level) / np.where(curved, bend, 1.0), 0.0)
    return kernel * (1.0 / held + at_line * line + at_curve * curve)


def weighted_quantile(values: np.ndarray, mass: np.ndarray, q: float) -> float:
    """The smallest value with at least the share q of the mass at or below it."""
    order = np.argsort(values)
    total = np.cumsum(mass[order])
    return float(
        values[order][min(np.searchsorted(total, q * total[-1] * (1.0 - 1e-12)), len(values) - 1)]
    )
