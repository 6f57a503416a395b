"""Interval of a mean from sums of powers: the posterior of a Bayesian bootstrap in which one row has not been seen yet.

The weights of the rows are drawn as Gamma(weight) variables, those of rows not seen as one more, an exponential. The mean then has the
first three moments of a Dirichlet mean, known from the sums of the loss, its square and its cube; quantiles are those of the Pearson
type III (shifted gamma) with these moments. For losses of two values this is near to Clopper and Pearson's interval of the rate: the
unseen row counts at the upper end as one of large loss, at the lower as one of small loss.
"""

from typing import Any

import numpy as np
from scipy import special

from calibrant._kernels.quotient import quotient

__all__ = ["limits_within", "mean_limits", "mean_tail", "moved_limits", "powers", "ratio_limits", "unseen_ends"]

#: Below this skewness the gamma distribution is taken for normal, which it then is to 1e-6.
STRAIGHT = 1e-3
#: How far beyond the largest losses seen the unseen one of an open range is: twice the skewness, or
#: .9 of its square where that is more, from once to fourteen times with up to a hundred rows, and to
#: three times with very many, which have shown their tail.
STRETCH, STEEPER, FARTHEST, NEARER, FEW = 2.0, 0.9, 14.0, 3.0, 100.0
#: Variances this small beside the square of the mean are rounding.
ROUNDING = 1e-13


def powers(loss: np.ndarray) -> list[np.ndarray]:
    """What is summed of a loss (n,): itself, its square and its cube."""
    square = loss * loss
    with np.errstate(over="ignore"):
        return [loss, square, square * loss]


def _quantile(q, skew):
    """Quantile of the distribution of mean 0, variance 1 and this skewness that is a shifted gamma, arrays."""
    size = np.maximum(np.abs(skew), STRAIGHT)
    shape = 4.0 / (size * size)
    bent = (special.gammaincinv(shape, np.where(skew > 0.0, q, 1.0 - q)) - shape) / np.sqrt(shape)
    return np.where(size > STRAIGHT, np.where(skew > 0.0, bent, -bent), special.ndtri(q))


def _share_below(x, skew):
    """The distribution function whose quantiles ``_quantile`` gives, of floats."""
    size = max(abs(skew), STRAIGHT)
    if size <= STRAIGHT:
        return special.ndtr(x)
    shape = 4.0 / (size * size)
    reach = special.gammainc(shape, max(shape + np.sign(skew) * x * np.sqrt(shape), 0.0))
    return reach if skew > 0.0 else 1.0 - reach


def unseen_ends(n: np.ndarray, sums: np.ndarray, bounds: tuple[float, float], kind: str | None = None) -> tuple[Any, Any]:
    """What a row not seen yet loses at either end where nothing is known of it: an end of the range; or with "double", and where the
    range is open, as far from the mean as the nearer bound (one unit where there is none), upwards as far as the skewness says at least."""
    (least, most), (mean, second, third) = bounds, (quotient(sums[..., j], n) for j in range(3))
    if kind is None and np.isfinite(bounds).all():
        return np.full_like(mean, least), np.full_like(mean, most)
    away = np.minimum(mean - least, most - mean) if np.isfinite(bounds).any() else np.ones_like(mean)
    if np.isfinite(most):
        # A mean at one bound: the other.
        away = np.where(away > 0.0, away, most - least) if np.isfinite(least) else away
        return mean - away, mean + away
    with np.errstate(over="ignore", invalid="ignore"):
        variance = np.maximum(second - mean * mean, 0.0)
        cube = third - 3.0 * mean * variance - mean**3
        seen = np.isfinite(cube) & (variance > ROUNDING * second)
        tail = np.divide(cube, variance, out=np.zeros_like(mean), where=seen)
        skew = np.divide(tail, np.sqrt(variance), out=np.zeros_like(mean), where=seen)
    # About the largest loss seen, were it alone large; how much larger one still to come may be.
    most = NEARER + (FARTHEST - NEARER) * FEW / np.maximum(n, FEW)
    times = np.clip(skew * np.maximum(STRETCH, STEEPER * skew), 1.0, most)
    return mean - away, mean + np.maximum(away, tail * times)


def limits_within(
    bounds: tuple[float, float], n: np.ndarray, sums: np.ndarray, ends: tuple[Any, Any], level: float
) -> tuple[Any, Any]:  # fmt: skip
    """``mean_limits`` cut off at the bounds; one row says nothing about the spread, so that its interval is the whole range."""
    low, high = mean_limits(n, sums, ends[0], ends[1], level)
    several = n > 1.0
    return np.where(several, np.maximum(low, bounds[0]), bounds[0]), np.where(several, np.minimum(high, bounds[1]), bounds[1])


def moved_limits(
    bounds: tuple[float, float], weight: np.ndarray, value: float, moves: np.ndarray, if_other: np.ndarray, level: float
) -> tuple[Any, Any]:
    """``limits_within`` of a value that rows move by ``moves``, as of their mean; an unseen row is one of the other outcome."""
    n, sums = weight.sum(), np.array([weight @ power for power in powers(value + moves)])
    limits = limits_within(bounds, n, sums, (bounds[0], value + weight @ if_other / n), level)
    return _as_of_few(bounds, n, value, limits, level)


def ratio_limits(bounds: tuple[float, float], value: np.ndarray, totals: np.ndarray, level: float) -> tuple[Any, Any]:
    """(low, high) of a quotient of two sums from the last axis of ``totals``: top, bottom, their products of two and of three.

    As a mean of so many rows as the bottom counts for, with the moments of top - value * bottom; those rows may be few, so that Student's
    t widens it.
    """
    bottom, tt, tb, bb, ttt, ttb, tbb, bbb = (totals[..., j] for j in range(1, 9))
    n = quotient(bottom * bottom, bb)
    second = np.maximum(quotient(tt - 2.0 * value * tb + value**2 * bb, bb), 0.0)
    third = quotient(ttt - 3.0 * value * ttb + 3.0 * value**2 * tbb - value**3 * bbb, bbb)
    sums = np.stack([value, second + value**2, third + 3.0 * value * second + value**3], axis=-1) * n[..., None]
    return _as_of_few(bounds, n, value, limits_within(bounds, n, sums, unseen_ends(n, sums, bounds, "double"), level), level)


def _as_of_few(bounds, n, value, limits, level):
    """The limits as far from the value as Student's t of n rows asks for."""
    freedom = np.where(n > 1.0, np.maximum(n - 1.0, 0.1), np.inf)
    wide = special.stdtrit(freedom, 0.5 + 0.5 * level) / special.ndtri(0.5 + 0.5 * level)
    return np.maximum(value - wide * (value - limits[0]), bounds[0]), np.minimum(value + wide * (limits[1] - value), bounds[1])


def mean_limits(n: Any, sums: Any, below: Any, above: Any, level: float) -> tuple[Any, Any]:
    """(low, high) of a mean of n rows, arrays with any leading axes; ``sums`` of the loss, its square and its cube on the last axis.

    ``below`` and ``above`` are the losses of the unseen row at either end; one on the wrong side of the mean is not counted.
    """
    mean = quotient(sums[..., 0], n)
    ends = []
    for unseen, side in ((below, -1.0), (above, 1.0)):
        counts = side * (unseen - mean) > 0.0
        ends.append(_end(n, sums, np.where(counts, unseen, 0.0), counts.astype(np.float64), 0.5 + 0.5 * side * level))
    return np.minimum(ends[0], mean), np.maximum(ends[1], mean)


def mean_tail(n: float, sums: np.ndarray, below: float, above: float) -> float:
    """Half the two-sided p-value of a mean of 0: how much of the law behind ``mean_limits`` lies on the side of 0 that the mean is not."""
    mean = sums[0] / n
    unseen, side = (below, -1.0) if mean > 0.0 else (above, 1.0)
    counts = side * (unseen - mean) > 0.0
    first, spread, skew = (float(one) for one in _law(n, sums, unseen if counts else 0.0, float(counts)))
    if not spread > 0.0:
        return 0.0 if first * mean > 0.0 else 0.5
    share = _share_below(-first / spread, skew)
    return min(float(share if mean > 0.0 else 1.0 - share), 0.5)


def _end(n, sums, unseen, one, q):
    first, spread, skew = _law(n, sums, unseen, one)
    return first + spread * _quantile(q, skew)


@np.errstate(over="ignore", invalid="ignore")
def _law(n, sums, unseen, one):
    """(mean, standard deviation, skewness) of the mean of n rows and of ``one`` unseen row."""
    rows = n + one
    first, second, third = (quotient(sums[..., j] + one * unseen ** (j + 1), rows) for j in range(3))
    variance = second - first * first
    variance = np.where(variance > ROUNDING * second, variance, 0.0)
    cube = third - 3.0 * first * variance - first**3
    # Of a sample's variance the Dirichlet mean's, over rows + 1, is a little too small.
    spread = np.sqrt(variance / np.maximum(rows - 1.0, 1.0))
    own = (rows + 2.0) * variance**1.5
    # The cubes of losses beyond 1e100 are not finite: their mean is taken for normal.
    skew = 2.0 * np.sqrt(rows + 1.0) * np.divide(cube, own, out=np.zeros_like(cube), where=np.isfinite(cube) & (own > 0.0))
    return first, spread, skew
