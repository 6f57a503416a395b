"""Interval calibration: make every predicted probability come true as often as it says."""

from typing import ClassVar

import numpy as np

from calibrant._kernels.normal_scores import empirical_scores, tail_slopes
from calibrant.contracts.regression_calibrator import RegressionCalibrator
from calibrant.contracts.tags import Tags
from calibrant.forecasts.normal import RecalibratedForecast

__all__ = ["IntervalCalibration"]


class IntervalCalibration(RegressionCalibrator):
    r"""Recalibrate the CDF by how often each predicted probability was reached.

    .. math:: F'(y) = R(F(y)), \qquad R(p) = \frac{\sum_i w_i [F_i(y_i) < p] + \frac{1}{2} \sum_i w_i [F_i(y_i) = p]}{\sum_i w_i}

    at the probabilities :math:`F_i(y_i)` seen, which increases, so it is its own isotonic regression. Between them R is a straight line on
    the scale of normal scores, :math:`\Phi^{-1}(R)` against :math:`\Phi^{-1}(p)`, and beyond them a line from the median score through
    the outermost: R is 0 at 0 and 1 at 1, outcomes a thousand std away keep their place, and the tails are normal.

    Attributes
    ----------
    knots_, values_ : (m,) arrays, or lists of them for d outputs
        Normal scores of R and of p.
    slopes_ : (2,) array, or a list of them
        Slopes of the values over the knots beyond the ends.
    n_outputs_ : int
        0 for forecasts of shape (n,).
    status_ : "exact", or "no error" (all outcomes at one probability: the forecasts are shifted there and keep their spread).

    See Also
    --------
    QuantileRecalibration : at a few levels, for few rows.
    StdScaling : one factor, the shape stays.

    Notes
    -----
    Use it where the shape of the distributions is wrong, and quantiles and intervals are what is needed; it wants some hundred rows. It
    looks at all rows together, so it makes *any* uncertainty pass the interval criterion, one drawn at random too: look at the ENCE
    before trusting a row's own error bar. For normal forecasts the new mean is mean + m std and the new std a multiple of the old, with
    the same m and factor for all rows, in closed form, so the coefficient of variation stays. The density between the knots is
    rough: compare by CRPS, or use QuantileRecalibration.

    References
    ----------
    Kuleshov et al., "Accurate uncertainties for deep learning using calibrated regression", ICML 2018, Algorithm 1. Levi et al., 2019, for
    mean and variance (its Eq. 13 holds for non-negative variables; here both tails are counted).

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import IntervalCalibration
    >>> y = np.random.default_rng(0).normal(size=500)
    >>> cal = IntervalCalibration().fit(np.zeros(500), y, std=np.full(500, 0.1))
    >>> cal.predict([0.0], [0.1]).std.round(1).tolist()
    [1.0]
    """

    tags: ClassVar[Tags] = Tags(output="distribution", label="interval calibration")
    learns: ClassVar[tuple[str, ...]] = ("knots_", "values_", "slopes_")
    knots_: np.ndarray | list[np.ndarray]
    values_: np.ndarray | list[np.ndarray]
    slopes_: np.ndarray | list[np.ndarray]

    def _fit_output(self, record):
        knots, values = empirical_scores(record.score, record.weights)
        learned = {"knots_": knots, "values_": values, "slopes_": tail_slopes(knots, values)}
        return learned if len(knots) > 1 else {**learned, "status": "no error"}

    def _predict_output(self, forecast, knots, values, slopes):
        return RecalibratedForecast(forecast, np.asarray(knots), np.asarray(values), np.asarray(slopes))

    def _expression(self, forecast, **learned):
        return forecast.reshaped(self._predict_output(forecast.shape, **learned))

    def _guarantee(self, level):
        return self._guarantee_in_the_limit(level)
