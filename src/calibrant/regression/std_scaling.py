"""One factor for all standard deviations."""

from typing import ClassVar

import numpy as np

from calibrant.contracts.regression_calibrator import RegressionCalibrator
from calibrant.contracts.tags import Tags
from calibrant.errors import FitWarning, warn

__all__ = ["StdScaling"]


class StdScaling(RegressionCalibrator):
    r"""Multiply every standard deviation by one factor, chosen for the least normal log loss.

    .. math:: \sigma' = s \sigma, \qquad s^2 = \frac{\sum_i w_i (y_i - \mu_i)^2 / \sigma_i^2}{\sum_i w_i}

    which is the minimum of :math:`\sum_i w_i [\log s + (y_i - \mu_i)^2 / (2 s^2 \sigma_i^2)]` in closed form.

    Attributes
    ----------
    scale_ : float, or (d,) array for d outputs
        Above 1 the model was overconfident, below 1 underconfident.
    n_outputs_ : int
        0 for forecasts of shape (n,).
    status_ : "exact"; "no error" (every residual is 0, which would scale to nothing: scale 1, with a FitWarning).

    See Also
    --------
    GaussianProcessScale, IsotonicVariance : a factor that depends on the std.
    IntervalCalibration : changes the shape too.

    Notes
    -----
    The first thing to try: one number, it cannot overfit, and the ranking of the rows by uncertainty stays. It cannot make an
    uninformative uncertainty informative, and does not change the shape of the distributions: see IntervalCalibration for that.
    Forecasts that are not normal are stretched about their mean by the same factor.

    References
    ----------
    Levi et al., "Evaluating and calibrating uncertainty prediction in regression tasks", 2019, Eq. 12 (its sign and factor corrected).

    Examples
    --------
    >>> cal = StdScaling().fit([0.0, 0.0, 0.0, 0.0], [2.0, -2.0, 4.0, -4.0], std=[1.0, 1.0, 2.0, 2.0])
    >>> cal.scale_
    2.0
    >>> cal.predict([1.0], [3.0]).std.tolist()
    [6.0]
    """

    tags: ClassVar[Tags] = Tags(output="distribution", label="STD scaling")
    learns: ClassVar[tuple[str, ...]] = ("scale_",)
    scale_: float | np.ndarray

    def _fit_output(self, record):
        # Divided by the largest first: residuals far beyond their std must not overflow when squared.
        size = np.abs(record.standardised)
        largest = float(size.max())
        if largest == 0.0:
            warn("StdScaling saw no error at all; the standard deviations are left as they are.", FitWarning)
            return {"scale_": 1.0, "status": "no error"}
        return {"scale_": largest * float(np.sqrt(np.average(np.square(size / largest), weights=record.weight)))}

    def _predict_output(self, forecast, scale):
        return forecast.stretched(scale)

    def _expression(self, forecast, scale):
        return forecast.stretched(scale)
