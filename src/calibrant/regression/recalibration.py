"""Recalibration of forecasts by the probability integral transform, at all quantiles or at a few;
and joint correction of bias, spread and shape, each shrunk by its evidence.
"""

from typing import Any, ClassVar, Literal

import numpy as np
from scipy import special

from calibrant._numerics.location_scale import Parts, Rows, first_factor, fit_parts, make_grid
from calibrant._numerics.normal_scores import (
    N_FEATURES,
    TABLE,
    empirical_scores,
    fit_shape,
    from_student,
    shape_values,
    student_values,
    tail_slopes,
)
from calibrant.core.calibrator import Tags
from calibrant.core.estimators import require_count, require_option
from calibrant.core.expression import STANDARD, SymbolicForecast
from calibrant.core.forecast import NormalForecast, RecalibratedForecast
from calibrant.core.regression_calibrator import RegressionCalibrator
from calibrant.core.solving import warn_unless_converged
from calibrant.errors import FitWarning, InputError, warn

__all__ = ["DistributionRecalibration", "IntervalCalibration", "QuantileRecalibration"]


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
    2018, Algorithm 1. Levi et al., "Evaluating and calibrating uncertainty prediction in regression
    tasks", 2019, sections 2 and 4. Its equation 13 holds for non-negative variables; here both
    tails are counted.

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


BIASES, SPREADS = (None, "constant", "smooth"), (None, "constant", "smooth", "increasing")
SHAPES = (None, "student", "smooth", "empirical")
#: Units of the bias; the fitted string is one of these.
UNITS = ("outcome", "std")
#: Rows with a std below this share of the typical one get no more weight for a bias in units of the
#: outcome.
MOST_UNITS = 1e3
#: Smaller differences in log std are hardly identifiable: folds and the final model differ by as
#: much.
LEAST_SPREAD = 0.1
#: Share of an outcome that separates it from an equal forecast computed in another way.
ROUNDING = 8.0 * np.finfo(np.float64).eps


class DistributionRecalibration(
    RegressionCalibrator,
    family="whole distributions",
    use="Bias, spread and shape; 20 rows and more",
    common=True,
):
    r"""Correct the bias, the spread and the shape of forecasts, each part shrunk towards no change
    by its evidence.

    .. math:: z = \Phi^{-1}(F(y)) = a(\mu) + s(\sigma)\, h(u), \qquad u \sim N(0, 1)

    for forecasts F with mean :math:`\mu` and standard deviation :math:`\sigma`: for a normal
    forecast :math:`y = \mu + \sigma a(\mu) + \sigma s(\sigma)\, h(u)`. The bias :math:`\sigma a` is
    a function of the mean, in the units of the outcome or of the std (whichever has more evidence),
    log s one of the logarithm of the std, and h increases: a Student distribution of :math:`\nu`
    degrees of freedom (infinity is the normal) whose normal scores are changed smoothly, with tails
    that may differ.

    Parameters
    ----------
    bias : {"smooth", "constant", None}
    spread : {"smooth", "increasing", "constant", None}
        "increasing": smooth, and the new std never falls where the old one rises.
    shape : {"smooth", "student", "empirical", None}
        "empirical" uses the observed scores directly, as :class:`IntervalCalibration` does; its
        density is rough.
    start : {"forecast", "moments"}
        The distribution to correct: the forecast, or a normal one with its mean and std. Few noisy
        quantiles have a rough density; then "moments" is the better start.
    spread_by : {"std", "mean"}
        The argument of the spread's factor: :math:`s(\sigma)`, or :math:`s(\mu)`. If the predicted
        std is nearly the same for all rows, only the mean can show errors that grow with the
        outcome.
    objective : {"nll", "crps"}
        Score that fits bias and spread. Degrees of freedom and shape minimise the log loss.
    shrinkage : bool, default True
        False leaves constants unshrunk: ``bias=None, spread="constant", shape=None`` is then
        :class:`StdScaling`.

    Attributes
    ----------
    bias_ : (2, m) array, or a list of them for d outputs
        Means and the bias there; linear between, constant beyond.
    unit_ : "outcome" or "std", the unit of the bias; or a list
    spread_ : (2, m) array, or a list of them
        Logarithms of the std (or the means), and of the factor there.
    degrees_ : float, or (d,) array
        Degrees of freedom of the Student distribution; infinite for the normal.
    shape_ : (9,) coefficients of the smooth change, or for "empirical" (2, k) knots and values; or
        a list
    n_outputs_ : int
        0 for forecasts of shape (n,).
    status_ : "converged", or "max steps" with a FitWarning; with unchanged forecasts and a
        FitWarning: "no error" (every outcome is the median), "no error in most rows" (for a Student
        spread, which is that of the median error), "one outcome" (all are equal, so a bias
        correction predicts it everywhere, and the spread is unknown).

    See Also
    --------
    AutoRegressionCalibrator : pools it with other methods by their evidence.
    StdScaling, GaussianProcessScale, IntervalCalibration, QuantileRecalibration : single parts of
        it.

    Notes
    -----
    Use it for the error bars of any model, from 20 rows up. Each function is the mean over some
    thirty Gaussian-process priors, no change and constants among them, weighted by the evidence.
    Few rows therefore leave the forecast nearly unchanged, and many bend it as far as needed.
    Fisher scoring finds bias and spread; Newton's method on a convex problem finds the smooth
    change of shape. It assumes that bias depends on the mean and spread on the std (or the mean):
    if they depend on something else, look for it there. The spread stays above a twentieth of the
    typical one, since repeated outcomes would shrink it to nothing. It guarantees no coverage: see
    :class:`ConformalIntervals`.

    References
    ----------
    The composition and its averaging by evidence are ours. Its parts: Rigby and Stasinopoulos,
    "Generalized additive models for location, scale and shape", JRSS C 54, 2005; Hothorn, Moest and
    Buehlmann, "Most likely transformations", Scandinavian Journal of Statistics 45, 2018; Song et
    al., "Distribution calibration for regression", ICML 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.regression import DistributionRecalibration
    >>> rng = np.random.default_rng(0)
    >>> mean, std = rng.normal(size=1000), np.exp(0.5 * rng.normal(size=1000))
    >>> cal = DistributionRecalibration().fit(
    ...     mean, 0.7 * mean + std**1.5 * rng.standard_t(4, 1000), std=std
    ... )
    >>> forecast = cal.predict([1.0], [1.0])
    >>> bool(abs(forecast.mean[0] - 0.7) < 0.15), float(cal.degrees_) < 10.0
    (True, True)
    """

    tags: ClassVar[Tags] = Tags(output="distribution", label="recalibration by parts")
    learns: ClassVar[tuple[str, ...]] = ("bias_", "unit_", "spread_", "degrees_", "shape_")
    bias_: np.ndarray | list[np.ndarray]
    unit_: str | list[str]
    spread_: np.ndarray | list[np.ndarray]
    degrees_: float | np.ndarray
    shape_: np.ndarray | list[np.ndarray]

    def __init__(
        self,
        *,
        bias: Literal["smooth", "constant"] | None = "smooth",
        spread: Literal["smooth", "increasing", "constant"] | None = "smooth",
        shape: Literal["smooth", "student", "empirical"] | None = "smooth",
        start: Literal["forecast", "moments"] = "forecast",
        spread_by: Literal["std", "mean"] = "std",
        objective: Literal["nll", "crps"] = "nll",
        shrinkage: bool = True,
    ) -> None:
        self.bias: Literal["smooth", "constant"] | None = bias
        self.spread: Literal["smooth", "increasing", "constant"] | None = spread
        self.shape: Literal["smooth", "student", "empirical"] | None = shape
        self.start: Literal["forecast", "moments"] = start
        self.spread_by: Literal["std", "mean"] = spread_by
        self.objective: Literal["nll", "crps"] = objective
        self.shrinkage: bool = shrinkage

    @classmethod
    def _examples(cls) -> "list[DistributionRecalibration]":
        simple = cls(bias="constant", spread="constant", shape=None, shrinkage=False)
        moments = cls(shape="empirical", start="moments", spread_by="mean")
        return [cls(), cls(spread="increasing", shape="student", objective="crps"), simple, moments]

    def _check(self) -> None:
        for name, options in (("bias", BIASES), ("spread", SPREADS), ("shape", SHAPES)):
            require_option(name, getattr(self, name), options)
        self._option("start", "forecast", "moments")
        self._option("spread_by", "std", "mean")
        if self.spread == "increasing" and self.spread_by == "mean":
            raise InputError(
                'spread="increasing" keeps the order of the std, so spread_by must be "std"; got'
                ' "mean".'
            )
        self._option("objective", "nll", "crps")

    def _spread_input(self, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
        """Return the argument of the spread function."""
        return mean if self.spread_by == "mean" else np.log(std)

    def _begun(self, forecast: Any) -> Any:
        """Return the forecasts to correct."""
        if self.start == "forecast" or isinstance(forecast, NormalForecast):
            return forecast
        return NormalForecast(forecast.mean, forecast.std)

    def _fit_output(self, record: Any) -> dict[str, Any]:
        forecast, weight = self._begun(record.forecast), record.weights
        std, score = record.std, forecast.score_at(record.y)
        places = make_grid(record.mean, weight)
        scales = make_grid(
            self._spread_input(record.mean, std),
            weight,
            0.0 if self.spread_by == "mean" else LEAST_SPREAD,
        )
        student = self.shape in ("smooth", "student")
        unknown = self._unknown(record, score, student)
        if unknown is not None:
            warn(
                f"DistributionRecalibration found {unknown}; the forecasts are unchanged.",
                FitWarning,
            )
            return self._learned(places, scales, unknown.removesuffix(" at all"))
        # Priors are in units of the data: a typical std, and its overall factor.
        typical = np.exp(first_factor(score, weight, student)) if self.spread is not None else 1.0
        width = typical * np.exp(np.average(np.log(std), weights=weight))
        rows = Rows(
            score,
            weight,
            places,
            scales,
            (np.minimum(width / std, MOST_UNITS * typical), np.full(len(std), typical)),
            std,
        )
        found = fit_parts(
            rows, Parts(self.bias, self.spread, student, self.shrinkage, self.objective)
        )
        learned = self._learned(places, scales, found.status)
        learned["bias_"][1] = found.location * (typical if found.unit else width)
        learned["spread_"][1], learned["unit_"], learned["degrees_"] = (
            found.scale,
            UNITS[found.unit],
            float(found.degrees),
        )
        e = (score - rows.units[found.unit] * places.at_rows(found.location)) * np.exp(
            -scales.at_rows(found.scale)
        )
        if self.shape == "empirical":
            learned["shape_"] = np.array(empirical_scores(e, weight))
        elif self.shape == "smooth":
            learned["shape_"], learned["status"] = fit_shape(
                from_student(e, found.degrees), weight, found.status
            )
        warn_unless_converged(
            "DistributionRecalibration",
            learned["status"],
            np.nan,
            "look for outcomes far from all others",
        )
        return learned

    def _unknown(self, record: Any, score: np.ndarray, student: bool) -> str | None:
        """Return the reason why the rows do not determine the spread, or None; a fit would shrink
        it to almost nothing.
        """
        if not score.any():
            return "no error at all"
        if self.spread is None:
            return None
        if self.bias is not None and (record.y == record.y[0]).all():
            return "one outcome"
        # A Student spread is that of the median error; rounding errors do not count.
        hits = np.abs(score) * record.std <= ROUNDING * np.abs(record.y)
        return (
            "no error in most rows"
            if student and np.average(hits, weights=record.weights) > 0.5
            else None
        )

    def _learned(self, places: Any, scales: Any, status: str) -> dict[str, Any]:
        """Return parameters of no change."""
        bias, spread = (
            np.array([grid.points, np.zeros(len(grid.points))]) for grid in (places, scales)
        )
        return {
            "bias_": bias,
            "unit_": UNITS[0],
            "spread_": spread,
            "degrees_": np.inf,
            "shape_": np.zeros(N_FEATURES),
            "status": status,
        }

    def _predict_output(
        self,
        forecast: Any,
        bias: np.ndarray,
        unit: str,
        spread: np.ndarray,
        degrees: float,
        shape: np.ndarray,
    ) -> RecalibratedForecast:
        mean, std = forecast.mean, forecast.std
        shift = np.interp(mean, *np.asarray(bias)) / (std if unit == UNITS[0] else 1.0)
        factor = np.exp(np.interp(self._spread_input(mean, std), *np.asarray(spread)))
        knots, values, slopes = _curve(np.asarray(shape), degrees)
        return RecalibratedForecast(self._begun(forecast), knots, values, slopes, shift, factor)

    def _expression(
        self,
        forecast: SymbolicForecast,
        bias: np.ndarray,
        unit: str,
        spread: np.ndarray,
        degrees: float,
        shape: np.ndarray,
    ) -> SymbolicForecast:
        if not isinstance(forecast.shape, NormalForecast):
            raise InputError(
                "DistributionRecalibration of a forecast that is not normal has no expression;"
                " keep it in Python."
            )
        mean, std = forecast.mean, forecast.std
        shift = mean.interpolate(*np.asarray(bias))
        factor = (
            (mean if self.spread_by == "mean" else std.log()).interpolate(*np.asarray(spread)).exp()
        )
        location = mean + (shift if unit == UNITS[0] else shift * std)
        return SymbolicForecast(
            location,
            std * factor,
            RecalibratedForecast(STANDARD, *_curve(np.asarray(shape), degrees)),
        )


def _curve(shape: np.ndarray, degrees: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return knots, values and outer slopes of h."""
    if shape.ndim == 2:
        return shape[0], shape[1], tail_slopes(shape[0], shape[1])
    knots, values = shape_values(shape, TABLE), student_values(float(degrees))
    rise = np.diff(values) / np.diff(knots)
    return knots, values, rise[[0, -1]]
