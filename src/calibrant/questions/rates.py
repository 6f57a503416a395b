"""Rate of right answers from many scores of a judge and few labels by people."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from calibrant._kernels.clusters import variance_of_sum
from calibrant._kernels.intervals import normal_quantile
from calibrant._kernels.logistic import sigmoid
from calibrant._kernels.softmax import log_odds
from calibrant._support.options import require_option
from calibrant.arrays import ArrayLike, to_array
from calibrant.contracts.columns import Result
from calibrant.contracts.interval import require_level
from calibrant.decisions.certainty import require_share
from calibrant.errors import InputError
from calibrant.folds.splits import folds_of
from calibrant.groups import coded
from calibrant.labels import SoftLabels
from calibrant.maps.isotonic import Isotonic

__all__ = [
    "RateEstimate",
    "Sample",
    "estimate_rate",
    "fitted_curve",
    "influences",
    "judge_weight",
    "labels_for_width",
    "read_sample",
]

#: Fewest labels of a rate.
LEAST = 10
#: Folds in which a judge is calibrated.
FOLDS = 5
#: Labels of the rarer outcome below which the limits include an unseen label.
FEW = 10.0


@dataclass(frozen=True)
class RateEstimate(Result):
    """A rate with its interval.

    Attributes
    ----------
    value, low, high : float
    level : float
    n : int, scored rows; n_labels : int, labelled rows
    weight : float
        The weight of the judge's scores, from 0 (labels alone) to 1.
    gain : float
        How many times as many labels alone would give the same standard error.
    classical : (value, low, high) from the labels alone
    bias : float or None
        Mean score of the first order less that of the second, where pairs were shown in both.
    length_bias : (value, low, high) or None
        How much the judge's score rises with one standard deviation of ``length`` among rows of the
        same label.
    note : str

    See Also
    --------
    estimate_rate : makes one.
    """

    value: float
    low: float
    high: float
    level: float
    n: int
    n_labels: int
    weight: float
    gain: float
    classical: tuple[float, float, float]
    bias: float | None = None
    note: str = ""
    length_bias: tuple[float, float, float] | None = None

    def __str__(self) -> str:
        found = (
            f"{self.value:.4g} [{self.low:.4g}, {self.high:.4g}] from {self.n_labels:,} labels and"
            f" {self.n:,} scores (as from {self.n_labels * self.gain:,.0f} labels alone)"
        )
        if self.length_bias is None:
            return found
        value, low, high = self.length_bias
        return (
            f"{found}; given the label, the judge's score changes by {value:+.3f}"
            f" [{low:+.3f}, {high:+.3f}] per standard deviation of length"
        )


@dataclass(frozen=True)
class Sample:
    """Scores (N,), labels (nan if unknown), probabilities of a label, clusters or None."""

    score: np.ndarray
    label: np.ndarray
    chance: np.ndarray
    cluster: np.ndarray | None
    bias: float | None = None

    @property
    def seen(self) -> np.ndarray:
        return np.isfinite(self.label)

    def of(self, rows: np.ndarray) -> "Sample":
        cluster = None if self.cluster is None else self.cluster[rows]
        return Sample(self.score[rows], self.label[rows], self.chance[rows], cluster)


def estimate_rate(
    *,
    judge: ArrayLike,
    labels: ArrayLike,
    chance: ArrayLike | None = None,
    cluster: Any = None,
    swapped: ArrayLike | None = None,
    length: ArrayLike | None = None,
    calibrate: bool = False,
    population: Literal["new", "log"] = "new",
    level: float = 0.95,
    random_state: int = 0,
) -> RateEstimate:
    r"""Estimate a rate of right answers, or a win rate, from a judge's scores of all rows and
    labels of some.

    .. math:: \hat\theta = \lambda \bar f_N + \frac{\sum_i O_i (y_i - \lambda f_i) / \pi_i}
        {\sum_i O_i / \pi_i}

    where :math:`\lambda` is the slope of the labels on the scores, from 0 to 1, so that a useless
    judge changes nothing. The judge may be wrong or biased: the labels correct its mean.

    Parameters
    ----------
    judge : (N,) or (N, J) scores of every row, higher for better answers
        Several judges are averaged with weights of least squares, cross-fitted.
    labels : (N,) from 0 to 1, nan where there is none
    chance : (N,) probability with which each row was labelled, optional
        Default: every row had the same chance.
    cluster : (N,) labels of any kind, optional
        Dependent rows, such as answers to one question.
    swapped : (N,) scores of the first answer when it was shown second, optional
        The mean of both orders is used; scores are then probabilities from 0 to 1.
    length : (N,) numbers, optional
        Length of each answer, or of the first less that of the second, to measure whether the judge
        prefers long answers. The estimate does not depend on it.
    calibrate : bool, default False
        Calibrate the judge by cross-fitted isotonic regression, for scores on a bent scale.
    population : {"new", "log"}
        Whether the interval holds for new rows of the same kind, or for this log only, which is
        narrower.
    level : float, default 0.95
    random_state : int, default 0
        Seed of the folds.

    Returns
    -------
    RateEstimate

    Raises
    ------
    InputError
        With fewer than 10 labels, or labels outside [0, 1].

    See Also
    --------
    compare_rates : two models under one judge.
    labels_for_width : how many labels a width needs.

    Notes
    -----
    Use it where labels by people are few. The labelled rows must be a probability sample: rows
    chosen by hand, such as those that looked wrong, have no valid interval. The interval is
    Student's t on the log-odds; with fewer than ten labels of an outcome it includes an unseen
    label of that outcome. In simulations it covers 93 to 97 % at 100 labels for rates from .1 to
    .9, and more outside.

    References
    ----------
    Angelopoulos, Duchi and Zrnic, "PPI++: efficient prediction-powered inference", 2023.
    Robins, Rotnitzky and Zhao, "Estimation of regression coefficients when some regressors are not
    always observed", Journal of the American Statistical Association 89, 1994.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> judge = rng.random(2000)
    >>> y = (rng.random(2000) < 0.2 + 0.7 * judge).astype(float)
    >>> y[200:] = np.nan
    >>> print(estimate_rate(judge=judge, labels=y))
    0.5511 [0.4878, 0.6128] from 200 labels and 2,000 scores (as from 241 labels alone)
    """
    require_level(level)
    require_option("population", population, ("new", "log"))
    sample = read_sample(judge, labels, chance, cluster, swapped, random_state)
    preferred = None if length is None else _length_bias(sample, length, level)
    if calibrate:
        sample = _cross_fitted(sample, random_state, lambda part: fitted_curve(part).predict)
    return replace(_estimate(sample, level, population), length_bias=preferred)


def _length_bias(sample: Sample, length: Any, level: float) -> tuple[float, float, float]:
    """(slope of the score on the standardised length, given the label, its limits)."""
    size = to_array(length, "length").astype(np.float64)
    if size.shape != sample.label.shape or not np.isfinite(size).all() or not np.ptp(size) > 0.0:
        raise InputError(
            f"length must be {len(sample.label)} numbers that differ; got shape {size.shape}; pass"
            " the number of words of each answer."
        )
    part = sample.of(sample.seen)
    long = ((size - size.mean()) / size.std())[sample.seen]
    others, weight = np.column_stack([np.ones(len(long)), part.label]), 1.0 / part.chance
    root = np.sqrt(weight)[:, None]
    both = np.column_stack([long, part.score])
    own, score = (both - others @ np.linalg.lstsq(root * others, root * both)[0]).T
    value = float(weight * own @ score / (weight * own @ own))
    moves = weight * own * (score - value * own) / (weight * own @ own)
    item = np.arange(len(long)) if part.cluster is None else np.unique(part.cluster, False, True)[1]
    # Rows of unusual length have more leverage, and residuals that are too small.
    variance, freedom = variance_of_sum(moves, item, weight * own * own)
    half = normal_quantile(level, freedom) * math.sqrt(variance)
    return value, value - half, value + half


def read_sample(
    judge: Any, labels: Any, chance: Any, cluster: Any, swapped: Any, random_state: int
) -> Sample:
    score = to_array(judge, "judge").astype(np.float64)
    label = to_array(labels, "labels").astype(np.float64)
    n = len(score)
    seen = np.isfinite(label)
    if label.shape != (n,) or ((label < 0.0) | (label > 1.0))[seen].any():
        raise InputError(
            f"labels must be {n} numbers from 0 to 1, nan where there is none; got shape"
            f" {label.shape} from {np.nanmin(label):g} to {np.nanmax(label):g}."
        )
    if seen.sum() < LEAST:
        raise InputError(f"labels must hold {LEAST} labels or more; got {seen.sum()}; label more.")
    if not np.isfinite(score).all():
        raise InputError(
            f"judge must score every row; {(~np.isfinite(score)).sum():,} scores are missing; score"
            " them, or drop those rows by a rule that ignores the labels."
        )
    pi = np.full(n, seen.mean()) if chance is None else to_array(chance, "chance").astype(float)
    if pi.shape != (n,) or ((pi <= 0.0) | (pi > 1.0)).any():
        raise InputError(f"chance must be {n} probabilities above 0; got others.")
    index = None if cluster is None else coded(np.asarray(cluster), "cluster").index
    bias = None
    if swapped is not None:
        second = to_array(swapped, "swapped").astype(np.float64)
        bias, score = float((score - second).mean()), 0.5 * (score + second)
    sample = Sample(score, label, pi, index, bias)
    return sample if score.ndim == 1 else _pooled(sample, random_state)


def _cross_fitted(sample: Sample, random_state: int, fit: Callable[[Sample], Any]) -> Sample:
    """The sample with scores from ``fit(labelled rows of other folds)(scores)``; folds of clusters
    have as many labelled rows.
    """
    score, cluster = np.empty(len(sample.label)), sample.cluster
    n_folds = min(FOLDS, len(score) if cluster is None else int(cluster.max()) + 1)
    folds = folds_of(sample.seen.astype(np.intp), cluster, n_folds, random_state)
    for k in range(int(folds.max()) + 1):
        held = folds == k
        score[held] = fit(sample.of(sample.seen & ~held))(sample.score[held])
    return Sample(score, sample.label, sample.chance, sample.cluster, sample.bias)


def fitted_curve(part: Sample) -> Isotonic:
    """Isotonic regression of the labels of a sample on its scores."""
    weight = 1.0 / part.chance
    return isotonic_of_shares(part.score, part.label, weight / weight.mean())


def isotonic_of_shares(score: np.ndarray, hit: np.ndarray, weight: np.ndarray) -> Isotonic:
    """Isotonic regression of shares of right answers (n,) on scores."""
    shares = SoftLabels(np.column_stack([1.0 - hit, hit]))
    return Isotonic().fit(score, shares, sample_weight=weight)


def _pooled(sample: Sample, random_state: int) -> Sample:
    """Several judges as one, by a ridge of one label's worth."""

    def fit(part: Sample) -> Any:
        weight = 1.0 / part.chance
        centre, spread = part.score.mean(axis=0), part.score.std(axis=0) + 1e-12
        X = np.column_stack([np.ones(len(part.label)), (part.score - centre) / spread])
        ridge = np.diag(np.append(0.0, np.full(X.shape[1] - 1, weight.mean())))
        slope = np.linalg.solve((X.T * weight) @ X + ridge, (X.T * weight) @ part.label)

        def predict(score: np.ndarray) -> np.ndarray:
            return slope[0] + (score - centre) / spread @ slope[1:]

        return predict

    return _cross_fitted(sample, random_state, fit)


def judge_weight(sample: Sample) -> float:
    """The judge's weight: the slope of labels on scores, from 0 to 1."""
    seen = sample.seen
    pi, f, y = sample.chance[seen], sample.score[seen], sample.label[seen]
    w = (1.0 - pi) / pi**2
    if not w.sum() > 0.0:
        return 0.0
    w = w / w.sum()
    away = f - w @ f
    spread = w @ away**2
    return float(np.clip(w @ (away * (y - w @ y)) / spread, 0.0, 1.0)) if spread > 0.0 else 0.0


def influences(sample: Sample, weight: float) -> tuple[float, np.ndarray]:
    """(estimate, each row's contribution less the estimate) with the judge at a weight."""
    seen, N = sample.seen, len(sample.label)
    w = np.where(seen, 1.0 / sample.chance, 0.0)
    r = np.where(seen, sample.label, 0.0) - weight * sample.score
    mean = float(w[seen] @ r[seen] / w.sum())
    value = weight * float(sample.score.mean()) + mean
    phi = weight * sample.score + mean + np.where(seen, w * (r - mean), 0.0) * N / w.sum()
    return value, phi - value


def _error(sample: Sample, weight: float, population: str) -> tuple[float, float, float]:
    """(estimate, its variance, degrees of freedom)."""
    value, moves = influences(sample, weight)
    seen, N = sample.seen, len(sample.label)
    n = int(seen.sum())
    if population == "log":
        pi = sample.chance[seen]
        r = sample.label[seen] - weight * sample.score[seen]
        away = r - np.average(r, weights=1.0 / pi)
        finite = float(((1.0 - pi) / pi**2) @ away**2) / N**2 * n / max(n - 1, 1)
        return value, finite, n - 1.0
    if sample.cluster is not None:
        variance, _ = variance_of_sum(moves, sample.cluster, np.ones(N))
        groups = np.bincount(sample.cluster[seen])
        groups = groups[groups > 0]
        freedom = float(groups.sum() ** 2 / (groups @ groups)) - 1.0
        return value, variance / N**2, max(freedom, 1.0)
    return value, float(moves @ moves) / N**2 * n / max(n - 1, 1), n - 1.0


def _limits(
    value: float, variance: float, freedom: float, level: float, unseen: tuple[float, float]
) -> tuple[float, float]:
    """Student's t on the log-odds; an end with few labels of its outcome includes an unseen one.

    ``unseen`` are the number of labels of the outcomes 0 and 1.
    """
    n = freedom + 1.0
    ends = list[float]()
    for side, few in zip((-1.0, 1.0), unseen, strict=True):
        v, s2 = value, variance
        if few < FEW:
            other = 0.0 if side < 0.0 else 1.0
            v = (n * value + other) / (n + 1.0)
            s2 = variance * (n / (n + 1.0)) ** 2 + (other - value) ** 2 / (n + 1.0) ** 2
        v = min(max(v, 0.25 / n), 1.0 - 0.25 / n)
        half = normal_quantile(level, freedom) * math.sqrt(s2) / (v * (1.0 - v))
        end = float(sigmoid(log_odds(v) + side * half))
        ends.append(min(end, value) if side < 0.0 else max(end, value))
    return ends[0], ends[1]


def _estimate(sample: Sample, level: float, population: str) -> RateEstimate:
    own = sample.label[sample.seen]
    weight = judge_weight(sample)
    rare = (float((1.0 - own).sum()), float(own.sum()))
    found = list[tuple[float, float, float, float]]()
    for one in (weight, 0.0):
        value, variance, freedom = _error(sample, one, population)
        value = min(max(value, 0.0), 1.0)
        found.append((value, *_limits(value, variance, freedom, level, rare), variance))
    (value, low, high, variance), (plain, least, most, alone) = found
    gain = alone / variance if variance > 0.0 else 1.0
    note = "few labels of one outcome: wider limits" if min(rare) < FEW else ""
    numbers = (value, low, high, level, len(sample.label), len(own), weight, gain)
    return RateEstimate(*numbers, (plain, least, most), sample.bias, note)


def labels_for_width(
    width: float, *, judge: ArrayLike, labels: ArrayLike, level: float = 0.95
) -> int:
    r"""The number of labels for an interval of a given width, from a pilot sample.

    .. math:: n \approx z^2 \, \frac{s^2(y - \lambda f)}{h^2 - z^2 \lambda^2 s^2(f) / N}

    with half the width h, for N scored rows.

    Parameters
    ----------
    width : float
        High less low end of the interval.
    judge, labels : as in :func:`estimate_rate`
    level : float, default 0.95

    Returns
    -------
    int
        At least the 10 labels that a rate needs. More than the scored rows are returned as a
        number beyond N; label and score more rows then.

    See Also
    --------
    estimate_rate : the estimate itself.

    Notes
    -----
    Use it after a pilot of 30 labels or more, before the main labelling.

    References
    ----------
    Angelopoulos, Duchi and Zrnic, "PPI++: efficient prediction-powered inference", 2023.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> judge = rng.random(5000)
    >>> y = (rng.random(5000) < judge).astype(float)
    >>> y[50:] = np.nan
    >>> 200 < labels_for_width(0.1, judge=judge, labels=y) < 400
    True
    """
    require_share("width", width)
    require_level(level)
    sample = read_sample(judge, labels, None, None, None, 0)
    weight, seen, z = judge_weight(sample), sample.seen, normal_quantile(level)
    residual = float(np.var(sample.label[seen] - weight * sample.score[seen], ddof=1))
    known = z**2 * weight**2 * float(np.var(sample.score)) / len(sample.label)
    room = (0.5 * width) ** 2 - known
    return max(LEAST, math.ceil(z**2 * residual / max(room, 1e-3 * width**2)))
