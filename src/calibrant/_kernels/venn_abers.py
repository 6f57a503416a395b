"""The two isotonic fits of a Venn-Abers predictor, for every place where a new score may fall, in one pass."""

import numpy as np

__all__ = ["added_ones", "added_zeros"]

LIGHTEST = 2.0**-50


def added_ones(mass, mean):
    """Isotonic values of a new row labelled 1 that falls at or just below each of m groups, then above all: (m + 1,).

    ``mass`` and ``mean`` (m,) are the weights and mean outcomes of the distinct scores, ascending. The value is the slope of the
    greatest convex minorant of the cumulative sums over the new row. Moving the row one group up changes one point of the
    cumulative sums only, so one sweep with a stack of corners serves all places (Vovk, Petej and Fedorova 2015, section 5).
    """
    # Lighter groups would vanish in the rounding beside the new row, whose weight is 1.
    mass = np.maximum(mass, LIGHTEST * max(float(mass.sum()), 1.0))
    x = np.concatenate([[0.0], np.cumsum(mass)]).tolist()
    y = np.concatenate([[0.0], np.cumsum(mass * mean)]).tolist()
    m = len(mass)
    # Corners right of the new row, shifted by it, the nearest on top; then the edge that starts at the new row's left point.
    corners: list[tuple[float, float]] = []
    for j in range(m, -1, -1):
        _push(corners, x[j] + 1.0, y[j] + 1.0)
    out = np.empty(m + 1)
    left = (x[0], y[0])
    _drop(corners, left)
    out[0] = _slope(left, corners[-1])
    for i in range(1, m + 1):
        point = (x[i], y[i])
        while corners[-1][0] <= point[0]:
            left = corners.pop()
        edge = _slope(left, corners[-1])
        if point[1] <= left[1] + edge * (point[0] - left[0]):
            left = point
            _drop(corners, left)
        out[i] = _slope(left, corners[-1])
    return np.clip(np.maximum.accumulate(out), 0.0, 1.0)


def added_zeros(mass, mean):
    """The same for a row labelled 0: below all groups, then at or just above each: (m + 1,)."""
    return 1.0 - added_ones(mass[::-1], 1.0 - mean[::-1])[::-1]


def _slope(a, b):
    return (b[1] - a[1]) / (b[0] - a[0])


def _drop(corners, start):
    """Remove corners that the edge from ``start`` passes below."""
    while len(corners) > 1 and _slope(start, corners[-1]) >= _slope(start, corners[-2]):
        corners.pop()


def _push(corners, x, y):
    _drop(corners, (x, y))
    corners.append((x, y))
