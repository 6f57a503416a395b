"""Where a risk that rises with the score crosses a level: an interval by inverting the isotonic likelihood ratio test."""

import numpy as np
from scipy.special import xlog1py, xlogy

from calibrant._kernels.intervals import normal_quantile

__all__ = ["crossing_interval"]

#: Places between the scores that are tested, at most.
PLACES = 4000
#: The ratio's limit law (Banerjee and Wellner 2001) has no quantile beyond that of the square of 0.79 times a normal variable.
SHRUNK = 0.79
#: The row that is counted beyond either end.
UNSEEN = 0.5


def crossing_interval(score: np.ndarray, hits: np.ndarray, mass: np.ndarray, risk: float, level: float) -> tuple[float, float]:
    """(low, high): the score at which the risk first reaches ``risk`` is above ``low`` and at most ``high``.

    ``score`` (m,) ascending, distinct; ``hits`` and ``mass`` (m,) the weights of the events and of all rows there. A place between two
    scores is kept if risks that rise, at most ``risk`` below it and at least ``risk`` above it, are likely enough beside risks that
    only rise. That needs no smoothness, and no choice of bins or bandwidth. For scores of few values the ratio is half 0, half
    chi-squared, which asks for a wider interval than the continuous law at usual levels; the wider is taken.
    The last few scores may happen to be all events, and the rates that only rise follow them: beyond
    either end half a row is counted that goes the other way.
    """
    m = len(score)
    places = np.unique(np.linspace(0, m, min(m, PLACES) + 1).astype(np.intp))
    hits, mass = np.add.reduceat(hits, places[:-1]), np.add.reduceat(mass, places[:-1])
    ends = np.append(UNSEEN, hits), np.append(UNSEEN, mass)
    first = max(_likely(*ends, risk, level)[0] - 1, 0)
    ends = np.append(hits, 0.0), np.append(mass, UNSEEN)
    last = min(_likely(*ends, risk, level)[-1], len(places) - 1)
    low = -np.inf if first == 0 else score[places[first - 1]]
    high = np.inf if last == len(places) - 1 else score[places[last + 1] - 1]
    return float(low), float(high)


def _likely(hits: np.ndarray, mass: np.ndarray, risk: float, level: float) -> np.ndarray:
    """The places 0..m at which the ratio does not refuse the crossing."""
    below = _rising_likelihoods(hits, mass, risk)
    above = _rising_likelihoods((mass - hits)[::-1], mass[::-1], 1.0 - risk)[::-1]
    ratio = 2.0 * (_rising_likelihoods(hits, mass, 1.0)[-1] - below - above)
    z = SHRUNK * normal_quantile(level), normal_quantile(max(2.0 * level - 1.0, 0.0))
    return np.flatnonzero(ratio <= max(z) ** 2 + 1e-9)


def _rising_likelihoods(hits, mass, most):
    """Log-likelihood of the first j = 0..m entries under the best rates that rise and are at most ``most``, (m + 1,)."""
    out, stack = [0.0], [(0.0, 0.0, 0.0)]
    for h, n in zip(hits.tolist(), mass.tolist(), strict=True):
        # Pooling adjacent violators from the left: what comes later never changes blocks that stay.
        while len(stack) > 1 and stack[-1][0] * n >= h * stack[-1][1]:
            h, n = h + stack[-1][0], n + stack[-1][1]
            stack.pop()
        rate = min(h / n, most)
        stack.append((h, n, stack[-1][2] + float(xlogy(h, rate) + xlog1py(n - h, -rate))))
        out.append(stack[-1][2])
    return np.array(out)
