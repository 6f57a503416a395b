"""Rate of right answers from many scores of a judge and few labels by people; the comparison of
models under one judge; and whether a judge carries over to another model.
"""

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from calibrant._numerics.clusters import variance_of_sum
from calibrant._numerics.intervals import minus, normal_quantile, sum_limits
from calibrant.calibrators.maps.isotonic import Isotonic
from calibrant.core.arrays import ArrayLike, to_array
from calibrant.core.estimators import require_option
from calibrant.core.groups import Groups
from calibrant.core.guarantee import Result
from calibrant.core.metric import require_level
from calibrant.decisions.certificates import require_share
from calibrant.errors import InputError
from calibrant.questions.domain import (
    influences,
    judge_weight,
    narrower,
    rate_limits,
    residual_limits,
)
from calibrant.questions.scored_rows import (
    LEAST,
    Sample,
    cross_fitted,
    fitted_curve,
    read_names,
    read_sample,
)

__all__ = [
    "RateComparison",
    "RateEstimate",
    "Transport",
    "audit_transport",
    "compare_rates",
    "estimate_rate",
    "labels_for_width",
]


#: Fewest labelled items of a model in a transport audit.
CLUSTERS = 20


@dataclass(frozen=True)
class RateComparison(Result):
    """The difference of two models' rates.

    Attributes
    ----------
    first, second : str
    value, low, high : float, first less second
    level, margin : float
    state : {"better", "worse", "equivalent", "cannot tell"}
        "equivalent" if the interval at 1 - 2 (1 - level) lies within the margin.

    See Also
    --------
    compare_rates : makes one.
    """

    first: str
    second: str
    value: float
    low: float
    high: float
    level: float
    margin: float
    state: str


def compare_rates(
    *,
    judge: ArrayLike,
    labels: ArrayLike,
    model: ArrayLike,
    item: ArrayLike,
    margin: float = 0.02,
    level: float = 0.95,
) -> RateComparison:
    r"""Compare the rates of two models under one judge, paired by item.

    .. math:: \hat\Delta = \hat\theta_1 - \hat\theta_2, \qquad se^2 = \sum_g \Big(\sum_{i \in g}
        \pm\phi_i / N_{m(i)}\Big)^2

    with the influences :math:`\phi` of :func:`estimate_rate` for each model, summed over the rows
    of an item.

    Parameters
    ----------
    judge, labels : (N,), as in :func:`estimate_rate`
    model : (N,) names of two models
    item : (N,) the question that each answers
    margin : float, default 0.02
        Differences within it do not matter.
    level : float, default 0.95

    Returns
    -------
    RateComparison

    See Also
    --------
    audit_transport : whether the judge may be used for both models.

    Notes
    -----
    Use it where both models have labels. A judge that prefers one model is corrected by the labels
    of each.

    References
    ----------
    Angelopoulos, Duchi and Zrnic, "PPI++: efficient prediction-powered inference", 2023.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> item, model = np.tile(np.arange(1000), 2), np.repeat(["new", "old"], 1000)
    >>> judge = rng.random(2000)
    >>> y = (rng.random(2000) < judge).astype(float)
    >>> y[(item >= 200)] = np.nan
    >>> compare_rates(judge=judge, labels=y, model=model, item=item).state
    'cannot tell'
    """
    require_level(level)
    require_share("margin", margin)
    groups, sample = _models(judge, labels, model, item)
    assert sample.cluster is not None
    names, code = groups.names, groups.index
    if len(names) != 2:
        raise InputError(f"model must name two models; got {len(names)}; compare them in pairs.")
    parts = list[Sample]()
    for k, name in enumerate(names):
        part = sample.of(code == k)
        seen, items = part.seen, len(np.unique(sample.cluster[(code == k) & sample.seen]))
        if seen.sum() < LEAST or items < 2:
            raise InputError(
                f"labels must hold {LEAST} of model {name!r}, of 2 items; got {seen.sum()} of"
                f" {items}; label more."
            )
        parts.append(replace(part, chance=np.full(len(seen), seen.mean())))
    numbers = _difference(parts, level)
    # Two one-sided tests.
    _, least, most = _difference(parts, max(2.0 * level - 1.0, 0.0))
    state = "better" if numbers[1] > 0.0 else "worse" if numbers[2] < 0.0 else "cannot tell"
    state = "equivalent" if -margin <= least and most <= margin else state
    return RateComparison(str(names[0]), str(names[1]), *numbers, level, margin, state)


def _difference(parts: list[Sample], level: float) -> tuple[float, float, float]:
    """(difference of two rates, low, high); the errors are correlated by the items of both."""
    limits, moves = list[Any](), list[np.ndarray]()
    items = [np.asarray(part.cluster, dtype=np.intp) for part in parts]
    n_items = max(int(one.max()) for one in items) + 1
    for part, own in zip(parts, items, strict=True):
        slope, found, _ = narrower(part, level)
        limits.append(found)
        moves.append(np.bincount(own, influences(part, slope)[1], n_items) / len(part))
    # An unseen residual of one model is of another item than one of the other.
    one, other = (
        float(move @ move) + 1.0 / float(part.seen.sum()) ** 2
        for move, part in zip(moves, parts, strict=True)
    )
    shared = float(moves[0] @ moves[1]) / math.sqrt(one * other)
    low, high = sum_limits(limits[0], minus(limits[1]), -shared)
    return limits[0][0] - limits[1][0], float(low), float(high)


def _models(judge: Any, labels: Any, model: Any, item: Any) -> tuple[Groups, Sample]:
    """(models, rows with their items as clusters), both in the order of the sample."""
    score = to_array(judge, "judge")
    n = len(score) if score.ndim else 0
    groups, items = read_names(model, "model", n), read_names(item, "item", n).index
    sample = read_sample(score, labels, cluster=items, length=groups.index, unit="item")
    assert sample.beside is not None
    return Groups(groups.names, sample.beside.astype(np.intp)), sample


@dataclass(frozen=True)
class Transport(Result):
    """Whether a judge that was corrected on some models may be used for another.

    Attributes
    ----------
    state : {"holds", "shifted", "cannot tell", "fails", "too few"}
    model : str
    value, low, high : float
        Mean label less mean calibrated score of the model's labelled rows; nan with too few.
    margin : float
    n : int, its labelled clusters
    outside : float, share of its scores outside the range of the other models' labelled ones

    See Also
    --------
    audit_transport : makes them.
    """

    state: str
    model: str
    value: float
    low: float
    high: float
    margin: float
    n: int
    outside: float


def audit_transport(
    *,
    judge: ArrayLike,
    labels: ArrayLike,
    model: ArrayLike,
    item: ArrayLike,
    margin: float = 0.05,
    level: float = 0.95,
) -> list[Transport]:
    r"""Check for each model whether a judge that is calibrated on the others' labels is unbiased.

    .. math:: \hat\beta_m = \frac1{n_m} \sum_{i \in m} (y_i - g_{-m}(f_i))

    with isotonic regression :math:`g_{-m}` on the labelled rows of the other models, whose own
    error is part of the interval. It "holds" if the interval lies within the margin, "fails" if it
    lies beyond it, and is "shifted" if it excludes 0; with fewer than 20 labelled items there are
    "too few".

    Parameters
    ----------
    judge, labels, model, item : (N,), as in :func:`compare_rates`
    margin : float, default 0.05
        The largest bias that does not matter, fixed before the labels are seen.
    level : float, default 0.95

    Returns
    -------
    list of Transport, one a model

    See Also
    --------
    estimate_rate : do not use it without labels of a model for which the audit fails.

    Notes
    -----
    Use it before a judge's scores stand in for labels of a new model. A model whose state is not
    "holds" needs labels of its own. A warning names scores outside the range of the labelled
    ones, because no curve is known there.

    References
    ----------
    Landesberg and Narayan, "Causal judge evaluation", 2025.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> item, model = np.tile(np.arange(400), 2), np.repeat(["a", "b"], 400)
    >>> judge = rng.random(800)
    >>> y = (rng.random(800) < np.where(model == "a", judge, 0.5 * judge)).astype(float)
    >>> [one.state for one in audit_transport(judge=judge, labels=y, model=model, item=item)]
    ['fails', 'fails']
    """
    require_level(level)
    require_share("margin", margin)
    groups, sample = _models(judge, labels, model, item)
    assert sample.cluster is not None
    code, found = groups.index, list[Transport]()
    for k, name in enumerate(groups.names):
        own, rest = (code == k) & sample.seen, (code != k) & sample.seen
        n = len(np.unique(sample.cluster[own]))
        if n < CLUSTERS or rest.sum() < CLUSTERS:
            nan = math.nan
            found.append(Transport("too few", str(name), nan, nan, nan, margin, n, nan))
            continue
        inside = sample.score[rest].min(), sample.score[rest].max()
        scores = sample.score[code == k]
        outside = float(((scores < inside[0]) | (scores > inside[1])).mean())
        value, low, high = _bias(sample.of(own), sample.of(rest), level)
        state = _state(low, high, margin)
        found.append(Transport(state, str(name), value, low, high, margin, n, outside))
    return found


def _bias(own: Sample, rest: Sample, level: float) -> tuple[float, float, float]:
    """(mean label less mean of the curve of the other rows, low, high); the errors of both are
    correlated by their items, and added in quadrature at each end.
    """
    assert own.cluster is not None
    assert rest.cluster is not None
    curve = fitted_curve(rest)
    expected = curve.predict(own.score)
    away, n_items = own.label - expected, int(max(own.cluster.max(), rest.cluster.max())) + 1
    ends = -float(expected.max()), 1.0 - float(expected.min())
    low, high = residual_limits(away, np.ones(len(away)), own.cluster, ends, level)
    mean = float(away.mean())
    moves = np.bincount(own.cluster, (away - mean) / len(away), n_items)
    both = moves - np.bincount(rest.cluster, _moves_of_mean(curve, rest, own.score), n_items)
    freedom = min(len(np.unique(names)) for names in (own.cluster, rest.cluster)) - 1.0
    spare = normal_quantile(level, freedom) ** 2 * max(float(both @ both - moves @ moves), 0.0)
    below, above = (math.hypot(end - mean, math.sqrt(spare)) for end in (low, high))
    return mean, mean - below, mean + above


def _moves_of_mean(curve: Isotonic, part: Sample, score: np.ndarray) -> np.ndarray:
    """The influence of each fitted row (n,) on the curve's mean over other scores: its residual,
    without its share in the value of its block, times the share of these scores in the block.
    """
    first, last = curve.score_[::2], curve.score_[1::2]
    between = 0.5 * (last[:-1] + first[1:])
    block, other = np.searchsorted(between, part.score), np.searchsorted(between, score)
    count = np.bincount(block, minlength=len(first))
    share = np.bincount(other, minlength=len(first)) / (len(score) * np.maximum(count - 1, 1))
    return share[block] * (part.label - curve.predict(part.score))


def _state(low: float, high: float, margin: float) -> str:
    if -margin <= low and high <= margin:
        return "holds"
    if low > margin or high < -margin:
        return "fails"
    return "shifted" if low > 0.0 or high < 0.0 else "cannot tell"


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
