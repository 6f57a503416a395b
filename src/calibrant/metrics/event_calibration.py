"""Calibration in the large: observed against expected events, as a ratio and as an intercept of the
log-odds; and the logistic recalibration: its slope, and the intercept fitted with it.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, cast

import numpy as np

from calibrant._numerics.intervals import event_count_limits, quotient, stretched
from calibrant._numerics.logistic import (
    both_occur,
    intercept_at_unit_slope,
    log_odds,
    plenty,
    profile_limits,
    separated_limits,
    shift_limits,
    sigmoid,
    slope_and_intercept,
)
from calibrant.core.estimators import require_option
from calibrant.core.groups import rows_apart
from calibrant.core.metric import by_options
from calibrant.core.metric_kinds import Interval, SumMetric
from calibrant.errors import warn
from calibrant.metrics.events import PairMetric, Targeted

__all__ = [
    "CalibrationInTheLarge",
    "CalibrationSlope",
    "JointCalibrationIntercept",
    "ObservedExpectedRatio",
    "calibration_in_the_large",
    "calibration_slope",
    "joint_calibration_intercept",
    "observed_expected_ratio",
]


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
        bread = cast(Any, np.linalg).inv((design * (weight * p * (1.0 - p))[:, None]).T @ design)
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


NO_INTERCEPT = "nan: all outcomes are equal, so no intercept is finite"


class CalibrationInTheLarge(
    PairMetric,
    name="calibration in the large",
    key="calibration_in_the_large",
    clustered=True,
    estimand="shift of the log-odds that fits the population best",
    direction="none",
    perfect=0.0,
    paired=True,
    range=(float("-inf"), float("inf")),
    examples=({"target": "answer"},),
):
    r"""Shift of the log-odds that makes the mean probability equal the share of hits: the intercept
    with the slope fixed at 1.

    .. math:: \mathrm{logit}\, P(c = 1) = a + \mathrm{logit}\, s

    Parameters
    ----------
    target : {"answer", "event"} or a class label, default "event"
        The probability to evaluate: the predicted label's (against whether it is correct), class
        1's of two, or the named class's.

    See Also
    --------
    joint_calibration_intercept : the intercept where the slope is fitted too, a different number.
    observed_expected_ratio : the same comparison as a ratio.
    calibration_slope : too extreme or too moderate, not too high or too low.

    Notes
    -----
    0 is calibrated; below 0 the probabilities are too high on average. Use it with
    ``calibration_slope``. Clinical reports that follow Van Calster et al., and R's
    CalibrationCurves, call this number the calibration intercept; the log-odds of the score are an
    offset. It is nan where all outcomes are equal and, with a warning, where certain predictions
    make the likelihood flat. Its interval inverts the tails of the number of hits (by a
    saddlepoint; exact for equal scores), widened to the sandwich variance. From 1,000 rows of
    either outcome it is Wald's. It is no score, so never select a model by it.

    References
    ----------
    Cox, "Two further applications of a model for binary regression", Biometrika 1958; Steyerberg,
    "Clinical prediction models", 2019; Van Calster et al., "Calibration: the Achilles heel of
    predictive analytics", BMC Medicine 2019.

    Examples
    --------
    >>> round(calibration_in_the_large([1, 0, 0, 0], [0.5, 0.5, 0.5, 0.5]), 4)
    -1.0986
    """

    target: Any = "event"

    def _exceptions(self) -> Mapping[str, str]:
        """nan where all outcomes are equal (for the top label, not where all labels are) or all
        predictions are certain.
        """
        alike = ("one_row", "one_class_only") if self.target == "event" else ("one_row",)
        return {
            **dict.fromkeys(alike, NO_INTERCEPT),
            "exact_zero_and_one": "nan: all outcomes are equal, or all predictions are certain",
        }

    exceptions: ClassVar[Mapping[str, str]] = by_options(_exceptions)

    def _pair_value(self, score: np.ndarray, hit: np.ndarray, weight: np.ndarray) -> float:
        found = _found(score, hit, weight)
        return float("nan") if found is None else float(found[0])

    def moves_of(self, record: Any) -> Any:
        """Influence of each row on the value, (n,)."""
        (score, hit), weight = record.pair(self.target), record.weights
        found = _found(score, hit, weight) if plenty(hit, weight) or rows_apart(record) else None
        if found is None:
            return None
        p = sigmoid(log_odds(score) + found[0])
        return (hit - p) * (weight.sum() / (weight @ (p * (1.0 - p))))

    def _interval(
        self, record: Any, level: float, method: str, n_resamples: int, random_state: int
    ) -> Interval:
        if method not in ("auto", "analytic"):
            return super()._interval(record, level, method, n_resamples, random_state)
        (score, hit), weight = record.pair(self.target), record.weights
        n, found = float(weight.sum()), _found(score, hit, weight)
        if found is None:
            return Interval(float("nan"), float("nan"), float("nan"), level, "analytic", n)
        return Interval.holding(
            found[0],
            shift_limits(log_odds(score), hit, weight, *found, level),
            level,
            "analytic",
            n,
        )


def _found(score: np.ndarray, hit: np.ndarray, weight: np.ndarray) -> tuple[float, float] | None:
    """(intercept, variance), or None; warns if both outcomes occur and the likelihood is flat."""
    found = intercept_at_unit_slope(score, hit, weight)
    if found is None and both_occur(hit, weight):
        warn(
            "the calibration intercept is nan, because every probability is numerically 0 or 1"
            " and all shifts are equally likely; check the predictions."
        )
    return found


calibration_in_the_large: CalibrationInTheLarge = CalibrationInTheLarge()


class JointCalibrationIntercept(
    CalibrationSlope,
    name="joint calibration intercept",
    key="joint_calibration_intercept",
    estimand="intercept of the logistic fit to the population",
):
    r"""Intercept of the logistic regression of the outcome on the log-odds of the score, fitted
    jointly with the slope.

    .. math:: \mathrm{logit}\, P(c = 1) = a + b\, \mathrm{logit}\, s

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        The probability to evaluate: class 1's of two, the predicted label's (against whether it is
        correct), or the named class's.

    See Also
    --------
    calibration_in_the_large : the intercept with the slope fixed at 1, which shows whether the
        risks are too high on average.
    calibration_slope : the slope of the same fit.

    Notes
    -----
    It is "Intercept" in R's ``rms::val.prob``, and is needed to recalibrate:
    :math:`a + b\,\mathrm{logit}\, s`. It measures the error of a risk of one half; alone it does
    not show whether risks are too high. Where the slope is below 1 and events are rare, it is
    negative for a model that is calibrated on average. It is nan where the likelihood has no finite
    maximum: all outcomes are equal, or the score separates them. Its interval is that of
    ``calibration_slope``. It is no score, so never select a model by it.

    References
    ----------
    Cox, "Two further applications of a model for binary regression", Biometrika 1958; Miller, Hui
    and Tierney, "Validation techniques for logistic regression models", Statistics in Medicine
    1991.

    Examples
    --------
    >>> p = [0.1] * 10 + [0.9] * 10
    >>> round(joint_calibration_intercept([1] * 5 + [0] * 5 + [1] * 9 + [0], p), 3)
    1.099
    """

    _place: ClassVar[int] = 1


joint_calibration_intercept: JointCalibrationIntercept = JointCalibrationIntercept()


#: What the interval conditions on -> its estimand.
ESTIMANDS = {
    "rate": "expected events of these rows, divided by those predicted, with the predictions fixed",
    "risks": "expected events of rows with exactly these risks, divided by those predicted",
    "nothing": "event rate divided by mean risk, for new rows from the same population",
}

#: Number of rows with the unexpected outcome that are added to the observed ones.
SURPRISE = 1.0
#: Below this share of their squares, the spread of risks is rounding error.
ROUNDING = 1e-12


class ObservedExpectedRatio(
    Targeted,
    SumMetric,
    name="O/E",
    key="observed_expected_ratio",
    direction="none",
    perfect=1.0,
    range=(0.0, float("inf")),
    soft_labels=True,
    examples=({"target": "answer"}, {"given": "risks"}, {"given": "nothing"}),
):
    r"""Number of observed events divided by the sum of the probabilities (O/E).

    .. math:: O/E = \frac{\sum_i y_i}{\sum_i p_i}

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        The probability to evaluate: class 1's of two, the predicted label's (against whether it is
        correct), or the named class's.
    given : {"rate", "risks", "nothing"}, default "rate"
        What the interval conditions on. "risks": the risks of these rows, so the ratio is that of
        the events expected of these rows (conditional). "nothing": rows and risks are drawn anew
        from the population (unconditional). "rate": these rows, treated as if all had the same
        risk; this is the widest interval that their risks allow, and exact with few events.

    See Also
    --------
    calibration_in_the_large : the same comparison on the scale of the log-odds.
    calibration_bias : the same comparison as a difference of means.

    Notes
    -----
    1 is calibrated; below 1 the risks are too high on average, above 1 too low. Its interval treats
    the predictions as fixed: on the log scale, :math:`\log(O/E) \pm z\sqrt{(1 - O/n)/O}`; exact
    (Poisson) below 10 events, so it starts at 0 without events; exact (binomial) where fewer than
    10 rows had no event. The value is inf where events occurred and none was expected, and nan
    where neither.

    Risks that discriminate leave less to chance. With ``given="risks"``, the limits are narrower on
    the log scale by the root of the share of the variance :math:`O(1 - O/n)` that a line through
    the risks leaves unexplained. With "nothing", the variance is
    :math:`\sum_i (y_i - (O/E) p_i)^2`, which is larger where risks are too extreme. Both add one
    unexpected outcome to those observed. In simulations of 50 to 1,000 rows they covered the truth
    94 to 100 times of 100. The width relative to "rate" was .27 to 1 with "risks", and up to 1.4
    with "nothing" where events were few or the risks uninformative.

    It depends on the mean alone: see ``calibration_slope`` for other errors. It is no score, so
    never select a model by it. For :class:`SoftLabels`, events are summed shares, and the interval
    uses the observed variance of share - O/E p between rows instead of O/n (1 - O/n).

    References
    ----------
    Debray et al., "A guide to systematic review and meta-analysis of prediction model performance",
    BMJ 2017.

    Examples
    --------
    >>> print(observed_expected_ratio.interval([1] * 6 + [0] * 34, [0.1] * 40))
    1.5 [0.5505, 3.265]
    >>> y, p = [1] * 38 + [0] * 162 + [1] * 162 + [0] * 38, [0.2] * 200 + [0.8] * 200
    >>> print(observed_expected_ratio.interval(y, p))
    1 [0.9067, 1.103]
    >>> print(observed_expected_ratio.interval(y, p, given="risks"))
    1 [0.9252, 1.081]
    """

    given: Literal["rate", "risks", "nothing"] = "rate"

    def _estimand(self) -> str:
        """Estimand of the interval."""
        return ESTIMANDS[self.given]

    estimand: ClassVar[str] = by_options(_estimand)

    def _check(self) -> None:
        require_option("given", self.given, tuple(ESTIMANDS))

    def _columns(self, record: Any) -> list[np.ndarray]:
        score, hit = record.pair(self.target)
        if self.given == "rate" and record.shares is None:
            return [hit, score]
        return [hit, score, hit * hit, hit * score, score * score]

    def _finalise(self, totals: np.ndarray) -> np.ndarray:
        return _ratio(totals, totals[..., 1])

    def _limits(self, totals: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
        if self.given != "rate":
            limits = event_count_limits(totals[..., 1], totals[..., 0], level)
            low, high = stretched(totals[..., 1], limits, self._stretch(totals))
            return _ratio(totals, low), _ratio(totals, high)
        worth = 1.0 if totals.shape[-1] == 3 else _raters_worth(totals)
        low, high = event_count_limits(totals[..., 1] * worth, totals[..., 0] * worth, level)
        return _ratio(totals, low / worth), _ratio(totals, high / worth)

    def _stretch(self, totals: np.ndarray) -> np.ndarray:
        """Ratio of the standard deviation of the count to that of rows with equal risks."""
        n, observed, expected, seen, both, squares = np.moveaxis(totals, -1, 0)
        alike = observed - quotient(observed**2, n)
        if self.given == "risks":
            along = both - quotient(observed * expected, n)
            spread = squares - quotient(expected**2, n)
            told = np.where(spread > ROUNDING * squares, quotient(along**2, spread), 0.0)
            left = np.maximum(seen - quotient(observed**2, n) - told, 0.0)
            left = left * quotient(n, np.maximum(n - 2.0, 1.0)) + SURPRISE
            return np.sqrt(np.where(alike > 0.0, np.minimum(quotient(left, alike), 1.0), 1.0))
        ratio = quotient(observed, expected)
        left = np.maximum(seen - 2.0 * ratio * both + ratio**2 * squares, 0.0)
        left = left * quotient(n, np.maximum(n - 1.0, 1.0)) + SURPRISE
        return np.sqrt(np.where(alike > 0.0, quotient(left, alike), 1.0))


def _raters_worth(totals: np.ndarray):
    """Number of rows with one label that each row of soft labels is worth.

    Variance of one label, O/n (1 - O/n), over the observed variance of hit - O/E score. Two rows of
    one label are added to the latter, because few rows may understate it.
    """
    n, hits, said, hits_squared, both, said_squared = np.moveaxis(totals, -1, 0)
    rate, ratio = quotient(hits, n), quotient(hits, said)
    alone = rate * (1.0 - rate)
    seen = np.maximum(hits_squared - 2.0 * ratio * both + ratio * ratio * said_squared, 0.0)
    variance = (seen * quotient(n, np.maximum(n - 1.0, 1.0)) + 2.0 * alone) / (n + 2.0)
    return np.where(alone > 0.0, alone / np.where(variance > 0.0, variance, 1.0), 1.0)


def _ratio(totals: np.ndarray, count: Any) -> np.ndarray:
    """count / E; for E = 0, inf where events occurred, else nan."""
    observed, expected = totals[..., 1], totals[..., 2]
    return np.where(
        expected > 0.0, quotient(count, expected), np.where(observed > 0.0, np.inf, np.nan)
    )


observed_expected_ratio: ObservedExpectedRatio = ObservedExpectedRatio()
