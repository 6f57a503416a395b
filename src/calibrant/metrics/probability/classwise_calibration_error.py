"""Calibration error of every class's probability, averaged."""

from dataclasses import dataclass
from typing import ClassVar

from calibrant.metrics.probability.calibration_error import BinnedCalibrationError

__all__ = ["ClasswiseCalibrationError", "classwise_calibration_error"]


@dataclass(frozen=True, repr=False)
class ClasswiseCalibrationError(BinnedCalibrationError):
    r"""Calibration error of each class's probability against that class's share, averaged over the classes.

    .. math:: \frac{1}{K} \sum_k \sum_b \frac{w_{kb}}{w} \left| \bar p_{kb} - \bar y_{kb} \right|

    Parameters
    ----------
    n_bins : int, default 15
    strategy : {"width", "mass"}
        Bins of equal width on [0, 1] (edges k / n_bins, an edge belongs to the bin above, 1 to the last), or of equal weight
        (ties never split).
    norm : number of at least 1, or "max"
        Mean of the gaps (ECE), root mean square (RMSCE), the root of the mean of another power of them, or the largest gap (MCE).

    See Also
    --------
    adaptive_calibration_error : bins of equal weight.
    positive_class_calibration_error : one class of two.

    Notes
    -----
    Never select a model or a calibrator by it: it is not a proper score (a constant confidence equal to the accuracy has error 0), and it
    is biased upward, the more so the fewer rows a bin has. Read it beside its interval and the log loss.
    ``.interval`` does not centre on this biased number: it asks which errors, with this sample's noise added, would show as the one seen
    (method "debiased"), so a perfect model of 100 rows reads about 0.03 with a low end of 0, not 0.12. Its ``value`` is that estimate,
    ``plain`` the number above.

    References
    ----------
    Kull et al., "Beyond temperature scaling", NeurIPS 2019.

    Examples
    --------
    >>> round(classwise_calibration_error([0, 1], [[0.8, 0.2], [0.4, 0.6]]), 3)
    0.3
    """

    name: ClassVar[str] = "classwise ECE"
    key: ClassVar[str] = "classwise_ece"

    def _pairs(self, record):
        P = record.probabilities
        return [(P[:, k], record.hits_of(k)) for k in range(record.n_classes)]


classwise_calibration_error: ClasswiseCalibrationError = ClasswiseCalibrationError()
