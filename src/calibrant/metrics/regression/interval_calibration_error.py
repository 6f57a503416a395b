"""Interval calibration error: claimed against seen coverage, over all levels."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import special

from calibrant._kernels.level_counts import level_counts, level_gaps, redrawn_counts
from calibrant._support.options import require_count, require_option
from calibrant.metrics.regression.gap_metric import GapMetric

__all__ = ["IntervalCalibrationError", "interval_calibration_error"]


@dataclass(frozen=True, repr=False)
class IntervalCalibrationError(GapMetric):
    r"""Mean gap between the coverage that intervals claim and what they have, over all levels.

    .. math:: \frac{1}{L} \sum_l \left| \frac{1}{n} \sum_i [y_i \in I_i(p_l)] - p_l \right|

    Parameters
    ----------
    n_levels : int, default 100
        Levels p from 0 to 1, evenly spaced, both included.
    kind : {"interval", "quantile"}
        Central intervals, or everything below the quantile at p, which tells a shift from a wrong width.

    See Also
    --------
    interval_curve : the gaps, level by level.
    interval_coverage : one level.

    Notes
    -----
    Use it to see whether intervals hold what they say over all rows together. That is a weak demand: a std drawn at random can meet it
    perfectly after recalibration, so look at the ENCE too. Biased upward in small samples; ``.interval`` is freed of that (method
    "debiased"), and ``plain`` in it is the number above; in simulations of 300 to 5,000 rows it held the truth 84 to 98 times of 100.

    Examples
    --------
    >>> round(interval_calibration_error([0.0], [0.0], [1.0]), 6)
    0.5
    """

    n_levels: int = 100
    kind: str = "interval"

    name: ClassVar[str] = "interval calibration error"
    key: ClassVar[str] = "interval_calibration_error"
    direction: ClassVar[str] = "minimize"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)

    @classmethod
    def _examples(cls):
        return [cls(), cls(n_levels=19, kind="quantile")]

    def _check(self):
        require_count("n_levels", self.n_levels, 2)
        require_option("kind", self.kind, ("interval", "quantile"))

    @property
    def levels(self) -> np.ndarray:
        """(n_levels,) the coverages, or probabilities, compared."""
        return np.linspace(0.0, 1.0, self.n_levels)

    def _sums(self, record, index, n_groups):
        if self.kind == "interval":
            return level_counts(np.abs(record.score), special.ndtri(0.5 + 0.5 * self.levels), index, n_groups, record.weight)
        return level_counts(record.score, special.ndtri(self.levels), index, n_groups, record.weight)

    def _gaps(self, sums):
        return level_gaps(sums, self.levels)

    def _draws(self, record, sums, n_resamples, random_state):
        return redrawn_counts(sums, self.levels, n_resamples, random_state)

    def _totals(self, record):
        return self._sums(record, 0, 1)

    def _group_totals(self, record, group, n_groups):
        return self._sums(record, group, n_groups)[:, None]


interval_calibration_error: IntervalCalibrationError = IntervalCalibrationError()
