"""Skill of one event's probability: the share of the base rate's loss that is saved."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, cast

import numpy as np
from scipy import special  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from calibrant._kernels import intervals
from calibrant._kernels.intervals import mean_limits, over_rates, quotient
from calibrant.contracts.base_metric import by_options
from calibrant.contracts.metric import SumMetric
from calibrant.metrics.events import event_brier_score
from calibrant.metrics.pair import Targeted
from calibrant.metrics.proper import log_loss

__all__ = ["D2Brier", "D2LogLoss", "SkillScore", "d2_brier", "d2_log_loss"]

ALIKE = "all outcomes alike: the base rate has no loss to save, nan"


class SkillScore(
    Targeted,
    SumMetric,
    direction="maximize",
    estimand=(
        "share of the base rate's loss that is saved on new rows, the base rate being that of the"
        " population"
    ),
    range=(float("-inf"), 1.0),
    selects=True,
):
    """1 - loss / (loss of the base rate given to every row). A metric writes ``_losses(pair)`` and
    ``_base(rate)``.

    The interval is that of the mean loss, the base rate's pull on it taken off each row, with one
    row that is not seen yet and has the other outcome.
    """

    def _exceptions(self) -> Mapping[str, str]:
        """Where all outcomes are alike; of the answer, also where all are right or all wrong."""
        of_answers = ("exact_zero_and_one", "perfect_is_best")
        return dict.fromkeys(
            ("one_row", *(("one_class_only",) if self.target == "event" else of_answers)), ALIKE
        )

    exceptions: ClassVar[Mapping[str, str]] = by_options(_exceptions)

    @abstractmethod
    def _losses(self, pair: Any) -> np.ndarray:
        """The loss of each row of a record of yes or no, (n,)."""

    @abstractmethod
    def _base(self, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(mean loss, its slope in the rate) of saying to every row the share of events, which
        is neither 0 nor 1.
        """

    def _columns(self, record: Any):
        pair = record.as_pair(self.target)
        loss, hit = self._losses(pair), pair.correct
        square = loss * loss
        return [
            loss,
            hit,
            square,
            loss * hit,
            square * loss,
            square * hit,
            self._losses(replace(pair, labels=1 - pair.labels)),
        ]

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
            cube
            - 3.0 * pull * (squared_joint - rate * square)
            + 3.0 * pull**2 * (lean * joint + rate**2 * mean)
            - pull**3 * spread * lean
        )
        unseen = other - pull * lean
        low, high = mean_limits(
            n, np.stack([mean, second, third], axis=-1) * n[..., None], unseen, unseen, level
        )
        low, high = (
            np.where(n > 1.0, 1.0 - end / base, side)
            for end, side in ((high, -np.inf), (low, np.inf))
        )
        # The base rate alone may move it further, where few rows are of one kind or the scores do
        # not vary; not evenly, nor one way only.
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


class D2Brier(SkillScore, name="D² (Brier)", key="d2_brier"):
    r"""Share of the base rate's Brier score that the probabilities save (Brier skill score, scaled
    Brier score).

    .. math:: D^2 = 1 - \frac{\sum_i (p_i - y_i)^2}{\sum_i (\bar y - y_i)^2}

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        Whose probability: class 1's of two, the predicted label's against its being right, or the
        named class's.

    See Also
    --------
    d2_log_loss : the same of the log loss.

    Notes
    -----
    1 is perfect, 0 is no better than saying the share of events to every row, below 0 is worse than
    that. Meteorology's BSS and clinical reports' "scaled Brier" or index of prediction accuracy
    (IPA). The base rate is that of the rows themselves. nan where all outcomes are alike. For two
    classes scikit-learn's ``d2_brier_score`` is this number.

    Examples
    --------
    >>> round(d2_brier([0, 0, 0, 1], [0.1, 0.2, 0.1, 0.7]), 4)
    0.8
    """

    def _losses(self, pair: Any):
        return event_brier_score.losses_of(pair)

    def _base(self, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return rate * (1.0 - rate), 1.0 - 2.0 * rate


d2_brier: D2Brier = D2Brier()


class D2LogLoss(SkillScore, name="D² (log loss)", key="d2_log_loss"):
    r"""Share of the base rate's log loss that the probabilities save (D², McFadden's R²).

    .. math:: D^2 = 1 - \frac{-\frac1n \sum_i y_i \log p_i + (1 - y_i) \log(1 - p_i)}{-\bar y \log
        \bar y - (1 - \bar y) \log(1 - \bar y)}

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        Whose probability: class 1's of two, the predicted label's against its being right, or the
        named class's.

    See Also
    --------
    d2_brier : the same of the Brier score.

    Notes
    -----
    1 is perfect, 0 is no better than saying the share of events to every row, below 0 is worse than
    that. It ranks models of the same rows as the log loss does, and says what a log loss of 0.05 is
    worth where events are rare. The base rate is that of the rows themselves. nan where all
    outcomes are alike. For two classes scikit-learn's ``d2_log_loss_score`` is this number.

    Examples
    --------
    >>> round(d2_log_loss([0, 0, 0, 1], [0.1, 0.2, 0.1, 0.7]), 4)
    0.6485
    """

    def _losses(self, pair: Any):
        return log_loss.losses_of(pair)

    def _base(self, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        entr = cast(Any, special).entr
        return entr(rate) + entr(1.0 - rate), np.log1p(-rate) - np.log(rate)


d2_log_loss: D2LogLoss = D2LogLoss()
