"""The template of scores relative to that of the base rate, D2."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from calibrant._kernels import intervals
from calibrant._kernels.quotient import quotient
from calibrant.contracts.by_options import by_options
from calibrant.contracts.metric import Direction
from calibrant.contracts.sum_metric import SumMetric
from calibrant.metrics.pair import Targeted

__all__ = ["SkillScore"]

ALIKE = "all outcomes alike: the base rate has no loss to save, nan"


@dataclass(frozen=True, repr=False)
class SkillScore(Targeted, SumMetric):
    """1 - loss / (loss of the base rate given to every row). A metric writes ``_losses(pair)`` and ``_base(rate)``.

    The interval is the delta method's: of the mean loss and the base rate together.
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
        return [loss, hit, loss * loss, loss * hit]

    def _finalise(self, totals: np.ndarray):
        mean, rate, _, _ = _means(totals)
        base = self._base(_inner(rate))[0]
        return np.where((rate > 0.0) & (rate < 1.0), 1.0 - mean / base, np.nan)

    def _limits(self, totals: np.ndarray, level: float):
        n, value = totals[..., 0], self._finalise(totals)
        mean, rate, square, joint = _means(totals)
        base, slope = self._base(_inner(rate))
        pull = (1.0 - value) * slope
        # Variance of loss - pull * hit, a row.
        variance = (square - mean * mean) - 2.0 * pull * (joint - mean * rate) + pull * pull * rate * (1.0 - rate)
        variance = np.maximum(variance, 0.0) / (base * base * np.maximum(n - 1.0, 1.0))
        return intervals.inside(self.range, intervals.normal_interval(value, np.where(n > 1.0, variance, np.inf), level))


def _means(totals: np.ndarray):
    return [quotient(totals[..., j], totals[..., 0]) for j in range(1, 5)]


def _inner(rate: np.ndarray):
    return np.where((rate > 0.0) & (rate < 1.0), rate, 0.5)
