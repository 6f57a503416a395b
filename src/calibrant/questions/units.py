"""Independent units of a log, their errors at each threshold, and tests that these are few.

Rows of one item are dependent, so an item counts once, with the mass of its rows: that of a promise
for rows is their weight, and a promise for items divides the weight of an item among its rows. The
largest item bounds what one more item can change.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from calibrant._numerics.bootstrap import content_seed, one_of_each
from calibrant._numerics.certificates import betting_p_values, binomial_p_value
from calibrant._numerics.intervals import clopper_pearson, normal_quantile
from calibrant.decisions.certificates import Certificate
from calibrant.errors import InputError
from calibrant.questions.record import Questions

__all__ = ["OVER", "Over", "Unit", "units_of"]

#: What bets on many stakes lose beside the best one, in nats.
MIXED = 1.5
#: Masses that differ by less than this share are the same.
SAME = 1e-9
#: What an error rate is a share of: rows, or items, each with the mean of its rows; and the word
#: for it in a certificate.
Over = Literal["rows", "items"]
OVER: dict[Over, Literal["rows", "clusters"]] = {"rows": "rows", "items": "clusters"}


@dataclass(frozen=True)
class Unit:
    """Items that one certificate is tested on, n by L thresholds.

    Attributes
    ----------
    used : (n, L) mass of an item's rows above each threshold, as a share of the largest item's
    wrong : (n, L) mass of its rows that are above it and wrong, likewise
    n : float, mass of all items, which is at most their number
    drawn : Unit or None
        Single rows of some items, drawn by mass, which are independent rows of the population; None
        where every item has one row and all have the same mass.
    scale : float, rows (or items) of the log in one unit of mass
    top : float, mass of the largest item, in rows of mean weight
    rows : float, number of equal rows with the variance of these, if rows are independent
    largest : int or None
        Position of the largest item if it is the only one of its mass. As it bounds the others, it
        can only count against a claim.
    """

    used: np.ndarray
    wrong: np.ndarray
    n: float
    drawn: "Unit | None" = None
    scale: float = 1.0
    top: float = 1.0
    rows: float = math.inf
    largest: int | None = None

    @classmethod
    def of(
        cls,
        above: np.ndarray,
        wrong: np.ndarray,
        item: np.ndarray,
        weight: np.ndarray,
        over: Over = "rows",
    ) -> Self:
        """The unit of rows above thresholds (m, L), and wrong there (m, L), with the numbers of
        their items and their weights.
        """
        items, index, size = np.unique(item, return_inverse=True, return_counts=True)
        mass = weight if over == "rows" else weight / size[index]
        whole = np.bincount(index, mass)
        top, total = float(whole.max()), float(whole.sum())
        heavy = np.flatnonzero(whole > top * (1.0 - SAME))
        if len(items) == len(item) == len(heavy):
            return cls(above * 1.0, wrong * 1.0, float(len(item)))
        order = np.lexsort((wrong.sum(axis=1), above.sum(axis=1), mass, index))
        first = np.searchsorted(index[order], np.arange(len(items)))
        part = (mass / top)[order, None]
        used, lost = (np.add.reduceat(part * x[order], first, axis=0) for x in (above, wrong))
        largest = int(heavy[0]) if len(heavy) == 1 else None
        # Items that are drawn by mass, and rows by mass in them, are draws of the population.
        drawn_by = above.sum(axis=1), wrong.sum(axis=1), mass
        rows = one_of_each(index, *drawn_by)
        uniform = np.random.default_rng(content_seed(*drawn_by) + 1).random(len(items))
        taken = uniform * top < whole * (1.0 + SAME)
        rows = rows[taken & (np.arange(len(items)) != largest)]
        drawn = cls(above[rows] * 1.0, wrong[rows] * 1.0, float(len(rows)))
        count = len(item) if over == "rows" else len(items)
        equal = total**2 / float(mass @ mass)
        figures = (count * top / total, len(item) * top / total, equal, largest)
        return cls(used, lost, total / top, drawn, *figures)

    @property
    def m(self) -> np.ndarray:
        """(L,) mass above each threshold."""
        return self.used.sum(axis=0)

    @property
    def e(self) -> np.ndarray:
        """(L,) what is wrong of it."""
        return self.wrong.sum(axis=0)

    def certificate(
        self, at: int, share: np.ndarray, risk: float, confidence: float, how: str, over: Over
    ) -> Certificate:
        """The evidence at one threshold, by the test that ``p_values`` used there; ``how`` is the
        order of the tests.
        """
        bets = bool(self.by_bets(risk, 1.0 - confidence, share)[at])
        one = self if bets or self.drawn is None else self.drawn
        m, e = float(one.m[at]), float(one.e[at])
        bound = min(float(clopper_pearson(e, m, 2.0 * confidence - 1.0)[1]), risk)
        test = f"bets on {len(self.used):,} items" if bets else "exact binomial"
        test += "" if one is self else f" of one row of each of {len(one.used):,} items"
        n, m, e = (one.scale * mass for mass in (one.n, m, e))
        return Certificate(n, m, e, risk, bound, confidence, f"{test}, {how}", OVER[over])

    def p_values(self, risk: float, delta: float, share: np.ndarray) -> np.ndarray:
        r"""(L,) p-values of an error rate of the mass above each threshold of at least ``risk``.

        Exact binomial where each item has one row of equal weight, or one is drawn; bets against
        :math:`E(w - \text{risk}\,u) \ge 0` of an item's masses w and u where these prove a smaller
        difference at ``delta``, if ``share`` (L,) of the mass is above: the predicted share, as the
        rows that are tested may not choose their test.
        """
        if self.drawn is None:
            return binomial_p_value(self.e, self.m, risk)
        bets = self._bets(risk + self.wrong - risk * self.used, risk, delta)
        return np.where(
            self.by_bets(risk, delta, share), bets, self.drawn.p_values(risk, delta, share)
        )

    def broken(self, risk: float, delta: float, share: np.ndarray) -> np.ndarray:
        """(L,) p-values of an error rate of at most ``risk``, likewise."""
        if self.drawn is None:
            return binomial_p_value(self.m - self.e, self.m, 1.0 - risk)
        bets = self._bets(1.0 - risk - self.wrong + risk * self.used, 1.0 - risk, delta)
        return np.where(
            self.by_bets(risk, delta, share), bets, self.drawn.broken(risk, delta, share)
        )

    def by_bets(self, risk: float, delta: float, share: np.ndarray) -> np.ndarray:
        r"""(L,) whether bets decide: with a mass of N above a threshold they prove a difference of
        about :math:`b (1 - \text{risk}) / N` at their largest stake, :math:`b = \ln(1 / \delta) +
        1.5`, or of :math:`\sqrt{2 b\,\text{risk} (1 - \text{risk}) / R}` with R independent rows,
        and one row of an item proves :math:`z \sqrt{\text{risk} (1 - \text{risk}) / N}`.
        """
        if self.drawn is None:
            return np.zeros(len(share), bool)
        z = normal_quantile(1.0 - 2.0 * delta) if delta < 0.5 else 1e-9
        nats = MIXED - math.log(delta)
        gains = self.rows * z**2 > 2.0 * nats * self.n
        return (self.n * share > (nats / z) ** 2 * (1.0 - risk) / risk) & gains

    def _bets(self, loss: np.ndarray, risk: float, delta: float) -> np.ndarray:
        weight, ends = np.ones(len(loss)), np.array([len(loss)])
        if self.largest is not None:
            loss[self.largest] = np.maximum(loss[self.largest], risk)
        found = [betting_p_values(own, weight, ends, risk, delta)[0] for own in loss.T]
        return np.array(found)


def units_of(
    record: Questions,
    table: np.ndarray,
    unit: Literal["question", "log", "item"],
    question: np.ndarray,
    real: bool,
    over: Over = "rows",
) -> Iterator[Unit]:
    """The units of a record: each question that it holds, ascending; the log; or its items as a
    whole, above a threshold if all of their rows are, and wrong if any is.

    ``table`` (Q, L) has the thresholds of each question, ``question`` (n,) the row of it. ``real``
    counts errors, else their predicted number. ``over`` says what counts alike in a question or
    log; items as a whole count by their weight.
    """
    lost = 1.0 - (record.correct if real else record.confidence)
    lost = (lost > 0.5).astype(np.float64) if real else lost
    above, item = record.confidence[:, None] > table[question], record.item_number
    if unit == "item" or over == "items":
        require_weights_of_items(record)
    if unit == "item":
        order = np.argsort(item, kind="stable")
        first = np.searchsorted(item[order], np.arange(int(item.max()) + 1))
        above = np.logical_and.reduceat(above[order], first, axis=0)
        lost = 1.0 - np.multiply.reduceat(1.0 - lost[order], first)
        weight = record.weights[order][first]
        yield Unit.of(above, above * lost[:, None], np.arange(len(first)), weight)
        return
    order, ends = np.arange(len(record)), np.empty(0, np.intp)
    if unit == "question":
        order = np.argsort(question, kind="stable")
        ends = np.flatnonzero(np.diff(question[order])) + 1
    for rows in np.split(order, ends):
        wrong = above[rows] * lost[rows, None]
        yield Unit.of(above[rows], wrong, item[rows], record.weights[rows], over)


def require_weights_of_items(record: Questions) -> None:
    """Raise InputError if rows of one item have different weights, where items are weighted."""
    item, weight = record.item_number, record.weights
    top = np.zeros(int(item.max()) + 1)
    np.maximum.at(top, item, weight)
    odd = np.flatnonzero(weight < top[item] * (1.0 - SAME))
    if len(odd):
        name = record.item.names[record.item.index[odd[0]]]
        raise InputError(
            "the rows of an item must have one weight, which is that of the item, where items"
            f" count; those of item {name!r} have {weight[odd[0]]:g} and {top[item[odd[0]]]:g};"
            ' give them one, or promise a share of rows (over="rows").'
        )
