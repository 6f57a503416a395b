"""Calibration error of whole probability vectors, in cells of the simplex."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant._kernels import bins
from calibrant.contracts.metric import WholeMetric
from calibrant.errors import InputError

__all__ = ["FullCalibrationError", "full_calibration_error"]


@dataclass(frozen=True, repr=False)
class FullCalibrationError(WholeMetric):
    r"""Gaps between mean vector and class shares over cells of the simplex, summed over the classes (full ECE).

    .. math:: \sum_b \frac{w_b}{w} \sum_k \left| \bar P_{bk} - \bar y_{bk} \right|^r

    A cell holds the rows whose probabilities fall into the same bin of equal width for every class.

    .. versionadded:: 0.2

    Parameters
    ----------
    n_bins : int, default 15
        Bins of each probability (edges k / n_bins, an edge belongs to the bin above, 1 to the last).
    power : float, default 1.0
        r.

    See Also
    --------
    kernel_calibration_error : of whole vectors without cells.
    calibration_error_test : whether it may be chance.

    Notes
    -----
    Use it to compare with papers that report it, and for few classes: most rows of many classes have a cell of their own, and the
    number says nothing. Its cells are too many for a state. Never select a model or a calibrator by it.

    References
    ----------
    Vaicenavicius et al., "Evaluating model calibration in classification", AISTATS 2019.

    Examples
    --------
    >>> round(full_calibration_error([0, 1], [[0.8, 0.2], [0.8, 0.2]]), 3)
    0.6
    """

    n_bins: int = 15
    power: float = 1.0

    name: ClassVar[str] = "full ECE"
    key: ClassVar[str] = "full_ece"
    clustered: ClassVar[bool] = False
    direction: ClassVar[str] = "minimize"
    range: ClassVar[tuple[float, float]] = (0.0, 2.0)

    def _check(self):
        if not (isinstance(self.n_bins, int) and 1 <= self.n_bins <= 32_767):
            raise InputError(f"n_bins must be a whole number from 1 to 32767; got {self.n_bins!r}.")
        if not self.power >= 1.0:
            raise InputError(f"power must be at least 1; got {self.power!r}.")

    def _value(self, record):
        P, weight = record.probabilities, record.weights
        cells = bins.equal_width_index(P, self.n_bins, record.resolution).astype(np.int16)
        _, cell = np.unique(cells, axis=0, return_inverse=True)
        gap = P.copy()
        gap[np.arange(len(P)), record.labels] -= 1.0
        sums = bins.grouped_sums(cell.ravel(), int(cell.max()) + 1, list(gap.T), weight)
        mass, means = sums[:, 0], np.abs(sums[:, 1:]) / sums[:, :1]
        return float(mass @ (means**self.power).sum(axis=1) / mass.sum())


full_calibration_error: FullCalibrationError = FullCalibrationError()
