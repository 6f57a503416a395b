"""Independent units of the rows that a rule promises something about, their errors at each
threshold, and tests that these are few.

Rows of one item are dependent, so an item counts once, with the mass of its rows: that of a promise
for rows is their weight, and a promise for items divides the weight of an item among its rows. The
largest item bounds what one more item can change.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from calibrant._numerics.bootstrap import content_seed, one_of_each
from calibrant._numerics.certificates import betting_p_values, binomial_p_value
from calibrant._numerics.intervals import clopper_pearson, normal_quantile
from calibrant.decisions.certificates import Certificate

__all__ = ["OVER", "SAME", "Claim", "Over", "Unit", "confidence_gap"]


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
        used, errors = (np.add.reduceat(part * x[order], first, axis=0) for x in (above, wrong))
        largest = int(heavy[0]) if len(heavy) == 1 else None
        # Items that are drawn by mass, and rows by mass in them, are draws of the population.
        drawn_by = above.sum(axis=1), wrong.sum(axis=1), mass
        rows = one_of_each(index, *drawn_by)
        uniform = np.random.default_rng(content_seed(*drawn_by) + 1).random(len(items))
        selected = uniform * top < whole * (1.0 + SAME)
        rows = rows[selected & (np.arange(len(items)) != largest)]
        drawn = cls(above[rows] * 1.0, wrong[rows] * 1.0, float(len(rows)))
        count = len(item) if over == "rows" else len(items)
        equal = total**2 / float(mass @ mass)
        figures = (count * top / total, len(item) * top / total, equal, largest)
        return cls(used, errors, total / top, drawn, *figures)

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
        unit = self if bets or self.drawn is None else self.drawn
        m, e = float(unit.m[at]), float(unit.e[at])
        bound = min(float(clopper_pearson(e, m, 2.0 * confidence - 1.0)[1]), risk)
        test = f"bets on {len(self.used):,} items" if bets else "exact binomial"
        test += "" if unit is self else f" of one row of each of {len(unit.used):,} items"
        n, m, e = (unit.scale * mass for mass in (unit.n, m, e))
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
        p_values = [betting_p_values(losses, weight, ends, risk, delta)[0] for losses in loss.T]
        return np.array(p_values)


class Claim(NamedTuple):
    """A rate of errors that a rule promises: the rows that it is about and the wrong ones, the
    limit, the share of rows that it was about before, and mean confidence less accuracy.
    """

    name: str
    rows: Unit
    limit: float
    before: float
    gap: float


def confidence_gap(record: Any) -> float:
    """Mean confidence less accuracy; nan for forecasts."""
    if not hasattr(record, "correct"):
        return math.nan
    return float(np.average(record.confidence - record.correct, weights=record.weights))
