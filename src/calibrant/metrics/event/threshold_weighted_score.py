"""The template of proper scores that weigh the thresholds at which decisions are made."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
from scipy import special  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from calibrant.contracts.metric import Direction
from calibrant.contracts.sum_metric import MeanMetric
from calibrant.errors import InputError
from calibrant.metrics.pair import Targeted

__all__ = ["ThresholdWeightedScore", "beta_parts"]


@dataclass(frozen=True, repr=False)
class ThresholdWeightedScore(Targeted, MeanMetric):
    """The elementary score integrated over thresholds: evenly from ``low`` to ``high``, or by a beta density. See those made from it."""

    low: float = 0.0
    high: float = 1.0
    beta: tuple[float, float] | None = None

    direction: ClassVar[Direction] = "minimize"
    proper: ClassVar[bool] = True
    selects: ClassVar[bool] = True
    #: Both parameters of the density are above this: else the score, or its bound, is lost.
    _least: ClassVar[float] = 0.0

    @classmethod
    def _examples(cls) -> Sequence[Any]:
        return [cls(), cls(low=0.05, high=0.4), cls(beta=(2.0, 5.0))]

    def _check(self):
        if not 0.0 <= self.low < self.high <= 1.0:
            raise InputError(f"low and high must be thresholds, 0 <= low < high <= 1; got {self.low!r} and {self.high!r}.")
        if self.beta is None:
            return
        if (self.low, self.high) != (0.0, 1.0):
            raise InputError("beta weighs all thresholds; leave low and high out with it.")
        if not (isinstance(cast(object, self.beta), tuple) and len(self.beta) == 2 and min(self.beta) > self._least):
            raise InputError(f"beta must be a pair of numbers above {self._least:g}; got {self.beta!r}.")

    def _losses(self, record: Any):
        label, happened, not_ = self._both(record)
        return np.where(label == 1, happened, not_)

    def _unseen(self, record: Any) -> list[np.ndarray]:
        label, happened, not_ = self._both(record)
        return [np.where(label == 1, not_, happened)]

    def _both(self, record: Any):
        pair = record.as_pair(self.target)
        return pair.labels, *(self._even(pair) if self.beta is None else self._by_density(pair, *self.beta))

    @abstractmethod
    def _even(self, pair: Any) -> tuple[np.ndarray, np.ndarray]:
        """(loss if the event happens, loss if not), (n,) each, all thresholds from ``low`` to ``high`` alike."""

    @abstractmethod
    def _by_density(self, pair: Any, a: float, b: float) -> tuple[np.ndarray, np.ndarray]:
        """The same with thresholds weighed by the density of Beta(a, b)."""


def beta_parts(pair: Any, a: float, b: float) -> tuple[np.ndarray, np.ndarray]:
    r""":math:`(a + b) \int_p^1 (1 - t) w(t)\, dt` and :math:`(a + b) \int_0^p t\, w(t)\, dt`, (n,) each, w the density of Beta(a, b)."""
    p, betainc = pair.probabilities, cast(Any, special).betainc
    return b * betainc(b + 1.0, a, p[:, 0]), a * betainc(a + 1.0, b, p[:, 1])
