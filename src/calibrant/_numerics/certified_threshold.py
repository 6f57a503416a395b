"""The largest number of rows, by score, that can be accepted with a certified error or loss.

Rows of one score form a block; blocks are sorted from the highest score. Given the highest rejected
score, the rows above it are independent draws of the rows to be accepted, so their errors are
exactly binomial. Numbers of rows are tested in sequences from several starts that share the failure
probability; a sequence that reaches the next start hands its share on (Wiens' fallback procedure).
The starts depend on the scores and on predicted losses, never on the labels that are tested.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy import special

from calibrant._numerics.certificates import (
    betting_p_values,
    binomial_p_value,
    fewest_rows,
    hoeffding_bentkus,
    least_rows,
    most_errors,
)
from calibrant._numerics.intervals import clopper_pearson
from calibrant._numerics.newton import bisected
from calibrant._numerics.thresholds import risk_coverage

__all__ = [
    "PREDICTED",
    "Blocks",
    "Start",
    "Test",
    "best_place",
    "best_start",
    "certified_place",
    "ladder",
    "rows_needed",
    "share_count",
    "starts_of",
    "upper_bound",
]

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
    summed loss ``lost`` down to each.
    """

    score: np.ndarray
    covered: np.ndarray
    lost: np.ndarray
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
            return binomial_p_value(self.lost[places], self.covered[places], risk)
        if test == "hoeffding_bentkus":
            return hoeffding_bentkus(self.lost[places], self.covered[places], risk)
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
    places = np.append(np.flatnonzero(np.diff(blocks.lost) > 0.0), len(blocks.covered) - 1)
    places = places[blocks.covered[places] >= min(least, blocks.n)]
    few = np.geomspace(1, len(places), PLACES).astype(int) - 1
    return places[few if len(places) > PLACES else slice(None)].tolist()


def rows_needed(blocks: Blocks, risk: float, delta: float, least: float) -> float:
    """About the least number of rows like these with which a ladder certifies a threshold with
    probability ``POWER``; infinite where that would be very many, or no part of the rows is
    better than ``risk``.
    """
    places = _turns(blocks, least)
    lost, covered = blocks.lost[places], blocks.covered[places]
    rates = clopper_pearson(lost, covered, 2.0 * CAUTION - 1.0)[1]
    better = rates < risk
    if not better.any():
        return math.inf
    shares, rates = covered[better] / blocks.n, rates[better]
    for n in blocks.n * MORE ** np.arange(1, MOST):
        counts, parts = (np.array(one) for one in zip(*ladder(n, risk, delta), strict=True))
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
            clopper_pearson(blocks.lost[place], blocks.covered[place], 1.0 - 2.0 * delta)[1]
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
    asked = np.append(begin, begin + 1 + np.flatnonzero(np.diff(blocks.lost[begin:end]) > 0.0))
    for at in range(0, len(asked), CHUNK):
        places = asked[at : at + CHUNK]
        failed = np.flatnonzero(blocks.p_values(places, risk, delta, test) > delta)
        if len(failed):
            return int(places[failed[0]]) - 1
    return end - 1
