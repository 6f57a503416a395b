"""Tails of how far Brownian motion on [0, 1], its end free, goes: from 0, and from its lowest to its highest point."""

import numpy as np
from scipy.special import ndtr

__all__ = ["range_tail", "reach_tail"]

#: Below this both tails are 1 to more digits than float64 has, and the series need more terms than they have.
SMALL = 0.15


def reach_tail(x):
    """P(sup |B| > x) = 4 sum_k (-1)^k Phi(-(2k + 1) x), k = 0, 1, ..."""
    k = np.arange(200)
    return 1.0 if x < SMALL else float(min(4.0 * np.sum((-1.0) ** k * ndtr(-(2.0 * k + 1.0) * x)), 1.0))


def range_tail(x):
    """P(sup B - inf B > x) = 8 sum_k (-1)^(k + 1) k Phi(-k x), k = 1, 2, ... (Feller 1951)."""
    k = np.arange(1, 401)
    return 1.0 if x < SMALL else float(min(8.0 * np.sum(-((-1.0) ** k) * k * ndtr(-k * x)), 1.0))
