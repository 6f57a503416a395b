"""Calibration error by kernel density estimates of the confidence."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from calibrant._kernels.smoothing import deposit, triweight_smooth
from calibrant.errors import InputError
from calibrant.metrics.pair import PairMetric

__all__ = ["KdeCalibrationError", "kde_calibration_error"]

CELLS = 4096


@dataclass(frozen=True, repr=False)
class KdeCalibrationError(PairMetric):
    r"""Mean gap between the score and the accuracy at that score, both from kernel density estimates (KDE-ECE).

    .. math:: \left( \int_0^1 |z - \hat\pi(z)|^d \hat f(z)\, dz \right)^{1/d}

    with a triweight kernel reflected at 0 and 1, of width :math:`\mathrm{std}(s \mid c = 1) (2n)^{-1/5}`.

    Parameters
    ----------
    target : {"answer", "event"} or a class label, default "answer"
        Whose probability: the predicted label's against its being right, class 1's of two, or the named class's.
    norm : {1, 2}
        The power d.

    See Also
    --------
    smooth_calibration_error : chooses its own kernel.
    smooth_curve : the gap itself.

    Notes
    -----
    Use it to compare with papers that report it; ``smooth_calibration_error`` has no bandwidth to choose. Where all scores are equal it is
    the plain gap. It is biased upward, as binned errors are.
    Never select a model or a calibrator by it: it is not a proper score (a constant confidence equal to the accuracy has error 0).
    Its interval is debiased (test inversion on simulated outcomes): ``value`` is the estimate, ``plain`` the metric itself.

    References
    ----------
    Zhang, Kailkhura and Han, "Mix-n-Match: ensemble and compositional methods for uncertainty calibration", ICML 2020, equation 9.

    Examples
    --------
    >>> p = [0.1, 0.3, 0.5, 0.7, 0.9]
    >>> round(kde_calibration_error([0, 0, 1, 1, 1], p, target="event"), 1)
    0.3
    """

    norm: Literal[1, 2] = 1

    name: ClassVar[str] = "KDE-ECE"
    key: ClassVar[str] = "kde_ece"
    direction: ClassVar[str] = "minimize"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)

    @classmethod
    def _examples(cls):
        return [cls(), cls(target="event", norm=2)]

    def _check(self):
        if self.norm not in (1, 2):
            raise InputError(f"norm must be 1 or 2; got {self.norm!r}.")

    def _pair_value(self, score, hit, weight):
        n, hits = weight.sum(), weight @ hit
        mass = weight * hit if hits > 0.0 else weight
        mean = mass @ score / mass.sum()
        spread = np.sqrt(max(mass @ (score - mean) ** 2 / mass.sum(), 0.0))
        bandwidth = spread * (2.0 * n) ** -0.2
        if bandwidth < 2.0 / CELLS:
            return self._unsmoothed(score, hit, weight)
        f, right = triweight_smooth(np.stack([deposit(score, weight, CELLS), deposit(score, weight * hit, CELLS)]) / n, bandwidth)
        z = (np.arange(CELLS) + 0.5) / CELLS
        share = np.divide(right, f, out=z.copy(), where=f > 1e-12 / CELLS)
        return min(float((f @ np.abs(z - np.clip(share, 0.0, 1.0)) ** self.norm) ** (1.0 / self.norm)), 1.0)

    def _unsmoothed(self, score, hit, weight):
        """The gap at each distinct score, where they are so few or so close that there is nothing to smooth."""
        _, inverse = np.unique(np.round(score, 6), return_inverse=True)
        mass = np.bincount(inverse, weights=weight)
        gap = np.abs(np.bincount(inverse, weights=weight * (hit - score))) / mass
        return min(float((mass @ gap**self.norm / mass.sum()) ** (1.0 / self.norm)), 1.0)


kde_calibration_error: KdeCalibrationError = KdeCalibrationError()
