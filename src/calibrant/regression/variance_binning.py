"""Histogram binning of the standard deviation."""

from typing import ClassVar

import numpy as np

from calibrant._kernels.bins import enough_bins, spread_bins
from calibrant._support.options import require_count
from calibrant.contracts.regression_calibrator import RegressionCalibrator
from calibrant.contracts.tags import Tags
from calibrant.errors import FitWarning, warn

__all__ = ["VarianceBinning"]


class VarianceBinning(RegressionCalibrator):
    r"""Replace each standard deviation by the root mean squared error seen in its bin.

    .. math:: \sigma' = \sqrt{\overline{(y - \mu)^2}}_{\,\text{bin}(\sigma)}

    Bins of equal weight by predicted std, tied std in one bin.

    Parameters
    ----------
    n_bins : int, default 10
        Fewer where that would leave less than 30 rows a bin.

    Attributes
    ----------
    edges_ : (m - 1,) array, or a list of them for d outputs
        Predicted std halfway between neighbouring bins.
    values_ : (m,) array, or a list of them
        The std of each bin.
    n_outputs_ : int
        0 for forecasts of shape (n,).
    status_ : "exact"; "no error" (every residual is 0: ``values_`` is empty and the std are left as they are, with a FitWarning).

    See Also
    --------
    IsotonicVariance : never falls, no number of bins to choose.
    StdScaling : one factor for all.

    Notes
    -----
    Use it where the std need not even be ordered rightly: it is the only one of these that can turn the order round. It gives a few
    distinct values, so it loses what the std said within a bin. A bin without any error gets the least error of the others.

    References
    ----------
    Zadrozny and Elkan, "Obtaining calibrated probability estimates from decision trees and naive Bayesian classifiers", ICML 2001, on
    squared errors; named in Levi et al. 2019, section 3.1.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import VarianceBinning
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

    @classmethod
    def _examples(cls):
        return [cls(), cls(n_bins=3)]

    def _check(self):
        require_count("n_bins", self.n_bins)

    def _fit_output(self, record):
        squared, weight = np.square(record.error), record.weights
        if not squared.any():
            warn("VarianceBinning saw no error at all; the standard deviations are left as they are.", FitWarning)
            return {"edges_": np.zeros(0), "values_": np.zeros(0), "status": "no error"}
        group, _, _, error = spread_bins(record.std, squared, weight, enough_bins(self.n_bins, weight.sum()))
        low, high = np.full(len(error), np.inf), np.zeros(len(error))
        np.minimum.at(low, group, record.std)
        np.maximum.at(high, group, record.std)
        values = np.sqrt(np.where(error > 0.0, error, error[error > 0.0].min()))
        return {"edges_": 0.5 * (high[:-1] + low[1:]), "values_": values}

    def _predict_output(self, forecast, edges, values):
        if len(values) == 0:
            return forecast
        return forecast.stretched(values[np.searchsorted(edges, forecast.std)] / forecast.std)

    def _expression(self, forecast, edges, values):
        return forecast.stretched(forecast.std.step(edges, values, closed=False) / forecast.std) if len(values) else forecast
