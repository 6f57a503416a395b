"""Where scores of exactly 0 and 1 stand on a logarithmic scale."""

import numpy as np

from calibrant._kernels.softmax import ZERO_FLOOR

__all__ = ["clipped_log_odds", "clipped_logs", "inner_limits"]


def inner_limits(score, total_weight, power=2.0):
    """(lowest score, smallest gap from 1) to use in logarithms, two floats.

    A score within 1e-12 of 0 or 1 says "beyond what this model can resolve", not how far: a vote of all trees, a rounded
    softmax. It is read as half the smallest score (or gap) seen otherwise, and not below 1 / (2 n^power), so that neither it nor a
    stray neighbour has leverage of its own. Without such scores the limits are 1e-12.
    """
    low = score[score > 1.5 * ZERO_FLOOR].min(initial=1.0)
    gap = 1.0 - score[score < 1.0 - 1.5 * ZERO_FLOOR].max(initial=0.0)
    resolution = min(0.5 / total_weight**power, 0.25)
    low = max(0.5 * low, resolution) if score.min() <= 1.5 * ZERO_FLOOR and low < 1.0 else ZERO_FLOOR
    gap = max(0.5 * gap, resolution) if score.max() >= 1.0 - 1.5 * ZERO_FLOOR and gap < 1.0 else ZERO_FLOOR
    return max(float(low), ZERO_FLOOR), max(float(gap), ZERO_FLOOR)


def clipped_logs(score, limits):
    """log s and log(1 - s) of scores kept inside the limits."""
    s = np.clip(score, limits[0], 1.0 - limits[1])
    return np.log(s), np.log1p(-s)


def clipped_log_odds(score, limits):
    """Their difference."""
    return np.subtract(*clipped_logs(score, limits))
