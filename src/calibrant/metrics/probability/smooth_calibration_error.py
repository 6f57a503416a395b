"""Smooth calibration error: kernel smoothing at the scale of the error itself."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.optimize import brentq

from calibrant._kernels.smoothing import deposit, gaussian_smoother
from calibrant.contracts.tags import Promises
from calibrant.metrics.pair import PairMetric

__all__ = ["SmoothCalibrationError", "smooth_calibration_error"]

CELLS = 4096


@dataclass(frozen=True, repr=False)
class SmoothCalibrationError(PairMetric):
    r"""The width of the kernel at which the smoothed gap between hits and scores adds up to that width (smECE).

    .. math:: \int_0^1 \left| \frac{1}{n} \sum_i (c_i - s_i) K_\sigma(t, s_i) \right| dt = \sigma

    with a Gaussian kernel reflected at 0 and 1, on a grid of 4,096 cells.

    Parameters
    ----------
    target : {"answer", "event"} or a class label, default "answer"
        Whose probability: the predicted label's against its being right, class 1's of two, or the named class's.

    See Also
    --------
    expected_calibration_error : in bins.
    debiased_calibration_error : in bins, less what noise adds.

    Notes
    -----
    Use it as the one calibration error without a parameter to choose: it moves little when scores move little, and within a constant it
    is the distance to the nearest calibrated predictor.
    Never select a model or a calibrator by it: it is not a proper score (a constant confidence equal to the accuracy has error 0).
    Its interval is debiased (test inversion on simulated outcomes): ``value`` is the estimate, ``plain`` the metric itself.

    References
    ----------
    Błasiok and Nakkiran, "Smooth ECE: principled reliability diagrams via kernel smoothing", ICLR 2024.

    Examples
    --------
    >>> round(smooth_calibration_error([1, 0], [0.9, 0.8], target="event"), 2)
    0.35
    """

    name: ClassVar[str] = "smooth ECE"
    key: ClassVar[str] = "smooth_ece"
    promises: ClassVar[Promises] = Promises("no", "yes", "no", "none")
    direction: ClassVar[str] = "minimize"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def _pair_value(self, score, hit, weight):
        smoothed = gaussian_smoother(deposit(score, weight * (hit - score) / weight.sum(), CELLS))

        def excess(width):
            return float(np.abs(smoothed(width)).sum()) - width

        # The smoothed gap falls as the width grows, so there is one crossing.
        if excess(1e-9) <= 0.0:
            return 0.0
        return float(brentq(excess, 1e-9, 1.0, xtol=1e-13)) if excess(1.0) < 0.0 else 1.0


smooth_calibration_error: SmoothCalibrationError = SmoothCalibrationError()
