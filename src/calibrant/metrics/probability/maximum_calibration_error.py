"""Largest gap between confidence and accuracy over the bins."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from calibrant.metrics.probability.expected_calibration_error import ExpectedCalibrationError

__all__ = ["MaximumCalibrationError", "maximum_calibration_error"]


@dataclass(frozen=True, repr=False)
class MaximumCalibrationError(ExpectedCalibrationError):
    r"""Largest gap between confidence and accuracy over the bins of the top label's confidence (MCE).

    .. math:: \max_b \left| \mathrm{conf}_b - \mathrm{acc}_b \right|

    Parameters
    ----------
    n_bins : int, default 15
    strategy : {"width", "mass"}
        Bins of equal width on [0, 1] (edges k / n_bins, an edge belongs to the bin above, 1 to the last), or of equal weight
        (ties never split).
    norm : {"max"}
        As in ``expected_calibration_error``, which this is with another default.

    See Also
    --------
    expected_calibration_error : the mean gap.
    ks_calibration_error : a largest gap without bins.

    Notes
    -----
    The bin with the fewest rows tends to decide it, so read it with equal-weight bins or not at all. Its interval warns that it is
    approximate: no interval of a largest gap covers quite as it says.
    Never select a model or a calibrator by it: it is not a proper score (a constant confidence equal to the accuracy has error 0).

    References
    ----------
    Naeini et al., "Obtaining well calibrated probabilities using Bayesian binning", AAAI 2015.

    Examples
    --------
    >>> round(maximum_calibration_error([0, 1, 1], [0.1, 0.9, 0.6]), 3)
    0.4
    """

    norm: Literal[1, 2, "max"] = "max"

    name: ClassVar[str] = "MCE"
    key: ClassVar[str] = "mce"

    @classmethod
    def _examples(cls):
        return [cls(), cls(strategy="mass", n_bins=5)]


maximum_calibration_error: MaximumCalibrationError = MaximumCalibrationError()
