"""Gap between the scores and a smooth recalibration of them: its mean, or a quantile of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from calibrant._kernels.loess import loess_matrix, pooled_scores, score_grid, weighted_quantile
from calibrant._kernels.logistic import sigmoid
from calibrant._kernels.restricted_spline import fit_restricted_spline, spline_design, spline_knots
from calibrant.contracts.by_options import by_options
from calibrant.errors import InputError
from calibrant.metrics.pair import PairMetric

__all__ = ["IntegratedCalibrationIndex", "calibration_e50", "calibration_e90", "integrated_calibration_index"]

#: The curve is fitted at each of this many scores, or at half as many points of more.
EVERY_SCORE = 1000


@dataclass(frozen=True, repr=False)
class IntegratedCalibrationIndex(PairMetric):
    r"""Mean absolute gap between the scores and their smooth recalibration (ICI); its median is E50, its 90 % quantile E90.

    .. math:: \frac{1}{n} \sum_i |s_i - \hat g(s_i)|, \quad \hat g = \text{local quadratic regression of the hits on the scores}

    Parameters
    ----------
    target : {"answer", "event"} or a class label, default "event"
        Whose probability: the predicted label's against its being right, class 1's of two, or the named class's.
    quantile : float, optional
        A quantile of the gaps in place of their mean: 0.5 is ``calibration_e50``, 0.9 ``calibration_e90``, 1 the largest (Emax).
    span : float, default 0.75
        Share of the rows that each local fit of "loess" takes in.
    smoother : {"loess", "spline"}
        The recalibration: that of ``loess_curve``, or of ``spline_curve`` with five knots.

    See Also
    --------
    loess_curve, spline_curve : the recalibration itself, with bands.
    smooth_calibration_error, expected_calibration_error : other sizes of the gap.
    calibration_slope, calibration_in_the_large : its direction.

    Notes
    -----
    Use it where clinical reports ask for it: ``integrated_calibration_index``, ``calibration_e50``, ``calibration_e90``. A calibrated
    model has an error above 0 too: ``integrated_calibration_index.null_of(record)`` says how much. Beyond 1,000 distinct scores the
    loess curve is fitted at 500 points and linear between, beyond 5,000 the scores are first pooled: within 4e-4 of the curve at every
    score in all cases compared with R's.
    Never select a model or a calibrator by it: it is not a proper score (a constant score equal to the rate has error 0).
    Its interval is debiased (test inversion on simulated outcomes): ``value`` is the estimate, ``plain`` the metric itself.

    References
    ----------
    Austin and Steyerberg, "The integrated calibration index (ICI) and related metrics for quantifying the calibration of logistic
    regression models", Statistics in Medicine 2019.

    Examples
    --------
    >>> p, y = [0.2, 0.4, 0.6, 0.8] * 5, [0, 0, 1, 1] * 5
    >>> round(integrated_calibration_index(y, p), 2), round(calibration_e50(y, p), 2), round(calibration_e90(y, p), 2)
    (0.3, 0.2, 0.4)
    >>> from calibrant.predictions import read
    >>> print(integrated_calibration_index.null_of(read(p, y)))
    0.1515 [0.05, 0.3013]
    """

    target: Any = "event"
    quantile: float | None = None
    span: float = 0.75
    smoother: str = "loess"

    direction: ClassVar[str] = "minimize"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def _name(self) -> str:
        """ICI for the mean gap, E50 and the like for a quantile, Emax for the largest."""
        return "ICI" if self.quantile is None else "Emax" if self.quantile == 1.0 else f"E{100.0 * self.quantile:g}"

    name: ClassVar[str] = by_options(_name)

    def _key(self) -> str:
        """The name in lower case: "ici", "e50"."""
        return self.name.lower()

    key: ClassVar[str] = by_options(_key)

    @classmethod
    def _examples(cls):
        return [cls(), cls(target="answer", quantile=0.9), cls(smoother="spline")]

    def _exceptions(self) -> Mapping[str, str]:
        """The spline of separated outcomes is not quite 0 and 1."""
        return {"perfect_is_best": "Firth's likelihood leaves certain predictions half a miss"} if self.smoother == "spline" else {}

    exceptions: ClassVar[Mapping[str, str]] = by_options(_exceptions)

    def _check(self):
        if self.quantile is not None and not 0.0 <= self.quantile <= 1.0:
            raise InputError(f"quantile must be in [0, 1], or None for the mean; got {self.quantile!r}.")
        if not 0.0 < self.span <= 1.0:
            raise InputError(f"span must be in (0, 1]; got {self.span!r}; 0.75 is usual.")
        if self.smoother not in ("loess", "spline"):
            raise InputError(f'smoother must be "loess" or "spline"; got {self.smoother!r}.')

    def _pair_value(self, score, hit, weight):
        return self._prepared(score, weight)(hit)

    def _value(self, record):
        return self._prepared_of(record)(record.pair(self.target)[1])

    def _prepared_of(self, record):
        # The mean gap, its quantiles and what chance shows of them have one smoother.
        key = "smoother", self.smoother, self.span, self.target
        if key not in record.derived:
            record.derived[key] = self._smoothed(record.pair(self.target)[0], record.weights)
        return self._gaps(record.weights, *record.derived[key])

    def _prepared(self, score, weight):
        return self._gaps(weight, *self._smoothed(score, weight))

    def _smoothed(self, score, weight):
        """(scores x, their mass, index of each row in x, smoother), which depend on the scores alone."""
        x, mass, index = pooled_scores(score, weight)
        return x, mass, index, self._smoother(x, mass)

    def _gaps(self, weight, x, mass, index, recalibrated):
        """The metric as a function of the hits."""

        def value(hit):
            mean = np.bincount(index, weights=weight * hit, minlength=len(x)) / mass
            gap = np.minimum(np.abs(recalibrated(mean) - x), 1.0)
            return float(mass @ gap / mass.sum()) if self.quantile is None else weighted_quantile(gap, mass, self.quantile)

        return value

    def _smoother(self, x, mass):
        """What turns the mean hits at the scores x into the curve there."""
        if self.smoother == "spline":
            design = spline_design(x, spline_knots(x, mass, 5))
            return lambda mean: sigmoid(design @ fit_restricted_spline(design, mean, mass)[0])
        grid = x if len(x) <= EVERY_SCORE else score_grid(x, mass, EVERY_SCORE // 2)
        matrix = loess_matrix(x, mass, grid, self.span)
        return lambda mean: np.interp(x, grid, matrix @ mean)


integrated_calibration_index: IntegratedCalibrationIndex = IntegratedCalibrationIndex()
calibration_e50: IntegratedCalibrationIndex = IntegratedCalibrationIndex(quantile=0.5)
calibration_e90: IntegratedCalibrationIndex = IntegratedCalibrationIndex(quantile=0.9)
