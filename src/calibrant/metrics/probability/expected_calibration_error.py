"""Expected calibration error of the predicted label."""

from dataclasses import dataclass
from typing import ClassVar

from calibrant.contracts.tags import Promises
from calibrant.metrics.probability.calibration_error import BinnedCalibrationError

__all__ = ["ExpectedCalibrationError", "expected_calibration_error"]


@dataclass(frozen=True, repr=False)
class ExpectedCalibrationError(BinnedCalibrationError):
    r"""Expected calibration error of the top label: gap between confidence and accuracy, over bins of the confidence.

    .. math:: \sum_b \frac{w_b}{w} \left| \mathrm{conf}_b - \mathrm{acc}_b \right|

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
    debiased_calibration_error, smooth_calibration_error : without the noise of bins.
    reliability_curve : the gaps, bin by bin.

    Notes
    -----
    Never select a model or a calibrator by it: it is not a proper score (a constant confidence equal to the accuracy has error 0), and it
    is biased upward, the more so the fewer rows a bin has. Read it beside its interval and the log loss.
    ``.interval`` does not centre on this biased number: it asks which errors, with this sample's noise added, would show as the one seen
    (method "debiased"), so a perfect model of 100 rows reads about 0.03 with a low end of 0, not 0.12. Its ``value`` is that estimate,
    ``plain`` the number above. Of :class:`SoftLabels` the noise is the variance seen within the bins.

    References
    ----------
    Naeini et al., "Obtaining well calibrated probabilities using Bayesian binning", AAAI 2015; Guo et al., ICML 2017.

    Examples
    --------
    >>> round(expected_calibration_error([1, 0], [0.95, 1.0], n_bins=10), 3)
    0.475
    """

    name: ClassVar[str] = "ECE"
    key: ClassVar[str] = "ece"
    promises: ClassVar[Promises] = Promises("no", "no", "yes", "at most twice its size, of the distinct scores")

    def _pairs(self, record):
        return [(record.confidence, record.correct)]


expected_calibration_error: ExpectedCalibrationError = ExpectedCalibrationError()
