"""Maximum mean calibration error: a kernel norm of the gap between hits and scores."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant.errors import InputError
from calibrant.metrics.pair import PairMetric

__all__ = ["MaximumMeanCalibrationError", "maximum_mean_calibration_error"]


@dataclass(frozen=True, repr=False)
class MaximumMeanCalibrationError(PairMetric):
    r"""Kernel norm of the gap between hits and scores (MMCE).

    .. math:: \left( \frac{1}{n^2} \sum_{i,j} (c_i - s_i)(c_j - s_j)\, e^{-|s_i - s_j| / h} \right)^{1/2}

    Parameters
    ----------
    target : {"answer", "event"} or a class label, default "answer"
        Whose probability: the predicted label's against its being right, class 1's of two, or the named class's.
    width : float, default 0.4
        The kernel's width h, at least 0.005.

    See Also
    --------
    kernel_calibration_error : the whole vector, without bias.

    Notes
    -----
    Use it to compare with papers that train with it. The double sum is exact and costs O(n log n), one sweep along the sorted scores.
    Never select a model or a calibrator by it: it is not a proper score (a constant confidence equal to the accuracy has error 0).
    Its interval is debiased (test inversion on simulated outcomes): ``value`` is the estimate, ``plain`` the metric itself.

    References
    ----------
    Kumar, Sarawagi and Jain, "Trainable calibration measures for neural networks from kernel mean embeddings", ICML 2018.

    Examples
    --------
    >>> round(maximum_mean_calibration_error([1, 0], [0.9, 0.9], target="event"), 3)
    0.4
    """

    width: float = 0.4

    name: ClassVar[str] = "MMCE"
    key: ClassVar[str] = "mmce"
    direction: ClassVar[str] = "minimize"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)

    @classmethod
    def _examples(cls):
        return [cls(), cls(target="event", width=0.1)]

    def _check(self):
        if not self.width >= 0.005:
            raise InputError(f"width must be at least 0.005; got {self.width!r}; 0.4 is usual.")

    def _pair_value(self, score, hit, weight):
        order = np.argsort(score)
        at, gap = score[order], (weight * (hit - score))[order]
        # e^{-(s_i - s_j) / h} factors, so all j <= i are one running sum; centred, it stays far from overflow.
        rise = np.exp((at - 0.5) / self.width)
        before = np.cumsum(gap * rise) / rise
        total = 2.0 * gap @ before - gap @ gap
        return min(float(np.sqrt(max(total, 0.0)) / weight.sum()), 1.0)


maximum_mean_calibration_error: MaximumMeanCalibrationError = MaximumMeanCalibrationError()
