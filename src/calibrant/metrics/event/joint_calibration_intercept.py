"""Intercept of the logistic recalibration."""

from dataclasses import dataclass
from typing import ClassVar

from calibrant.metrics.probability.calibration_slope import CalibrationSlope

__all__ = ["JointCalibrationIntercept", "joint_calibration_intercept"]


@dataclass(frozen=True, repr=False)
class JointCalibrationIntercept(CalibrationSlope):
    r"""Intercept of the logistic regression of the outcome on the log-odds of the score, fitted together with the slope.

    .. math:: \mathrm{logit}\, P(c = 1) = a + b\, \mathrm{logit}\, s

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        Whose probability: class 1's of two, the predicted label's against its being right, or the named class's.

    See Also
    --------
    calibration_in_the_large : the intercept with the slope held at 1, which says whether the risks are too high on the whole.
    calibration_slope : the slope of the same fit.

    Notes
    -----
    It is "Intercept" in R's ``rms::val.prob``, and what is needed to recalibrate: :math:`a + b\,\mathrm{logit}\, s`. It says how far off a
    risk of one half is, and does not say alone whether risks are too high: where the slope is under 1 and events are rare it is
    negative for a model that is right on the whole. nan where the likelihood has no finite maximum: all outcomes alike, or a score that
    separates them. Its interval is that of ``calibration_slope``. It is no score, so never select a model by it.

    References
    ----------
    Cox, "Two further applications of a model for binary regression", Biometrika 1958; Miller, Hui and Tierney, "Validation techniques for
    logistic regression models", Statistics in Medicine 1991.

    Examples
    --------
    >>> p = [0.1] * 10 + [0.9] * 10
    >>> round(joint_calibration_intercept([1] * 5 + [0] * 5 + [1] * 9 + [0], p), 3)
    1.099
    """

    name: ClassVar[str] = "joint calibration intercept"
    key: ClassVar[str] = "joint_calibration_intercept"
    estimand: ClassVar[str] = "intercept of the logistic fit to ever more rows of the same kind"
    _place: ClassVar[int] = 1


joint_calibration_intercept: JointCalibrationIntercept = JointCalibrationIntercept()
