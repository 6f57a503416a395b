"""Standard deviation of the confidences: what a calibration error must be read beside."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant._kernels.mean_interval import limits_within, powers, unseen_ends
from calibrant.contracts.metric import Interval, Metric

__all__ = ["ConfidenceSpread", "confidence_spread"]

#: Variances below it are rounding of the sums: the spread of equal confidences is 0.
ROUNDING = 1e-15


@dataclass(frozen=True, repr=False)
class ConfidenceSpread(Metric):
    r"""Standard deviation of the top label's probability.

    .. math:: \sqrt{\tfrac{1}{w} \sum_i w_i (s_i - \bar s)^2}, \qquad s_i = \max_k P_{ik}

    See Also
    --------
    expected_calibration_error : read it beside this.

    Notes
    -----
    Read it beside every calibration error: a constant confidence equal to the accuracy has calibration error 0 and spread 0, and
    tells no two answers apart. More spread is not better in itself; only with the log loss does it say something.

    References
    ----------
    Jang et al., "Confidence calibration using logits transformations", 2021, section 7.2.

    Examples
    --------
    >>> round(confidence_spread([0, 1], [[0.9, 0.1], [0.3, 0.7]]), 6)
    0.1
    """

    name: ClassVar[str] = "confidence spread"
    key: ClassVar[str] = "confidence_spread"
    estimand: ClassVar[str] = "standard deviation of the confidence of new rows"
    direction: ClassVar[str] = "none"
    range: ClassVar[tuple[float, float]] = (0.0, 0.5)

    def _totals(self, record):
        s, w = record.confidence, record.weights
        return np.array([w.sum(), w @ s, w @ (s * s)])

    def _finalise(self, totals):
        if totals[0] <= 0:
            return float("nan")
        mean = totals[1] / totals[0]
        variance = totals[2] / totals[0] - mean * mean
        return float(np.sqrt(variance)) if variance > ROUNDING else 0.0

    def _interval(self, record, level, method, n_resamples, random_state):
        if method not in ("auto", "analytic"):
            return super()._interval(record, level, method, n_resamples, random_state)
        s, w, value = record.confidence, record.weights, self._value(record)
        n = np.float64(w.sum())
        mean = w @ s / n
        sums = np.array([w @ power for power in powers(np.square(s - mean))])
        above = unseen_ends(n, sums, (0.0, np.inf))[1]
        if value == 0.0:
            # As far again from the nearer end as that is, or at the other end.
            near = min(1.0 - mean, mean - 1.0 / record.n_classes)
            above = (near if near > ROUNDING else 1.0 - 1.0 / record.n_classes) ** 2
        limits = np.sqrt(limits_within((0.0, 0.25), n, sums, (0.0, above), level))
        return Interval.holding(value, (limits[0], limits[1]), level, "analytic", float(n))


confidence_spread: ConfidenceSpread = ConfidenceSpread()
