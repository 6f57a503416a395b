"""Calibration error of the probability of the positive class."""

from dataclasses import dataclass
from typing import ClassVar

from calibrant.errors import InputError
from calibrant.metrics.probability.calibration_error import BinnedCalibrationError

__all__ = ["PositiveClassCalibrationError", "positive_class_calibration_error"]


@dataclass(frozen=True, repr=False)
class PositiveClassCalibrationError(BinnedCalibrationError):
    r"""Calibration error of binary predictions: gap between P(class 1) and the share of class 1, over bins of P(class 1).

    .. math:: \sum_b \frac{w_b}{w} \left| \bar p_b - \bar y_b \right|

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
    expected_calibration_error : of the predicted label.
    integrated_calibration_index : without bins.

    Notes
    -----
    Never select a model or a calibrator by it: it is not a proper score (a constant confidence equal to the accuracy has error 0), and it
    is biased upward, the more so the fewer rows a bin has. Read it beside its interval and the log loss.
    ``.interval`` does not centre on this biased number: it asks which errors, with this sample's noise added, would show as the one seen
    (method "debiased"), so a perfect model of 100 rows reads about 0.03 with a low end of 0, not 0.12. Its ``value`` is that estimate,
    ``plain`` the number above.
    For two classes this is another question than the top label's: see ``expected_calibration_error``.

    Examples
    --------
    >>> positive_class_calibration_error([1], [0.0])
    1.0
    """

    name: ClassVar[str] = "event ECE"
    key: ClassVar[str] = "event_ece"
    binary_only: ClassVar[bool] = True

    def _pairs(self, record):
        if record.n_classes != 2:
            raise InputError(
                f"positive_class_calibration_error takes two classes; got {record.n_classes}; use classwise_calibration_error."
            )
        return [(record.probabilities[:, 1], record.hits_of(1))]


positive_class_calibration_error: PositiveClassCalibrationError = PositiveClassCalibrationError()
