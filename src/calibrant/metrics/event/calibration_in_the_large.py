"""Calibration in the large: the shift of the log-odds that makes the mean right."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from calibrant._kernels.logistic import intercept_at_unit_slope, plenty, shift_limits, sigmoid
from calibrant._kernels.softmax import log_odds
from calibrant.contracts.by_options import by_options
from calibrant.contracts.metric import Direction, Interval
from calibrant.errors import warn
from calibrant.groups import rows_apart
from calibrant.metrics.pair import PairMetric

__all__ = ["CalibrationInTheLarge", "calibration_in_the_large"]

NOT_DEFINED = "all outcomes alike: no finite intercept, nan"


@dataclass(frozen=True, repr=False)
class CalibrationInTheLarge(PairMetric):
    r"""Shift of the log-odds that makes the mean probability equal the share of hits: the intercept with the slope held at 1.

    .. math:: \mathrm{logit}\, P(c = 1) = a + \mathrm{logit}\, s

    Parameters
    ----------
    target : {"answer", "event"} or a class label, default "event"
        Whose probability: the predicted label's against its being right, class 1's of two, or the named class's.

    See Also
    --------
    joint_calibration_intercept : the intercept where the slope is fitted too, another number.
    observed_expected_ratio : the same question as a quotient.
    calibration_slope : too bold or too timid, not too high or too low.

    Notes
    -----
    0 is right; under 0 the probabilities are too high on the whole. Use it with ``calibration_slope``. Clinical reports that follow Van
    Calster et al., and R's CalibrationCurves, call this number the calibration intercept; the log-odds of the score are an offset. nan
    where all outcomes are alike, and, with a warning, where certain predictions leave the likelihood flat. Its interval inverts the
    tails of the number of hits (by a saddlepoint; exact for equal scores), stretched to the sandwich variance; Wald's from 1,000 rows of
    either outcome on. It is no score, so never select a model by it.

    References
    ----------
    Cox, "Two further applications of a model for binary regression", Biometrika 1958; Steyerberg, "Clinical prediction models", 2019;
    Van Calster et al., "Calibration: the Achilles heel of predictive analytics", BMC Medicine 2019.

    Examples
    --------
    >>> round(calibration_in_the_large([1, 0, 0, 0], [0.5, 0.5, 0.5, 0.5]), 4)
    -1.0986
    """

    target: Any = "event"

    name: ClassVar[str] = "calibration in the large"
    key: ClassVar[str] = "calibration_in_the_large"
    clustered: ClassVar[bool] = True
    estimand: ClassVar[str] = "shift of the log-odds that fits ever more rows of the same kind best"
    direction: ClassVar[Direction] = "none"
    paired: ClassVar[bool] = True
    range: ClassVar[tuple[float, float]] = (float("-inf"), float("inf"))

    @classmethod
    def _examples(cls) -> Sequence[Any]:
        return [cls(), cls(target="answer")]

    def _exceptions(self) -> Mapping[str, str]:
        """Where all outcomes are alike, which for the top label is not where all labels are, and where all predictions are certain."""
        alike = ("one_row", "one_class_only") if self.target == "event" else ("one_row",)
        return {**dict.fromkeys(alike, NOT_DEFINED), "exact_zero_and_one": "all outcomes alike, or all predictions certain: nan"}

    exceptions: ClassVar[Mapping[str, str]] = by_options(_exceptions)

    def _pair_value(self, score: np.ndarray, hit: np.ndarray, weight: np.ndarray):
        found = _found(score, hit, weight)
        return float("nan") if found is None else float(found[0])

    def moves_of(self, record: Any) -> Any:
        """How far each row moves it, (n,)."""
        (score, hit), weight = record.pair(self.target), record.weights
        found = _found(score, hit, weight) if plenty(hit, weight) or rows_apart(record) else None
        if found is None:
            return None
        p = sigmoid(log_odds(score) + found[0])
        return (hit - p) * (weight.sum() / (weight @ (p * (1.0 - p))))

    def _interval(self, record: Any, level: float, method: str, n_resamples: int, random_state: int):
        if method not in ("auto", "analytic"):
            return super()._interval(record, level, method, n_resamples, random_state)
        (score, hit), weight = record.pair(self.target), record.weights
        n, found = float(weight.sum()), _found(score, hit, weight)
        if found is None:
            return Interval(float("nan"), float("nan"), float("nan"), level, "analytic", n)
        return Interval.holding(found[0], shift_limits(log_odds(score), hit, weight, *found, level), level, "analytic", n)


def _found(score: np.ndarray, hit: np.ndarray, weight: np.ndarray):
    """(intercept, variance) or None, with a warning where outcomes of both kinds leave the likelihood flat."""
    found = intercept_at_unit_slope(score, hit, weight)
    if found is None and 0.0 < weight @ hit < weight.sum():
        warn("the calibration intercept is nan: every probability is as good as 0 or 1, so that no shift is likelier than another.")
    return found


calibration_in_the_large: CalibrationInTheLarge = CalibrationInTheLarge()
