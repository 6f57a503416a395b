"""QCE: how often outcomes fall below their quantiles, bin by bin of predicted std."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import special

from calibrant._kernels.level_counts import level_counts, level_gaps, redrawn_counts
from calibrant._support.options import require_count
from calibrant.metrics.regression.spread_metric import SpreadMetric

__all__ = ["QuantileCalibrationError", "quantile_calibration_error"]


@dataclass(frozen=True, repr=False)
class QuantileCalibrationError(SpreadMetric):
    r"""Gap between quantile level and share of outcomes below that quantile, over levels and bins of predicted std (QCE).

    .. math:: \frac{1}{L} \sum_l \sum_j \frac{n_j}{n} \left| \frac{1}{n_j} \sum_{i \in j} [y_i \le q_i(\tau_l)] - \tau_l \right|

    Parameters
    ----------
    n_bins : int, default 10
        Bins of equal weight by predicted std; fewer where that would leave less than 30 rows a bin. Tied std are never split.
    cells : int, default 0
        0 sorts all rows. A number of cells per doubling of the std (256 is plenty) keeps only sums by cell: then the metric has a state of
        fixed size, and the edges of the bins are off by at most a factor of 2^(1 / cells), 0.3 % for 256.
    n_levels : int, default 9
        Levels 1 / (L + 1), ..., L / (L + 1).

    See Also
    --------
    interval_calibration_error : central intervals.
    pit_histogram : all levels, to look at.

    Notes
    -----
    Use it for quantiles that should hold at every size of the predicted std, which the interval calibration error does not ask. Biased
    upward in small samples; ``.interval`` is freed of that (method "debiased"), and ``plain`` in it is the number above. The quantiles are
    one-sided; netcal's QCE counts the outcomes in central regions, and is another number.

    Examples
    --------
    >>> quantile_calibration_error([-1.0, 1.0], [0.0, 0.0], [1.0, 1.0], n_levels=1)
    0.0
    """

    n_levels: int = 9

    name: ClassVar[str] = "QCE"
    key: ClassVar[str] = "qce"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def _check(self):
        super()._check()
        require_count("n_levels", self.n_levels)

    @property
    def _levels(self):
        return (np.arange(self.n_levels) + 1.0) / (self.n_levels + 1.0)

    def _sums(self, record, index, n_groups):
        return level_counts(record.score, special.ndtri(self._levels), index, n_groups, record.weight)

    def _gaps(self, sums):
        return level_gaps(sums, self._levels)

    def _draws(self, record, sums, n_resamples, random_state):
        return redrawn_counts(sums, self._levels, n_resamples, random_state)

    def _weight(self, totals):
        return totals.sum(axis=-1)


quantile_calibration_error: QuantileCalibrationError = QuantileCalibrationError()
