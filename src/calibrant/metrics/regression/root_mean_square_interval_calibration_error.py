"""Root mean square gap between claimed and seen coverage, over all levels."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant.metrics.regression.interval_calibration_error import IntervalCalibrationError

__all__ = ["RootMeanSquareIntervalCalibrationError", "root_mean_square_interval_calibration_error"]


@dataclass(frozen=True, repr=False)
class RootMeanSquareIntervalCalibrationError(IntervalCalibrationError):
    r"""Root mean square gap between the coverage that intervals claim and what they have, over all levels.

    .. math:: \Big( \frac{1}{L} \sum_l \big( \frac{1}{n} \sum_i [y_i \in I_i(p_l)] - p_l \big)^2 \Big)^{1/2}

    Parameters
    ----------
    n_levels : int, default 100
        Levels p from 0 to 1, evenly spaced, both included.
    kind : {"interval", "quantile"}
        Central intervals, or everything below the quantile at p, which tells a shift from a wrong width.

    See Also
    --------
    interval_calibration_error : the mean gap.
    miscalibration_area : the area.

    Notes
    -----
    uncertainty-toolbox's ``root_mean_squared_calibration_error``. Biased upward in small samples; ``.interval``
    is freed of that (method "debiased"), and ``plain`` in it is the number above.

    Examples
    --------
    >>> round(root_mean_square_interval_calibration_error([0.0], [0.0], [1.0]), 6)
    0.578806
    """

    name: ClassVar[str] = "RMS interval calibration error"
    key: ClassVar[str] = "rms_interval_calibration_error"

    def _combined(self, gap):
        """The value from the gap at each level, (..., L)."""
        return np.sqrt(np.mean(gap * gap, axis=-1))

    def _error(self, weight, gap):
        whole = np.where(weight > 0.0, weight, np.nan)
        return self._combined((gap / whole[..., None, :])[..., 0])


root_mean_square_interval_calibration_error: RootMeanSquareIntervalCalibrationError = RootMeanSquareIntervalCalibrationError()
