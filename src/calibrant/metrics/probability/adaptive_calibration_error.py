"""Classwise calibration error over bins of equal weight, each bin counting the same."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant._kernels import bins
from calibrant._kernels.bootstrap import resampled_sums
from calibrant._kernels.debias import inverted_limits
from calibrant._support.options import require_count
from calibrant.contracts.metric import Interval, WholeMetric
from calibrant.errors import InputError

__all__ = ["AdaptiveCalibrationError", "adaptive_calibration_error"]


@dataclass(frozen=True, repr=False)
class AdaptiveCalibrationError(WholeMetric):
    r"""Gap between probability and share, averaged over bins of equal weight and over the classes (ACE; TACE with a threshold).

    .. math:: \frac{1}{K B} \sum_k \sum_b \left| \bar p_{kb} - \bar y_{kb} \right|

    Parameters
    ----------
    n_bins : int, default 15
        Ties are never split, so there may be fewer; a class's gaps are averaged over the bins it has.
    threshold : float, default 0.0
        Only probabilities above it count (TACE; 0.001 or 0.01 are usual): with many classes most are next to 0 and drown the rest.

    See Also
    --------
    classwise_calibration_error : bins of equal width.
    expected_calibration_error : the predicted label alone.

    Notes
    -----
    Use it to compare with papers that report it; ``classwise_calibration_error(strategy="mass")`` weighs bins by their rows instead.
    A class with no probability above the threshold counts 0. It is biased upward in small samples;
    ``.interval`` is freed of that (method "debiased"): ``value`` is the estimate, ``plain`` the number above.
    Never select a model or a calibrator by it: it is not a proper score (a constant confidence equal to the accuracy has error 0).

    References
    ----------
    Nixon et al., "Measuring calibration in deep learning", CVPR workshops 2019.

    Examples
    --------
    >>> round(adaptive_calibration_error([0, 1], [[0.8, 0.2], [0.4, 0.6]], n_bins=2), 3)
    0.3
    """

    n_bins: int = 15
    threshold: float = 0.0

    name: ClassVar[str] = "ACE"
    key: ClassVar[str] = "ace"
    clustered: ClassVar[bool] = False
    estimand: ClassVar[str] = "error in these bins on ever more rows: without the noise that the number itself carries"
    direction: ClassVar[str] = "minimize"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)

    @classmethod
    def _examples(cls):
        return [cls(), cls(n_bins=5, threshold=0.01)]

    def _check(self):
        require_count("n_bins", self.n_bins)
        if not 0.0 <= self.threshold < 1.0:
            raise InputError(f"threshold must be in [0, 1); got {self.threshold!r}.")

    def _value(self, record):
        return float(np.mean([self._class_error(record, k) for k in range(record.n_classes)]))

    def _interval(self, record, level, method, n_resamples, random_state):
        if method not in ("auto", "debiased"):
            return super()._interval(record, level, method, n_resamples, random_state)
        weight, sets = record.weights, [self._binned(record, k) for k in range(record.n_classes)]
        # The last bin is of rows below the threshold, which do not count.
        totals = np.stack([bins.grouped_sums(group, self.n_bins + 1, columns, weight) for group, columns in sets])[:, :-1]
        n_resamples = max(min(n_resamples, int(2e7 / totals.size)), 100)
        draws = resampled_sums(sets, self.n_bins + 1, weight, n_resamples, random_state)[:, :, :-1]
        n = float(weight.sum())
        totals[totals[..., 0].sum(axis=1) == 0.0, 0, 0] = 1.0
        value, low, high = inverted_limits(totals, draws, 1, level, even=True, n=n)
        return Interval.holding(value, (low, high), level, "debiased", n, self._value(record))

    def _binned(self, record, k):
        score = record.probabilities[:, k]
        group = np.full(len(score), self.n_bins)
        counted = score > self.threshold if self.threshold > 0.0 else np.ones(len(score), dtype=bool)
        if counted.any():
            group[counted] = bins.equal_mass_groups(score[counted], self.n_bins, record.weights[counted])
        return group, [score, (record.labels == k).astype(np.float64)]

    def _class_error(self, record, k):
        group, columns = self._binned(record, k)
        mass, total, hits = bins.grouped_sums(group, self.n_bins + 1, columns, record.weights)[:-1].T
        filled = mass > 0.0
        return float(np.mean(np.abs(total - hits)[filled] / mass[filled])) if filled.any() else 0.0


adaptive_calibration_error: AdaptiveCalibrationError = AdaptiveCalibrationError()
