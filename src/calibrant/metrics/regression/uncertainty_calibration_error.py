"""UCE: predicted variance against mean squared error, bin by bin."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant.metrics.regression.spread_metric import SpreadMetric

__all__ = ["UncertaintyCalibrationError", "uncertainty_calibration_error"]


@dataclass(frozen=True, repr=False)
class UncertaintyCalibrationError(SpreadMetric):
    r"""Gap between predicted variance and mean squared error, averaged over bins by their weight (UCE).

    .. math:: \sum_j \frac{n_j}{n} \left| \overline{(y - \mu)^2}_j - \overline{\sigma^2}_j \right|

    Parameters
    ----------
    n_bins : int, default 10
        Bins of equal weight by predicted std; fewer where that would leave less than 30 rows a bin. Tied std are never split.
    cells : int, default 0
        0 sorts all rows. A number of cells per doubling of the std (256 is plenty) keeps only sums by cell: then the metric has a state of
        fixed size, and the edges of the bins are off by at most a factor of 2^(1 / cells), 0.3 % for 256.

    See Also
    --------
    expected_normalized_calibration_error : relative gaps of the std.
    rmse_rmv_curve : the gaps, bin by bin.

    Notes
    -----
    In squared units of y, so bins of large variance rule it: the ENCE, which is relative, treats all bins alike. Biased upward in small
    samples; ``.interval`` is freed of that (method "debiased"), and ``plain`` in it is the number above.

    Examples
    --------
    >>> uncertainty_calibration_error([2.0, -2.0], [0.0, 0.0], [1.0, 1.0])
    3.0
    """

    name: ClassVar[str] = "UCE"
    key: ClassVar[str] = "uce"
    long_tails: ClassVar[bool] = True
    degree: ClassVar[int | None] = 2

    def _columns(self, record):
        return [np.square(record.error) - np.square(record.std)]

    def _gaps(self, sums):
        return sums[..., 0], sums[..., None, :, 1]


uncertainty_calibration_error: UncertaintyCalibrationError = UncertaintyCalibrationError()
