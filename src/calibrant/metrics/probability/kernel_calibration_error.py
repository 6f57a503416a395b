"""Kernel calibration error of whole probability vectors."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from calibrant._kernels import intervals
from calibrant._kernels.calibration_kernel import kernel_row_sums, median_distance
from calibrant._support.options import require_option
from calibrant.contracts.metric import Interval, WholeMetric
from calibrant.errors import InputError

__all__ = ["KernelCalibrationError", "kernel_calibration_error"]


@dataclass(frozen=True, repr=False)
class KernelCalibrationError(WholeMetric):
    r"""Squared kernel calibration error of the whole probability vector, without bias (SKCE).

    .. math:: \frac{1}{n (n - 1)} \sum_{i \ne j} k(P_i, P_j)\, (e_{y_i} - P_i)^\top (e_{y_j} - P_j),
        \quad k(p, q) = e^{-\|p - q\| / \nu}

    Parameters
    ----------
    bandwidth : float or "median", default "median"
        The kernel's width; "median" is the median distance between probability vectors (of 500 quantiles of the rows, in sorted order).
    estimator : {"unbiased", "biased"}
        "biased" keeps the terms i = j, so it is never negative.

    See Also
    --------
    kernel_calibration_test : whether it may be chance.
    maximum_mean_calibration_error : the predicted label alone.

    Notes
    -----
    Use it to see errors that no single class shows, and through ``kernel_calibration_test`` as a test. Without bias it is negative about
    half of the time for a calibrated model. It costs O(n^2 K): beyond 20,000 rows take a sample.
    Never select a model or a calibrator by it: it is not a proper score. Its interval is that of a U-statistic.

    References
    ----------
    Widmann, Lindsten and Zachariah, "Calibration tests in multi-class classification", NeurIPS 2019, table 1.

    Examples
    --------
    >>> round(kernel_calibration_error([0, 1], [[0.8, 0.2], [0.8, 0.2]]), 3)
    -0.32
    """

    bandwidth: float | Literal["median"] = "median"
    estimator: Literal["unbiased", "biased"] = "unbiased"

    name: ClassVar[str] = "SKCE"
    key: ClassVar[str] = "skce"
    clustered: ClassVar[bool] = False
    estimand: ClassVar[str] = "squared kernel error of the population, with this sample's bandwidth"
    direction: ClassVar[str] = "minimize"
    range: ClassVar[tuple[float, float]] = (-2.0, 2.0)
    compares_rows: ClassVar[bool] = True
    exceptions: ClassVar[Mapping[str, str]] = {"perfect_is_best": "without bias, certain and right is 0, and chance goes below 0"}

    @classmethod
    def _examples(cls):
        return [cls(), cls(bandwidth=0.5, estimator="biased")]

    def _check(self):
        if self.bandwidth != "median" and not (isinstance(self.bandwidth, int | float) and self.bandwidth > 0):
            raise InputError(f'bandwidth must be positive or "median"; got {self.bandwidth!r}.')
        require_option("estimator", self.estimator, ("unbiased", "biased"))

    def _width(self, record):
        return median_distance(record.probabilities, record.weights) if self.bandwidth == "median" else float(self.bandwidth)

    def _value(self, record):
        gaps, weight = record.one_hot - record.probabilities, record.weights
        sums, _ = kernel_row_sums(record.probabilities, gaps, weight, self._width(record))
        n, own = weight.sum(), np.einsum("nk,nk->n", gaps, gaps)
        if self.estimator == "biased":
            return max(float(weight @ sums / n**2), 0.0)
        return float(weight @ (sums - own) / (n * (n - 1.0))) if n > 1.0 else 0.0

    def _interval(self, record, level, method, n_resamples, random_state):
        if method not in ("auto", "analytic"):
            return super()._interval(record, level, method, n_resamples, random_state)
        gaps, weight = record.one_hot - record.probabilities, record.weights
        sums, squares = kernel_row_sums(record.probabilities, gaps, weight, self._width(record))
        n, value = weight.sum(), self._value(record)
        own = np.einsum("nk,nk->n", gaps, gaps)
        others = max(n - 1.0, 1.0)
        mean = (sums - own) / others
        centre = weight @ mean / n
        # First-order term of a U-statistic, and the second-order one that is left when the model is calibrated.
        first = weight @ (mean - centre) ** 2 / n
        second = max(weight @ (squares - own**2) / (n * others) - centre**2, 0.0)
        low, high = intervals.normal_interval(value, 4.0 * first / n + 2.0 * second / (n * others), level)
        return Interval(value, float(max(low, -2.0)), float(min(high, 2.0)), level, "analytic", float(n))


kernel_calibration_error: KernelCalibrationError = KernelCalibrationError()
