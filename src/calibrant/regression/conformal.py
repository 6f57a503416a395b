"""Conformal intervals: coverage that holds for any distribution and any number of rows."""

from typing import ClassVar, Literal

import numpy as np

from calibrant.contracts.regression_calibrator import RegressionCalibrator
from calibrant.contracts.tags import Tags
from calibrant.errors import InputError
from calibrant.forecasts.conformal import ConformalForecast
from calibrant.forecasts.conformal_quantiles import ConformalQuantileForecast

__all__ = ["ConformalIntervals"]


class ConformalIntervals(RegressionCalibrator):
    r"""Intervals that hold a new outcome with at least the probability they say, whatever the distribution.

    .. math:: \mu \mp \sigma\, s_{(\lceil (n + 1)\, \text{level} \rceil)}, \qquad s_i = |y_i - \mu_i| / \sigma_i

    with the order statistic of the n calibration scores (``score="scaled"``; with "absolute" the std is left out of both). With "quantile"
    the forecast's own central interval [l, h] becomes :math:`[l - e, h + e]`, e the order statistic of :math:`\max(l_i - y_i, y_i - h_i)`
    (conformalised quantile regression). The order statistic is infinite, and so the interval, where n + 1 < 1 / (1 - level).

    Parameters
    ----------
    score : {"scaled", "absolute", "quantile"}
    levels : tuple of float, default (0.5, 0.8, 0.9, 0.95)
        The only levels of "quantile" intervals; the others know them all.

    Attributes
    ----------
    scores_ : ascending scores, one array (a list of one a level for "quantile"), or a list of these for d outputs
    mass_ : their cumulated weights, in the same form
    spread_ : float, or (d,) array
        Root mean square of the scores.
    n_outputs_ : int
        0 for forecasts of shape (n,).
    status_ : "exact"

    See Also
    --------
    IntervalCalibration, QuantileRecalibration : whole distributions, no guarantee.
    metrics.interval_coverage : whether they hold what they say.

    Notes
    -----
    Use them where a stated coverage must hold: it is between level and level + 1 / (n + 1) on average over calibration sets, if new rows
    are exchangeable with the calibration rows. It holds over all rows together, not for each kind of row, and each output has its own.
    The distribution returned is that of its intervals: a mean, a std from the scores, no density.

    References
    ----------
    Vovk et al., "Algorithmic learning in a random world", 2005. Romano, Patterson and Candes, "Conformalized quantile regression",
    NeurIPS 2019.

    Examples
    --------
    >>> from calibrant import ConformalIntervals
    >>> cal = ConformalIntervals().fit([0.0] * 9, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9], std=[1.0] * 9)
    >>> [end.tolist() for end in cal.predict([5.0], [2.0]).interval(0.5)]
    [[4.0], [6.0]]
    >>> [end.tolist() for end in cal.predict([5.0], [2.0]).interval(0.95)]
    [[-inf], [inf]]
    """

    tags: ClassVar[Tags] = Tags(output="distribution", label="conformal intervals")
    learns: ClassVar[tuple[str, ...]] = ("scores_", "mass_", "spread_")
    scores_: np.ndarray | list[np.ndarray]
    mass_: np.ndarray | list[np.ndarray]
    spread_: float | np.ndarray

    def __init__(
        self, *, score: Literal["scaled", "absolute", "quantile"] = "scaled", levels: tuple[float, ...] = (0.5, 0.8, 0.9, 0.95)
    ) -> None:
        self.score: Literal["scaled", "absolute", "quantile"] = score
        self.levels: tuple[float, ...] = levels

    @classmethod
    def _examples(cls):
        return [cls(), cls(score="absolute"), cls(score="quantile", levels=(0.1, 0.5, 0.8))]

    def _check(self):
        self._option("score", "scaled", "absolute", "quantile")
        levels = np.asarray(self.levels, dtype=np.float64)
        if levels.ndim != 1 or len(levels) == 0 or not ((levels > 0.0) & (levels < 1.0)).all():
            raise InputError(f"levels must be numbers above 0 and below 1; got {self.levels!r}.")

    def _fit_output(self, record):
        if self.score == "quantile":
            each = [_cumulated(_beyond(record, float(level)), record.weights) for level in self.levels]
            return {"scores_": [s for s, _ in each], "mass_": [m for _, m in each], "spread_": 1.0}
        size = np.abs(record.error if self.score == "absolute" else record.standardised)
        scores, mass = _cumulated(size, record.weights)
        spread = float(np.sqrt(np.average(np.square(size), weights=record.weights)))
        return {"scores_": scores, "mass_": mass, "spread_": max(spread, np.finfo(np.float64).tiny ** 0.5)}

    def _predict_output(self, forecast, scores, mass, spread):
        if self.score == "quantile":
            return ConformalQuantileForecast(forecast, np.asarray(self.levels, dtype=np.float64), scores, mass)
        unit = np.ones(forecast.shape) if self.score == "absolute" else forecast.std
        return ConformalForecast(forecast, unit, scores, mass, spread)


def _beyond(record, level):
    """How far y is outside the central interval; negative inside it."""
    low, high = record.forecast.interval(level)
    return np.maximum(low - record.y, record.y - high)


def _cumulated(scores, weight):
    values, inverse = np.unique(scores, return_inverse=True)
    return values, np.cumsum(np.bincount(inverse, weights=weight))
