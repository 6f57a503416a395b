"""Kernel calibration error of whole probability vectors."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from calibrant._kernels import intervals
from calibrant._kernels.calibration_kernel import distances, kernel_row_sums, median_distance, null_statistics
from calibrant._kernels.null_draws import null_generator
from calibrant._support.options import require_option
from calibrant.contracts.metric import Interval, WholeMetric
from calibrant.errors import InputError

__all__ = ["KernelCalibrationError", "kernel_calibration_error"]

#: Up to so many rows the low end looks at labels drawn from the probabilities, so many times.
NULL_ROWS, NULL_DRAWS = 2_000, 400


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
    Never select a model or a calibrator by it: it is not a proper score. Its interval is that of a U-statistic; up to 2,000
    rows it begins at 0 or below where labels drawn from the probabilities show as much, and its upper end is that of labels of which as
    many are others as the rows may fail to show.

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
        return self._of_gaps(record, record.one_hot - record.probabilities)

    def _of_gaps(self, record, gaps):
        weight = record.weights
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
        half = high - value
        # A square of a size whose own error is about even: longer upwards.
        high += 0.25 * half * half / max(value, half, 1e-300)
        if low > 0.0 and n <= NULL_ROWS and value <= self._null_end(record, level) + 1e-12:
            low = 0.0
        limits = max(low, -2.0), min(max(high, self._of_gaps(record, self._other_gaps(record, level))), 2.0)
        return Interval.holding(value, limits, level, "analytic", float(n))

    def _null_end(self, record, level):
        """The value that labels drawn from the probabilities stay below at this level."""
        rows = np.repeat(np.arange(len(record)), np.rint(record.weights).astype(np.intp).clip(1))
        P = record.probabilities[rows]
        kernel = np.exp(distances(P, P) / -self._width(record))
        own = 0.0
        if self.estimator == "unbiased":
            np.fill_diagonal(kernel, 0.0)
            own = 1.0
        drawn = null_statistics(kernel, P, NULL_DRAWS, null_generator(0)) / (len(P) * max(len(P) - own, 1.0))
        return np.quantile(drawn, 0.5 + 0.5 * level, method="higher")

    def _other_gaps(self, record, level):
        """The gaps were of the labels as many others as so few rows may fail to show."""
        hot, P = record.one_hot, record.probabilities
        others = np.where(hot > 0.0, 0.0, P + 1e-12)
        share = intervals.unseen_share(record.weights.sum(), level)
        return (1.0 - share) * hot + share * others / np.maximum(others.sum(axis=1, keepdims=True), 1e-300) - P


kernel_calibration_error: KernelCalibrationError = KernelCalibrationError()
