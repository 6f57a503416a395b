"""Predicted standard deviations against the errors seen, in bins of rows of like spread."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from calibrant._kernels.bins import (
    chi_square_draws,
    enough_bins,
    equal_mass_groups,
    grouped_sums,
    level_counts,
    level_gaps,
    normalised_gap,
    redrawn_counts,
    spread_bins,
)
from calibrant._kernels.bootstrap import null_generator, resampled_sums
from calibrant._kernels.intervals import powers, unseen_ends
from calibrant._support.options import require_count
from calibrant.contracts.interval import Interval, require_level
from calibrant.errors import InputError
from calibrant.forecasts.forecast import Forecast
from calibrant.forecasts.read import read_forecast
from calibrant.metrics.regression.levels import GapMetric

__all__ = [
    "ExpectedNormalizedCalibrationError",
    "QuantileCalibrationError",
    "SpreadMetric",
    "UncertaintyCalibrationError",
    "expected_normalized_calibration_error",
    "quantile_calibration_error",
    "uncertainty_calibration_error",
]

#: The cells of a sketch cover standard deviations from 2^-64 to 2^64; those beyond go to the
#: outermost cell.
OCTAVES = 64


class SpreadMetric(
    GapMetric,
    direction="minimize",
    range=(0.0, float("inf")),
    examples=({"n_bins": 3}, {"cells": 256}),
):
    """Template of those over bins of equal weight by predicted std; a metric writes ``_gaps`` and
    ``_columns`` (what is summed).

    Parameters
    ----------
    n_bins : int, default 10
    cells : int, default 0
        0 sorts all rows. A number of cells per doubling of the std keeps only sums by cell, a state
        of fixed size.
    """

    n_bins: int = 10
    cells: int = 0

    @property
    def mergeable(self) -> bool:
        """Whether ``state`` works with these options: with ``cells``."""
        return self.cells > 0

    def _check(self):
        require_count("n_bins", self.n_bins)
        require_count("cells", self.cells, 0, most=4096)

    @abstractmethod
    def _columns(self, record) -> list[np.ndarray]:
        """What is summed in each bin, besides the weight; the last rises with the squared error."""

    def _sums(self, record, index, n_groups):
        return grouped_sums(index, n_groups, self._columns(record), record.weight)

    def _draws(self, record, sums, n_resamples, random_state):
        group, columns, weight = self._bin(record), self._columns(record), record.weights
        draws = resampled_sums([(group, columns)], len(sums), weight, n_resamples, random_state)[
            :, 0
        ]
        # In each bin a row not seen yet is drawn as often as any, as the bin's mean but for as
        # large an error as those seen let expect.
        powered = grouped_sums(group, len(sums), powers(np.square(record.error)), weight)
        row = sums / sums[:, :1]
        row[:, -1] += (
            unseen_ends(powered[:, 0], powered[:, 1:], (0.0, np.inf))[1]
            - powered[:, 1] / powered[:, 0]
        )
        return (
            draws
            + np.random.default_rng([random_state, 1]).poisson(1.0, draws.shape[:2])[..., None]
            * row
        )

    def _cell(self, record):
        cell = np.floor(np.log2(record.std) * self.cells).astype(np.int64) + OCTAVES * self.cells
        return np.clip(cell, 0, 2 * OCTAVES * self.cells - 1)

    def _bin(self, record):
        """Bin of each row: of equal weight by std, tied std (or cells) together."""
        score = self._cell(record) if self.cells else record.std
        return equal_mass_groups(
            score, enough_bins(self.n_bins, record.weights.sum()), record.weights
        )

    def _totals(self, record):
        return self._sums(record, self._cell(record), 2 * OCTAVES * self.cells)

    def _all_totals(self, record):
        if self.cells:
            return super()._all_totals(record)
        index = self._bin(record)
        return self._sums(record, index, int(index.max()) + 1)

    def _bins(self, totals):
        if not self.cells:
            return totals
        weight = self._weight(totals)
        used = np.flatnonzero(weight)
        group = equal_mass_groups(used, enough_bins(self.n_bins, weight.sum()), weight[used])
        return np.add.reduceat(totals[used], np.searchsorted(group, np.arange(group[-1] + 1)))

    def _weight(self, totals):
        """Weight of each cell."""
        return totals[:, 0]

    def _finalise(self, totals):
        if self.cells and totals.ndim > 2:
            # Each leading entry has bins of its own.
            return np.array([self._finalise(each) for each in totals])
        return super()._finalise(totals)


class ExpectedNormalizedCalibrationError(SpreadMetric, name="ENCE", key="ence", long_tails=True):
    r"""Mean over bins of equal weight by predicted std of the relative gap between predicted and
    seen error (ENCE).

    .. math:: \frac{1}{N} \sum_j \frac{|RMV_j - RMSE_j|}{RMV_j}, \qquad
        RMV_j = \sqrt{\overline{\sigma^2}}, \quad RMSE_j = \sqrt{\overline{(y - \mu)^2}}

    Parameters
    ----------
    n_bins : int, default 10
        Fewer where that would leave less than 30 rows a bin. Tied std are never split, so there may
        be fewer still: one if all are equal.
    cells : int, default 0
        0 sorts all rows. A number of cells per doubling of the std (256 is plenty) keeps only sums
        by cell: then the metric has a state of fixed size, and the edges of the bins are off by at
        most a factor of 2^(1 / cells), 0.3 % for 256.

    See Also
    --------
    uncertainty_calibration_error : absolute gaps of the variance.
    rmse_rmv_curve : the gaps, bin by bin.

    Notes
    -----
    Use it to see whether the error bars mean what they say row by row, which the interval
    calibration error does not tell: that one can be perfect for a std drawn at random. Biased
    upward in small samples: a perfect normal model has about sqrt(N / (pi n)), so look at ``null``
    beside it, and do not select models by it (a constant std equal to the overall error has ENCE
    0): see c_v beside it. ``.interval`` is freed of the bias (method "debiased"): its ``value`` is
    the error that with this sample's noise would show as the one seen, ``plain`` the number above.
    Each bin counts a row more, of a large error, so that outliers which happen to be missing are
    not read as miscalibration.

    References
    ----------
    Levi et al., "Evaluating and calibrating uncertainty prediction in regression tasks", 2019, Eq.
    8.

    Examples
    --------
    >>> y, mean = [2.0, -2.0, 4.0, -4.0], [0.0, 0.0, 0.0, 0.0]
    >>> expected_normalized_calibration_error(y, mean, [1.0, 1.0, 2.0, 2.0])
    1.0
    """

    def null(
        self,
        mean: np.ndarray | Forecast,
        std: np.ndarray | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        level: float = 0.95,
        n_draws: int = 1000,
        random_state: int = 0,
        **options: Any,
    ) -> Interval:
        """What a perfect model with these standard deviations would show: the mean ENCE under
        N(mean, std), from 0 to its upper quantile.

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
            raise InputError(
                f"null takes one output; got forecasts of shape {record.forecast.shape}; call it"
                " for each column."
            )
        return self.with_options(**options).null_of(
            record, level=level, n_draws=n_draws, random_state=random_state
        )

    def null_of(
        self, record: Any, *, level: float = 0.95, n_draws: int = 1000, random_state: int = 0
    ) -> Interval:
        """``null`` for the forecasts of a record that has been read already."""
        weight, spread = record.weights, record.std
        group, mass, variance, _ = spread_bins(
            spread, spread * spread, weight, enough_bins(self.n_bins, weight.sum())
        )
        part = spread * spread / (mass * variance)[group]
        draws = chi_square_draws(
            group, part, weight, len(mass), n_draws, null_generator(random_state)
        )
        values = normalised_gap(1.0, draws)
        return Interval(
            float(values.mean()),
            0.0,
            float(np.quantile(values, level)),
            level,
            "null",
            float(weight.sum()),
        )

    def _columns(self, record):
        return [np.square(record.std), np.square(record.error)]

    def _gaps(self, sums):
        # Every bin counts alike, whatever its weight.
        gap = 1.0 - np.sqrt(sums[..., 2] / sums[..., 1])
        return np.ones(gap.shape), gap[..., None, :]


expected_normalized_calibration_error: ExpectedNormalizedCalibrationError = (
    ExpectedNormalizedCalibrationError()
)


class UncertaintyCalibrationError(SpreadMetric, name="UCE", key="uce", long_tails=True, degree=2):
    r"""Gap between predicted variance and mean squared error, averaged over bins by their weight
    (UCE).

    .. math:: \sum_j \frac{n_j}{n} \left| \overline{(y - \mu)^2}_j - \overline{\sigma^2}_j \right|

    Parameters
    ----------
    n_bins : int, default 10
        Bins of equal weight by predicted std; fewer where that would leave less than 30 rows a bin.
        Tied std are never split.
    cells : int, default 0
        0 sorts all rows. A number of cells per doubling of the std (256 is plenty) keeps only sums
        by cell: then the metric has a state of fixed size, and the edges of the bins are off by at
        most a factor of 2^(1 / cells), 0.3 % for 256.

    See Also
    --------
    expected_normalized_calibration_error : relative gaps of the std.
    rmse_rmv_curve : the gaps, bin by bin.

    Notes
    -----
    In squared units of y, so bins of large variance rule it: the ENCE, which is relative, treats
    all bins alike. Biased upward in small samples; ``.interval`` is freed of that (method
    "debiased"), and ``plain`` in it is the number above.

    Examples
    --------
    >>> uncertainty_calibration_error([2.0, -2.0], [0.0, 0.0], [1.0, 1.0])
    3.0
    """

    def _columns(self, record):
        return [np.square(record.error) - np.square(record.std)]

    def _gaps(self, sums):
        return sums[..., 0], sums[..., None, :, 1]


uncertainty_calibration_error: UncertaintyCalibrationError = UncertaintyCalibrationError()


class QuantileCalibrationError(SpreadMetric, name="QCE", key="qce", range=(0.0, 1.0)):
    r"""Gap between quantile level and share of outcomes below that quantile, over levels and bins
    of predicted std (QCE).

    .. math:: \frac{1}{L} \sum_l \sum_j \frac{n_j}{n} \left| \frac{1}{n_j} \sum_{i \in j} [y_i \le
        q_i(\tau_l)] - \tau_l \right|

    Parameters
    ----------
    n_bins : int, default 10
        Bins of equal weight by predicted std; fewer where that would leave less than 30 rows a bin.
        Tied std are never split.
    cells : int, default 0
        0 sorts all rows. A number of cells per doubling of the std (256 is plenty) keeps only sums
        by cell: then the metric has a state of fixed size, and the edges of the bins are off by at
        most a factor of 2^(1 / cells), 0.3 % for 256.
    n_levels : int, default 9
        Levels 1 / (L + 1), ..., L / (L + 1).

    See Also
    --------
    interval_calibration_error : central intervals.
    pit_histogram : all levels, to look at.

    Notes
    -----
    Use it for quantiles that should hold at every size of the predicted std, which the interval
    calibration error does not ask. Biased upward in small samples; ``.interval`` is freed of that
    (method "debiased"), and ``plain`` in it is the number above. The quantiles are one-sided;
    netcal's QCE counts the outcomes in central regions, and is another number.

    Examples
    --------
    >>> quantile_calibration_error([-1.0, 1.0], [0.0, 0.0], [1.0, 1.0], n_levels=1)
    0.0
    """

    n_levels: int = 9

    def _check(self):
        super()._check()
        require_count("n_levels", self.n_levels)

    @property
    def _levels(self):
        return (np.arange(self.n_levels) + 1.0) / (self.n_levels + 1.0)

    def _sums(self, record, index, n_groups):
        return level_counts(
            record.score, special.ndtri(self._levels), index, n_groups, record.weight
        )

    def _gaps(self, sums):
        return level_gaps(sums, self._levels)

    def _draws(self, record, sums, n_resamples, random_state):
        return redrawn_counts(sums, self._levels, n_resamples, random_state)

    def _weight(self, totals):
        return totals.sum(axis=-1)


quantile_calibration_error: QuantileCalibrationError = QuantileCalibrationError()
