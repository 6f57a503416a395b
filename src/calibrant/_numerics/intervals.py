"""Intervals: for a proportion, a count, an area under the ROC curve, a mean from sums of powers,
and from resampled sums.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from scipy import special

__all__ = [
    "auroc_limits",
    "beta_interval",
    "clopper_pearson",
    "consistency",
    "event_count_limits",
    "inside",
    "limits_within",
    "mean_limits",
    "mean_tail",
    "minus",
    "moved_limits",
    "multinomial_correlation",
    "normal_interval",
    "normal_quantile",
    "over_rates",
    "poisson_limits",
    "powers",
    "quotient",
    "rate_interval",
    "ratio_limits",
    "squared_limits",
    "stretched",
    "sum_limits",
    "unseen_ends",
    "unseen_share",
    "wilson",
]

#: Squared estimates, in units of their noise, from which on the noise does not count.
LARGEST_SQUARES = 1e6
#: Below this many hits or misses the coverage of Wilson's interval falls as low as 84 %.
FEW = 10.0
#: From this many counts on, equal ones are looked for.
MANY = 1000


def normal_quantile(level: float, freedom: Any = np.inf) -> float:
    """The z with P(|N(0, 1)| <= z) = level; of Student's t with finite ``freedom``."""
    return float(
        special.ndtri(0.5 + 0.5 * level)
        if np.isinf(freedom)
        else special.stdtrit(freedom, 0.5 + 0.5 * level)
    )


def wilson(successes: Any, n: Any, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Wilson score interval of successes / n, arrays -> (low, high); [0, 1] where n is 0."""
    successes, n = np.asarray(successes, dtype=np.float64), np.asarray(n, dtype=np.float64)
    z = normal_quantile(level)
    safe = np.where(n > 0, n, 1.0)
    p = successes / safe
    centre = (p + z * z / (2 * safe)) / (1 + z * z / safe)
    half = z / (1 + z * z / safe) * np.sqrt(p * (1 - p) / safe + z * z / (4 * safe * safe))
    # With no or only successes the ends are exactly 0 and 1, which rounding would miss.
    low = np.where((n > 0) & (successes > 0), np.clip(centre - half, 0.0, 1.0), 0.0)
    high = np.where((n > 0) & (successes < n), np.clip(centre + half, 0.0, 1.0), 1.0)
    return low, high


def _for_distinct(limits: Callable[..., Any]) -> Callable[..., Any]:
    """The limits of counts among n, computed once for equal ones where there are many."""

    @wraps(limits)
    def for_all(count: Any, n: Any, level: float = 0.95) -> tuple[Any, Any]:
        pairs = np.asarray(count) + 1j * np.asarray(n)
        if pairs.size < MANY:
            return limits(count, n, level)
        each, index = np.unique(pairs, return_inverse=True)
        low, high = limits(each.real, each.imag, level)
        return low[index].reshape(pairs.shape), high[index].reshape(pairs.shape)

    return for_all


@_for_distinct
def clopper_pearson(successes: Any, n: Any, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Exact (Clopper-Pearson) interval of successes / n, arrays -> (low, high); [0, 1] where n
    is 0.
    """
    k, n = np.asarray(successes, dtype=np.float64), np.asarray(n, dtype=np.float64)
    tail = 0.5 * (1.0 - level)
    low = np.where(
        k > 0, special.betaincinv(np.maximum(k, 1e-300), np.maximum(n - k, 0) + 1, tail), 0.0
    )
    high = np.where(k < n, special.betaincinv(k + 1, np.maximum(n - k, 1e-300), 1.0 - tail), 1.0)
    return low, high


def rate_interval(successes: Any, n: Any, level: float = 0.95) -> tuple[Any, Any]:
    """Clopper and Pearson's interval of a rate where fewer than ten are of either kind, Wilson's
    elsewhere, arrays -> (low, high).
    """
    few = np.minimum(successes, np.subtract(n, successes)) < FEW
    exact, score = clopper_pearson(successes, n, level), wilson(successes, n, level)
    return np.where(few, exact[0], score[0]), np.where(few, exact[1], score[1])


def normal_interval(
    mean: Any, variance_of_mean: Any, level: float = 0.95, freedom: Any = np.inf
) -> tuple[Any, Any]:
    """mean -+ z sqrt(variance_of_mean), numbers or arrays; Student's t for z where the variance
    has finite degrees of freedom.
    """
    half = normal_quantile(level, freedom) * np.sqrt(np.maximum(variance_of_mean, 0.0))
    return mean - half, mean + half


def inside(bounds: tuple[Any, Any], limits: tuple[Any, Any]) -> tuple[Any, Any]:
    """(low, high) clipped to the bounds, numbers or arrays."""
    return np.maximum(limits[0], bounds[0]), np.minimum(limits[1], bounds[1])


def unseen_share(n: float, level: float = 0.95) -> float:
    """The largest share of a kind of rows that n rows may miss at this level: the upper end for 0
    of n.
    """
    return float(1.0 - (0.5 - 0.5 * level) ** (1.0 / max(n, 1.0)))


def beta_interval(right: Any, wrong: Any, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Equal-tailed interval of a Beta(right, wrong) distribution, arrays -> (low, high)."""
    tail = 0.5 * (1.0 - level)
    return special.betaincinv(right, wrong, tail), special.betaincinv(right, wrong, 1.0 - tail)


def consistency(p: Any, n: Any, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Prediction interval of the share of hits among n rows of probability p, arrays -> (low,
    high).
    """
    p, n = np.asarray(p, dtype=np.float64), np.asarray(n, dtype=np.float64)
    tail = 0.5 * (1.0 - level)
    inner = np.clip(p, 1e-12, 1.0 - 1e-12)

    def smallest(q: Any) -> float:
        # The least whole number with P(count <= number) >= q; below 0 the inverse has no value.
        count = np.ceil(np.nan_to_num(special.bdtrik(q, n, inner), nan=0.0) - 1e-9)
        return np.clip(np.where(n * np.log1p(-inner) >= np.log(q), 0.0, count), 0.0, n) / n

    return np.minimum(smallest(tail), p), np.maximum(smallest(1.0 - tail), p)


#: Weight of the row whose placement is anything from 0 to 1 that is joined to either side.
UNKNOWN = 0.5


def auroc_limits(
    first: tuple[np.ndarray, np.ndarray], second: tuple[np.ndarray, np.ndarray], level: float
) -> tuple[float, float]:
    """(low, high) from (placements, weights) of the rows of either side: the share of the other
    side that each beats, or is beaten by.

    DeLong's variance on the log-odds scale. Placements that are all 1 have no variance: half a row
    on either side adds some, like the half successes of Jeffreys' interval; few rows use Student's
    t. For separated sides the limit is exact: with a smaller area, the smaller side would be
    separated with probability (1 - level) / 2 at most.
    """
    apart = [np.concatenate([first[0], second[0]]) == end for end in (1.0, 0.0)]
    if any(end.all() for end in apart):
        away = (0.5 - 0.5 * level) ** (1.0 / min(first[1].sum(), second[1].sum()))
        return (away, 1.0) if apart[0].all() else (0.0, 1.0 - away)
    (mean, variance_of_mean, size), (other, other_variance, rest) = (
        _joined(*first),
        _joined(*second),
    )
    # Either mean is the area; the half row moves that of the smaller side more, which is less
    # precise.
    area = float(np.clip(mean if size <= rest else other, 1e-12, 1.0 - 1e-12))
    variance = (variance_of_mean + other_variance) / (area * (1.0 - area)) ** 2
    low, high = normal_interval(np.log(area / (1.0 - area)), variance, level, min(size, rest))
    return float(special.expit(low)), float(special.expit(high))


def _joined(placement: np.ndarray, weight: np.ndarray) -> Any:
    """(mean, variance of the mean, size) including the half row."""
    n = weight.sum() + UNKNOWN
    mean = (weight @ placement + 0.5 * UNKNOWN) / n
    square = weight @ (placement - mean) ** 2 + UNKNOWN * ((0.5 - mean) ** 2 + 1.0 / 12.0)
    return mean, square / n / max(n - 1.0, UNKNOWN), n


def poisson_limits(count: Any, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Exact limits of a Poisson mean from a count (which weights may make no whole number),
    arrays -> (low, high).
    """
    count, tail = np.asarray(count, dtype=np.float64), 0.5 * (1.0 - level)
    low = np.where(count > 0.0, special.gammaincinv(np.where(count > 0.0, count, 1.0), tail), 0.0)
    return low, special.gammaincinv(count + 1.0, 1.0 - tail)


@_for_distinct
def event_count_limits(count: Any, n: Any, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Limits of the expected number of events among n rows, arrays -> (low, high) of positive
    width.

    On the log scale, count * exp(-+ z sqrt((1 - count / n) / count)); exact Poisson below 10
    events, exact binomial below 10 rows without.
    """
    count, n = np.asarray(count, dtype=np.float64), np.asarray(n, dtype=np.float64)
    rest = np.maximum(n - count, 0.0)
    many = np.maximum(count, FEW)
    factor = np.exp(normal_quantile(level) * np.sqrt(rest / np.maximum(n, FEW) / many))
    share = clopper_pearson(count, n, level)
    ends = []
    for usual, poisson, binomial in zip(
        (count / factor, count * factor),
        poisson_limits(np.minimum(count, FEW), level),
        share,
        strict=True,
    ):
        ends.append(
            np.minimum(np.where(count < FEW, poisson, np.where(rest < FEW, binomial * n, usual)), n)
        )
    return ends[0], ends[1]


def stretched(count: Any, limits: tuple[Any, Any], factor: Any) -> tuple[np.ndarray, np.ndarray]:
    """Limits stretched from the count by a factor, on the log scale; limits of zero events stay."""
    some = np.where(count > 0.0, count, 1.0)
    low, high = (np.where(count > 0.0, some * (end / some) ** factor, end) for end in limits)
    return low, high


def minus(part: Any, factor: Any = 1.0) -> tuple[Any, Any, Any]:
    """(value, low, high) of -factor times a part, for a factor of at least 0."""
    value, low, high = part
    return -factor * value, -factor * high, -factor * low


def sum_limits(first: Any, second: Any, correlation: Any = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """(low, high) of the sum of two parts, each (value, low, high), whose estimates have this
    correlation.
    """
    value = first[0] + second[0]
    ends = []
    for side, sign in ((1, -1.0), (2, 1.0)):
        a, b = np.abs(first[0] - first[side]), np.abs(second[0] - second[side])
        ends.append(
            value + sign * np.sqrt(np.maximum(a * a + b * b + 2.0 * correlation * a * b, 0.0))
        )
    return ends[0], ends[1]


def multinomial_correlation(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Correlation of two shares of one total, p + q <= 1; 0 where either is 0 or 1, as its noise
    is then that of its limits alone.
    """
    odds = p * q
    return -np.sqrt(
        np.divide(
            odds,
            (1.0 - p) * (1.0 - q),
            out=np.zeros_like(odds),
            where=(odds > 0.0) & (p < 1.0) & (q < 1.0),
        )
    )


#: Rates tried at a time, how often the grid is drawn in, and how near to 0 and 1 a rate may come.
RATES, ROUNDS, LEAST = 17, 8, 1e-9


def over_rates(value_at: Callable[[Any], Any], ends: tuple[Any, Any]) -> tuple[Any, Any]:
    """(least, largest) of ``value_at(rates)`` between the ends, arrays: the least at an end, the
    largest by ever finer grids.
    """
    below, above = (special.logit(np.clip(end, LEAST, 1.0 - LEAST)) for end in ends)
    at_ends = [value_at(special.expit(end)) for end in (below, above)]
    largest = np.maximum(*at_ends)
    for _ in range(ROUNDS):
        odds = np.linspace(below, above, RATES)
        values = value_at(special.expit(odds))
        best = values.argmax(axis=0)
        largest = np.maximum(largest, values.max(axis=0))
        below, above = (
            np.take_along_axis(odds, np.clip(best + step, 0, RATES - 1)[None], axis=0)[0]
            for step in (-1, 1)
        )
    return np.minimum(*at_ends), largest


def quotient(top: np.ndarray, bottom: np.ndarray | float) -> np.ndarray:
    """top / bottom, nan where the bottom is 0."""
    return np.divide(top, bottom, out=np.full(np.shape(top), np.nan), where=np.asarray(bottom) > 0)


#: Below this skewness the gamma distribution is replaced by the normal, which agrees to 1e-6.
STRAIGHT = 1e-3
#: How far beyond the largest losses seen the unseen one of an open range is: twice the skewness, or
#: .9 of its square where that is more, from once to fourteen times with up to a hundred rows, and
#: to three times with very many, which have shown their tail.
STRETCH, STEEPER, FARTHEST, NEARER, FEW_ROWS = 2.0, 0.9, 14.0, 3.0, 100.0
#: Variances this small beside the square of the mean are rounding.
ROUNDING = 1e-13


def powers(loss: np.ndarray) -> list[np.ndarray]:
    """The powers of a loss (n,) that are summed: itself, its square and its cube."""
    square = loss * loss
    with np.errstate(over="ignore"):
        return [loss, square, square * loss]


def squared_limits(total: float, variance: np.ndarray, level: float = 0.95) -> tuple[float, float]:
    r"""Limits of the root mean square :math:`\sqrt{\sum_b w_b e_b^2}` of errors from the sum
    ``total`` of their squared estimates, :math:`\sum_b w_b (e_b + z_b)^2`.

    The estimates' noise has the covariance whose eigenvalues, weighted, are ``variance`` (B,): the
    total is about c times a noncentral chi-square of :math:`\nu` degrees of freedom, with the mean
    and the variance of the noise, :math:`c = \sum v^2 / \sum v`, :math:`\nu = (\sum v)^2 / \sum
    v^2`, and the squared error over c as noncentrality. The upper limit is at least what
    estimates without any error have in half of the samples: less cannot be shown.

    Examples
    --------
    >>> low, high = squared_limits(0.004, np.full(10, 1e-4))
    >>> round(low, 3), round(high, 3)
    (0.034, 0.076)
    """
    c, tail = variance @ variance / max(variance.sum(), 1e-300), 0.5 * (1.0 - level)
    if c == 0.0 or total / c > LARGEST_SQUARES:
        return float(np.sqrt(total)), float(np.sqrt(total))
    freedom, ratio = variance.sum() / c, total / c
    some = special.chdtr(freedom, ratio) > 1.0 - tail
    low = special.chndtrinc(ratio, freedom, 1.0 - tail) if some else 0.0
    high = special.chndtrinc(max(ratio, special.chdtri(freedom, 0.5)), freedom, tail)
    return float(np.sqrt(c * low)), float(np.sqrt(c * high))


def _quantile(q: np.ndarray | float, skew: np.ndarray | float) -> np.ndarray:
    """Quantile of the distribution of mean 0, variance 1 and this skewness that is a shifted
    gamma, arrays.
    """
    size = np.maximum(np.abs(skew), STRAIGHT)
    shape = 4.0 / (size * size)
    bent = (special.gammaincinv(shape, np.where(skew > 0.0, q, 1.0 - q)) - shape) / np.sqrt(shape)
    return np.where(size > STRAIGHT, np.where(skew > 0.0, bent, -bent), special.ndtri(q))


def _share_below(x: float, skew: float) -> float:
    """The distribution function whose quantiles ``_quantile`` gives, of floats."""
    size = max(abs(skew), STRAIGHT)
    if size <= STRAIGHT:
        return special.ndtr(x)
    shape = 4.0 / (size * size)
    reach = special.gammainc(shape, max(shape + np.sign(skew) * x * np.sqrt(shape), 0.0))
    return reach if skew > 0.0 else 1.0 - reach


def unseen_ends(
    n: np.ndarray, sums: np.ndarray, bounds: tuple[float, float], kind: str | None = None
) -> tuple[Any, Any]:
    """The loss of an unseen row at either end: an end of the range. With "double", or an open
    range, it is as far from the mean as the nearer bound (one unit if there is none), and upwards
    at least as far as the skewness implies."""
    (least, most), (mean, second, third) = bounds, (quotient(sums[..., j], n) for j in range(3))
    if kind is None and np.isfinite(bounds).all():
        return np.full_like(mean, least), np.full_like(mean, most)
    away = (
        np.minimum(mean - least, most - mean) if np.isfinite(bounds).any() else np.ones_like(mean)
    )
    if np.isfinite(most):
        # A mean at one bound: the other.
        away = np.where(away > 0.0, away, most - least) if np.isfinite(least) else away
        return mean - away, mean + away
    with np.errstate(over="ignore", invalid="ignore"):
        variance = np.maximum(second - mean * mean, 0.0)
        cube = third - 3.0 * mean * variance - mean**3
        regular = np.isfinite(cube) & (variance > ROUNDING * second)
        tail = np.divide(cube, variance, out=np.zeros_like(mean), where=regular)
        skew = np.divide(tail, np.sqrt(variance), out=np.zeros_like(mean), where=regular)
    # The largest loss seen, if it alone is large; and how much larger an unseen one may be.
    most = NEARER + (FARTHEST - NEARER) * FEW_ROWS / np.maximum(n, FEW_ROWS)
    times = np.clip(skew * np.maximum(STRETCH, STEEPER * skew), 1.0, most)
    return mean - away, mean + np.maximum(away, tail * times)


def limits_within(
    bounds: tuple[float, float],
    n: np.ndarray,
    sums: np.ndarray,
    ends: tuple[Any, Any],
    level: float,
) -> tuple[Any, Any]:
    """``mean_limits`` clipped to the bounds; with one row the interval is the whole range."""
    low, high = mean_limits(n, sums, ends[0], ends[1], level)
    several = n > 1.0
    return np.where(several, np.maximum(low, bounds[0]), bounds[0]), np.where(
        several, np.minimum(high, bounds[1]), bounds[1]
    )


def moved_limits(
    bounds: tuple[float, float],
    weight: np.ndarray,
    value: float,
    moves: np.ndarray,
    if_other: np.ndarray,
    level: float,
) -> tuple[Any, Any]:
    """``limits_within`` of a value with influences ``moves``, as for a mean; an unseen row has the
    other outcome.
    """
    n, sums = weight.sum(), np.array([weight @ power for power in powers(value + moves)])
    limits = limits_within(bounds, n, sums, (bounds[0], value + weight @ if_other / n), level)
    return _widened_limits(bounds, n, value, limits, level)


def ratio_limits(
    bounds: tuple[float, float], value: np.ndarray, totals: np.ndarray, level: float
) -> tuple[Any, Any]:
    """(low, high) of a quotient of two sums from the last axis of ``totals``: top, bottom, their
    products of two and of three.

    Treated as a mean over the effective rows of the bottom, with the moments of
    top - value * bottom; few rows widen it by Student's t.
    """
    bottom, tt, tb, bb, ttt, ttb, tbb, bbb = (totals[..., j] for j in range(1, 9))
    n = quotient(bottom * bottom, bb)
    second = np.maximum(quotient(tt - 2.0 * value * tb + value**2 * bb, bb), 0.0)
    third = quotient(ttt - 3.0 * value * ttb + 3.0 * value**2 * tbb - value**3 * bbb, bbb)
    sums = (
        np.stack([value, second + value**2, third + 3.0 * value * second + value**3], axis=-1)
        * n[..., None]
    )
    return _widened_limits(
        bounds,
        n,
        value,
        limits_within(bounds, n, sums, unseen_ends(n, sums, bounds, "double"), level),
        level,
    )


def _widened_limits(
    bounds: tuple[float, float],
    n: np.ndarray | float,
    value: np.ndarray | float,
    limits: tuple[np.ndarray, np.ndarray],
    level: float,
) -> tuple[Any, ...]:
    """The limits widened by Student's t of n rows."""
    freedom = np.where(n > 1.0, np.maximum(n - 1.0, 0.1), np.inf)
    wide = special.stdtrit(freedom, 0.5 + 0.5 * level) / special.ndtri(0.5 + 0.5 * level)
    return np.maximum(value - wide * (value - limits[0]), bounds[0]), np.minimum(
        value + wide * (limits[1] - value), bounds[1]
    )


def mean_limits(n: Any, sums: Any, below: Any, above: Any, level: float) -> tuple[Any, Any]:
    """(low, high) of a mean of n rows, arrays with any leading axes; ``sums`` of the loss, its
    square and its cube on the last axis.

    ``below`` and ``above`` are the losses of the unseen row at either end; one on the wrong side of
    the mean is ignored.
    """
    mean = quotient(sums[..., 0], n)
    ends = []
    for unseen, side in ((below, -1.0), (above, 1.0)):
        counts = side * (unseen - mean) > 0.0
        ends.append(
            _end(
                n,
                sums,
                np.where(counts, unseen, 0.0),
                counts.astype(np.float64),
                0.5 + 0.5 * side * level,
            )
        )
    return np.minimum(ends[0], mean), np.maximum(ends[1], mean)


def mean_tail(n: float, sums: np.ndarray, below: float, above: float) -> float:
    """Half the two-sided p-value of a mean of 0, from the distribution behind ``mean_limits``."""
    mean = sums[0] / n
    unseen, side = (below, -1.0) if mean > 0.0 else (above, 1.0)
    counts = side * (unseen - mean) > 0.0
    first, spread, skew = (
        float(moment) for moment in _law(n, sums, unseen if counts else 0.0, float(counts))
    )
    if not spread > 0.0:
        return 0.0 if first * mean > 0.0 else 0.5
    share = _share_below(-first / spread, skew)
    return min(float(share if mean > 0.0 else 1.0 - share), 0.5)


def _end(
    n: np.ndarray | float,
    sums: np.ndarray,
    unseen: np.ndarray,
    n_unseen: np.ndarray | float,
    q: float,
) -> np.ndarray | float:
    first, spread, skew = _law(n, sums, unseen, n_unseen)
    return first + spread * _quantile(q, skew)


@np.errstate(over="ignore", invalid="ignore")
def _law(
    n: np.ndarray | float,
    sums: np.ndarray,
    unseen: np.ndarray | float,
    n_unseen: np.ndarray | float,
) -> tuple[Any, ...]:
    """(mean, standard deviation, skewness) of the mean of n rows and ``n_unseen`` unseen ones."""
    rows = n + n_unseen
    first, second, third = (
        quotient(sums[..., j] + n_unseen * unseen ** (j + 1), rows) for j in range(3)
    )
    variance = second - first * first
    variance = np.where(variance > ROUNDING * second, variance, 0.0)
    cube = third - 3.0 * first * variance - first**3
    # The variance of the Dirichlet mean, over rows + 1, is slightly smaller than the sample's.
    spread = np.sqrt(variance / np.maximum(rows - 1.0, 1.0))
    cubed = (rows + 2.0) * variance**1.5
    # The cubes of losses beyond 1e100 are not finite: their mean is treated as normal.
    skew = (
        2.0
        * np.sqrt(rows + 1.0)
        * np.divide(cube, cubed, out=np.zeros_like(cube), where=np.isfinite(cube) & (cubed > 0.0))
    )
    return first, spread, skew
