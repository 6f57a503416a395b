"""The template of scores relative to that of the base rate, D2."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from calibrant._kernels import intervals
from calibrant._kernels.intervals import mean_limits, over_rates, quotient
from calibrant.contracts.by_options import by_options
from calibrant.contracts.metric import Direction
from calibrant.contracts.sum_metric import SumMetric
from calibrant.metrics.pair import Targeted

__all__ = ["SkillScore"]

ALIKE = "all outcomes alike: the base rate has no loss to save, nan"


@dataclass(frozen=True, repr=False)
class SkillScore(Targeted, SumMetric):
    """1 - loss / (loss of the base rate given to every row). A metric writes ``_losses(pair)`` and ``_base(rate)``.

    The interval is that of the mean loss, the base rate's pull on it taken off each row, with one row that is not seen yet and has the
    other outcome.
    """

    direction: ClassVar[Direction] = "maximize"
    estimand: ClassVar[str] = "share of the base rate's loss that is saved on new rows, the base rate being that of the population"
    range: ClassVar[tuple[float, float]] = (float("-inf"), 1.0)
    selects: ClassVar[bool] = True

    def _exceptions(self) -> Mapping[str, str]:
        """Where all outcomes are alike; of the answer, also where all are right or all wrong."""
        of_answers = ("exact_zero_and_one", "perfect_is_best")
        return dict.fromkeys(("one_row", *(("one_class_only",) if self.target == "event" else of_answers)), ALIKE)

    exceptions: ClassVar[Mapping[str, str]] = by_options(_exceptions)

    @abstractmethod
    def _losses(self, pair: Any) -> np.ndarray:
        """The loss of each row of a record of yes or no, (n,)."""

    @abstractmethod
    def _base(self, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(mean loss, its slope in the rate) of saying to every row the share of events, which is neither 0 nor 1."""

    def _columns(self, record: Any):
        pair = record.as_pair(self.target)
        loss, hit = self._losses(pair), pair.correct
        square = loss * loss
        return [loss, hit, square, loss * hit, square * loss, square * hit, self._losses(replace(pair, labels=1 - pair.labels))]

    def _finalise(self, totals: np.ndarray):
        mean, rate = _means(totals)[:2]
        base = self._base(_inner(rate))[0]
        return np.where((rate > 0.0) & (rate < 1.0), 1.0 - mean / base, np.nan)

    def _limits(self, totals: np.ndarray, level: float):
        n, value = totals[..., 0], self._finalise(totals)
        mean, rate, square, joint, cube, squared_joint, other = _means(totals)
        base, slope = self._base(_inner(rate))
        # Each row's loss less what its outcome moves the base rate's by.
        pull = np.where(np.isnan(value), 0.0, (1.0 - value) * slope)
        spread, lean = rate * (1.0 - rate), 1.0 - 2.0 * rate
        second = square - 2.0 * pull * (joint - mean * rate) + pull**2 * spread
        third = (
            cube - 3.0 * pull * (squared_joint - rate * square) + 3.0 * pull**2 * (lean * joint + rate**2 * mean) - pull**3 * spread * lean
        )
        unseen = other - pull * lean
        low, high = mean_limits(n, np.stack([mean, second, third], axis=-1) * n[..., None], unseen, unseen, level)
        low, high = (np.where(n > 1.0, 1.0 - end / base, side) for end, side in ((high, -np.inf), (low, np.inf)))
        # The base rate alone may move it further, where few rows are of one kind or the scores do not vary; not evenly, nor one way only.
        at = partial(self._at_rate, mean, rate, joint)
        least, most = over_rates(at, intervals.rate_interval(n * rate, n, level))
        low = np.where(least < low, value - np.hypot(value - low, value - least), low)
        high = np.where(most > high, value + np.hypot(high - value, most - value), high)
        low, high = intervals.inside(self.range, (low, high))
        return np.where(np.isnan(value), np.nan, low), np.where(np.isnan(value), np.nan, high)

    def _at_rate(self, mean: np.ndarray, rate: np.ndarray, joint: np.ndarray, other: np.ndarray):
        """The value were the share of events another, the rows of either kind being as they are."""
        safe = _inner(rate)
        loss = other * joint / safe + (1.0 - other) * (mean - joint) / (1.0 - safe)
        return 1.0 - loss / self._base(_inner(other))[0]


def _means(totals: np.ndarray):
    return [quotient(totals[..., j], totals[..., 0]) for j in range(1, 8)]


def _inner(rate: np.ndarray):
    return np.where((rate > 0.0) & (rate < 1.0), rate, 0.5)
