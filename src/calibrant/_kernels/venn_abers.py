"""The two isotonic fits of a Venn-Abers predictor, for every place where a new score may fall, in one pass."""

import numpy as np

__all__ = ["added_ones", "added_zeros"]

LIGHTEST = 2.0**-50


def added_ones(mass, mean):
    """Isotonic values of a new row labelled 1 that falls at or just below each of m groups, then above all: (m + 1,).

    ``mass`` and ``mean`` (m,) are the weights and mean outcomes of the distinct scores, ascending. The value is the slope of the
    greatest convex minorant of the cumulative sums over the new row: the bridge from the lower hull of the points up to the place to that
    of the points from it on, shifted by the row (Vovk, Petej and Fedorova 2015, section 5). Only valleys, points where the means rise,
    are corners of a hull, but for the place itself: between two valleys the bridge is one, save where it passes above the place.
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
    out[below] = _tangents(x[below], y[below], right[hill[below]], x[valleys] + 1.0, y[valleys] + 1.0, np.array(after))
    return np.clip(np.maximum.accumulate(out), 0.0, 1.0)


def added_zeros(mass, mean):
    """The same for a row labelled 0: below all groups, then at or just above each: (m + 1,)."""
    return 1.0 - added_ones(mass[::-1], 1.0 - mean[::-1])[::-1]


def _next_corners(x, y):
    """For each point the next corner of the lower hull of it and all later points; the last point's is itself."""
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


def _bridges(x, y, after):
    """Ends of the bridge over each gap between neighbouring points: (left, right), lists of positions.

    Slopes rise from gap to gap, so both ends only move to the right.
    """
    hull, at, b = [], 0, 0
    left, right = [], []
    for i in range(len(x) - 1):
        xi, yi = x[i], y[i]
        while len(hull) > 1 and (y[hull[-1]] - y[hull[-2]]) * (xi - x[hull[-2]]) >= (yi - y[hull[-2]]) * (x[hull[-1]] - x[hull[-2]]):
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


def _tangents(x, y, corner, x_hull, y_hull, after):
    """Least slopes from the points (x, y) to the lower hull, each looked for from its ``corner`` on."""
    out = (y_hull[corner] - y) / (x_hull[corner] - x)
    going = np.arange(len(x))
    while len(going):
        corner = after[corner]
        slope = (y_hull[corner] - y[going]) / (x_hull[corner] - x[going])
        lower = slope < out[going]
        going, corner = going[lower], corner[lower]
        out[going] = slope[lower]
    return out
