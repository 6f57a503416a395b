"""The smallest miscalibration that a sample would show: what "nothing beyond chance" leaves open."""

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

from calibrant._kernels.logistic import sigmoid
from calibrant._kernels.softmax import log_odds

__all__ = ["detectable_shift"]

#: The farthest shift of the log-odds that is looked at.
FARTHEST = 40.0


def detectable_shift(
    risk: np.ndarray,
    weight: np.ndarray,
    toward: np.ndarray | None = None,
    *,
    tests: int = 1,
    level: float = 0.95,
    power: float = 0.95,
) -> float:
    r"""How far off risks (n,) may be and yet be missed by a test, in 1 - ``power`` of such samples.

    .. math:: \sum w s (q_b - p) = z_a \sqrt{\sum w s^2 p (1 - p)} + z_c \sqrt{\sum w s^2 q_b (1 - q_b)}

    is solved for the shift b of the log-odds along s (``toward``; 1 is an offset, log-odds about
    their mean a slope), to either side; a is 1 - (1 - ``level``) / (2 ``tests``), and c the power.
    It is told as the larger mean :math:`|q_b - p|`. Where not even the farthest shift is surely
    seen, it is that of the farthest.

    Examples
    --------
    >>> round(detectable_shift(np.full(100, 0.5), np.ones(100)), 3)
    0.175
    """
    odds, n = log_odds(risk), weight.sum()
    p, s = sigmoid(odds), np.ones(len(risk)) if toward is None else toward
    noise = ndtri(1.0 - 0.5 * (1.0 - level) / tests) * np.sqrt(weight @ (s * s * p * (1.0 - p)))

    def beyond(shift: float) -> float:
        q = sigmoid(odds + shift * s)
        missed = ndtri(power) * np.sqrt(weight @ (s * s * q * (1.0 - q)))
        return float(abs((weight * s) @ (q - p)) - noise - missed)

    far = FARTHEST / max(float(np.abs(s).max()), 1e-300)
    shifts = [side if beyond(side) < 0.0 else brentq(beyond, 0.0, side) for side in (-far, far)]
    return max(float(weight @ abs(sigmoid(odds + shift * s) - p)) / n for shift in shifts)
