"""Proofs from few rows that a rate, a mean loss or a whole curve of risks is small enough.

- Exact binomial tests of a rate: the rate that a number of errors proves, and the rows that a proof
  needs.
- Tests that a mean of losses in [0, 1], of any independent rows, is at most a number: by bets, by
  Hoeffding's and Bentkus' bounds.
- Hypotheses tested in an order fixed beforehand, from several starts that share the failure
  probability.
- Limits that hold the whole risk-coverage curve at once.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import special

from calibrant._numerics.intervals import clopper_pearson
from calibrant._numerics.newton import bisected

__all__ = [
    "Place",
    "allowed_errors",
    "betting_p_values",
    "binomial_p_value",
    "chains",
    "fallback",
    "fewest_rows",
    "fixed_sequence",
    "hoeffding_bentkus",
    "least_rows",
    "most_errors",
    "rows_for_rate",
    "simultaneous_limits",
]

#: Above this many rows the normal approximation is used, which is then exact to a percent.
MANY_ROWS = 1e5
#: Relative distance of numbers of rows between which there may be no other.
APART = 1e-15


def binomial_p_value(errors: Any, n: Any, risk: Any) -> np.ndarray:
    """P(Bin(n, risk) <= errors), arrays: the p-value of so few errors at a rate of ``risk``."""
    errors, n = np.asarray(errors, dtype=np.float64), np.asarray(n, dtype=np.float64)
    return np.where(
        errors < n, special.betainc(np.maximum(n - errors, 1e-300), errors + 1.0, 1.0 - risk), 1.0
    )


def fewest_rows(risk: float, delta: float) -> int:
    """The least number of rows that prove a rate of at most ``risk`` where none is an error.

    Examples
    --------
    >>> fewest_rows(0.05, 0.05), fewest_rows(0.5, 0.5)
    (59, 1)
    """
    return max(math.ceil(math.log(delta) / math.log1p(-risk) - 1e-9), 1)


def allowed_errors(n: int, risk: float, delta: float) -> int:
    """The most errors among n rows that prove a rate of at most ``risk``; -1 if even no errors
    prove nothing.

    Examples
    --------
    >>> [allowed_errors(n, 0.05, 0.05) for n in (58, 59, 100, 200, 500, 1000)]
    [-1, 0, 1, 4, 16, 38]
    """
    return int(most_errors(np.array([float(n)]), risk, delta)[0])


def most_errors(n: np.ndarray, risk: float, delta: Any) -> np.ndarray:
    """``allowed_errors`` of each number of rows, at one or each failure probability."""
    # Sums of weights need not be whole: only whole ends meet.
    low, high = np.full_like(n, -1.0), np.ceil(n)
    while (high - low > 1.0 + APART * high).any():
        middle = np.floor(0.5 * (low + high))
        proved = ~(middle >= 0.0) | (binomial_p_value(middle, n, risk) <= delta)
        low, high = np.where(proved, middle, low), np.where(proved, high, middle)
    return low


def rows_for_rate(rate: float, risk: float, delta: float) -> float:
    """The least n with P(Bin(n, risk) <= floor(rate n)) <= delta; infinite where ``rate`` is not
    below ``risk``.

    Examples
    --------
    >>> (
    ...     rows_for_rate(0.0, 0.05, 0.05),
    ...     rows_for_rate(0.03, 0.05, 0.05),
    ...     rows_for_rate(0.05, 0.05, 0.05),
    ... )
    (59.0, 260.0, inf)
    """
    if rate >= risk:
        return math.inf
    about = risk * (1.0 - risk) * (float(special.ndtri(delta)) / (risk - rate)) ** 2
    if rate > 0.0 and about > MANY_ROWS:
        return math.ceil(about)
    start, count = 0.0, 64.0
    while True:
        errors = start + np.arange(count)
        n = least_rows(errors, risk, delta)
        fits = np.flatnonzero(np.floor(rate * n + 1e-9) <= errors)
        if len(fits):
            return float(n[fits[0]])
        start, count = start + count, 2.0 * count


def least_rows(errors: np.ndarray, risk: float, delta: Any) -> np.ndarray:
    """The least numbers of rows at which so many errors still prove it, (m,), at one or each
    failure probability.
    """
    low, high = errors, np.ceil(16.0 + 8.0 * (errors + 4.0 - np.log(delta)) / risk)
    while (high - low > 1.0 + APART * high).any():
        middle = np.floor(0.5 * (low + high))
        proved = binomial_p_value(errors, middle, risk) <= delta
        low, high = np.where(proved, low, middle), np.where(proved, middle, high)
    return high


#: Stakes of the bets, as shares of the largest that cannot be ruined.
STAKES = np.geomspace(1e-3, 0.98, 48)
#: Sums of losses are rounded to this precision before the ceiling, so that .07 x 100 is 7, not 8.
ROUNDING = 1e-9


def hoeffding_bentkus(total: Any, n: Any, risk: float) -> np.ndarray:
    r"""The smaller of :math:`\exp(-n\,kl(\hat r, \alpha))` and
    :math:`e\,P(Bin(n, \alpha) \le \lceil n \hat r \rceil)`, arrays.
    """
    total, n = np.asarray(total, dtype=np.float64), np.asarray(n, dtype=np.float64)
    bentkus = math.e * binomial_p_value(np.ceil(total - ROUNDING * np.maximum(n, 1.0)), n, risk)
    return np.minimum(
        np.minimum(np.exp(-n * _divergence(np.minimum(total / n, risk), risk)), bentkus), 1.0
    )


def betting_p_values(
    loss: np.ndarray, weight: np.ndarray, ends: np.ndarray, risk: float, delta: float
) -> np.ndarray:
    r"""p-values from bets on the first ``ends`` (m,) rows each, ascending, against a mean loss of
    at least ``risk``.

    .. math:: 1 / \sum_\lambda \pi_\lambda \prod_i (1 + \lambda (\alpha - L_i)), \qquad 0 < \lambda
        < 1 / (1 - \alpha)

    The expected capital is at most 1 where every row's mean loss is at least ``risk``, for any
    distribution; the result follows by Markov's inequality. Half of it is on the stake that proves
    at ``delta`` with the most errors where all losses are 0 or 1, the rest evenly on higher ones,
    which gain more from losses that vary less. No row decides a stake, so the order of the rows
    does not matter. ``weight`` (n,) are repetitions.
    """
    starts, held = np.concatenate([[0], ends[:-1]]), slice(ends[-1])
    logs = np.empty((len(STAKES), len(ends)))
    for row, share in zip(logs, STAKES, strict=True):
        row[:] = np.cumsum(
            np.add.reduceat(
                weight[held] * np.log1p(share / (1.0 - risk) * (risk - loss[held])), starts
            )
        )
    n = np.cumsum(np.add.reduceat(weight[held], starts))
    # The critical mean of Hoeffding's bound, and the stake for it.
    mean = _largest_mean(n, risk, delta)
    first = np.clip(np.searchsorted(STAKES, (risk - mean) / risk), 0, len(STAKES) - 1)
    place = np.arange(len(STAKES))[:, None]
    prior = np.where(place >= first, 0.5 / (len(STAKES) - first), 0.0) + 0.5 * (place == first)
    with np.errstate(divide="ignore"):
        return np.minimum(np.exp(-np.logaddexp.reduce(logs + np.log(prior), axis=0)), 1.0)


def _divergence(mean: Any, risk: float) -> Any:
    """Kullback-Leibler divergence between Bernoulli laws with these means."""
    return special.rel_entr(mean, risk) + special.rel_entr(1.0 - mean, 1.0 - risk)


def _largest_mean(n: np.ndarray, risk: float, delta: float) -> np.ndarray:
    return bisected(
        lambda mean: n * _divergence(mean, risk) >= -math.log(delta),
        np.zeros_like(n),
        np.full_like(n, risk),
        40,
    )[0]


def fixed_sequence(p_values: np.ndarray, delta: float, n_starts: int = 1) -> np.ndarray:
    """(r,) the rejected positions, ascending: from each of evenly spread starts, up to the first
    p-value above its share.

    Each start has ``delta / n_starts``. The probability of rejecting any true hypothesis is at most
    ``delta``, for any dependence of the p-values: an error rejects the first true one after a
    start.
    """
    held = p_values <= delta / n_starts
    starts = np.arange(n_starts) * len(p_values) // n_starts
    failed = np.append(np.flatnonzero(~held), len(p_values))
    ends = failed[np.searchsorted(failed, starts)]
    runs = [np.arange(start, end) for start, end in zip(starts, ends, strict=True)]
    return np.unique(np.concatenate(runs))


#: Place of a hypothesis at which a sequence begins, and its share of the failure probability.
Place = tuple[int, float]


def fallback(p_values: np.ndarray, starts: Sequence[Place]) -> tuple[int, float]:
    """(the last rejected hypothesis, -1 for none; the share that is left at the end), from
    sequences that begin at ascending places.

    Each sequence ends at the first p-value above its share. One that reaches the next start adds
    its share to that (Wiens 2003).

    Examples
    --------
    >>> fallback(np.array([0.01, 0.2, 0.02, 0.03]), [(0, 0.05), (2, 0.03)])
    (3, 0.03)
    """
    last, carried = -1, 0.0
    for (begin, share), (end, _) in zip(starts, [*starts[1:], (len(p_values), 0.0)], strict=True):
        carried += share
        failed = np.flatnonzero(p_values[begin:end] > carried)
        passed = begin + int(failed[0]) if len(failed) else end
        last = passed - 1 if passed > begin else last
        carried = 0.0 if passed < end else carried
    return last, carried


def chains(p_values: Sequence[np.ndarray], starts: Sequence[Sequence[Place]]) -> list[int]:
    """The last rejected hypothesis of each chain, -1 for none, by sequences from its starts.

    What is left at the end of a chain is passed on to the others in equal parts, in proportion to
    the shares of their starts (the graphs of Bretz et al. 2009). The probability of rejecting any
    true hypothesis is at most the sum of all shares, for any dependence.

    Examples
    --------
    >>> chains([np.array([0.01, 0.04]), np.array([0.06])], [[(0, 0.05)], [(0, 0.05)]])
    [1, 0]
    """
    level = [sum(share for _, share in each) for each in starts]
    whole, last, waiting = list(level), [-1] * len(starts), set(range(len(starts)))
    ended = waiting
    while ended and waiting:
        left: dict[int, float] = {}
        for q in sorted(waiting):
            shares = [(at, share * level[q] / whole[q]) for at, share in starts[q]]
            last[q], left[q] = fallback(p_values[q], shares)
        ended = {q for q in waiting if left[q] > 0.0}
        waiting = waiting - ended
        for q in waiting:
            level[q] += sum(left[other] for other in ended) / len(waiting)
    return last


#: Numbers of rows, named beforehand, whose exact intervals share the failure probability; between
#: #: them the curve is assumed to rise.
POINTS = 24


def simultaneous_limits(
    covered: np.ndarray, wrong: np.ndarray, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """(low, high) of the error rates among the rows down to each distinct score, (m,) each, from
    sums of weights from the highest.

    Given the score of the next row, the errors above it are binomial; the rates are assumed to rise
    as more rows are kept.
    """
    counts = np.geomspace(1.0, covered[-1], POINTS)
    places = np.unique(np.minimum(np.searchsorted(covered, counts - 1e-9), len(covered) - 1))
    low, high = clopper_pearson(wrong[places], covered[places], 1.0 - (1.0 - level) / len(counts))
    low, high = np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1]
    at = np.arange(len(covered))
    before = np.searchsorted(places, at, side="right")
    return np.append(0.0, low)[before], high[np.searchsorted(places, at, side="left")]
