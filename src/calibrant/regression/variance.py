"""Calibration of standard deviations: none, by one factor, by bin, or by isotonic regression."""

from typing import Any, ClassVar

import numpy as np

from calibrant._numerics.bins import enough_bins, spread_bins
from calibrant._numerics.isotonic import pool_ties, pooled_blocks_of
from calibrant.core.calibrator import Tags
from calibrant.core.estimators import require_count
from calibrant.core.regression_calibrator import RegressionCalibrator
from calibrant.errors import FitWarning, warn

__all__ = ["ForecastIdentity", "IsotonicVariance", "StdScaling", "VarianceBinning"]


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
    Levi et al., "Evaluating and calibrating uncertainty prediction in regression tasks", 2019, Eq.
    12 (its sign and factor corrected).

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
    Bayesian classifiers", ICML 2001, on squared errors; named in Levi et al. 2019, section 3.1.

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
    section 3.1 (named, not tested there).

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
