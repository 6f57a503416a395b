"""Means and ratios of sums over the rows: correct labels, confidences, accepted rows."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from calibrant._numerics.intervals import (
    clopper_pearson,
    limits_within,
    powers,
    quotient,
    unseen_ends,
)
from calibrant.core.metric import by_options
from calibrant.core.metric_kinds import Interval, MeanMetric, Metric, RatioMetric, SumMetric
from calibrant.errors import InputError

__all__ = [
    "AcceptedShare",
    "Accuracy",
    "ConfidenceSpread",
    "Overconfidence",
    "SelectiveRisk",
    "Underconfidence",
    "accepted_share",
    "accuracy",
    "confidence_spread",
    "overconfidence",
    "selective_risk",
    "underconfidence",
]


class Accuracy(
    MeanMetric,
    name="accuracy",
    key="accuracy",
    estimand="share of right predictions among new rows",
    direction="maximize",
    range=(0.0, 1.0),
    selects=True,
    rate=True,
):
    """Share of rows whose most probable class is the true one; the first class on ties.

    See Also
    --------
    confidence_auroc : the ranking of correct above wrong predictions by confidence.
    coverage_at_risk : the share that can be kept at a given risk.

    Notes
    -----
    Its interval is exact (Clopper and Pearson) where fewer than ten rows are right or wrong, else
    Wilson's.

    Examples
    --------
    >>> accuracy([0, 1], [[0.9, 0.1], [0.6, 0.4]])
    0.5
    >>> print(accuracy.interval([0, 1], [[0.9, 0.1], [0.6, 0.4]]))
    0.5 [0.01258, 0.9874]
    """

    def _losses(self, record: Any) -> np.ndarray:
        return record.correct


accuracy: Accuracy = Accuracy()


class Overconfidence(
    RatioMetric,
    name="overconfidence",
    key="overconfidence",
    estimand="mean confidence of wrong predictions on new rows",
    direction="none",
    range=(0.0, 1.0),
    empty_value=0.0,
):
    r"""Mean confidence of the wrong predictions; 0 without any.

    .. math:: o = E[\hat z \mid \text{wrong}]

    See Also
    --------
    underconfidence : the mean doubt of the correct predictions.
    expected_calibration_error : the size of the miscalibration.

    Notes
    -----
    Report it with ``underconfidence``: by Theorem 1, \|o P(wrong) - u P(right)\| is at most the
    calibration error. Neither is a proper score, so never select a model by either. A model that is
    never wrong has 0.

    References
    ----------
    Wenger, Kjellström and Triebel, "Non-parametric calibration for classification", AISTATS 2020,
    Definition 2 and Theorem 1.

    Examples
    --------
    >>> round(overconfidence([0, 1, 0], [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]]), 3)
    0.7
    """

    def _parts(self, record: Any) -> tuple[np.ndarray, np.ndarray]:
        wrong = 1.0 - record.correct
        return record.confidence * wrong, wrong


overconfidence: Overconfidence = Overconfidence()


class Underconfidence(
    RatioMetric,
    name="underconfidence",
    key="underconfidence",
    estimand="mean doubt of correct predictions on new rows",
    direction="none",
    range=(0.0, 1.0),
    empty_value=0.0,
):
    r"""Mean doubt, 1 - confidence, of the correct predictions; 0 without any.

    .. math:: u = E[1 - \hat z \mid \text{right}]

    See Also
    --------
    overconfidence : the mean confidence of the wrong predictions.
    expected_calibration_error : the size of the miscalibration.

    Notes
    -----
    Report it with ``overconfidence``: by Theorem 1, \|o P(wrong) - u P(right)\| is at most the
    calibration error. Neither is a proper score, so never select a model by either. A model that is
    never right has 0.

    References
    ----------
    Wenger, Kjellström and Triebel, "Non-parametric calibration for classification", AISTATS 2020,
    Definition 2 and Theorem 1.

    Examples
    --------
    >>> round(underconfidence([0, 1, 0], [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]]), 3)
    0.1
    """

    def _parts(self, record: Any) -> tuple[np.ndarray, np.ndarray]:
        return (1.0 - record.confidence) * record.correct, record.correct


underconfidence: Underconfidence = Underconfidence()


class AcceptedShare(
    MeanMetric,
    name="accepted share",
    key="accepted_share",
    estimand="share of new rows above the threshold",
    direction="none",
    range=(0.0, 1.0),
    rate=True,
    examples=({"threshold": 0.7},),
):
    """Share of rows whose confidence is above the threshold.

    Parameters
    ----------
    threshold : float, default 0.0
        The threshold in [0, 1]; a confidence equal to it is not accepted.

    See Also
    --------
    selective_risk : the share of accepted rows that are wrong.
    coverage_at_risk : the share kept at the best threshold for a risk.

    Notes
    -----
    Use it with ``selective_risk``, for a threshold fixed on other rows, such as that of a
    ``SelectiveClassifier``. It does not use labels. The interval is exact (Clopper and Pearson)
    where fewer than ten rows are accepted or not, else Wilson's.

    Examples
    --------
    >>> accepted_share([1, 0, 1, 1], [0.9, 0.2, 0.6, 0.95], threshold=0.7)
    0.75
    """

    threshold: float = 0.0

    def _check(self) -> None:
        if not 0.0 <= self.threshold <= 1.0:
            raise InputError(f"threshold must be in [0, 1]; got {self.threshold!r}.")

    def _losses(self, record: Any) -> np.ndarray:
        return (record.confidence > self.threshold) * 1.0


accepted_share: AcceptedShare = AcceptedShare()


class SelectiveRisk(
    SumMetric,
    name="selective risk",
    key="selective_risk",
    estimand="share of wrong answers among new rows above the threshold",
    direction="minimize",
    range=(0.0, 1.0),
    examples=({"threshold": 0.4},),
):
    r"""Share of wrong answers among the rows whose confidence is above the threshold,
    :math:`P(\text{wrong} \mid s > t)`.

    Parameters
    ----------
    threshold : float, default 0.0
        The threshold in [0, 1]; a confidence equal to it is not accepted.

    See Also
    --------
    accepted_share : the share of rows above the threshold.
    risk_coverage_curve : all thresholds at once.

    Notes
    -----
    Use it for a threshold fixed on other rows, such as ``SelectiveClassifier().threshold_``, to
    check its guarantee. Its interval is exact (Clopper and Pearson), given the number of accepted
    rows: the upper end at level 0.9 is a bound that fails one time in twenty. It does not hold for
    a threshold chosen on the same rows. The value is nan where no row is accepted.

    Examples
    --------
    >>> print(selective_risk.interval([1, 0, 1, 0], [0.9, 0.2, 0.6, 0.95], threshold=0.7))
    0.3333 [0.008404, 0.9057]
    """

    threshold: float = 0.0

    def _exceptions(self) -> Mapping[str, str]:
        """nan where the threshold accepts no row."""
        return (
            {}
            if self.threshold == 0.0
            else {"constant_scores": "nan: no row is above the threshold"}
        )

    exceptions: ClassVar[Mapping[str, str]] = by_options(_exceptions)

    def _check(self) -> None:
        if not 0.0 <= self.threshold <= 1.0:
            raise InputError(f"threshold must be in [0, 1]; got {self.threshold!r}.")

    def _columns(self, record: Any) -> list[np.ndarray]:
        accepted = (record.confidence > self.threshold) * 1.0
        return [accepted, accepted * (1.0 - record.correct)]

    def _finalise(self, totals: np.ndarray) -> np.ndarray:
        return np.where(totals[..., 1] > 0.0, quotient(totals[..., 2], totals[..., 1]), np.nan)

    def _limits(self, totals: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
        return clopper_pearson(totals[..., 2], totals[..., 1], level)


selective_risk: SelectiveRisk = SelectiveRisk()


#: Variances below this are rounding errors of the sums: the spread of equal confidences is 0.
ROUNDING = 1e-15


class ConfidenceSpread(
    Metric,
    name="confidence spread",
    key="confidence_spread",
    estimand="standard deviation of the confidence of new rows",
    direction="none",
    range=(0.0, 0.5),
):
    r"""Standard deviation of the top label's probability.

    .. math:: \sqrt{\tfrac{1}{w} \sum_i w_i (s_i - \bar s)^2}, \qquad s_i = \max_k P_{ik}

    See Also
    --------
    expected_calibration_error : the error to report with it.

    Notes
    -----
    Report it with every calibration error: a constant confidence equal to the accuracy has
    calibration error 0 and spread 0, and does not discriminate. More spread is not better on its
    own; interpret it with the log loss.

    References
    ----------
    Jang et al., "Confidence calibration using logits transformations", 2021, section 7.2.

    Examples
    --------
    >>> round(confidence_spread([0, 1], [[0.9, 0.1], [0.3, 0.7]]), 6)
    0.1
    """

    def _totals(self, record: Any) -> np.ndarray:
        s, w = record.confidence, record.weights
        return np.array([w.sum(), w @ s, w @ (s * s)])

    def _finalise(self, totals: np.ndarray) -> float:
        if totals[0] <= 0:
            return float("nan")
        mean = totals[1] / totals[0]
        variance = totals[2] / totals[0] - mean * mean
        return float(np.sqrt(variance)) if variance > ROUNDING else 0.0

    def _interval(
        self, record: Any, level: float, method: str, n_resamples: int, random_state: int
    ) -> Interval:
        if method not in ("auto", "analytic"):
            return super()._interval(record, level, method, n_resamples, random_state)
        s, w, value = record.confidence, record.weights, self._value(record)
        n = np.float64(w.sum())
        mean = w @ s / n
        sums = np.array([w @ power for power in powers(np.square(s - mean))])
        above = unseen_ends(n, sums, (0.0, np.inf))[1]
        if value == 0.0:
            # The unseen confidence is at the nearer end; at the other end if the mean is at an end.
            near = min(1.0 - mean, mean - 1.0 / record.n_classes)
            above = (near if near > ROUNDING else 1.0 - 1.0 / record.n_classes) ** 2
        limits = np.sqrt(limits_within((0.0, 0.25), n, sums, (0.0, above), level))
        return Interval.holding(value, (limits[0], limits[1]), level, "analytic", float(n))


confidence_spread: ConfidenceSpread = ConfidenceSpread()
