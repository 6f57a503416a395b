"""Bins of [0, 1] so fine, also near both ends, that quantiles of scores can be had from counts."""

from functools import cache

import numpy as np

__all__ = ["upper_edges"]

#: Log-odds beyond which all scores are in one bin.
FARTHEST = 30.0
STEPS = 60


@cache
def upper_edges(n_bins: int) -> np.ndarray:
    """Ascending upper edges of at most ``n_bins`` bins, the first 0 (for exact zeros), the last 1.

    The bins are of equal width in the mean of s and of its log-odds: no wider than 2 / n_bins anywhere, and no wider than 120 / n_bins in
    log-odds.
    """
    target = np.arange(1, n_bins - 1) / (n_bins - 1)
    # Their log-odds, by halving.
    low, high = np.full(len(target), -FARTHEST), np.full(len(target), FARTHEST)
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        short = 0.5 / (1.0 + np.exp(-middle)) + 0.25 * (middle / FARTHEST + 1.0) < target
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    # Near 1 some are one number.
    edges = np.unique(np.concatenate([[0.0], 1.0 / (1.0 + np.exp(-high)), [1.0]]))
    edges.setflags(write=False)
    return edges
