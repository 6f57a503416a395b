"""The one place that decides which bin a score falls in.

Equal-width bins on [0, 1] are [k/B, (k+1)/B), the last one closed. A score within ``resolution`` below an edge
counts as on it, so that 0.3, 0.6 and 0.7 land in bins 3, 6 and 7 of ten in float32 and float64 alike.
Equal-mass bins never split ties, so there may be fewer of them than asked for.
"""

from collections.abc import Sequence

import numpy as np

from calibrant._kernels.ties import distinct_scores

__all__ = [
    "equal_mass_groups", "equal_mass_parts", "equal_width_edges", "equal_width_index", "equal_width_starts", "group_ends", "grouped_sums",
]  # fmt: skip


def equal_width_edges(n_bins: int) -> np.ndarray:
    """Edges k / B of the equal-width bins, (B + 1,)."""
    return np.arange(n_bins + 1) / n_bins


def equal_width_index(score: np.ndarray, n_bins: int, resolution: float = 2.0**-52) -> np.ndarray:
    """Bin number of each score in [0, 1], (n,) -> (n,) intp in 0..B-1; a score of exactly 1 is in the last bin."""
    index = ((np.asarray(score, dtype=np.float64) + resolution) * n_bins).astype(np.intp)
    return np.minimum(index, n_bins - 1, out=index)


def equal_width_starts(n_bins: int, resolution: float = 2.0**-52) -> np.ndarray:
    """The least score of each bin of :func:`equal_width_index` but the first, (B - 1,), exactly as it rounds."""
    number = np.arange(1, n_bins)
    edges = number / n_bins - resolution
    for _ in range(64):
        low = (np.nextafter(edges, -1.0) + resolution) * n_bins >= number
        high = (edges + resolution) * n_bins < number
        if not (low | high).any():
            return edges
        edges = np.where(high, np.nextafter(edges, 2.0), np.where(low, np.nextafter(edges, -1.0), edges))
    return edges


def equal_mass_groups(score: np.ndarray, n_bins: int, weight: np.ndarray | None = None) -> np.ndarray:
    """Group number of each score when the weight is cut into at most ``n_bins`` equal parts, ties kept together.

    A run of tied scores goes to the part that holds the middle of its weight; the numbers of the parts used are
    then made consecutive. Returns (n,) intp in 0..G-1, ascending with the score, G <= n_bins.
    """
    unique, inverse = distinct_scores(score)
    mass = np.bincount(inverse, weights=weight, minlength=len(unique)).astype(np.float64)
    return equal_mass_parts(mass, n_bins)[inverse]


def equal_mass_parts(mass: np.ndarray, n_bins: int) -> np.ndarray:
    """``equal_mass_groups`` of the distinct scores themselves, ascending, by the weight of each, (m,)."""
    middle = np.cumsum(mass) - 0.5 * mass
    part = np.minimum((middle / mass.sum() * n_bins).astype(np.intp), n_bins - 1)
    return np.unique(part, return_inverse=True)[1]


def group_ends(score: np.ndarray, group: np.ndarray, n_groups: int) -> tuple[np.ndarray, np.ndarray]:
    """(lowest, highest) score of each group 0..G-1, (G,) each; inf and -inf where one has none."""
    low, high = np.full(n_groups, np.inf), np.full(n_groups, -np.inf)
    np.minimum.at(low, group, score)
    np.maximum.at(high, group, score)
    return low, high


def grouped_sums(index: np.ndarray, n_groups: int, columns: Sequence[np.ndarray], weight: np.ndarray | None = None) -> np.ndarray:
    """Weighted sums per group: (G, 1 + len(columns)), the first column the total weight of the group."""
    out = np.empty((n_groups, 1 + len(columns)))
    out[:, 0] = np.bincount(index, weights=weight, minlength=n_groups)
    for j, column in enumerate(columns, start=1):
        values = column if weight is None else column * weight
        out[:, j] = np.bincount(index, weights=values, minlength=n_groups)
    return out
