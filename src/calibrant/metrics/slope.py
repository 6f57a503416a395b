"""Slope of the logistic recalibration."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from calibrant._numerics.logistic import (
    log_odds,
    plenty,
    profile_limits,
    separated_limits,
    sigmoid,
    slope_and_intercept,
)
from calibrant.core.groups import rows_apart
from calibrant.core.metric import by_options
from calibrant.core.metric_kinds import Interval
from calibrant.metrics.pair import PairMetric

__all__ = ["CalibrationSlope", "calibration_slope"]

NOT_DEFINED = "nan: the likelihood has no finite maximum"


class CalibrationSlope(
    PairMetric,
    name="calibration slope",
    key="calibration_slope",
    clustered=True,
    estimand="slope of the logistic fit to the population",
    direction="none",
    perfect=1.0,
    paired=True,
    range=(float("-inf"), float("inf")),
    examples=({"target": "answer"},),
):
    r"""Slope of the logistic regression of the outcome on the log-odds of the score (Cox's slope).

    .. math:: \mathrm{logit}\, P(c = 1) = a + b\, \mathrm{logit}\, s

    Parameters
    ----------
    target : {"answer", "event"} or a class label, default "event"
        The probability to evaluate: the predicted label's (against whether it is correct), class
        1's of two, or the named class's.

    See Also
    --------
    calibration_in_the_large : too high or too low, not too extreme or too moderate.
    joint_calibration_intercept : the intercept of the same fit.
    integrated_calibration_index : the size of a gap of any shape.

    Notes
    -----
    1 is calibrated; below 1 the probabilities are too extreme, above 1 too moderate. Use it with
    ``calibration_in_the_large``, as clinical reports do. It is nan where the likelihood has no
    finite maximum: all outcomes are equal, or the score separates them, and then its interval has
    one finite end. Its interval uses the modified likelihood root (few events, extreme scores),
    widened where the sandwich variance exceeds the model's. From 1,000 rows of either outcome it is
    Wald's. It is no score, so never select a model by it.

    References
    ----------
    Cox, "Two further applications of a model for binary regression", Biometrika 1958; Van Calster
    et al., "Calibration: the Achilles heel of predictive analytics", BMC Medicine 2019.

    Examples
    --------
    >>> p = [0.1] * 10 + [0.9] * 10
    >>> round(calibration_slope([1] * 3 + [0] * 7 + [1] * 7 + [0] * 3, p), 3)
    0.386
    """

    target: Any = "event"

    #: Index of the parameter in the fit's (slope, intercept).
    _place: ClassVar[int] = 0

    def _exceptions(self) -> Mapping[str, str]:
        """nan where all outcomes are equal (for the top label, not where all labels are) or the
        scores separate them.
        """
        names = ("one_row", "constant_scores", "exact_zero_and_one") + (
            ("one_class_only",) if self.target == "event" else ()
        )
        return dict.fromkeys(names, NOT_DEFINED)

    exceptions: ClassVar[Mapping[str, str]] = by_options(_exceptions)

    def _pair_value(self, score: np.ndarray, hit: np.ndarray, weight: np.ndarray) -> float:
        found = slope_and_intercept(score, hit, weight)
        return float("nan") if found is None else float(found[0][self._place])

    def moves_of(self, record: Any) -> Any:
        """Influence of each row on the value, (n,)."""
        (score, hit), weight = record.pair(self.target), record.weights
        known = plenty(hit, weight) or rows_apart(record)
        found = slope_and_intercept(score, hit, weight) if known else None
        if found is None:
            return None
        design = np.column_stack([log_odds(score), np.ones(len(score))])
        p = sigmoid(design @ found[0])
        bread = np.linalg.inv((design * (weight * p * (1.0 - p))[:, None]).T @ design)
        return (hit - p) * (design @ bread[self._place]) * weight.sum()

    def _interval(
        self, record: Any, level: float, method: str, n_resamples: int, random_state: int
    ) -> Interval:
        if method not in ("auto", "analytic"):
            return super()._interval(record, level, method, n_resamples, random_state)
        (score, hit), weight = record.pair(self.target), record.weights
        n, found = float(weight.sum()), slope_and_intercept(score, hit, weight)
        odds = log_odds(score)
        if found is None:
            nothing = float("nan"), float("nan")
            limits = separated_limits(odds, hit, weight, level) if self._place == 0 else nothing
            return Interval(float("nan"), *limits, level, "analytic", n)
        limits = profile_limits(
            np.column_stack([odds, np.ones(len(odds))]), hit, weight, *found, self._place, level
        )
        return Interval.holding(found[0][self._place], limits, level, "analytic", n)


calibration_slope: CalibrationSlope = CalibrationSlope()
