"""Proofs from few rows that a rate, a mean loss or a whole curve of risks is small enough.

- Exact binomial tests of a rate: the rate that a number of errors proves, and the rows that a proof
  needs.
- Tests that a mean of losses in [0, 1], of any independent rows, is at most a number: by bets, by
  Hoeffding's and Bentkus' bounds.
- Hypotheses tested in an order fixed beforehand, from several starts that share the failure
  probability.
- Limits that hold the whole risk-coverage curve at once.
- The largest number of rows, by score, that can be accepted with a certified error or loss. Rows of
  one score form a block; blocks are sorted from the highest score. Given the highest rejected
  score, the rows above it are independent draws of the rows to be accepted, so their errors are
  exactly binomial. Numbers of rows are tested in sequences from several starts that share the
  failure probability; a sequence that reaches the next start hands its share on (Wiens' fallback
  procedure). The starts depend on the scores and on predicted losses, never on the labels that are
  tested.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy import special

from calibrant._numerics.intervals import clopper_pearson
from calibrant._numerics.newton import bisected
from calibrant._numerics.thresholds import risk_coverage

__all__ = [
    "PREDICTED",
    "Blocks",
    "Place",
    "Start",
    "Test",
    "allowed_errors",
    "best_place",
    "best_start",
    "betting_p_values",
    "binomial_p_value",
    "certified_place",
    "chains",
    "fallback",
    "fewest_rows",
    "fixed_sequence",
    "hoeffding_bentkus",
    "ladder",
    "least_rows",
    "most_errors",
    "rows_for_rate",
    "rows_needed",
    "share_count",
    "simultaneous_limits",
    "starts_of",
    "upper_bound",
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
    starts, rows = np.concatenate([[0], ends[:-1]]), slice(ends[-1])
    logs = np.empty((len(STAKES), len(ends)))
    for row, share in zip(logs, STAKES, strict=True):
        row[:] = np.cumsum(
            np.add.reduceat(
                weight[rows] * np.log1p(share / (1.0 - risk) * (risk - loss[rows])), starts
            )
        )
    n = np.cumsum(np.add.reduceat(weight[rows], starts))
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
    rejected = p_values <= delta / n_starts
    starts = np.arange(n_starts) * len(p_values) // n_starts
    failed = np.append(np.flatnonzero(~rejected), len(p_values))
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
#: them the curve is assumed to rise.
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


# -- The most rows that can be accepted ------------------------------------------------------------

Test = Literal["binomial", "betting", "hoeffding_bentkus"]
#: Number of rows at which a sequence begins, and its share of the failure probability.
Start = tuple[float, float]
#: The first start of a ladder is at this multiple of the fewest rows that prove anything, with this
#: part of the failure probability or more. Each later one is further by ``STEP``, and its part
#: smaller by ``FALL``.
MULTIPLE, FIRST, STEP, FALL = 1.5, 0.3, 2.0**0.25, 0.95
#: Part of the failure probability for the start that predicted losses suggest, the number of
#: possible ones, and the draws that compare them.
PREDICTED, PLACES, DRAWS = 0.4, 96, 200
#: Tested counts of rows in a sequence for losses other than 0 or 1.
TRIED = 256
#: Errors evaluated in one block of a sequence.
CHUNK = 4096
#: Halvings of the interval for a bound.
HALVINGS = 40
#: Advice on more rows: error rates are taken at this quantile, the probability to certify, and the
#: numbers of rows that are tried.
CAUTION, POWER, MORE, MOST = 0.5, 0.8, 1.15, 20


@dataclass(frozen=True)
class Blocks:
    """Rows by score, from the highest: distinct ``score`` (m,), numbers of rows ``covered`` and
    summed loss ``total_loss`` down to each.
    """

    score: np.ndarray
    covered: np.ndarray
    total_loss: np.ndarray
    #: Whether every loss is 0 or 1.
    binary: bool
    #: The losses themselves and their repetitions in the order of the blocks, with the end of each
    #: block, where bets need them.
    loss: np.ndarray | None = None
    weight: np.ndarray | None = None
    ends: np.ndarray | None = None
    #: Summed predicted loss down to each block, without the labels of these rows.
    expected: np.ndarray | None = None

    @classmethod
    def of(
        cls,
        score: np.ndarray,
        loss: np.ndarray,
        weight: np.ndarray,
        bets: bool = False,
        predicted: np.ndarray | None = None,
    ) -> "Blocks":
        """Build from rows, (n,) each; prepare ``bets`` if losses are not 0 or 1."""
        sums = risk_coverage(score, 1.0 - loss, weight)
        blocks = cls(*sums, bool(np.isin(loss, (0.0, 1.0)).all()))
        if predicted is not None:
            blocks = replace(blocks, expected=risk_coverage(score, 1.0 - predicted, weight)[2])
        if blocks.binary and not bets:
            return blocks
        order = np.lexsort((loss, -score))
        ends = np.searchsorted(-score[order], -sums[0], side="right")
        return replace(blocks, loss=loss[order], weight=weight[order], ends=ends)

    @property
    def n(self) -> float:
        """Number of rows."""
        return float(self.covered[-1])

    def p_values(self, places: np.ndarray, risk: float, delta: float, test: Test) -> np.ndarray:
        """Test, for the rows down to each of these ascending blocks, whether their mean loss is
        ``risk`` or more.
        """
        if test == "binomial":
            return binomial_p_value(self.total_loss[places], self.covered[places], risk)
        if test == "hoeffding_bentkus":
            return hoeffding_bentkus(self.total_loss[places], self.covered[places], risk)
        return betting_p_values(self.loss, self.weight, self.ends[places], risk, delta)

    def reaching(self, counts: np.ndarray) -> np.ndarray:
        """The first block that covers each count of rows."""
        return np.unique(
            np.minimum(np.searchsorted(self.covered, counts - 1e-9), len(self.covered) - 1)
        )


def share_count(n: float, delta: float, share: float) -> int:
    """The least number of n rows above a threshold that proves that it accepts this share of all
    rows; n + 1 where none does.
    """

    def proves(count: int) -> bool:
        return bool(special.betainc(count, n - count + 1.0, share) <= delta)

    return 1 + bisect_left(range(1, int(n) + 1), True, key=proves)


def ladder(n: float, risk: float, delta: float, binary: bool = True) -> list[Start]:
    """The starts that follow from the number of rows alone, ascending.

    For losses of 0 and 1 each begins at the fewest rows that allow as many errors, because it
    passes there wherever it would pass later.

    Examples
    --------
    >>> [(count, round(share, 4)) for count, share in ladder(90, 0.1, 0.05)]
    [(58.0, 0.0175), (58.0, 0.0167), (76.0, 0.0158)]
    """
    counts, shares = _rungs(1, risk, delta)
    while True:
        more = _rungs(len(shares) + 1, risk, delta)
        if more[0][-1] > n:
            break
        counts, shares = more
    counts = np.floor(np.minimum(counts, n))
    errors = np.maximum(most_errors(counts, risk, shares), 0.0)
    fewest = least_rows(errors if binary else 0.0 * errors, risk, shares)
    counts = fewest if binary else np.maximum(counts, fewest)
    return list(zip(counts.tolist(), shares.tolist(), strict=True))


def _rungs(number: int, risk: float, delta: float) -> tuple[np.ndarray, np.ndarray]:
    """(counts of rows, shares of the failure probability) of so many starts."""
    parts = FALL ** np.arange(number)
    parts[0] = max(1.0, FIRST / (1.0 - FIRST) * parts[1:].sum())
    shares = delta * parts / parts.sum()
    least = np.maximum(np.ceil(np.log(shares) / math.log1p(-risk) - 1e-9), 1.0)
    return MULTIPLE * least * STEP ** np.arange(number), shares


def best_start(
    rows: np.ndarray, errors: np.ndarray, risk: float, delta: float
) -> tuple[int, float]:
    """(place from which most rows are expected to be accepted, their number), from the numbers of
    rows down to each place and of errors that are predicted there, (m,) each.
    """
    m, e = np.diff(rows, prepend=0.0), np.diff(errors, prepend=0.0)
    rate = np.clip(np.divide(e, m, out=m * 0.0, where=m > 0.0), 0.0, 1.0)
    draws = np.random.default_rng(0).binomial(np.rint(m).astype(np.int64), rate, (DRAWS, len(m)))
    passed = np.cumsum(draws, axis=1) <= most_errors(rows, risk, delta)
    after = np.where(passed, len(m), np.arange(len(m)))
    ends = np.minimum.accumulate(after[:, ::-1], axis=1)[:, ::-1]
    gained = np.where(passed, np.append(0.0, rows)[ends], 0.0).mean(axis=0)
    return int(gained.argmax()), float(gained.max())


def starts_of(blocks: Blocks, risk: float, delta: float, test: Test, least: float) -> list[Start]:
    """All starts, none before ``least`` rows: a ladder, and where losses are predicted also the
    start with the most predicted power.
    """
    starts = list[Start]()
    if blocks.expected is not None and blocks.n >= fewest_rows(risk, PREDICTED * delta):
        counts = np.geomspace(fewest_rows(risk, PREDICTED * delta), blocks.n, PLACES)
        places = blocks.reaching(counts)
        rows, errors = blocks.covered[places], blocks.expected[places]
        at, gained = best_start(rows, errors, risk, PREDICTED * delta)
        if gained > 0.0:
            starts.append((float(rows[at]), PREDICTED * delta))
            delta = (1.0 - PREDICTED) * delta
    starts += ladder(blocks.n, risk, delta, test == "binomial")
    return sorted((max(count, least), share) for count, share in starts)


def certified_place(
    blocks: Blocks, risk: float, starts: Sequence[Start], test: Test
) -> tuple[int, float]:
    """(the last block accepted, -1 for none; the failure probability of the test that let it
    pass).

    Each start tests its blocks, or a number of them, up to one that fails. A start that is reached
    without a failure adds its share to that of the blocks before it.
    """
    result, carried = (-1, sum(share for _, share in starts)), 0.0
    begins = np.searchsorted(blocks.covered, [count - 1e-9 for count, _ in starts]).tolist()
    for (_, share), begin, end in zip(
        starts, begins, [*begins[1:], len(blocks.covered)], strict=True
    ):
        carried += share
        last = _last_passed(blocks, begin, end, risk, carried, test)
        if last >= begin:
            result = last, carried
        if last < end - 1:
            carried = 0.0
    return result


def best_place(blocks: Blocks, delta: float, test: Test, least: float) -> tuple[int, float]:
    """(the block, of those with ``least`` rows or more, down to which the rows alone prove the
    least risk at ``delta``; that risk).
    """
    places = _turns(blocks, least)
    bounds = [upper_bound(blocks, place, delta, test) for place in places]
    # Of equal ones the last, with most rows.
    at = len(bounds) - 1 - int(np.argmin(bounds[::-1]))
    return places[at], bounds[at]


def _turns(blocks: Blocks, least: float) -> list[int]:
    """Blocks before a further loss, and the last of all: only these can be the best; ``PLACES`` at
    most.
    """
    places = np.append(np.flatnonzero(np.diff(blocks.total_loss) > 0.0), len(blocks.covered) - 1)
    places = places[blocks.covered[places] >= min(least, blocks.n)]
    few = np.geomspace(1, len(places), PLACES).astype(int) - 1
    return places[few if len(places) > PLACES else slice(None)].tolist()


def rows_needed(blocks: Blocks, risk: float, delta: float, least: float) -> float:
    """About the least number of rows like these with which a ladder certifies a threshold with
    probability ``POWER``; infinite where that would be very many, or no part of the rows is
    better than ``risk``.
    """
    places = _turns(blocks, least)
    total_loss, covered = blocks.total_loss[places], blocks.covered[places]
    rates = clopper_pearson(total_loss, covered, 2.0 * CAUTION - 1.0)[1]
    better = rates < risk
    if not better.any():
        return math.inf
    shares, rates = covered[better] / blocks.n, rates[better]
    for n in blocks.n * MORE ** np.arange(1, MOST):
        counts, parts = (np.array(values) for values in zip(*ladder(n, risk, delta), strict=True))
        counts, parts = counts[:, None], parts[:, None]
        errors = most_errors(counts, risk, parts)
        passed = binomial_p_value(np.maximum(errors, 0.0), counts, rates)
        power = np.where(errors >= 0.0, passed, 0.0)
        if np.where(counts <= shares * n, power, 0.0).max() >= POWER:
            return float(n)
    return math.inf


def upper_bound(blocks: Blocks, place: int, delta: float, test: Test) -> float:
    """The least mean loss that the rows down to this block alone reject at ``delta``."""
    if test == "binomial":
        return float(
            clopper_pearson(blocks.total_loss[place], blocks.covered[place], 1.0 - 2.0 * delta)[1]
        )
    at = np.array([place])
    fails = lambda risk: ~(blocks.p_values(at, risk, delta, test)[0] <= delta)  # noqa: E731
    return float(bisected(fails, 0.0, 1.0, HALVINGS)[1])


def _last_passed(
    blocks: Blocks, begin: int, end: int, risk: float, delta: float, test: Test
) -> int:
    """The last block before the first that fails, of those from ``begin`` to before ``end``;
    begin - 1 where the first fails.
    """
    if begin >= end:
        return end - 1
    if test != "binomial":
        places = blocks.reaching(np.linspace(blocks.covered[begin], blocks.covered[end - 1], TRIED))
        failed = np.flatnonzero(blocks.p_values(places, risk, delta, test) > delta)
        return (
            end - 1 if not len(failed) else int(places[failed[0] - 1]) if failed[0] else begin - 1
        )
    # Only a block with an error can fail where the one before it did not.
    candidates = np.append(
        begin, begin + 1 + np.flatnonzero(np.diff(blocks.total_loss[begin:end]) > 0.0)
    )
    for at in range(0, len(candidates), CHUNK):
        places = candidates[at : at + CHUNK]
        failed = np.flatnonzero(blocks.p_values(places, risk, delta, test) > delta)
        if len(failed):
            return int(places[failed[0]]) - 1
    return end - 1
