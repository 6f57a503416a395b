"""Straight lines between knots, also between knots that are nearly one."""

import numpy as np

__all__ = ["between_knots"]


def between_knots(x: np.ndarray, knots: np.ndarray, values: np.ndarray) -> np.ndarray:
    """``np.interp``, finite also where two knots are so near that the slope between them overflows.

    Parameters
    ----------
    x : array, finite
    knots : (m,) increasing
    values : (m,)

    Returns
    -------
    float64, of the shape of x

    Examples
    --------
    >>> between_knots(np.array([0.5, 4e-320]), np.array([0.0, 8e-320, 1.0]), np.array([0.0, 0.5, 1.0])).round(3).tolist()
    [0.75, 0.25]
    """
    out = np.interp(x, knots, values)
    steep = ~np.isfinite(out)
    if steep.any():
        after = np.clip(np.searchsorted(knots, x[steep], side="right"), 1, len(knots) - 1)
        low, high = knots[after - 1], knots[after]
        share = (x[steep] - low) / (high - low)
        out[steep] = values[after - 1] + share * (values[after] - values[after - 1])
    return out
