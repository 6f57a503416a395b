"""ENCE: how far the error in each bin of predicted standard deviation is from what was predicted there."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels.null_draws import null_generator
from calibrant._kernels.spread_bins import chi_square_draws, enough_bins, normalised_gap, spread_bins
from calibrant.contracts.interval import Interval, require_level
from calibrant.errors import InputError
from calibrant.forecasts.forecast import Forecast
from calibrant.forecasts.read import read_forecast
from calibrant.metrics.regression.spread_metric import SpreadMetric

__all__ = ["ExpectedNormalizedCalibrationError", "expected_normalized_calibration_error"]


@dataclass(frozen=True, repr=False)
class ExpectedNormalizedCalibrationError(SpreadMetric):
    r"""Mean over bins of equal weight by predicted std of the relative gap between predicted and seen error (ENCE).

    .. math:: \frac{1}{N} \sum_j \frac{|RMV_j - RMSE_j|}{RMV_j}, \qquad
        RMV_j = \sqrt{\overline{\sigma^2}}, \quad RMSE_j = \sqrt{\overline{(y - \mu)^2}}

    Parameters
    ----------
    n_bins : int, default 10
        Fewer where that would leave less than 30 rows a bin. Tied std are never split, so there may be fewer still: one if all are equal.
    cells : int, default 0
        0 sorts all rows. A number of cells per doubling of the std (256 is plenty) keeps only sums by cell: then the metric has a state of
        fixed size, and the edges of the bins are off by at most a factor of 2^(1 / cells), 0.3 % for 256.

    See Also
    --------
    uncertainty_calibration_error : absolute gaps of the variance.
    rmse_rmv_curve : the gaps, bin by bin.

    Notes
    -----
    Use it to see whether the error bars mean what they say row by row, which the interval calibration error does not tell: that one can
    be perfect for a std drawn at random. Biased upward in small samples: a perfect normal model has about sqrt(N / (pi n)), so look at
    ``null`` beside it, and do not select models by it (a constant std equal to the overall error has ENCE 0): see c_v beside it.
    ``.interval`` is freed of the bias (method "debiased"): its ``value`` is the error that with this sample's noise would show as the
    one seen, ``plain`` the number above. Each bin counts a row more, of a large error, so that outliers which
    happen to be missing are not read as miscalibration.

    References
    ----------
    Levi et al., "Evaluating and calibrating uncertainty prediction in regression tasks", 2019, Eq. 8.

    Examples
    --------
    >>> y, mean = [2.0, -2.0, 4.0, -4.0], [0.0, 0.0, 0.0, 0.0]
    >>> expected_normalized_calibration_error(y, mean, [1.0, 1.0, 2.0, 2.0])
    1.0
    """

    name: ClassVar[str] = "ENCE"
    key: ClassVar[str] = "ence"
    long_tails: ClassVar[bool] = True

    def null(
        self, mean: np.ndarray | Forecast, std: np.ndarray | None = None, *, sample_weight: ArrayLike | None = None, level: float = 0.95,
        n_draws: int = 1000, random_state: int = 0, **options: Any,
    ) -> Interval:  # fmt: skip
        """What a perfect model with these standard deviations would show: the mean ENCE under N(mean, std), from 0 to its upper quantile.

        Parameters
        ----------
        mean, std, sample_weight
            As for the metric; one output.
        level : float, default 0.95
            ``high`` is the quantile of this level: a larger ENCE is evidence of miscalibration.
        n_draws : int, default 1000
        random_state : int

        Returns
        -------
        Interval
            With method "null".
        """
        require_level(level)
        record = read_forecast(mean, std, sample_weight=sample_weight)
        if record.several:
            raise InputError(f"null takes one output; got forecasts of shape {record.forecast.shape}; call it for each column.")
        return self.with_options(**options).null_of(record, level=level, n_draws=n_draws, random_state=random_state)

    def null_of(self, record: Any, *, level: float = 0.95, n_draws: int = 1000, random_state: int = 0) -> Interval:
        """``null`` for the forecasts of a record that has been read already."""
        weight, spread = record.weights, record.std
        group, mass, variance, _ = spread_bins(spread, spread * spread, weight, enough_bins(self.n_bins, weight.sum()))
        part = spread * spread / (mass * variance)[group]
        draws = chi_square_draws(group, part, weight, len(mass), n_draws, null_generator(random_state))
        values = normalised_gap(1.0, draws)
        return Interval(float(values.mean()), 0.0, float(np.quantile(values, level)), level, "null", float(weight.sum()))

    def _columns(self, record):
        return [np.square(record.std), np.square(record.error)]

    def _gaps(self, sums):
        # Every bin counts alike, whatever its weight.
        gap = 1.0 - np.sqrt(sums[..., 2] / sums[..., 1])
        return np.ones(gap.shape), gap[..., None, :]


expected_normalized_calibration_error: ExpectedNormalizedCalibrationError = ExpectedNormalizedCalibrationError()
