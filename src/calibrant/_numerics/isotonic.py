"""Isotonic fits: pooling of adjacent violators, the nearly-isotonic path, both fits of
Venn-Abers, straight lines between knots.
"""

from typing import Any

import numpy as np
import scipy

from calibrant._numerics.bins import distinct_scores, near_ties

__all__ = [
    "added_ones",
    "added_zeros",
    "between_knots",
    "line_segments",
    "near_isotonic_path",
    "pool_ties",
    "pooled_blocks",
    "pooled_blocks_of",
    "smooth_ends",
]


#: So many rows show that scores are not sorted, before all are compared.
FEW_ROWS = 100


def pool_ties(
    score: np.ndarray, correct: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores ascending that differ by more than rounding, their total weights, and their
    weighted mean outcomes: three (m,) arrays.
    """
    # Scores may have been sorted once for several maps; a few rows tell most others.
    known = (np.diff(score[:FEW_ROWS]) >= 0.0).all() and (np.diff(score) >= 0.0).all()
    order = slice(None) if known else np.argsort(score)
    ordered = score[order]
    first = near_ties(ordered)
    distinct = len(first) == len(score)
    if distinct or len(first) == 1 + np.count_nonzero(np.diff(ordered)):
        mass, hits = weight[order], (weight * correct)[order]
        if not distinct:
            ordered = ordered[first]
            mass, hits = np.add.reduceat(mass, first), np.add.reduceat(hits, first)
        return ordered, mass, hits / mass
    unique, inverse = distinct_scores(score)
    mass = np.bincount(inverse, weights=weight)
    return unique, mass, np.bincount(inverse, weights=weight * correct) / mass


def pooled_blocks(
    mean: np.ndarray, mass: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Isotonic fit as blocks: (first position of each block, last position, value in [0, 1],
    mass).
    """
    fit = scipy.optimize.isotonic_regression(mean, weights=mass)
    first, last = fit.blocks[:-1], fit.blocks[1:] - 1
    return first, last, np.clip(fit.x[first], 0.0, 1.0), np.add.reduceat(mass, first)


def pooled_blocks_of(
    mean: np.ndarray, mass: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Isotonic fit of any real means as blocks: (first position of each block, value, mass)."""
    fit = scipy.optimize.isotonic_regression(mean, weights=mass)
    first = fit.blocks[:-1]
    return first, fit.x[first], np.add.reduceat(mass, first)


def smooth_ends(value: Any, mass: np.ndarray) -> np.ndarray:
    """Laplace's estimate for a first block of 0 and a last block of 1, kept between the
    neighbouring blocks.
    """
    value = value.copy()
    inner_low = value[1] if len(value) > 1 else 1.0
    inner_high = value[-2] if len(value) > 1 else 0.0
    if value[0] <= 0.0:
        value[0] = min(1.0 / (mass[0] + 2.0), 0.5 * inner_low if inner_low < 1.0 else 1.0)
    if value[-1] >= 1.0:
        value[-1] = max(
            1.0 - 1.0 / (mass[-1] + 2.0), 0.5 + 0.5 * inner_high if inner_high > 0.0 else 0.0
        )
    return value


def near_isotonic_path(mean: Any, mass: Any) -> Any:
    """Solutions of min 1/2 sum w (z - p)^2 + lambda sum (p_i - p_{i+1})_+ at the breakpoints of
    lambda, from 0 up.

    Yields (starts (J,), value (J,), block mean (J,), block mass (J,)): blocks never split as lambda
    grows, and between breakpoints each block moves in a straight line, pulled up by a larger left
    neighbour and down by a smaller right one (Tibshirani, Hoefling and Tibshirani 2011). The last
    one is the isotonic fit.
    """
    starts = np.arange(len(mean))
    value, centre, weight = (
        mean.astype(np.float64),
        mean.astype(np.float64),
        mass.astype(np.float64),
    )
    starts, value, centre, weight = _merge(starts, value, centre, weight, np.diff(value) == 0.0)
    yield starts, value, centre, weight
    while (gap := np.diff(value)).size and (gap < 0.0).any():
        violated = (gap < 0.0).astype(np.float64)
        slope = (np.append(0.0, violated) - np.append(violated, 0.0)) / weight
        closing = slope[:-1] - slope[1:]
        # Two neighbours meet where the left one catches up with the right one, from below or from
        # above.
        with np.errstate(divide="ignore", invalid="ignore"):
            when = np.where(gap * closing > 0.0, gap / closing, np.inf)
        step = when.min()
        value = value + step * slope
        joined = when <= step * (1.0 + 1e-12)
        starts, value, centre, weight = _merge(starts, value, centre, weight, joined)
        yield starts, value, centre, weight


def _merge(
    starts: np.ndarray,
    value: np.ndarray,
    centre: np.ndarray,
    weight: np.ndarray,
    joined: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Join the neighbours that met; their common value and mean are weighted means."""
    first = np.flatnonzero(np.append(True, ~joined))
    mass = np.add.reduceat(weight, first)
    return (
        starts[first],
        np.add.reduceat(weight * value, first) / mass,
        np.add.reduceat(weight * centre, first) / mass,
        mass,
    )


LIGHTEST = 2.0**-50


def added_ones(mass: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Isotonic values of a new row labelled 1 that falls at or just below each of m groups, then
    above all: (m + 1,).

    ``mass`` and ``mean`` (m,) are the weights and mean outcomes of the distinct scores, ascending.
    The value is the slope of the greatest convex minorant of the cumulative sums over the new row:
    the bridge from the lower hull of the points up to the place to that of the points from it on,
    shifted by the row (Vovk, Petej and Fedorova 2015, section 5). Only valleys, points where the
    means rise, are corners of a hull, but for the place itself: between two valleys the bridge is
    one, save where it passes above the place.
    """
    # Lighter groups would vanish in the rounding beside the new row, whose weight is 1.
    mass = np.maximum(mass, LIGHTEST * max(float(mass.sum()), 1.0))
    x, y = np.append(0.0, np.cumsum(mass)), np.append(0.0, np.cumsum(mass * mean))
    valleys = np.concatenate([[0], 1 + np.flatnonzero(np.diff(mean) > 0.0), [len(mass)]])
    after = _next_corners(x[valleys].tolist(), y[valleys].tolist())
    left, right = np.array(_bridges(x[valleys].tolist(), y[valleys].tolist(), after))
    a, b = valleys[left], valleys[right]
    slope = (y[b] + 1.0 - y[a]) / (x[b] + 1.0 - x[a])
    hill = np.repeat(np.arange(len(slope)), np.diff(valleys))
    out = np.append(slope[hill], 1.0)
    below = np.flatnonzero(y[:-1] - y[a][hill] < slope[hill] * (x[:-1] - x[a][hill]))
    out[below] = _tangents(
        x[below], y[below], right[hill[below]], x[valleys] + 1.0, y[valleys] + 1.0, np.array(after)
    )
    return np.clip(np.maximum.accumulate(out), 0.0, 1.0)


def added_zeros(mass: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """The same for a row labelled 0: below all groups, then at or just above each: (m + 1,)."""
    return 1.0 - added_ones(mass[::-1], 1.0 - mean[::-1])[::-1]


def _next_corners(x: list[float], y: list[float]) -> list[int]:
    """For each point the next corner of the lower hull of it and all later points; the last
    point's is itself.
    """
    last = len(x) - 1
    after = [last] * len(x)
    for i in range(last - 1, -1, -1):
        j, xi, yi = i + 1, x[i], y[i]
        while j < last:
            k = after[j]
            if (y[j] - yi) * (x[k] - xi) < (y[k] - yi) * (x[j] - xi):
                break
            j = k
        after[i] = j
    return after


def _bridges(x: list[float], y: list[float], after: list[int]) -> tuple[list[int], list[int]]:
    """Ends of the bridge over each gap between neighbouring points: (left, right), lists of
    positions.

    Slopes rise from gap to gap, so both ends only move to the right.
    """
    hull, at, b = [], 0, 0
    left, right = [], []
    for i in range(len(x) - 1):
        xi, yi = x[i], y[i]
        while len(hull) > 1 and (y[hull[-1]] - y[hull[-2]]) * (xi - x[hull[-2]]) >= (
            yi - y[hull[-2]]
        ) * (x[hull[-1]] - x[hull[-2]]):
            hull.pop()
        hull.append(i)
        at, b = min(at, len(hull) - 1), max(b, i + 1)
        while True:
            a = hull[at]
            xa, ya = x[a] - 1.0, y[a] - 1.0
            k = after[b]
            while k != b and (y[k] - ya) * (x[b] - xa) < (y[b] - ya) * (x[k] - xa):
                b, k = k, after[k]
            if at + 1 == len(hull):
                break
            k = hull[at + 1]
            if (y[k] - y[a]) * (x[b] - xa) >= (y[b] - ya) * (x[k] - x[a]):
                break
            at += 1
        left.append(a)
        right.append(b)
    return left, right


def _tangents(
    x: np.ndarray,
    y: np.ndarray,
    corner: np.ndarray,
    x_hull: np.ndarray,
    y_hull: np.ndarray,
    after: np.ndarray,
) -> np.ndarray:
    """Least slopes from the points (x, y) to the lower hull, each looked for from its ``corner``
    on.
    """
    out = (y_hull[corner] - y) / (x_hull[corner] - x)
    going = np.arange(len(x))
    while len(going):
        corner = after[corner]
        slope = (y_hull[corner] - y[going]) / (x_hull[corner] - x[going])
        lower = slope < out[going]
        going, corner = going[lower], corner[lower]
        out[going] = slope[lower]
    return out


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
    >>> between_knots(
    ...     np.array([0.5, 4e-320]), np.array([0.0, 8e-320, 1.0]), np.array([0.0, 0.5, 1.0])
    ... ).round(3).tolist()
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
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same lines as level + slope (x - start), by the number of knots at or below x; ``before``
    and ``after`` are the outer slopes.

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
