"""Independent units of a log, their errors at each threshold, and tests that these are few.

Rows of one item are dependent, so an item counts once: with the mean of its rows if it has several
in what is tested, or with one of them, drawn.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from calibrant._kernels.certificates import betting_p_values, binomial_p_value
from calibrant._kernels.draws import one_of_each
from calibrant._kernels.intervals import clopper_pearson, normal_quantile
from calibrant.decisions.selective_classifier import Certificate
from calibrant.questions.record import Questions

__all__ = ["Unit", "units_of"]

#: What bets on many stakes lose beside the best one, in nats.
MIXED = 1.5


@dataclass(frozen=True)
class Unit:
    """Items that one certificate is tested on, n by L thresholds.

    Attributes
    ----------
    used : (n, L) the share of an item's rows above each threshold
    wrong : (n, L) the share of its rows that are above it and wrong
    drawn : Unit or None
        One row of each item; None where an item has no other.
    """

    used: np.ndarray
    wrong: np.ndarray
    drawn: "Unit | None" = None

    @classmethod
    def of(cls, above: np.ndarray, wrong: np.ndarray, item: np.ndarray, weight: np.ndarray) -> Self:
        """The unit of rows above thresholds (m, L), and wrong there (m, L), with the numbers of
        their items and weights.
        """
        items, index = np.unique(item, return_inverse=True)
        if len(items) == len(item):
            return cls(above * 1.0, wrong * 1.0)
        order = np.lexsort((wrong.sum(axis=1), above.sum(axis=1), weight, index))
        first = np.searchsorted(index[order], np.arange(len(items)))
        share = (weight / np.bincount(index, weight)[index])[order, None]
        used, lost = (np.add.reduceat(share * x[order], first, axis=0) for x in (above, wrong))
        rows = one_of_each(index, above.sum(axis=1), wrong.sum(axis=1), weight, seed=0)
        return cls(used, lost, cls(above[rows] * 1.0, wrong[rows] * 1.0))

    @property
    def n(self) -> float:
        return float(len(self.used))

    @property
    def m(self) -> np.ndarray:
        """(L,) items above each threshold."""
        return self.used.sum(axis=0)

    @property
    def e(self) -> np.ndarray:
        """(L,) the wrong ones of these."""
        return self.wrong.sum(axis=0)

    def certificate(
        self,
        at: int,
        share: np.ndarray,
        risk: float,
        confidence: float,
        how: str,
        unit: Literal["rows", "clusters"] | None = None,
    ) -> Certificate:
        """The evidence at one threshold, by the test that ``p_values`` used there; ``how`` is the
        order of the tests, and ``unit`` what was counted, if it is not seen from the items.
        """
        bets = bool(self.by_bets(risk, 1.0 - confidence, share)[at])
        one = self if bets or self.drawn is None else self.drawn
        m, e = float(one.m[at]), float(one.e[at])
        bound = min(float(clopper_pearson(e, m, 2.0 * confidence - 1.0)[1]), risk)
        test = "bets on items" if bets else "exact binomial"
        unit = unit or ("rows" if self.drawn is None else "clusters")
        return Certificate(one.n, m, e, risk, bound, confidence, f"{test}, {how}", unit)

    def p_values(self, risk: float, delta: float, share: np.ndarray) -> np.ndarray:
        r"""(L,) p-values of an error rate among the rows above each threshold of at least ``risk``.

        Exact binomial where each item has one row, or one is drawn; bets against
        :math:`E(w - \text{risk}\,u) \ge 0` of an item's shares w and u where these prove a smaller
        difference at ``delta``, if ``share`` (L,) of the rows is above: the predicted share, as the
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
        r"""(L,) whether bets decide: with N items above a threshold they prove a difference of
        about :math:`(\ln(1 / \delta) + 1.5) (1 - \text{risk}) / N`, and one row of each proves
        :math:`z \sqrt{\text{risk} (1 - \text{risk}) / N}`.
        """
        z = normal_quantile(1.0 - 2.0 * delta) if delta < 0.5 else 1e-9
        least = ((MIXED - math.log(delta)) / z) ** 2 * (1.0 - risk) / risk
        return self.n * share > least if self.drawn is not None else np.zeros(len(share), bool)

    @staticmethod
    def _bets(loss: np.ndarray, risk: float, delta: float) -> np.ndarray:
        weight, ends = np.ones(len(loss)), np.array([len(loss)])
        found = [betting_p_values(own, weight, ends, risk, delta)[0] for own in loss.T]
        return np.array(found)


def units_of(
    record: Questions,
    table: np.ndarray,
    unit: Literal["question", "log", "item"],
    question: np.ndarray,
    real: bool,
) -> Iterator[Unit]:
    """The units of a record: each question that it holds, ascending; the log; or its items as a
    whole, above a threshold if all of their rows are, and wrong if any is.

    ``table`` (Q, L) has the thresholds of each question, ``question`` (n,) the row of it. ``real``
    counts errors, else their predicted number.
    """
    lost = 1.0 - (record.correct if real else record.confidence)
    lost = (lost > 0.5).astype(np.float64) if real else lost
    above, item = record.confidence[:, None] > table[question], record.item_number
    if unit == "item":
        order = np.argsort(item, kind="stable")
        first = np.searchsorted(item[order], np.arange(int(item.max()) + 1))
        above = np.logical_and.reduceat(above[order], first, axis=0)
        lost = 1.0 - np.multiply.reduceat(1.0 - lost[order], first)
        yield Unit(above * 1.0, above * lost[:, None])
        return
    order, ends = np.arange(len(record)), np.empty(0, np.intp)
    if unit == "question":
        order = np.argsort(question, kind="stable")
        ends = np.flatnonzero(np.diff(question[order])) + 1
    for rows in np.split(order, ends):
        wrong = above[rows] * lost[rows, None]
        yield Unit.of(above[rows], wrong, item[rows], record.weights[rows])
