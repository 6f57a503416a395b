"""The largest number of rows, by score, that can be accepted with a certified error or loss.

Rows of one score form a block; blocks are sorted from the highest score. Given the highest rejected
score, the rows above it are independent draws of the rows to be accepted, so their errors are
exactly binomial.
"""

import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from calibrant._kernels.certificates import (
    betting_p_values,
    binomial_p_value,
    fewest_rows,
    hoeffding_bentkus,
)
from calibrant._kernels.intervals import clopper_pearson
from calibrant._kernels.newton import bisected
from calibrant._kernels.thresholds import risk_coverage

__all__ = ["Blocks", "Method", "Test", "certified_place", "first_count", "upper_bound"]

Test = Literal["binomial", "betting", "hoeffding_bentkus"]
Method = Literal["fixed_sequence", "sgr", "learn_then_test"]
#: Share of the rows at which the fixed sequence begins: earlier, one early error ends it.
FIRST = 0.1
#: Other starts are used from this multiple of the fewest rows that prove anything: the share of the
#: #: failure probability of the first start, and the shares of the rows at which others begin. The
#: #: most confident rows may be worse than the next.
SEVERAL, LEADING, LATER = 30.0, 0.5, (0.3, 0.5, 0.7)
#: Tested counts of rows for losses other than 0 or 1; and for learn then test, which share the #:
#: failure probability.
TRIED, SHARED = 256, 8
#: Errors evaluated in one block of the fixed sequence.
CHUNK = 4096
#: Halvings of the interval for a bound.
HALVINGS = 40


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

    @classmethod
    def of(
        cls, score: np.ndarray, loss: np.ndarray, weight: np.ndarray, bets: bool = False
    ) -> "Blocks":
        """Build from rows, (n,) each; prepare ``bets`` if losses are not 0 or 1."""
        sums = risk_coverage(score, 1.0 - loss, weight)
        binary = bool(np.isin(loss, (0.0, 1.0)).all())
        if binary and not bets:
            return cls(*sums, binary)
        order = np.lexsort((loss, -score))
        return cls(
            *sums,
            binary,
            loss[order],
            weight[order],
            np.searchsorted(-score[order], -sums[0], side="right"),
        )

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


def first_count(n: float, risk: float, delta: float, coverage: float | None = None) -> int:
    """The number of rows at which the fixed sequence begins: from n alone, and enough for a proof
    if none errs.

    With ``coverage``, the number that proves that share of all rows to be accepted; n + 1 where
    none does.
    """
    first = max(math.ceil(FIRST * n), fewest_rows(risk, delta))
    if coverage is None:
        return first

    def proves(count: int) -> bool:
        return bool(special.betainc(count, n - count + 1.0, coverage) <= delta)

    return max(first, 1 + bisect_left(range(1, int(n) + 1), True, key=proves))


def certified_place(
    blocks: Blocks, risk: float, delta: float, method: Method, test: Test, first: int
) -> tuple[int, float]:
    """(the last block accepted, -1 for none; the failure probability of the test that let it
    pass).
    """
    search = {"fixed_sequence": _fixed_sequence, "sgr": _halving, "learn_then_test": _shared}[
        method
    ]
    return search(blocks, risk, delta, test, first)


def upper_bound(blocks: Blocks, place: int, delta: float, test: Test) -> float:
    """The least mean loss that the rows down to this block alone reject at ``delta``."""
    if test == "binomial":
        return float(
            clopper_pearson(blocks.lost[place], blocks.covered[place], 1.0 - 2.0 * delta)[1]
        )
    at = np.array([place])
    fails = lambda risk: ~(blocks.p_values(at, risk, delta, test)[0] <= delta)  # noqa: E731
    return float(bisected(fails, 0.0, 1.0, HALVINGS)[1])


def _fixed_sequence(
    blocks: Blocks, risk: float, delta: float, test: Test, first: int
) -> tuple[int, float]:
    """Test every block, or a number of them, up to one that fails; each later start has its own
    share.

    A start that is reached without a failure adds its share to that of the blocks before it (Wiens'
    fallback procedure).
    """
    found, carried = (-1, delta), 0.0
    for begin, end, own in _segments(blocks, risk, delta, first):
        carried += own
        last = _last_passed(blocks, begin, end, risk, carried, test)
        if last >= begin:
            found = last, carried
        if last < end - 1:
            carried = 0.0
    return found


def _segments(
    blocks: Blocks, risk: float, delta: float, first: int
) -> list[tuple[int, int, float]]:
    """(first block, block after the last, failure probability) of each start, from the numbers
    of rows alone.
    """
    counts, shares = [float(first)], [delta]
    if blocks.n >= SEVERAL * fewest_rows(risk, delta):
        shares = [LEADING * delta] + [(1.0 - LEADING) * delta / len(LATER)] * len(LATER)
        least = [fewest_rows(risk, one) for one in shares]
        counts = np.maximum.accumulate(
            np.maximum([first, *(share * blocks.n for share in LATER)], least)
        ).tolist()
    starts = np.searchsorted(blocks.covered, np.asarray(counts) - 1e-9).tolist()
    return list(zip(starts, [*starts[1:], len(blocks.covered)], shares, strict=True))


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


def _halving(
    blocks: Blocks, risk: float, delta: float, test: Test, first: int
) -> tuple[int, float]:
    """Selection with guaranteed risk: a search by halves, whose steps share the failure
    probability.
    """
    low, high, found = 0, len(blocks.covered) - 1, -1
    steps = max(math.ceil(math.log2(max(len(blocks.covered), 2))), 1)
    each = delta / steps
    for _ in range(steps):
        middle = (low + high + 1) // 2
        if float(blocks.p_values(np.array([middle]), risk, each, test)[0]) <= each:
            found = low = middle
        else:
            high = max(middle - 1, 0)
    return found, each


def _shared(blocks: Blocks, risk: float, delta: float, test: Test, first: int) -> tuple[int, float]:
    """Test a few prespecified numbers of rows, each at its share of the failure probability, in no
    assumed order.
    """
    each = delta / SHARED
    start = max(first, fewest_rows(risk, each))
    if start > blocks.n:
        return -1, each
    places = blocks.reaching(np.geomspace(start, blocks.n, SHARED))
    passed = np.flatnonzero(blocks.p_values(places, risk, each, test) <= each)
    return (int(places[passed[-1]]) if len(passed) else -1), each
