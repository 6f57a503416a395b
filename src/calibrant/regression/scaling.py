"""Scaling of standard deviations and of covariances, and calibration of bounded outcomes on a
transformed scale without bounds.

Standard deviations stay as they are, or are scaled by one factor, by bin, or by isotonic
regression; covariances are scaled by one factor, one for each principal direction, or a full
matrix.
"""

from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from calibrant._numerics.bins import enough_bins, spread_bins
from calibrant._numerics.isotonic import pool_ties, pooled_blocks_of
from calibrant.core.arrays import ArrayLike
from calibrant.core.calibrator import Tags, require_fitted
from calibrant.core.estimators import (
    BaseEstimator,
    clone,
    require_count,
    require_option,
    require_valid,
    trial,
)
from calibrant.core.forecast_record import read_forecast
from calibrant.core.joint_normal import JointNormalForecast, as_joint, read_joint
from calibrant.core.kinds import require_regression_calibrator
from calibrant.core.quantile_forecast import BoundedForecast, Bounds
from calibrant.core.regression_calibrator import RegressionCalibrator
from calibrant.core.saving import Saved
from calibrant.errors import FitWarning, InputError, warn

__all__ = [
    "BoundedOutcomes",
    "CovarianceScaling",
    "ForecastIdentity",
    "IsotonicVariance",
    "StdScaling",
    "VarianceBinning",
]


class ForecastIdentity(
    RegressionCalibrator,
    family="baselines",
    use="Leaves the forecasts as they are",
):
    """Leave every predictive distribution unchanged.

    .. math:: F'(y) = F(y)

    Attributes
    ----------
    n_outputs_ : int
        0 for forecasts of shape (n,).
    status_ : "exact"

    See Also
    --------
    AutoRegressionCalibrator : returns it where no method is better.
    Identity : the same for class probabilities.

    Notes
    -----
    Use it as the baseline in comparisons; :class:`AutoRegressionCalibrator` returns it where
    nothing better is found. Do not use it where error bars are known to be wrong: it corrects
    nothing.

    Examples
    --------
    >>> from calibrant.regression import ForecastIdentity
    >>> ForecastIdentity().fit([0.0], [5.0], std=[1.0]).predict([1.0], [2.0]).std.tolist()
    [2.0]
    """

    tags: ClassVar[Tags] = Tags(
        output="distribution",
        label="uncalibrated forecasts",
        exceptions={
            "wild_errors": "it corrects nothing, by design",
            "coverage": "it corrects nothing, by design",
        },
    )

    def _fit_output(self, record: Any) -> dict[Any, Any]:
        return {}

    def _predict_output(self, forecast: Any) -> Any:
        return forecast

    def _expression(self, forecast: Any) -> Any:
        return forecast


class StdScaling(
    RegressionCalibrator,
    family="standard deviations",
    use="One factor for all error bars; few rows",
    common=True,
):
    r"""Multiply every standard deviation by one factor, which minimises the normal log loss.

    .. math:: \sigma' = s \sigma, \qquad s^2 = \frac{\sum_i w_i (y_i - \mu_i)^2 /
        \sigma_i^2}{\sum_i w_i}

    which is the minimum of :math:`\sum_i w_i [\log s + (y_i - \mu_i)^2 / (2 s^2 \sigma_i^2)]` in
    closed form.

    Attributes
    ----------
    scale_ : float, or (d,) array for d outputs
        Above 1 the model was overconfident, below 1 underconfident.
    n_outputs_ : int
        0 for forecasts of shape (n,).
    status_ : "exact"; "no error" (every residual is 0, which would scale to nothing: scale 1, with
        a FitWarning).

    See Also
    --------
    GaussianProcessScale, IsotonicVariance : a factor that depends on the std.
    IntervalCalibration : also changes the shape.

    Notes
    -----
    The first method to try: one number, which cannot overfit and keeps the ranking of the rows by
    uncertainty. It cannot make an uninformative uncertainty informative, and does not change the
    shape of the distributions; IntervalCalibration does. Forecasts that are not normal are
    stretched about their mean by the same factor.

    References
    ----------
    Levi et al., "Evaluating and calibrating uncertainty prediction in regression tasks", 2019,
    equations 11 and 12. The sign and factor of equation 12 are corrected here.

    Examples
    --------
    >>> cal = StdScaling().fit(
    ...     [0.0, 0.0, 0.0, 0.0], [2.0, -2.0, 4.0, -4.0], std=[1.0, 1.0, 2.0, 2.0]
    ... )
    >>> cal.scale_
    2.0
    >>> cal.predict([1.0], [3.0]).std.tolist()
    [6.0]
    """

    tags: ClassVar[Tags] = Tags(output="distribution", label="STD scaling")
    learns: ClassVar[tuple[str, ...]] = ("scale_",)
    scale_: float | np.ndarray

    def _fit_output(self, record: Any) -> Any:
        # Dividing by the largest first avoids an overflow of squares for residuals far beyond their
        # std.
        size = np.abs(record.standardised)
        largest = float(size.max())
        if largest == 0.0:
            warn(
                "StdScaling found no error at all; the standard deviations are unchanged.",
                FitWarning,
            )
            return {"scale_": 1.0, "status": "no error"}
        return {
            "scale_": (
                largest
                * float(np.sqrt(np.average(np.square(size / largest), weights=record.weight)))
            )
        }

    def _predict_output(self, forecast: Any, scale: float) -> Any:
        return forecast.stretched(scale)

    def _expression(self, forecast: Any, scale: float) -> Any:
        return forecast.stretched(scale)


class VarianceBinning(
    RegressionCalibrator,
    examples=[{"n_bins": 3}],
    family="standard deviations",
    use="The error of each bin of the predicted std",
):
    r"""Replace each standard deviation by the root mean squared error in its bin.

    .. math:: \sigma' = \sqrt{\overline{(y - \mu)^2}}_{\,\text{bin}(\sigma)}

    Bins of equal weight by predicted std, tied std in one bin.

    Parameters
    ----------
    n_bins : int, default 10
        Fewer if a bin would have less than 30 rows.

    Attributes
    ----------
    edges_ : (m - 1,) array, or a list of them for d outputs
        Predicted std midway between neighbouring bins.
    values_ : (m,) array, or a list of them
        The std of each bin.
    n_outputs_ : int
        0 for forecasts of shape (n,).
    status_ : "exact"; "no error" (every residual is 0: ``values_`` is empty and the std stay
        unchanged, with a FitWarning).

    See Also
    --------
    IsotonicVariance : monotone, without a number of bins to choose.
    StdScaling : one factor for all.

    Notes
    -----
    Use it where even the order of the std may be wrong: it is the only one of these methods that
    can reverse it. It has few distinct values, so differences of the std within a bin are lost. A
    bin without any error receives the smallest error of the others.

    References
    ----------
    Zadrozny and Elkan, "Obtaining calibrated probability estimates from decision trees and naive
    Bayesian classifiers", ICML 2001, on squared errors; Levi et al., "Evaluating and calibrating
    uncertainty prediction in regression tasks", 2019, section 3.1. It is named there and not
    tested.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.regression import VarianceBinning
    >>> std = np.repeat([1.0, 2.0], 100)
    >>> cal = VarianceBinning(n_bins=2).fit(np.zeros(200), 3.0 * std, std=std)
    >>> cal.predict([0.0, 0.0], [1.1, 1.9]).std.tolist()
    [3.0, 6.0]
    """

    tags: ClassVar[Tags] = Tags(output="distribution", label="variance binning")
    learns: ClassVar[tuple[str, ...]] = ("edges_", "values_")
    edges_: np.ndarray | list[np.ndarray]
    values_: np.ndarray | list[np.ndarray]

    def __init__(self, *, n_bins: int = 10) -> None:
        self.n_bins: int = n_bins

    def _check(self) -> None:
        require_count("n_bins", self.n_bins)

    def _fit_output(self, record: Any) -> Any:
        squared, weight = np.square(record.error), record.weights
        if not squared.any():
            warn(
                "VarianceBinning found no error at all; the standard deviations are unchanged.",
                FitWarning,
            )
            return {"edges_": np.zeros(0), "values_": np.zeros(0), "status": "no error"}
        group, _, _, error = spread_bins(
            record.std, squared, weight, enough_bins(self.n_bins, weight.sum())
        )
        low, high = np.full(len(error), np.inf), np.zeros(len(error))
        np.minimum.at(low, group, record.std)
        np.maximum.at(high, group, record.std)
        values = np.sqrt(np.where(error > 0.0, error, error[error > 0.0].min()))
        return {"edges_": 0.5 * (high[:-1] + low[1:]), "values_": values}

    def _predict_output(self, forecast: Any, edges: np.ndarray, values: np.ndarray) -> Any:
        if len(values) == 0:
            return forecast
        return forecast.stretched(values[np.searchsorted(edges, forecast.std)] / forecast.std)

    def _expression(self, forecast: Any, edges: np.ndarray, values: np.ndarray) -> Any:
        return (
            forecast.stretched(forecast.std.step(edges, values, closed=False) / forecast.std)
            if len(values)
            else forecast
        )


class IsotonicVariance(
    RegressionCalibrator,
    family="standard deviations",
    use="An increasing map of the std; thousands of rows",
):
    r"""Replace each standard deviation by an increasing function of it, fitted to the squared
    errors.

    .. math:: \sigma'^2 = g(\sigma^2), \qquad g = \arg\min_{g \nearrow} \sum_i w_i \left[ (y_i -
        \mu_i)^2 - g(\sigma_i^2) \right]^2

    The new std is constant in each block of the fit, and linear between the last old std of one
    block and the first of the next. Beyond the outermost rows the ratio of new to old std stays
    constant.

    Parameters
    ----------
    min_rows : int, default 20
        Blocks at either end with less weight are merged with their neighbour, because a single
        large error at the largest std would otherwise form a block. So are blocks without any
        error.

    Attributes
    ----------
    knots_, values_ : (m,) arrays, or lists of them for d outputs
        Old and new standard deviations at both ends of the blocks.
    n_outputs_ : int
        0 for forecasts of shape (n,).
    status_ : "exact"; "no error" (every residual is 0: the std are left as they are, with a
        FitWarning).

    See Also
    --------
    VarianceBinning : one value a bin.
    GaussianProcessScale : smooth, with a prior.

    Notes
    -----
    Use it where a larger predicted std means a larger error, but not in proportion, and there are
    thousands of rows. An uninformative std becomes nearly constant, as it should. STD scaling is
    safer on few rows.

    References
    ----------
    Levi et al., "Evaluating and calibrating uncertainty prediction in regression tasks", 2019,
    section 3.1. It is named there and not tested.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.regression import IsotonicVariance
    >>> std = np.repeat([1.0, 2.0], 100)
    >>> cal = IsotonicVariance().fit(np.zeros(200), 3.0 * std, std=std)
    >>> cal.predict([0.0, 0.0], [1.0, 1.5]).std.tolist()
    [3.0, 4.5]
    """

    tags: ClassVar[Tags] = Tags(output="distribution", label="isotonic variance")
    learns: ClassVar[tuple[str, ...]] = ("knots_", "values_")
    knots_: np.ndarray | list[np.ndarray]
    values_: np.ndarray | list[np.ndarray]

    def __init__(self, *, min_rows: float = 20) -> None:
        self.min_rows: float = min_rows

    def _fit_output(self, record: Any) -> Any:
        squared = np.square(record.error)
        if not squared.any():
            warn(
                "IsotonicVariance found no error at all; the standard deviations are unchanged.",
                FitWarning,
            )
            return {"knots_": np.ones(1), "values_": np.ones(1), "status": "no error"}
        std, mass, mean = pool_ties(record.std, squared, record.weights)
        first, value, weight = pooled_blocks_of(mean, mass)
        last = np.append(first[1:], len(std)) - 1
        blocks = _joined(
            list(zip(weight, std[first], std[last], value, strict=True)), self.min_rows
        )
        knots = np.array([block[1:3] for block in blocks]).ravel()
        knots, own = np.unique(knots, return_index=True)
        return {
            "knots_": knots,
            "values_": np.sqrt(np.repeat([block[3] for block in blocks], 2)[own]),
        }

    def _predict_output(self, forecast: Any, knots: np.ndarray, values: np.ndarray) -> Any:
        std = np.clip(forecast.std, knots[0], knots[-1])
        return forecast.stretched(np.interp(std, knots, values) / std)

    def _expression(self, forecast: Any, knots: np.ndarray, values: np.ndarray) -> Any:
        std = forecast.std.clip(knots[0], knots[-1])
        return forecast.stretched(std.interpolate(knots, values) / std)


def _joined(
    blocks: list[tuple[float, float, float, float]], least: float
) -> list[tuple[float, float, float, float]]:
    """Return blocks (weight, first std, last std, error), with small ones at the ends, and those
    without error, merged with their neighbour.
    """
    while len(blocks) > 1 and (blocks[0][0] < least or blocks[0][3] <= 0.0):
        blocks[:2] = [_joint(*blocks[:2])]
    while len(blocks) > 1 and blocks[-1][0] < least:
        blocks[-2:] = [_joint(*blocks[-2:])]
    return blocks


def _joint(
    a: tuple[float, float, float, float], b: tuple[float, float, float, float]
) -> tuple[float, float, float, float]:
    weight = a[0] + b[0]
    return weight, a[1], b[2], (a[0] * a[3] + b[0] * b[3]) / weight


class CovarianceScaling(Saved, BaseEstimator):
    r"""Multiply covariances by one factor, one for each principal variance, or a matrix, for
    minimum normal log loss.

    .. math:: \Sigma' = Q \, \mathrm{diag}(s_k^2 v_k) \, Q^\top, \qquad
        s_k^2 = \frac{\sum_i w_i (q_{ik}^\top (y_i - \mu_i))^2 / v_{ik}}{\sum_i w_i}

    in closed form; the single factor is the mean of these :math:`s_k^2`. For a matrix,

    .. math:: \Sigma' = \Sigma^{1/2} C \Sigma^{1/2}, \qquad C = \frac{\sum_i w_i e_i
        e_i^\top}{\sum_i w_i},
        \quad e_i = \Sigma_i^{-1/2} (y_i - \mu_i)

    with symmetric roots; C is shrunk towards its mean variance by its estimated noise (Ledoit and
    Wolf).

    Parameters
    ----------
    factors : {"one", "directions", "full"}
        One factor for all, one for each direction in ascending order of variance, or the matrix C.

    Attributes
    ----------
    scale_ : (1,), (d,) or (d, d)
        Factors of standard deviations: above 1 the model was overconfident, below 1 underconfident.
        For the matrix, its symmetric root.
    n_outputs_ : int
    n_rows_ : float
        Number of calibration rows, by weight.
    status_ : "exact"; "no error" (every residual is 0 along a direction: its scale is 1, with a
        FitWarning).

    See Also
    --------
    StdScaling : the same for one output, or for each output separately.
    JointNormalForecast : its input and its output.

    Notes
    -----
    One factor cannot overfit, and keeps all correlations. With "directions" it corrects
    correlations that were predicted too strong or too weak; each factor uses all rows, so a hundred
    rows are enough. If two variances of a row are equal, its directions, and so their factors, are
    arbitrary: use one factor for nearly spherical forecasts. "full" finds correlations that were
    not predicted, as where only stds exist: ``np.apply_along_axis(np.diag, 1, std**2)``. From a few
    hundred rows it is seldom worse than one factor. None of them corrects a bias or a shape that is
    not normal.

    References
    ----------
    Ledoit and Wolf, "A well-conditioned estimator for large-dimensional covariance matrices",
    Journal of Multivariate Analysis 88, 2004.

    Examples
    --------
    >>> mean, cov = [[0.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 4.0]]
    >>> cal = CovarianceScaling(factors="directions").fit((mean, cov), [[2.0, 2.0], [-2.0, -2.0]])
    >>> cal.scale_.tolist()
    [2.0, 1.0]
    >>> cal.predict((mean, cov)).cov[0].tolist()
    [[4.0, 0.0], [0.0, 4.0]]
    """

    def __init__(self, factors: Literal["one", "directions", "full"] = "one") -> None:
        self.factors: Literal["one", "directions", "full"] = factors

    def fit(self, forecast: Any, y: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Self:
        """Fit on held-out forecasts and outcomes.

        Parameters
        ----------
        forecast : JointNormalForecast, or (mean, cov)
        y : (n, d) outcomes
        sample_weight : (n,), optional
            Weight 2 means the row twice, weight 0 no row.
        """
        require_option("factors", self.factors, ("one", "directions", "full"))
        record = read_joint(forecast, y, sample_weight)
        joint = record.normal
        size = np.abs(joint.along(record.y)) / np.sqrt(joint.principal_variance)
        # Dividing by the largest first avoids an overflow of squares for residuals far beyond their
        # std.
        largest = size.max(axis=0) if self.factors == "directions" else np.full(1, size.max())
        none = largest == 0.0
        each = np.average(
            np.square(size / np.where(none, 1.0, largest)), axis=0, weights=record.weights
        )
        mean = each if self.factors == "directions" else each.mean(keepdims=True)
        self.status_: str = "exact"
        if none.any():
            warn(
                "CovarianceScaling found no error at all along a direction; its variances are"
                " unchanged.",
                FitWarning,
            )
            self.status_ = "no error"
        self.scale_: np.ndarray = np.where(none, 1.0, largest * np.sqrt(mean))
        if self.factors == "full" and not none.any():
            self.scale_ = largest * _root(
                _shrunk(joint.whitened(record.y) / largest, record.weights)
            )
        self.n_outputs_: int = joint.shape[1]
        self.n_rows_: float = float(record.weights.sum())
        return self

    def predict(self, forecast: Any) -> JointNormalForecast:
        """Return the calibrated joint forecasts of the outputs."""
        require_fitted(self, "n_outputs_")
        joint = as_joint(forecast)
        if joint.shape[1] != self.n_outputs_:
            raise InputError(
                f"the forecast must have {self.n_outputs_} outputs, as in fit; got"
                f" {joint.shape[1]}."
            )
        return joint.scaled(
            self.scale_ @ self.scale_ if self.scale_.ndim == 2 else np.square(self.scale_)
        )


def _shrunk(errors: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return second moments (d, d) of errors (n, d), shrunk towards their mean variance."""
    n, d = weight.sum(), errors.shape[1]
    moments = (errors.T * weight) @ errors / n
    target = moments.trace() / d * np.eye(d)
    apart = np.square(moments - target).sum()
    noise = (weight @ np.square(np.square(errors).sum(axis=1)) / n - np.square(moments).sum()) / n
    # A few rows can agree by chance, and a single one always does.
    share = np.clip(noise / apart if apart > 0.0 else 1.0, 1.0 / (n + 1.0), 1.0)
    return (1.0 - share) * moments + share * target


def _root(moments: np.ndarray) -> np.ndarray:
    variance, directions = np.linalg.eigh(moments)
    return (directions * np.sqrt(variance)) @ directions.T


@trial.register
def _(calibrator: CovarianceScaling) -> None:
    d = calibrator.n_outputs_
    require_valid(
        calibrator.predict((np.zeros((1, d)), np.diag(np.arange(1.0, d + 1.0)))).cov, (1, d, d)
    )


class BoundedOutcomes(
    RegressionCalibrator,
    family="whole distributions",
    use="A calibrator for outcomes with bounds",
):
    r"""Fit a calibrator on a scale where outcomes have no bounds, and map its forecasts back inside
    the bounds.

    .. math:: x = \log(y - a), \quad x = -\log(b - y), \quad \text{or} \quad x =
        \Phi^{-1}\left(\frac{y - a}{b - a}\right)

    with a lower bound a, an upper bound b, or both.

    Parameters
    ----------
    calibrator : RegressionCalibrator, optional
        Default ``StdScaling()``.
    lower : float or None, default 0.0
    upper : float or None
        Every outcome lies strictly between the bounds; the same ones for all outputs.

    Attributes
    ----------
    calibrator_ : fitted RegressionCalibrator, or a list with one for each of d outputs
    n_outputs_ : int
        0 for forecasts of shape (n,).
    status_ : the status of the calibrator.

    Raises
    ------
    InputError
        For outcomes, means, quantiles or draws at or beyond a bound, and for a std that no
        distribution within the bounds has.

    See Also
    --------
    StdScaling, QuantileRecalibration : calibrators to use inside.
    metrics.randomised_pit : for counts.

    Notes
    -----
    Use it for positive amounts, prices, durations, and for shares. Mean and std are read as those
    of a lognormal distribution, or of a normal score between two bounds; the uncalibrated forecast
    keeps both. Quantiles and samples are mapped directly. Outcomes that are often exactly 0 or 1
    need a separate model of these values and are refused.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> mean = rng.uniform(1.0, 5.0, 200)
    >>> y = mean * np.exp(rng.normal(size=200))
    >>> cal = BoundedOutcomes().fit(mean, y, std=0.2 * mean)
    >>> low, high = cal.predict([1.0], [0.2]).interval(0.99)
    >>> bool(low[0] > 0.0), bool(high[0] > 5.0)
    (True, True)
    """

    tags: ClassVar[Tags] = Tags(
        output="distribution",
        label="calibration on a scale without bounds",
        exceptions={
            "units": "the bounds are in the units of the outcomes and must be set anew",
            "extreme_forecasts": "forecasts beyond the bounds are refused",
        },
    )
    learns: ClassVar[tuple[str, ...]] = ("calibrator_",)
    calibrator_: Any

    def __init__(
        self,
        calibrator: RegressionCalibrator | None = None,
        *,
        lower: float | None = 0.0,
        upper: float | None = None,
    ) -> None:
        self.calibrator: RegressionCalibrator | None = calibrator
        self.lower: float | None = lower
        self.upper: float | None = upper

    @classmethod
    def _examples(cls) -> "list[BoundedOutcomes]":
        return [cls(lower=-1e5), cls(lower=None, upper=1e5), cls(lower=-1e5, upper=1e5)]

    def _check(self) -> None:
        if self.calibrator is not None:
            require_regression_calibrator(self.calibrator)
        ends = [end for end in (self.lower, self.upper) if end is not None]
        numbers = all(
            isinstance(end, float | int) and not isinstance(end, bool) and np.isfinite(end)
            for end in ends
        )
        if not (ends and numbers and ends == sorted(set(ends))):
            raise InputError(
                "lower and upper must be numbers in this order, with at most one None; got"
                f" {self.lower!r} and {self.upper!r}; without bounds use the calibrator directly."
            )

    @property
    def _bounds(self) -> Bounds:
        return Bounds(self.lower, self.upper)

    def _fit_output(self, record: Any) -> dict[str, Any]:
        self._bounds.require_inside(record.y, "y")
        opened = replace(
            record, forecast=self._bounds.opened(record.forecast), y=self._bounds.forward(record.y)
        )
        inner = clone(StdScaling() if self.calibrator is None else self.calibrator).fit_record(
            opened
        )
        return {"calibrator_": inner, "status": inner.status_}

    def _predict_output(self, forecast: Any, calibrator: StdScaling) -> BoundedForecast:
        return BoundedForecast(
            calibrator.predict_record(read_forecast(self._bounds.opened(forecast))), self._bounds
        )


@trial.register
def _(bounded: BoundedOutcomes) -> None:
    bounds, d = Bounds(bounded.lower, bounded.upper), max(bounded.n_outputs_, 1)
    x = np.linspace(-1.0, 1.0, 3 * d).reshape((3, d) if bounded.n_outputs_ else 3)
    forecast = bounded.predict(
        bounds.back(x),
        np.full(
            x.shape, 1e-3 * (bounds.width if None not in (bounds.lower, bounds.upper) else 1.0)
        ),
    )
    require_valid(forecast.mean, x.shape)
