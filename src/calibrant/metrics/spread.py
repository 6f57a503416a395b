"""Predicted standard deviations against observed errors, in bins of rows with similar std."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from calibrant._numerics.bins import (
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
from calibrant._numerics.bootstrap import null_generator, resampled_sums
from calibrant._numerics.intervals import powers, unseen_ends
from calibrant.core.estimators import require_count
from calibrant.core.forecast import Forecast
from calibrant.core.forecast_record import read_forecast
from calibrant.core.groups import in_order
from calibrant.core.metric import Interval, require_level
from calibrant.errors import InputError
from calibrant.metrics.levels import GapMetric

__all__ = [
    "ExpectedNormalizedCalibrationError",
    "QuantileCalibrationError",
    "SpreadMetric",
    "UncertaintyCalibrationError",
    "expected_normalized_calibration_error",
    "quantile_calibration_error",
    "uncertainty_calibration_error",
]

#: The cells of a sketch cover standard deviations from 2^-64 to 2^64; values beyond go to the
#: outermost cells.
OCTAVES = 64


class SpreadMetric(
    GapMetric,
    direction="minimize",
    range=(0.0, float("inf")),
    examples=({"n_bins": 3}, {"cells": 256}),
):
    """Template of metrics over bins of equal weight by predicted std; a subclass defines ``_gaps``
    and ``_columns`` (the summands).

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
        """Whether ``state`` works with these options; it requires ``cells``."""
        return self.cells > 0

    def _check(self) -> None:
        require_count("n_bins", self.n_bins)
        require_count("cells", self.cells, 0, most=4096)

    @abstractmethod
    def _columns(self, record) -> list[np.ndarray]:
        """Summands of each bin besides the weight; the last increases with the squared error."""

    def _sums(self, record: Any, index: np.ndarray, n_groups: int) -> np.ndarray:
        return grouped_sums(index, n_groups, self._columns(record), record.weight)

    def _draws(
        self, record: Any, sums: np.ndarray, n_resamples: int, random_state: int
    ) -> np.ndarray:
        group, columns, weight = self._bin(record), self._columns(record), record.weights
        draws = resampled_sums([(group, columns)], len(sums), weight, n_resamples, random_state)[
            :, 0
        ]
        # Each bin gains an unseen row, drawn as often as any other. It equals the bin's mean,
        # except for an error as large as the observed ones suggest.
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

    def _cell(self, record: Any) -> np.ndarray:
        cell = np.floor(np.log2(record.std) * self.cells).astype(np.int64) + OCTAVES * self.cells
        return np.clip(cell, 0, 2 * OCTAVES * self.cells - 1)

    def _bin(self, record: Any) -> np.ndarray:
        """Bin of each row, of equal weight by std; tied std (or cells) stay together."""
        score = self._cell(record) if self.cells else record.std
        return equal_mass_groups(
            score, enough_bins(self.n_bins, record.weights.sum()), record.weights
        )

    def _totals(self, record: Any) -> np.ndarray:
        return self._sums(record, self._cell(record), 2 * OCTAVES * self.cells)

    def _all_totals(self, record: Any) -> np.ndarray:
        if self.cells:
            return super()._all_totals(record)
        index = self._bin(record)
        return self._sums(record, index, int(index.max()) + 1)

    def _bins(self, totals: np.ndarray) -> np.ndarray:
        if not self.cells:
            return totals
        weight = self._weight(totals)
        used = np.flatnonzero(weight)
        group = equal_mass_groups(used, enough_bins(self.n_bins, weight.sum()), weight[used])
        return np.add.reduceat(totals[used], np.searchsorted(group, np.arange(group[-1] + 1)))

    def _weight(self, totals: np.ndarray) -> np.ndarray:
        """Weight of each cell."""
        return totals[:, 0]

    def _finalise(self, totals: np.ndarray) -> Any:
        if self.cells and totals.ndim > 2:
            # Each leading entry has its own bins.
            return np.array([self._finalise(each) for each in totals])
        return super()._finalise(totals)


class ExpectedNormalizedCalibrationError(SpreadMetric, name="ENCE", key="ence", long_tails=True):
    r"""Mean relative gap between predicted and observed error over bins of equal weight by
    predicted std (ENCE).

    .. math:: \frac{1}{N} \sum_j \frac{|RMV_j - RMSE_j|}{RMV_j}, \qquad
        RMV_j = \sqrt{\overline{\sigma^2}}, \quad RMSE_j = \sqrt{\overline{(y - \mu)^2}}

    Parameters
    ----------
    n_bins : int, default 10
        Number of bins; fewer where a bin would have fewer than 30 rows. Tied std are never split,
        so there may be fewer still: one if all are equal.
    cells : int, default 0
        0 sorts all rows. A number of cells per doubling of the std (256 is plenty) keeps only sums
        by cell. The metric then has a state of fixed size, and the edges of the bins are wrong by
        at most a factor of 2^(1 / cells), 0.3 % for 256.

    See Also
    --------
    uncertainty_calibration_error : the absolute gaps of the variance.
    rmse_rmv_curve : the gap in each bin.

    Notes
    -----
    Use it to check whether error bars are calibrated at each size. The interval calibration error
    does not show that: it can be perfect for a random std. It is biased upward in small samples: a
    perfect normal model has about sqrt(N / (pi n)), so compare it with ``null``. Do not select
    models by it (a constant std equal to the overall error has ENCE 0), and report c_v with it.
    ``.interval`` removes the bias (method "debiased"): its ``value`` is the error that, with this
    sample's noise, would produce the observed one; ``plain`` is the value above. Each bin gains one
    row with a large error, so that outliers which happen to be missing do not count as
    miscalibration.

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
        """Compute the null distribution: mean and upper quantile of the ENCE of a perfect model
        N(mean, std).

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
            An interval with method "null".
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
        """Compute ``null`` for the forecasts of an existing record."""
        record = in_order(record)
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

    def _columns(self, record: Any) -> list[np.ndarray]:
        return [np.square(record.std), np.square(record.error)]

    def _gaps(self, sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        # Every bin counts equally, whatever its weight.
        gap = 1.0 - np.sqrt(sums[..., 2] / sums[..., 1])
        return np.ones(gap.shape), gap[..., None, :]


expected_normalized_calibration_error: ExpectedNormalizedCalibrationError = (
    ExpectedNormalizedCalibrationError()
)


class UncertaintyCalibrationError(SpreadMetric, name="UCE", key="uce", long_tails=True, degree=2):
    r"""Gap between predicted variance and mean squared error, averaged over bins by weight (UCE).

    .. math:: \sum_j \frac{n_j}{n} \left| \overline{(y - \mu)^2}_j - \overline{\sigma^2}_j \right|

    Parameters
    ----------
    n_bins : int, default 10
        Bins of equal weight by predicted std; fewer where a bin would have fewer than 30 rows. Tied
        std are never split.
    cells : int, default 0
        0 sorts all rows. A number of cells per doubling of the std (256 is plenty) keeps only sums
        by cell. The metric then has a state of fixed size, and the edges of the bins are wrong by
        at most a factor of 2^(1 / cells), 0.3 % for 256.

    See Also
    --------
    expected_normalized_calibration_error : the relative gaps of the std.
    rmse_rmv_curve : the gap in each bin.

    Notes
    -----
    It is in squared units of y, so bins of large variance dominate it; the ENCE, which is relative,
    weights all bins equally. It is biased upward in small samples; ``.interval`` removes that bias
    (method "debiased"), and its ``plain`` is the value above.

    Examples
    --------
    >>> uncertainty_calibration_error([2.0, -2.0], [0.0, 0.0], [1.0, 1.0])
    3.0
    """

    def _columns(self, record: Any) -> list[np.ndarray]:
        return [np.square(record.error) - np.square(record.std)]

    def _gaps(self, sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return sums[..., 0], sums[..., None, :, 1]


uncertainty_calibration_error: UncertaintyCalibrationError = UncertaintyCalibrationError()


class QuantileCalibrationError(SpreadMetric, name="QCE", key="qce", range=(0.0, 1.0)):
    r"""Gap between quantile level and share of outcomes below that quantile, averaged over levels
    and bins of predicted std (QCE).

    .. math:: \frac{1}{L} \sum_l \sum_j \frac{n_j}{n} \left| \frac{1}{n_j} \sum_{i \in j} [y_i \le
        q_i(\tau_l)] - \tau_l \right|

    Parameters
    ----------
    n_bins : int, default 10
        Bins of equal weight by predicted std; fewer where a bin would have fewer than 30 rows. Tied
        std are never split.
    cells : int, default 0
        0 sorts all rows. A number of cells per doubling of the std (256 is plenty) keeps only sums
        by cell. The metric then has a state of fixed size, and the edges of the bins are wrong by
        at most a factor of 2^(1 / cells), 0.3 % for 256.
    n_levels : int, default 9
        Levels 1 / (L + 1), ..., L / (L + 1).

    See Also
    --------
    interval_calibration_error : the error of central intervals.
    pit_histogram : all levels, as a plot.

    Notes
    -----
    Use it for quantiles that should be calibrated at every size of the predicted std, which the
    interval calibration error does not check. It is biased upward in small samples; ``.interval``
    removes that bias (method "debiased"), and its ``plain`` is the value above. The quantiles are
    one-sided; netcal's QCE counts outcomes in central regions, a different value.

    Examples
    --------
    >>> quantile_calibration_error([-1.0, 1.0], [0.0, 0.0], [1.0, 1.0], n_levels=1)
    0.0
    """

    n_levels: int = 9

    def _check(self) -> None:
        super()._check()
        require_count("n_levels", self.n_levels)

    @property
    def _levels(self) -> np.ndarray:
        return (np.arange(self.n_levels) + 1.0) / (self.n_levels + 1.0)

    def _sums(self, record: Any, index: np.ndarray, n_groups: int) -> np.ndarray:
        return level_counts(
            record.score, special.ndtri(self._levels), index, n_groups, record.weight
        )

    def _gaps(self, sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return level_gaps(sums, self._levels)

    def _draws(
        self, record: Any, sums: np.ndarray, n_resamples: int, random_state: int
    ) -> np.ndarray:
        return redrawn_counts(sums, self._levels, n_resamples, random_state)

    def _weight(self, totals: np.ndarray) -> np.ndarray:
        return totals.sum(axis=-1)


quantile_calibration_error: QuantileCalibrationError = QuantileCalibrationError()
