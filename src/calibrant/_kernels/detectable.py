"""The smallest miscalibration that a sample would show: what "nothing beyond chance" leaves open."""

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

from calibrant._kernels.logistic import sigmoid
from calibrant._kernels.softmax import log_odds

__all__ = ["detectable_offset"]

#: The farthest shift of the log-odds that is looked at.
FARTHEST = 40.0


def detectable_offset(risk: np.ndarray, weight: np.ndarray, *, level: float = 0.95, power: float = 0.95) -> float:
    """How far off the mean of the risks (n,) may be and yet be missed by a test at ``level``, in 1 - ``power`` of such samples.

    The shift b of the log-odds solves sum w (q_b - p) = z_a sqrt(sum w p (1 - p)) + z_b sqrt(sum w q_b (1 - q_b)), to either side; it is
    told as the larger change of the mean risk. Where not even risks of none, or of all, are surely seen, it is the way there.
    """
    odds, n = log_odds(risk), weight.sum()
    p = sigmoid(odds)
    noise = ndtri(0.5 + 0.5 * level) * np.sqrt(weight @ (p * (1.0 - p)))

    def beyond(shift: float) -> float:
        q = sigmoid(odds + shift)
        return float(abs(weight @ (q - p)) - noise - ndtri(power) * np.sqrt(weight @ (q * (1.0 - q))))

    shifts = [side if beyond(side) < 0.0 else brentq(beyond, 0.0, side) for side in (-FARTHEST, FARTHEST)]
    return max(float(abs(weight @ (sigmoid(odds + shift) - p)) / n) for shift in shifts)
