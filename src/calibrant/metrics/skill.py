"""Skill of one event's probability: the relative reduction of the base rate's loss."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, cast

import numpy as np
from scipy import special  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from calibrant._numerics import intervals
from calibrant._numerics.intervals import mean_limits, over_rates, quotient
from calibrant.core.metric import by_options
from calibrant.core.metric_kinds import SumMetric
from calibrant.metrics.events import event_brier_score
from calibrant.metrics.pair import Targeted
from calibrant.metrics.proper import log_loss

__all__ = ["D2Brier", "D2LogLoss", "SkillScore", "d2_brier", "d2_log_loss"]

ALIKE = "nan: all outcomes are equal, so the base rate has no loss"


class SkillScore(
    Targeted,
    SumMetric,
    direction="maximize",
    estimand=("reduction of the population base rate's loss on new rows, as a share of it"),
    range=(float("-inf"), 1.0),
    selects=True,
):
    """Template of 1 - loss / (loss of predicting the base rate); a subclass defines
    ``_losses(pair)`` and ``_base(rate)``.

    The interval is that of a mean loss, corrected in each row for its influence on the base rate,
    with one unseen row of the other outcome.
    """

    def _exceptions(self) -> Mapping[str, str]:
        """nan where all outcomes are equal; for the answer, also where all are right or all
        wrong.
        """
        of_answers = ("exact_zero_and_one", "perfect_is_best")
        return dict.fromkeys(
            ("one_row", *(("one_class_only",) if self.target == "event" else of_answers)), ALIKE
        )

    exceptions: ClassVar[Mapping[str, str]] = by_options(_exceptions)

    @abstractmethod
    def _losses(self, pair: Any) -> np.ndarray:
        """Loss of each row of a binary record, (n,)."""

    @abstractmethod
    def _base(self, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(mean loss, its derivative by the rate) of predicting the event rate, strictly between 0
        and 1, for every row.
        """

    def _columns(self, record: Any) -> list[np.ndarray]:
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

    def _finalise(self, totals: np.ndarray) -> np.ndarray:
        mean, rate = _means(totals)[:2]
        base = self._base(_inner(rate))[0]
        return np.where((rate > 0.0) & (rate < 1.0), 1.0 - mean / base, np.nan)

    def _limits(self, totals: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
        n, value = totals[..., 0], self._finalise(totals)
        mean, rate, square, joint, cube, squared_joint, other = _means(totals)
        base, slope = self._base(_inner(rate))
        # Loss of each row minus its influence on the base rate's loss.
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
        # The base rate alone may move the value further, asymmetrically, where one outcome is rare
        # or the scores do not vary.
        at = partial(self._at_rate, mean, rate, joint)
        least, most = over_rates(at, intervals.rate_interval(n * rate, n, level))
        low = np.where(least < low, value - np.hypot(value - low, value - least), low)
        high = np.where(most > high, value + np.hypot(high - value, most - value), high)
        low, high = intervals.inside(self.range, (low, high))
        return np.where(np.isnan(value), np.nan, low), np.where(np.isnan(value), np.nan, high)

    def _at_rate(
        self, mean: np.ndarray, rate: np.ndarray, joint: np.ndarray, other: np.ndarray
    ) -> np.ndarray | float:
        """Value at another share of events, with the rows of each outcome unchanged."""
        safe = _inner(rate)
        loss = other * joint / safe + (1.0 - other) * (mean - joint) / (1.0 - safe)
        return 1.0 - loss / self._base(_inner(other))[0]


def _means(totals: np.ndarray) -> list[np.ndarray]:
    return [quotient(totals[..., j], totals[..., 0]) for j in range(1, 8)]


def _inner(rate: np.ndarray) -> np.ndarray:
    return np.where((rate > 0.0) & (rate < 1.0), rate, 0.5)


class D2Brier(SkillScore, name="D² (Brier)", key="d2_brier"):
    r"""Relative reduction of the base rate's Brier score by the probabilities (Brier skill score,
    scaled Brier score).

    .. math:: D^2 = 1 - \frac{\sum_i (p_i - y_i)^2}{\sum_i (\bar y - y_i)^2}

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        The probability to evaluate: class 1's of two, the predicted label's (against whether it is
        correct), or the named class's.

    See Also
    --------
    d2_log_loss : the same for the log loss.

    Notes
    -----
    1 is perfect, 0 is no better than predicting the share of events for every row, and values below
    0 are worse. Meteorology calls it BSS; clinical reports call it "scaled Brier" or index of
    prediction accuracy (IPA). The base rate is that of the rows themselves. It is nan where all
    outcomes are equal. For two classes scikit-learn's ``d2_brier_score`` is this number.

    Examples
    --------
    >>> round(d2_brier([0, 0, 0, 1], [0.1, 0.2, 0.1, 0.7]), 4)
    0.8
    """

    def _losses(self, pair: Any) -> np.ndarray:
        return event_brier_score.losses_of(pair)

    def _base(self, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return rate * (1.0 - rate), 1.0 - 2.0 * rate


d2_brier: D2Brier = D2Brier()


class D2LogLoss(SkillScore, name="D² (log loss)", key="d2_log_loss"):
    r"""Relative reduction of the base rate's log loss by the probabilities (D², McFadden's R²).

    .. math:: D^2 = 1 - \frac{-\frac1n \sum_i y_i \log p_i + (1 - y_i) \log(1 - p_i)}{-\bar y \log
        \bar y - (1 - \bar y) \log(1 - \bar y)}

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        The probability to evaluate: class 1's of two, the predicted label's (against whether it is
        correct), or the named class's.

    See Also
    --------
    d2_brier : the same for the Brier score.

    Notes
    -----
    1 is perfect, 0 is no better than predicting the share of events for every row, and values below
    0 are worse. It ranks models on the same rows as the log loss does, and shows the value of a log
    loss of 0.05 where events are rare. The base rate is that of the rows themselves. It is nan
    where all outcomes are equal. For two classes scikit-learn's ``d2_log_loss_score`` is this
    number.

    Examples
    --------
    >>> round(d2_log_loss([0, 0, 0, 1], [0.1, 0.2, 0.1, 0.7]), 4)
    0.6485
    """

    def _losses(self, pair: Any) -> np.ndarray:
        return log_loss.losses_of(pair)

    def _base(self, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        entr = cast(Any, special).entr
        return entr(rate) + entr(1.0 - rate), np.log1p(-rate) - np.log(rate)


d2_log_loss: D2LogLoss = D2LogLoss()
