"""Kolmogorov-Smirnov calibration error: no bins, no bandwidth."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant.contracts.tags import Promises
from calibrant.metrics.pair import PairMetric

__all__ = ["KsCalibrationError", "ks_calibration_error"]


@dataclass(frozen=True, repr=False)
class KsCalibrationError(PairMetric):
    r"""Largest gap between the cumulated scores and the cumulated hits, in the order of the scores.

    .. math:: \max_t \left| \frac{1}{n} \sum_{s_i \le t} (c_i - s_i) \right|

    Parameters
    ----------
    target : {"answer", "event"} or a class label, default "answer"
        Whose probability: the predicted label's against its being right, class 1's of two, or the named class's.

    See Also
    --------
    smooth_calibration_error : no bins either, and a mean in place of the largest.
    expected_calibration_error : in bins.

    Notes
    -----
    Use it where bins are too coarse and a density too vague. Over- and underconfidence in different regions partly cancel in it.
    Never select a model or a calibrator by it: it is not a proper score (a constant confidence equal to the accuracy has error 0).
    Its interval is debiased (test inversion on simulated outcomes): ``value`` is the estimate, ``plain`` the metric itself.

    References
    ----------
    Gupta et al., "Calibration of neural networks using splines", ICLR 2021, equation 8.

    Examples
    --------
    >>> round(ks_calibration_error([1, 0], [0.9, 0.8], target="event"), 3)
    0.4
    """

    name: ClassVar[str] = "KS calibration error"
    key: ClassVar[str] = "ks_error"
    promises: ClassVar[Promises] = Promises("no", "yes", "partly", "of decisions that rise with the score: twice its size times the stake")
    direction: ClassVar[str] = "minimize"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def _pair_value(self, score, hit, weight):
        order = np.argsort(score)
        sums = np.cumsum((weight * (hit - score))[order])
        # Rows of equal score enter together.
        last_of_run = np.append(np.diff(score[order]) > 0.0, True)
        return min(float(np.abs(sums[last_of_run]).max() / weight.sum()), 1.0)


ks_calibration_error: KsCalibrationError = KsCalibrationError()
