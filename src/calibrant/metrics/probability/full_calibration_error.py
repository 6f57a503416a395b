"""Calibration error of whole probability vectors, in cells of the simplex."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant._kernels import bins
from calibrant._kernels.bootstrap import resampled_sums
from calibrant._kernels.debias import inverted_limits
from calibrant._support.options import require_count
from calibrant.contracts.metric import Interval, WholeMetric
from calibrant.errors import InputError

__all__ = ["FullCalibrationError", "full_calibration_error"]


@dataclass(frozen=True, repr=False)
class FullCalibrationError(WholeMetric):
    r"""Gaps between mean vector and class shares over cells of the simplex, summed over the classes (full ECE).

    .. math:: \sum_b \frac{w_b}{w} \sum_k \left| \bar P_{bk} - \bar y_{bk} \right|^r

    A cell holds the rows whose probabilities fall into the same bin of equal width for every class.

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
    number says nothing. Its cells are too many for a state. Biased upward in small samples; ``.interval`` is freed of that (method
    "debiased"), and ``plain`` in it is the number above. Never select a model or a calibrator by it.

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
    estimand: ClassVar[str] = "error in these cells on ever more rows: without the noise that the number itself carries"
    clustered: ClassVar[bool] = False
    direction: ClassVar[str] = "minimize"
    range: ClassVar[tuple[float, float]] = (0.0, 2.0)

    def _check(self):
        require_count("n_bins", self.n_bins, most=32_767)
        if not self.power >= 1.0:
            raise InputError(f"power must be at least 1; got {self.power!r}.")

    def _cell(self, record):
        """Number of each row's cell, (n,), of those that hold rows."""
        cells = bins.equal_width_index(record.probabilities, self.n_bins, record.resolution).astype(np.int16)
        return np.unique(cells, axis=0, return_inverse=True)[1].ravel()

    def _error(self, weight, gap):
        """The value from the weight and the summed gap of each class and cell, (..., K, cells)."""
        mean = np.divide(np.abs(gap), weight, out=np.zeros(np.broadcast_shapes(gap.shape, weight.shape)), where=weight > 0.0)
        return (weight * mean**self.power).sum(axis=-1, keepdims=True).sum(axis=-2) / weight[..., 0, :].sum(axis=-1, keepdims=True)

    def _value(self, record):
        cell, hot = self._cell(record), record.one_hot
        sums = bins.grouped_sums(cell, int(cell.max()) + 1, list((record.probabilities - hot).T), record.weight)
        return float(self._error(sums[:, :1].T, sums[:, 1:].T)[0])

    def _interval(self, record, level, method, n_resamples, random_state):
        if method not in ("auto", "debiased"):
            return super()._interval(record, level, method, n_resamples, random_state)
        cell, n = self._cell(record), float(record.weights.sum())
        sets = [(cell, [score, hit]) for score, hit in zip(record.probabilities.T, record.one_hot.T, strict=True)]
        totals = np.stack([bins.grouped_sums(cell, int(cell.max()) + 1, list(columns), record.weight) for _, columns in sets])
        n_resamples = max(min(n_resamples, int(2e7 / totals.size)), 100)
        draws = resampled_sums(sets, totals.shape[1], record.weights, n_resamples, random_state)
        value, low, high = inverted_limits(totals, draws, self._error, level, n=n, most=self.range[1])
        return Interval.holding(value, (low, high), level, "debiased", n, self._value(record))


full_calibration_error: FullCalibrationError = FullCalibrationError()
