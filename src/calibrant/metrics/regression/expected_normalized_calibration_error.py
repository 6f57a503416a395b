"""ENCE: how far the error in each bin of predicted standard deviation is from what was predicted there."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant._base.interval import Interval, require_level
from calibrant._base.regression_metric import RegressionMetric
from calibrant._kernels.null_draws import null_generator
from calibrant._kernels.spread_bins import chi_square_draws, enough_bins, normalised_gap, spread_bins
from calibrant.errors import InputError
from calibrant.forecasts.read import read_forecast

__all__ = ["ExpectedNormalizedCalibrationError", "expected_normalized_calibration_error"]

#: The cells of the sketch cover standard deviations from 2^-64 to 2^64; those beyond go to the outermost cell.
OCTAVES = 64


@dataclass(frozen=True, repr=False)
class ExpectedNormalizedCalibrationError(RegressionMetric):
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

    Notes
    -----
    Use it to see whether the error bars mean what they say row by row, which the interval calibration error does not tell: that one can
    be perfect for a std drawn at random. Biased upward in small samples: a perfect normal model has about sqrt(N / (pi n)), so look at
    ``null`` beside it, and do not select models by it (a constant std equal to the overall error has ENCE 0): see c_v beside it.
    The bootstrap interval shares the bias.

    References
    ----------
    Levi et al., "Evaluating and calibrating uncertainty prediction in regression tasks", 2019, Eq. 8.

    Examples
    --------
    >>> y, mean = [2.0, -2.0, 4.0, -4.0], [0.0, 0.0, 0.0, 0.0]
    >>> expected_normalized_calibration_error(y, mean, [1.0, 1.0, 2.0, 2.0])
    1.0
    """

    n_bins: int = 10
    cells: int = 0

    name: ClassVar[str] = "ENCE"
    direction: ClassVar = "minimize"
    range: ClassVar = (0.0, float("inf"))

    @classmethod
    def _examples(cls):
        return [cls(), cls(n_bins=3), cls(cells=256)]

    @property
    def mergeable(self) -> bool:
        """Whether ``state`` works with these options: with ``cells``."""
        return self.cells > 0

    def _check(self):
        if not (isinstance(self.n_bins, int) and self.n_bins >= 1):
            raise InputError(f"n_bins must be a whole number of at least 1; got {self.n_bins!r}.")
        if not (isinstance(self.cells, int) and 0 <= self.cells <= 4096):
            raise InputError(f"cells must be a whole number from 0 (none) to 4096; got {self.cells!r}.")

    def null(self, mean, std=None, *, sample_weight=None, level=0.95, n_draws=1000, random_state=0, **options) -> Interval:
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
        metric = self._with(options)
        record = read_forecast(mean, std, sample_weight=sample_weight)
        if len(record.forecast.shape) != 1:
            raise InputError(f"null takes one output; got forecasts of shape {record.forecast.shape}; call it for each column.")
        weight, spread = record.weights, record.std
        group, mass, variance, _ = spread_bins(spread, spread * spread, weight, enough_bins(metric.n_bins, weight.sum()))
        part = spread * spread / (mass * variance)[group]
        draws = chi_square_draws(group, part, weight, len(mass), n_draws, null_generator(random_state))
        values = normalised_gap(1.0, draws)
        return Interval(float(values.mean()), 0.0, float(np.quantile(values, level)), level, "null", float(weight.sum()))

    def _value(self, record):
        if self.cells:
            return float(self._finalise(self._all_totals(record)))
        return self._gap(record.std, np.square(record.error), record.weights)

    def _gap(self, std, squared_error, weight):
        _, _, variance, error = spread_bins(std, squared_error, weight, enough_bins(self.n_bins, weight.sum()))
        return float(normalised_gap(variance, error))

    def _totals(self, record):
        cell = np.floor(np.log2(record.std) * self.cells).astype(np.int64) + OCTAVES * self.cells
        cell = np.clip(cell, 0, 2 * OCTAVES * self.cells - 1)
        weight = record.weight
        variance, error = np.square(record.std), np.square(record.error)
        if weight is not None:
            variance, error = variance * weight, error * weight
        size = 2 * OCTAVES * self.cells
        return np.stack([np.bincount(cell, weights=w, minlength=size) for w in (weight, variance, error)], axis=-1)

    def _finalise(self, totals):
        if totals.ndim > 2:
            return np.array([self._finalise(each) for each in totals])
        used = np.flatnonzero(totals[:, 0])
        weight, variance, error = totals[used].T
        # A cell is a row of its mean square std: cells are ordered by it.
        return self._gap(np.sqrt(variance / weight), error / weight, weight)


expected_normalized_calibration_error = ExpectedNormalizedCalibrationError()
