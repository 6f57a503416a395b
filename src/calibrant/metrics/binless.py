"""Calibration errors of one score without bins: cumulative, smooth, by kernel, by a curve."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar

import numpy as np
import scipy

from calibrant._numerics.bootstrap import MANY_ROWS, binomial_gaps, drawn_by_score, of_whole_rows
from calibrant._numerics.logistic import sigmoid
from calibrant._numerics.smoothing import (
    deposit,
    fit_restricted_spline,
    gaussian_smoother,
    loess_matrix,
    own_widths,
    pooled_scores,
    score_grid,
    spline_design,
    spline_knots,
    weighted_quantile,
)
from calibrant.core.calibrator import Promises
from calibrant.core.estimators import require_option
from calibrant.core.metric import by_options
from calibrant.errors import InputError
from calibrant.metrics.events import PairMetric

__all__ = [
    "IntegratedCalibrationIndex",
    "KsCalibrationError",
    "MaximumMeanCalibrationError",
    "SmoothCalibrationError",
    "calibration_e50",
    "calibration_e90",
    "integrated_calibration_index",
    "ks_calibration_error",
    "maximum_mean_calibration_error",
    "smooth_calibration_error",
]


class KsCalibrationError(
    PairMetric, name="KS calibration error", key="ks_error", direction="minimize", range=(0.0, 1.0)
):
    r"""Largest gap between the cumulative scores and the cumulative hits, in the order of the
    scores.

    .. math:: \max_t \left| \frac{1}{n} \sum_{s_i \le t} (c_i - s_i) \right|

    Parameters
    ----------
    target : {"answer", "event"} or a class label, default "answer"
        The probability to evaluate: the predicted label's (against whether it is correct), class
        1's of two, or the named class's.

    See Also
    --------
    smooth_calibration_error : also without bins; a mean instead of a maximum.
    expected_calibration_error : the error in bins.

    Notes
    -----
    Use it where bins are too coarse and a density estimate is too uncertain. Over- and
    underconfidence in different regions partly cancel. Never select a model or a calibrator by it:
    it is not a proper score (a constant confidence equal to the accuracy scores 0). Its interval is
    debiased (test inversion on simulated outcomes): ``value`` is the estimate, ``plain`` the metric
    itself.

    References
    ----------
    Gupta et al., "Calibration of neural networks using splines", ICLR 2021, equation 8.

    Examples
    --------
    >>> round(ks_calibration_error([1, 0], [0.9, 0.8], target="event"), 3)
    0.4
    """

    promises: ClassVar[Promises] = Promises(
        "no",
        "yes",
        "partly",
        "if decisions increase with the score: twice its value times the stake",
    )

    def _pair_value(self, score: np.ndarray, hit: np.ndarray, weight: np.ndarray) -> float:
        order = np.argsort(score)
        sums = np.cumsum((weight * (hit - score))[order])
        # Rows of equal score are added together.
        last_of_run = np.append(np.diff(score[order]) > 0.0, True)
        return min(float(np.abs(sums[last_of_run]).max() / weight.sum()), 1.0)


ks_calibration_error: KsCalibrationError = KsCalibrationError()


#: Cells of the scores; fewer for simulated outcomes of at most so many rows, whose widths are many
#: cells: theirs differ by less than .5 %.
CELLS, FEW_CELLS, FEW_ROWS = 4096, 512, 10_000
#: Draws smoothed at a time.
DRAWS_AT_ONCE = 64


class SmoothCalibrationError(
    PairMetric, name="smooth ECE", key="smooth_ece", direction="minimize", range=(0.0, 1.0)
):
    r"""Kernel width at which the smoothed gap between hits and scores integrates to that width
    (smECE).

    .. math:: \int_0^1 \left| \frac{1}{n} \sum_i (c_i - s_i) K_\sigma(t, s_i) \right| dt = \sigma

    with a Gaussian kernel reflected at 0 and 1, on a grid of 4,096 cells.

    Parameters
    ----------
    target : {"answer", "event"} or a class label, default "answer"
        The probability to evaluate: the predicted label's (against whether it is correct), class
        1's of two, or the named class's.

    See Also
    --------
    expected_calibration_error : the error in bins.
    debiased_calibration_error : the error in bins, corrected for noise.

    Notes
    -----
    Use it as the calibration error without a parameter to choose. It is continuous in the scores
    and, within a constant factor, the distance to the nearest calibrated predictor. Never select a
    model or a calibrator by it: it is not a proper score (a constant confidence equal to the
    accuracy scores 0). Its interval is debiased (test inversion on simulated outcomes): ``value``
    is the estimate, ``plain`` the metric itself.

    References
    ----------
    Błasiok and Nakkiran, "Smooth ECE: principled reliability diagrams via kernel smoothing", ICLR
    2024.

    Examples
    --------
    >>> round(smooth_calibration_error([1, 0], [0.9, 0.8], target="event"), 2)
    0.35
    """

    promises: ClassVar[Promises] = Promises("no", "yes", "no", "none")

    def _pair_value(self, score: np.ndarray, hit: np.ndarray, weight: np.ndarray) -> float:
        return SmoothGap(score, weight)(hit)

    def _prepared(self, score: np.ndarray, weight: np.ndarray) -> Any:
        return SmoothGap(score, weight)


@dataclass(frozen=True)
class SmoothGap:
    """The smooth ECE of scores (n,) with their weights, as a function of the hits."""

    score: np.ndarray
    weight: np.ndarray

    def __call__(self, hit: np.ndarray) -> float:
        """The value for hits (n,)."""
        gap = self.weight * (hit - self.score) / self.weight.sum()
        smoothed = gaussian_smoother(deposit(self.score, gap, CELLS))

        def excess(width: float) -> float:
            return float(np.abs(smoothed(width)).sum()) - width

        # The smoothed gap decreases with the width, so there is one crossing.
        if excess(1e-9) <= 0.0:
            return 0.0
        return (
            float(scipy.optimize.brentq(excess, 1e-9, 1.0, xtol=1e-13))
            if excess(1.0) < 0.0
            else 1.0
        )

    def each(self, draws: Iterable[np.ndarray]) -> list[float]:
        """The values for several draws of the hits, smoothed together."""
        cells = FEW_CELLS if len(self.score) <= FEW_ROWS else CELLS
        mass = self.weight / self.weight.sum()
        gaps = (deposit(self.score, mass * (hit - self.score), cells) for hit in draws)
        some = iter(lambda: [*islice(gaps, DRAWS_AT_ONCE)], [])
        return [width for block in some for width in own_widths(np.stack(block)).tolist()]


smooth_calibration_error: SmoothCalibrationError = SmoothCalibrationError()


class MaximumMeanCalibrationError(
    PairMetric,
    name="MMCE",
    key="mmce",
    direction="minimize",
    range=(0.0, 1.0),
    examples=({"target": "event", "width": 0.1},),
):
    r"""Kernel norm of the gap between hits and scores (MMCE).

    .. math:: \left( \frac{1}{n^2} \sum_{i,j} (c_i - s_i)(c_j - s_j)\, e^{-|s_i - s_j| / h}
        \right)^{1/2}

    Parameters
    ----------
    target : {"answer", "event"} or a class label, default "answer"
        The probability to evaluate: the predicted label's (against whether it is correct), class
        1's of two, or the named class's.
    width : float, default 0.4
        The kernel's width h, at least 0.005.

    See Also
    --------
    smooth_calibration_error : the error with an automatic kernel width.

    Notes
    -----
    Use it to compare with papers that train with it. The double sum is exact and costs O(n log n):
    one sweep along the sorted scores. Never select a model or a calibrator by it: it is not a
    proper score (a constant confidence equal to the accuracy scores 0). Its interval is debiased
    (test inversion on simulated outcomes): ``value`` is the estimate, ``plain`` the metric itself.

    References
    ----------
    Kumar, Sarawagi and Jain, "Trainable calibration measures for neural networks from kernel mean
    embeddings", ICML 2018.

    Examples
    --------
    >>> round(maximum_mean_calibration_error([1, 0], [0.9, 0.9], target="event"), 3)
    0.4
    """

    width: float = 0.4

    def _check(self) -> None:
        if not self.width >= 0.005:
            raise InputError(f"width must be at least 0.005; got {self.width!r}; 0.4 is usual.")

    def _pair_value(self, score: np.ndarray, hit: np.ndarray, weight: np.ndarray) -> float:
        order = np.argsort(score)
        at, gap = score[order], (weight * (hit - score))[order]
        # e^{-(s_i - s_j) / h} factorises, so all j <= i are one running sum; centring avoids
        # overflow.
        rise = np.exp((at - 0.5) / self.width)
        before = np.cumsum(gap * rise) / rise
        total = 2.0 * gap @ before - gap @ gap
        return min(float(np.sqrt(max(total, 0.0)) / weight.sum()), 1.0)


maximum_mean_calibration_error: MaximumMeanCalibrationError = MaximumMeanCalibrationError()


#: The curve is fitted at each of up to this many scores, or else at half as many points.
EVERY_SCORE = 1000


class IntegratedCalibrationIndex(
    PairMetric,
    direction="minimize",
    range=(0.0, 1.0),
    examples=({"target": "answer", "quantile": 0.9}, {"smoother": "spline"}),
):
    r"""Mean absolute gap between the scores and their smooth recalibration (ICI); the median gap is
    E50, the 90 % quantile E90.

    .. math:: \frac{1}{n} \sum_i |s_i - \hat g(s_i)|, \quad \hat g = \text{local quadratic
        regression of the hits on the scores}

    Parameters
    ----------
    target : {"answer", "event"} or a class label, default "event"
        The probability to evaluate: the predicted label's (against whether it is correct), class
        1's of two, or the named class's.
    quantile : float, optional
        A quantile of the gaps instead of their mean: 0.5 is ``calibration_e50``, 0.9
        ``calibration_e90``, 1 the largest gap (Emax).
    span : float, default 0.75
        Share of the rows in each local fit of "loess".
    smoother : {"loess", "spline"}
        The recalibration curve: ``loess_curve``, or ``spline_curve`` with five knots.

    See Also
    --------
    loess_curve, spline_curve : the recalibration curve with bands.
    smooth_calibration_error, expected_calibration_error : other measures of the gap's size.
    calibration_slope, calibration_in_the_large : the direction of the gap.

    Notes
    -----
    Use it where clinical reports ask for it: ``integrated_calibration_index``, ``calibration_e50``,
    ``calibration_e90``. A calibrated model has an error above 0 too:
    ``integrated_calibration_index.null_of(record)`` computes it. Beyond 1,000 distinct scores, the
    loess curve is fitted at 500 points and interpolated linearly; beyond 5,000, the scores are
    pooled first. In all cases compared with R, the result was within 4e-4 of the curve at every
    score. Never select a model or a calibrator by it: it is not a proper score (a constant score
    equal to the rate has error 0). Its interval is debiased (test inversion on simulated outcomes):
    ``value`` is the estimate, ``plain`` the metric itself.

    References
    ----------
    Austin and Steyerberg, "The integrated calibration index (ICI) and related metrics for
    quantifying the calibration of logistic regression models", Statistics in Medicine 2019.

    Examples
    --------
    >>> p, y = [0.2, 0.4, 0.6, 0.8] * 5, [0, 0, 1, 1] * 5
    >>> (
    ...     round(integrated_calibration_index(y, p), 2),
    ...     round(calibration_e50(y, p), 2),
    ...     round(calibration_e90(y, p), 2),
    ... )
    (0.3, 0.2, 0.4)
    >>> from calibrant.core.predictions import read
    >>> print(integrated_calibration_index.null_of(read(p, y)))
    0.1517 [0.05, 0.3]
    """

    target: Any = "event"
    quantile: float | None = None
    span: float = 0.75
    smoother: str = "loess"

    def _name(self) -> str:
        """Name of the metric: ICI for the mean gap, E50 and the like for a quantile, Emax for the
        largest.
        """
        return (
            "ICI"
            if self.quantile is None
            else "Emax"
            if self.quantile == 1.0
            else f"E{100.0 * self.quantile:g}"
        )

    name: ClassVar[str] = by_options(_name)

    def _key(self) -> str:
        """Key of the metric, its name in lower case: "ici", "e50"."""
        return self.name.lower()

    key: ClassVar[str] = by_options(_key)

    def _exceptions(self) -> Mapping[str, str]:
        """nan for "spline" of separated outcomes: the fit is not quite 0 and 1."""
        return (
            {"perfect_is_best": "Firth's likelihood adds half a miss to certain predictions"}
            if self.smoother == "spline"
            else {}
        )

    exceptions: ClassVar[Mapping[str, str]] = by_options(_exceptions)

    def _check(self) -> None:
        if self.quantile is not None and not 0.0 <= self.quantile <= 1.0:
            raise InputError(
                f"quantile must be in [0, 1], or None for the mean; got {self.quantile!r}."
            )
        if not 0.0 < self.span <= 1.0:
            raise InputError(f"span must be in (0, 1]; got {self.span!r}; 0.75 is usual.")
        require_option("smoother", self.smoother, ("loess", "spline"))

    def _pair_value(self, score: np.ndarray, hit: np.ndarray, weight: np.ndarray) -> float:
        return self._prepared(score, weight)(hit)

    def _value(self, record: Any) -> float:
        return self._prepared_of(record)(record.pair(self.target)[1])

    def _prepared_of(self, record: Any) -> Any:
        return Gaps(self, record.weights, *self._smoothed_of(record))

    def _smoothed_of(self, record: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, Any]:
        """(scores x, their mass, index of each row in x, smoother), from the scores alone."""
        score, ranks = record.pair(self.target)[0], record.ranks_of(self.target)
        x, mass, index = pooled_scores(score, record.weights, ranks)
        # The mean gap, its quantiles and their null distributions share one smoother.
        key, smoothers = (self.smoother, self.span, self.target), record.derived.smoothers
        known = smoothers.get(key)
        if known is None or not (np.array_equal(known[0], x) and np.array_equal(known[1], mass)):
            smoothers[key] = known = x, mass, self._smoother(x, mass)
        return x, mass, index, known[2]

    def _drawn(self, record: Any, n_draws: int, rng: np.random.Generator) -> list[float]:
        # The curve depends on the mean outcome at each score only, which is binomial.
        (x, mass, _, recalibrated), weight = self._smoothed_of(record), record.weights
        chance = np.minimum(x, 1.0)
        if mass.sum() >= MANY_ROWS and of_whole_rows(weight, record.cluster):
            means = binomial_gaps(mass, chance, n_draws, rng)
            means /= mass[:, None]
            means += chance[:, None]
            starts = range(0, n_draws, DRAWS_AT_ONCE)
            blocks = (means[:, start : start + DRAWS_AT_ONCE] for start in starts)
            return Gaps(self, mass, x, mass, np.arange(len(x)), recalibrated).of_means(blocks)
        if not drawn_by_score(len(x), weight, record.cluster):
            return super()._drawn(record, n_draws, rng)
        error, times = Gaps(self, mass, x, mass, np.arange(len(x)), recalibrated), mass.astype(int)
        return error.each(rng.binomial(times, chance) / mass for _ in range(n_draws))

    def _prepared(self, score: np.ndarray, weight: np.ndarray) -> Any:
        x, mass, index = pooled_scores(score, weight)
        return Gaps(self, weight, x, mass, index, self._smoother(x, mass))

    def of_gaps(self, gap: np.ndarray, mass: np.ndarray) -> float:
        """The metric of the absolute gaps at scores of this mass, (m,) each."""
        if self.quantile is None:
            return float(mass @ gap / mass.sum())
        return weighted_quantile(gap, mass, self.quantile)

    def _smoother(self, x: np.ndarray, mass: np.ndarray) -> Any:
        """Function that turns the mean hits at the scores x, (m,) or (m, B), into the curve
        there.
        """
        if self.smoother == "spline":
            design = spline_design(x, spline_knots(x, mass, 5))
            return _each(
                lambda mean: sigmoid(design @ fit_restricted_spline(design, mean, mass)[0])
            )
        grid = x if len(x) <= EVERY_SCORE else score_grid(x, mass, EVERY_SCORE // 2)
        matrix = loess_matrix(x, mass, grid, self.span)
        if grid is x:
            return lambda mean: matrix @ mean
        between = _each(lambda fit: np.interp(x, grid, fit))
        return lambda mean: between(matrix @ mean)


@dataclass(frozen=True)
class Gaps:
    """The metric as a function of the hits: rows of ``weight`` (n,) with the scores ``x[index]``,
    whose masses are ``mass`` (m,), and the smoother of their mean hits.
    """

    metric: IntegratedCalibrationIndex
    weight: np.ndarray
    x: np.ndarray
    mass: np.ndarray
    index: np.ndarray
    recalibrated: Any

    def _means(self, hit: np.ndarray) -> np.ndarray:
        hits = np.bincount(self.index, weights=self.weight * hit, minlength=len(self.x))
        return hits / self.mass

    def __call__(self, hit: np.ndarray) -> float:
        """The value for hits (n,)."""
        gap = np.abs(self.recalibrated(self._means(hit)) - self.x)
        return self.metric.of_gaps(np.minimum(gap, 1.0), self.mass)

    def each(self, draws: Iterable[np.ndarray]) -> list[float]:
        """The values for several draws of the hits, smoothed together."""
        means = map(self._means, draws)
        some = iter(lambda: [*islice(means, DRAWS_AT_ONCE)], [])
        return self.of_means(np.stack(block).T for block in some)

    def of_means(self, blocks: Iterable[np.ndarray]) -> list[float]:
        """The values for blocks (m, B) of mean hits at the scores."""
        values = list[float]()
        for means in blocks:
            gaps = np.abs(np.transpose(self.recalibrated(means)) - self.x)
            values += [self.metric.of_gaps(gap, self.mass) for gap in np.minimum(gaps, 1.0)]
        return values


def _each(curve: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    """A function of one column, (m,) or each of (m, B)."""
    return lambda values: curve(values) if values.ndim == 1 else np.stack([*map(curve, values.T)]).T


integrated_calibration_index: IntegratedCalibrationIndex = IntegratedCalibrationIndex()
calibration_e50: IntegratedCalibrationIndex = IntegratedCalibrationIndex(quantile=0.5)
calibration_e90: IntegratedCalibrationIndex = IntegratedCalibrationIndex(quantile=0.9)
