"""Area between the curve of seen over claimed coverage and the diagonal."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant._kernels.quotient import quotient
from calibrant.metrics.regression.root_mean_square_interval_calibration_error import RootMeanSquareIntervalCalibrationError

__all__ = ["MiscalibrationArea", "miscalibration_area"]


@dataclass(frozen=True, repr=False)
class MiscalibrationArea(RootMeanSquareIntervalCalibrationError):
    r"""Area between seen over claimed coverage, joined by straight lines, and the diagonal.

    .. math:: \int_0^1 \left| \hat c(p) - p \right| dp

    Parameters
    ----------
    n_levels : int, default 100
        Levels p from 0 to 1, evenly spaced, both included.
    kind : {"interval", "quantile"}
        Central intervals, or everything below the quantile at p, which tells a shift from a wrong width.

    See Also
    --------
    interval_calibration_error : the mean gap.
    interval_curve : the curve.

    Notes
    -----
    uncertainty-toolbox's number of that name, exact where the curve crosses the diagonal between two levels. Biased upward in small
    samples; ``.interval`` is freed of that (method "debiased"), and ``plain`` in it is the number above.

    Examples
    --------
    >>> round(miscalibration_area([0.0], [0.0], [1.0]), 6)
    0.5
    """

    name: ClassVar[str] = "miscalibration area"
    key: ClassVar[str] = "miscalibration_area"

    def _combined(self, gap):
        left, right = np.abs(gap[..., :-1]), np.abs(gap[..., 1:])
        crossed = gap[..., :-1] * gap[..., 1:] < 0.0
        # Two triangles where the signs differ, else a trapezium.
        area = np.where(crossed, quotient(left * left + right * right, left + right), left + right)
        return 0.5 * area.sum(axis=-1) / (self.n_levels - 1)


miscalibration_area: MiscalibrationArea = MiscalibrationArea()
