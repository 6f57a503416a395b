"""Forecasts as they are: the baseline, and the answer where there is no evidence for another."""

from typing import ClassVar

from calibrant.contracts.regression_calibrator import RegressionCalibrator
from calibrant.contracts.tags import Tags

__all__ = ["ForecastIdentity"]


class ForecastIdentity(RegressionCalibrator):
    """Leave every predictive distribution as it is.

    .. math:: F'(y) = F(y)

    Attributes
    ----------
    n_outputs_ : int
        0 for forecasts of shape (n,).
    status_ : "exact"

    See Also
    --------
    AutoRegressionCalibrator : takes it where nothing is better.
    Identity : the same for class probabilities.

    Notes
    -----
    Use it as the baseline in comparisons; :class:`AutoRegressionCalibrator` returns it where nothing better is shown. Not where the error
    bars are known to be wrong: it repairs nothing.

    Examples
    --------
    >>> from calibrant import ForecastIdentity
    >>> ForecastIdentity().fit([0.0], [5.0], std=[1.0]).predict([1.0], [2.0]).std.tolist()
    [2.0]
    """

    tags: ClassVar[Tags] = Tags(
        output="distribution",
        label="uncalibrated forecasts",
        exceptions={"wild_errors": "it repairs nothing, by intent", "coverage": "it repairs nothing, by intent"},
    )

    def _fit_output(self, record):
        return {}

    def _predict_output(self, forecast):
        return forecast

    def _expression(self, forecast):
        return forecast
