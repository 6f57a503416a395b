"""Root mean square gap between confidence and accuracy over the bins."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from calibrant.metrics.probability.expected_calibration_error import ExpectedCalibrationError

__all__ = ["RootMeanSquareCalibrationError", "root_mean_square_calibration_error"]


@dataclass(frozen=True, repr=False)
class RootMeanSquareCalibrationError(ExpectedCalibrationError):
    r"""Root mean square gap between confidence and accuracy over the bins of the top label's confidence (RMSCE).

    .. math:: \left( \sum_b \frac{w_b}{w} \left( \mathrm{conf}_b - \mathrm{acc}_b \right)^2 \right)^{1/2}

    Parameters
    ----------
    n_bins : int, default 15
    strategy : {"width", "mass"}
        Bins of equal width on [0, 1] (edges k / n_bins, an edge belongs to the bin above, 1 to the last), or of equal weight
        (ties never split).
    norm : {2}
        As in ``expected_calibration_error``, which this is with another default.

    See Also
    --------
    expected_calibration_error : the mean gap.
    debiased_calibration_error : less what noise adds.

    Notes
    -----
    It is biased upward more than the mean gap is: ``debiased_calibration_error`` estimates the same quantity without the bias.
    Never select a model or a calibrator by it: it is not a proper score (a constant confidence equal to the accuracy has error 0).
    ``.interval`` is debiased: see ``expected_calibration_error``.

    References
    ----------
    Hendrycks, Mazeika and Dietterich, "Deep anomaly detection with outlier exposure", ICLR 2019.

    Examples
    --------
    >>> round(root_mean_square_calibration_error([0, 1], [0.1, 0.5]), 3)
    0.361
    """

    norm: Literal[1, 2, "max"] = 2

    name: ClassVar[str] = "RMSCE"
    key: ClassVar[str] = "rmsce"

    @classmethod
    def _examples(cls):
        return [cls(), cls(strategy="mass", n_bins=5)]


root_mean_square_calibration_error: RootMeanSquareCalibrationError = RootMeanSquareCalibrationError()
