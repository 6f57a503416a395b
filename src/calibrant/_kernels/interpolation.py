"""Straight lines between knots, also between knots that are nearly one."""

import numpy as np

__all__ = ["between_knots", "line_segments"]


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


def line_segments(
    knots: np.ndarray, values: np.ndarray, before: float, after: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """The same lines as level + slope (x - start), by the number of knots at or below x; ``before`` and ``after`` are the outer slopes.

    Parameters
    ----------
    knots : (m,) increasing
    values : (m,)
    before, after : float

    Returns
    -------
    start, level, slope : (m + 1,) each
        Between knots so near that the slope overflows, the level of the lower one.

    Examples
    --------
    >>> start, level, slope = line_segments(np.array([0.0, 2.0]), np.array([1.0, 5.0]), 0.0, 1.0)
    >>> start.tolist(), level.tolist(), slope.tolist()
    ([0.0, 0.0, 2.0], [1.0, 1.0, 5.0], [0.0, 2.0, 1.0])
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        inner = np.diff(values) / np.diff(knots)
    slope = np.concatenate([[before], np.where(np.isfinite(inner), inner, 0.0), [after]])
    return np.append(knots[0], knots), np.append(values[0], values), slope
