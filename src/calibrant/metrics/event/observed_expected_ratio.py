"""Events that happened for each that was predicted."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from calibrant._kernels.event_counts import event_count_limits
from calibrant._kernels.quotient import quotient
from calibrant.contracts.metric import Direction
from calibrant.contracts.sum_metric import SumMetric
from calibrant.metrics.pair import Targeted, target_pair

__all__ = ["ObservedExpectedRatio", "observed_expected_ratio"]


@dataclass(frozen=True, repr=False)
class ObservedExpectedRatio(Targeted, SumMetric):
    r"""Number of events that happened, divided by the number that the probabilities add up to (O/E).

    .. math:: O/E = \frac{\sum_i y_i}{\sum_i p_i}

    .. versionadded:: 0.2

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        Whose probability: class 1's of two, the predicted label's against its being right, or the named class's.

    See Also
    --------
    calibration_in_the_large : the same question on the scale of the log-odds.
    calibration_bias : the same question as a difference of means.

    Notes
    -----
    1 is right; under 1 the risks are too high on the whole, over 1 too low. Its interval takes the predictions as given: on the log
    scale, :math:`\log(O/E) \pm z\sqrt{(1 - O/n)/O}`; exact (Poisson) below 10 events, so from 0 up where there was none; exact
    (binomial) where fewer than 10 rows had no event. inf where events happened and none was expected, nan where neither. It looks at the
    mean alone: see ``calibration_slope`` for what else may be wrong. It is no score, so never select a model by it.
    Of :class:`SoftLabels` events are summed shares, and the interval follows from the variance of
    share - O/E p seen between rows in the place of O/n (1 - O/n).

    References
    ----------
    Debray et al., "A guide to systematic review and meta-analysis of prediction model performance", BMJ 2017.

    Examples
    --------
    >>> print(observed_expected_ratio.interval([1] * 6 + [0] * 34, [0.1] * 40))
    1.5 [0.5505, 3.265]
    """

    name: ClassVar[str] = "O/E"
    key: ClassVar[str] = "observed_expected_ratio"
    estimand: ClassVar[str] = "events to be expected of these rows, divided by those predicted; the predictions as given"
    direction: ClassVar[Direction] = "none"
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    soft_labels: ClassVar[bool] = True

    def _columns(self, record: Any):
        score, hit = target_pair(record, self.target)
        if record.shares is None:
            return [hit, score]
        return [hit, score, hit * hit, hit * score, score * score]

    def _finalise(self, totals: np.ndarray):
        return _ratio(totals, totals[..., 1])

    def _limits(self, totals: np.ndarray, level: float):
        worth = 1.0 if totals.shape[-1] == 3 else _raters_worth(totals)
        low, high = event_count_limits(totals[..., 1] * worth, totals[..., 0] * worth, level)
        return _ratio(totals, low / worth), _ratio(totals, high / worth)


def _raters_worth(totals: np.ndarray):
    """How many rows of one label each row of soft labels is worth.

    The variance of one label, O/n (1 - O/n), over that seen of hit - O/E score; two rows of one
    label are added to the latter for what few rows may hide.
    """
    n, hits, said, hits_squared, both, said_squared = np.moveaxis(totals, -1, 0)
    rate, ratio = quotient(hits, n), quotient(hits, said)
    alone = rate * (1.0 - rate)
    seen = np.maximum(hits_squared - 2.0 * ratio * both + ratio * ratio * said_squared, 0.0)
    variance = (seen * quotient(n, np.maximum(n - 1.0, 1.0)) + 2.0 * alone) / (n + 2.0)
    return np.where(alone > 0.0, alone / np.where(variance > 0.0, variance, 1.0), 1.0)


def _ratio(totals: np.ndarray, count: Any):
    """count / E; without any expected, inf where events happened, else nan."""
    observed, expected = totals[..., 1], totals[..., 2]
    return np.where(expected > 0.0, quotient(count, expected), np.where(observed > 0.0, np.inf, np.nan))


observed_expected_ratio: ObservedExpectedRatio = ObservedExpectedRatio()
