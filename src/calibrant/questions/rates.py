"""Rate of right answers from many scores of a judge and few labels by people."""

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from calibrant._numerics.clusters import variance_of_sum
from calibrant._numerics.intervals import normal_quantile
from calibrant.core.arrays import ArrayLike
from calibrant.core.estimators import require_option
from calibrant.core.guarantee import Result
from calibrant.core.metric import require_level
from calibrant.decisions.certificates import require_share
from calibrant.errors import InputError
from calibrant.questions.residuals import judge_weight, narrower, rate_limits
from calibrant.questions.scored_rows import (
    LEAST,
    Sample,
    cross_fitted,
    fitted_curve,
    read_sample,
)

__all__ = ["RateEstimate", "estimate_rate", "labels_for_width"]

#: Below this many clusters with labels the estimate has a note.
CLUSTERS = 20
#: Most labels that are planned.
MOST = 10**9
#: Share of the variation of lengths among rows of one label below which they do not differ.
LEVEL = 1e-12


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
        How many times as many labels alone would give an interval of the same width.
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

    where :math:`\lambda` is the slope of the labels on the scores, from 0 to 1, or 0 where the
    labels alone have the narrower interval, so that a useless judge changes nothing. The judge may
    be wrong or biased: the labels correct its mean.

    Parameters
    ----------
    judge : (N,) or (N, J) scores of every row, higher for better answers
        Several judges are averaged with weights of least squares, cross-fitted.
    labels : (N,) from 0 to 1, nan where there is none
    chance : (N,) probability with which each row was labelled, optional
        Default: every row had the same chance.
    cluster : (N,) names, optional
        Dependent rows, such as answers to one question; two clusters or more have labels.
    swapped : scores of the first answer when it was shown second, shaped as ``judge``, optional
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
        With fewer than 10 labels, labels outside [0, 1], or all labels in one cluster.

    See Also
    --------
    compare_rates : two models under one judge.
    labels_for_width : how many labels a width needs.

    Notes
    -----
    Use it where labels by people are few. The labelled rows must be a probability sample: rows
    chosen by hand, such as those that looked wrong, have no valid interval. Each end of the
    interval includes an unseen residual :math:`y - \lambda f` as large as the scores allow: a good
    judge has few errors among the labels, or none, and a rate may be rare. The interval is never
    wider than that of the labels alone. The order of the rows and the names of the clusters change
    nothing.

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
    0.5511 [0.4834, 0.6173] from 200 labels and 2,000 scores (as from 224 labels alone)
    """
    require_level(level)
    require_option("population", population, ("new", "log"))
    sample = read_sample(judge, labels, chance, cluster, swapped, random_state, length)
    preferred = None if sample.beside is None else _length_bias(sample, sample.beside, level)
    return replace(
        _estimate(_straight(sample, calibrate, random_state), level, population),
        length_bias=preferred,
    )


def _straight(sample: Sample, calibrate: bool, random_state: int) -> Sample:
    require_option("calibrate", calibrate, (True, False))
    if not calibrate:
        return sample
    return cross_fitted(sample, random_state, lambda part: fitted_curve(part).predict)


def _length_bias(sample: Sample, length: np.ndarray, level: float) -> tuple[float, float, float]:
    """(slope of the score on the standardised length, given the label, its limits)."""
    part = sample.of(sample.seen)
    long = ((length - length.mean()) / max(float(length.std()), 1e-300))[sample.seen]
    others, weight = np.column_stack([np.ones(len(long)), part.label]), 1.0 / part.chance
    root = np.sqrt(weight)[:, None]
    both = np.column_stack([long, part.score])
    own, score = (both - others @ np.linalg.lstsq(root * others, root * both)[0]).T
    if not own @ own > LEVEL * long @ long:
        raise InputError(
            f"length must be {len(length)} numbers that differ among rows of the same label;"
            f" got {length.min():g} to {length.max():g}; pass the number of words of each answer."
        )
    value = float(weight * own @ score / (weight * own @ own))
    moves = weight * own * (score - value * own) / (weight * own @ own)
    item = np.arange(len(long)) if part.cluster is None else np.unique(part.cluster, False, True)[1]
    # Rows of unusual length have more leverage, and residuals that are too small.
    variance, freedom = variance_of_sum(moves, item, weight * own * own)
    half = normal_quantile(level, freedom) * math.sqrt(variance)
    return value, value - half, value + half


def _estimate(sample: Sample, level: float, population: str) -> RateEstimate:
    slope, limits, classical = narrower(sample, level, population)
    width = limits[2] - limits[1]
    gain = ((classical[2] - classical[1]) / width) ** 2 if width > 0.0 else 1.0
    seen, note = sample.seen, ""
    if sample.cluster is not None and (count := len(np.unique(sample.cluster[seen]))) < CLUSTERS:
        note = (
            f"{count} clusters with labels are few: from 10 of unequal size and rate, 95 %"
            " intervals covered 88 % in simulations, with any judge; label rows of"
            f" {CLUSTERS} or more"
        )
    numbers = (*limits, level, len(seen), int(seen.sum()), slope, gain)
    return RateEstimate(*numbers, classical, sample.bias, note)


def labels_for_width(
    width: float,
    *,
    judge: ArrayLike,
    labels: ArrayLike,
    chance: ArrayLike | None = None,
    cluster: Any = None,
    swapped: ArrayLike | None = None,
    calibrate: bool = False,
    level: float = 0.95,
    random_state: int = 0,
) -> int:
    """Compute the number of labels for an interval of a given width, from a pilot sample.

    It is the least number at which the interval of :func:`estimate_rate` for new rows is as narrow,
    if the residuals of further labels, their chances and clusters are like those of the pilot.

    Parameters
    ----------
    width : float
        High less low end of the interval.
    judge, labels, chance, cluster, swapped, calibrate, level, random_state
        As in :func:`estimate_rate`.

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
    sample = read_sample(judge, labels, chance, cluster, swapped, random_state)
    sample = _straight(sample, calibrate, random_state)
    slopes, seen = {judge_weight(sample), 0.0}, float(sample.seen.sum())

    def narrow(count: int) -> bool:
        found = (rate_limits(sample, one, level, times=count / seen) for one in slopes)
        return any(high - low <= width for _, low, high in found)

    if not narrow(MOST):
        raise InputError(f"width must take at most {MOST:,} labels; got {width:g}; widen it.")
    return LEAST + bisect_left(range(LEAST, MOST), True, key=narrow)
