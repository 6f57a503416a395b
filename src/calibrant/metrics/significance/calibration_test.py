"""What a test of calibration says."""

from dataclasses import dataclass

__all__ = ["CalibrationTest"]


@dataclass(frozen=True)
class CalibrationTest:
    """The result of a test of the claim that the predictions are calibrated.

    Attributes
    ----------
    statistic : float
    p_value : float
        Probability of a statistic at least as extreme if the claim were true. A small one speaks against calibration; a large one does not
        prove it, with few rows least of all.
    method : str
    n : float
        Sum of the weights.
    """

    statistic: float
    p_value: float
    method: str
    n: float
