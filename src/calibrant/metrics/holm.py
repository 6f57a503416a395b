"""Holm's correction for the number of tests."""

import numpy as np

__all__ = ["holm"]


def holm(p: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """(p corrected, number that each test shares alpha by), (m,) each.

    The i-th smallest p is tested at alpha / (m - i) until the first that fails, at whose level those after it stay: an interval at
    1 - alpha / share leaves 0 out exactly where the corrected p is at most alpha.
    """
    m, order = len(p), np.argsort(p, kind="stable")
    corrected, share = np.empty(m), np.empty(m)
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * (m - np.arange(m))), 1.0)
    share[order] = m - np.minimum(np.arange(m), np.count_nonzero(corrected <= alpha))
    return corrected, share
