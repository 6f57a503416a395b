"""Recalibration of forecasts by the probability integral transform: at all quantiles, or
at a few.
"""

from typing import Any, ClassVar

import numpy as np
from scipy import special

from calibrant._numerics.normal_scores import empirical_scores, tail_slopes
from calibrant.core.calibrator import Tags
from calibrant.core.estimators import require_count
from calibrant.core.forecast import RecalibratedForecast
from calibrant.core.regression_calibrator import RegressionCalibrator

__all__ = ["IntervalCalibration", "QuantileRecalibration"]


class QuantileRecalibration(
    RegressionCalibrator,
    examples=[{"n_levels": 3}],
    family="whole distributions",
    use="A few quantiles, moved; hundreds of rows",
):
    r"""Move a few quantiles to the probabilities at which that share of the outcomes was observed.

    .. math:: Q'(q) = F^{-1}(p_q), \qquad p_q = \text{the } q\text{-quantile of } F_i(y_i)

    at evenly spaced levels, at most ``n_levels`` and at least ten rows a level. The map is linear
    between and beyond them on the scale of normal scores, as in :class:`IntervalCalibration`, so a
    calibrated forecast stays nearly unchanged.

    Parameters
    ----------
    n_levels : int, default 9
        One level shifts the median and keeps the spread; it is used below 20 rows.

    Attributes
    ----------
    knots_, values_ : (m,) arrays, or lists of them for d outputs
        Normal scores of the levels and of their new probabilities.
    slopes_ : (2,) array, or a list of them
    n_outputs_ : int
        0 for forecasts of shape (n,).
    status_ : "exact", or "shift only" (one level).

    See Also
    --------
    IntervalCalibration : at all levels.
    ConformalIntervals : intervals with a guarantee.

    Notes
    -----
    Use it for quantile forecasts, for small calibration sets, and where the density matters: with
    few levels it is smooth enough for a meaningful log loss. With thousands of rows interval
    calibration follows the shape more closely. Like that method, it considers all rows together,
    and does not check a single row's error bar.

    References
    ----------
    Kuleshov et al., "Accurate uncertainties for deep learning using calibrated regression", ICML
    2018 (the map it smooths).

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.regression import QuantileRecalibration
    >>> y = np.random.default_rng(0).normal(size=500)
    >>> cal = QuantileRecalibration().fit(np.zeros(500), y, std=np.full(500, 0.1))
    >>> cal.predict([0.0], [0.1]).std.round(1).tolist()
    [1.0]
    """

    tags: ClassVar[Tags] = Tags(output="distribution", label="quantile recalibration")
    learns: ClassVar[tuple[str, ...]] = ("knots_", "values_", "slopes_")
    knots_: np.ndarray | list[np.ndarray]
    values_: np.ndarray | list[np.ndarray]
    slopes_: np.ndarray | list[np.ndarray]

    def __init__(self, *, n_levels: int = 9) -> None:
        self.n_levels: int = n_levels

    def _check(self) -> None:
        require_count("n_levels", self.n_levels)

    def _fit_output(self, record: Any) -> Any:
        n_levels = self._levels_for(record.weights.sum())
        seen, score = empirical_scores(record.score, record.weights)
        levels = special.ndtri((np.arange(n_levels) + 1.0) / (n_levels + 1.0))
        # Where one score spans several levels the map is flat; the middle level represents them.
        values, position = np.unique(np.interp(levels, seen, score), return_inverse=True)
        knots = np.bincount(position, weights=levels) / np.bincount(position)
        learned = {"knots_": knots, "values_": values, "slopes_": tail_slopes(knots, values)}
        return learned if len(knots) > 1 else {**learned, "status": "shift only"}

    def _predict_output(
        self, forecast: Any, knots: np.ndarray, values: np.ndarray, slopes: np.ndarray
    ) -> RecalibratedForecast:
        return RecalibratedForecast(
            forecast, np.asarray(knots), np.asarray(values), np.asarray(slopes)
        )

    def _expression(self, forecast: Any, **learned: Any) -> Any:
        return forecast.reshaped(self._predict_output(forecast.shape, **learned))

    def _levels_for(self, n_rows: float) -> int:
        return max(1, min(self.n_levels, int(n_rows // 10)))

    def _guarantee(self, level: float) -> Any:
        # Between the fitted levels the map is interpolated, not estimated.
        place = (0.5 + 0.5 * level) * (self._levels_for(self.n_rows_ or 0.0) + 1.0)
        return self._guarantee_in_the_limit(level) if abs(place - round(place)) < 1e-9 else None


class IntervalCalibration(
    RegressionCalibrator,
    family="whole distributions",
    use="The CDF, at every level; hundreds of rows",
):
    r"""Recalibrate the CDF by the observed frequency of each predicted probability.

    .. math:: F'(y) = R(F(y)), \qquad R(p) = \frac{\sum_i w_i [F_i(y_i) < p] + \frac{1}{2} \sum_i
        w_i [F_i(y_i) = p]}{\sum_i w_i}

    at the observed probabilities :math:`F_i(y_i)`. R increases, so it is its own isotonic
    regression. Between them R is linear on the scale of normal scores, :math:`\Phi^{-1}(R)` against
    :math:`\Phi^{-1}(p)`; beyond them a line joins the median score and the outermost. R is 0 at 0
    and 1 at 1, outcomes a thousand std away keep their place, and the tails are normal.

    Attributes
    ----------
    knots_, values_ : (m,) arrays, or lists of them for d outputs
        Normal scores of R and of p.
    slopes_ : (2,) array, or a list of them
        Slopes of the values over the knots beyond the ends.
    n_outputs_ : int
        0 for forecasts of shape (n,).
    status_ : "exact", or "no error" (all outcomes at one probability: the forecasts are shifted
        there and keep their spread).

    See Also
    --------
    QuantileRecalibration : at a few levels, for few rows.
    StdScaling : one factor, with the shape unchanged.

    Notes
    -----
    Use it where the shape of the distributions is wrong, and quantiles and intervals matter; it
    needs some hundred rows. It considers all rows together, so *any* uncertainty, even a random
    one, passes the interval criterion afterwards: check the ENCE before trusting a row's own error
    bar. For normal forecasts the new mean is mean + m std and the new std a multiple of the old,
    with the same m and factor for all rows, in closed form, so the coefficient of variation stays.
    The density between the knots is rough: compare by CRPS, or use QuantileRecalibration.

    References
    ----------
    Kuleshov et al., "Accurate uncertainties for deep learning using calibrated regression", ICML
    2018, Algorithm 1. Levi et al., 2019, for mean and variance (its Eq. 13 holds for non-negative
    variables; here both tails are counted).

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.regression import IntervalCalibration
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

    def _fit_output(self, record: Any) -> Any:
        knots, values = empirical_scores(record.score, record.weights)
        learned = {"knots_": knots, "values_": values, "slopes_": tail_slopes(knots, values)}
        return learned if len(knots) > 1 else {**learned, "status": "no error"}

    def _predict_output(
        self, forecast: Any, knots: np.ndarray, values: np.ndarray, slopes: np.ndarray
    ) -> RecalibratedForecast:
        return RecalibratedForecast(
            forecast, np.asarray(knots), np.asarray(values), np.asarray(slopes)
        )

    def _expression(self, forecast: Any, **learned: Any) -> Any:
        return forecast.reshaped(self._predict_output(forecast.shape, **learned))

    def _guarantee(self, level: float) -> Any:
        return self._guarantee_in_the_limit(level)
