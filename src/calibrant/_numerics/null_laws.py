"""Null distributions: of the smallest of many p-values, and of the range of a path.

- Several checks as one test: the smallest of their p-values, with its null distribution.
- Tails of Brownian motion on [0, 1] with a free end: of its largest distance from 0, and of its
  range.
"""

import numpy as np
from scipy.special import ndtr

__all__ = ["range_tail", "reach_tail", "smallest_p"]


#: Decimals of checks, in units of the largest, that are free of rounding.
DECIMALS = 9


def smallest_p(observed: np.ndarray, drawn: np.ndarray) -> tuple[np.ndarray, float]:
    r"""The p-value of each check and of all as one test, from draws of the checks under the null.

    .. math:: p_c = \frac{\#\{b : T_{bc} \ge T_{0c}\}}{B + 1}, \qquad
              p = \frac{\#\{b : \min_c p_{bc} \le \min_c p_{0c}\}}{B + 1}

    over the B draws and what was observed, b = 0, so that p is exact wherever the draws are.

    Parameters
    ----------
    observed : (c,) the checks, larger with more evidence against the null
    drawn : (B, c) the same for draws under the null

    Examples
    --------
    >>> drawn = np.random.default_rng(0).normal(size=(999, 2))
    >>> each, together = smallest_p(np.array([3.0, 0.0]), drawn)
    >>> each.round(3).tolist(), round(together, 3)
    ([0.001, 0.482], 0.002)
    """
    every = np.vstack([observed, drawn])
    size = np.abs(np.where(np.isfinite(every), every, 0.0)).max(axis=0)
    # Rounded, because sums that are equal but for their order must count as equal.
    every = np.round(every / np.where(size > 0.0, size, 1.0), DECIMALS)
    less = np.column_stack([np.searchsorted(np.sort(one), one) for one in every.T])
    own = 1.0 - less / len(every)
    smallest = own.min(axis=1)
    return own[0], float((smallest <= smallest[0]).mean())


#: Below this both tails are 1 in float64, and the series would need more terms.
SMALL = 0.15


def reach_tail(x: float) -> float:
    """P(sup |B| > x) = 4 sum_k (-1)^k Phi(-(2k + 1) x), k = 0, 1, ..."""
    k = np.arange(200)
    return (
        1.0
        if x < SMALL
        else float(min(4.0 * np.sum((-1.0) ** k * ndtr(-(2.0 * k + 1.0) * x)), 1.0))
    )


def range_tail(x: float) -> float:
    """P(sup B - inf B > x) = 8 sum_k (-1)^(k + 1) k Phi(-k x), k = 1, 2, ... (Feller 1951)."""
    k = np.arange(1, 401)
    return 1.0 if x < SMALL else float(min(8.0 * np.sum(-((-1.0) ** k) * k * ndtr(-k * x)), 1.0))
