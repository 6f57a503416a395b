"""Comparison of models under one judge, and whether a judge carries over to another model."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant._numerics.intervals import minus, normal_quantile, sum_limits
from calibrant.calibrators.maps.isotonic import Isotonic
from calibrant.core.arrays import to_array
from calibrant.core.groups import Groups
from calibrant.core.guarantee import Result
from calibrant.core.metric import require_level
from calibrant.decisions.certificates import require_share
from calibrant.errors import InputError
from calibrant.questions.residuals import influences, narrower, residual_limits
from calibrant.questions.scored_rows import LEAST, Sample, fitted_curve, read_names, read_sample

__all__ = ["RateComparison", "Transport", "audit_transport", "compare_rates"]

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
    "holds" needs labels of its own. Scores outside the range of the labelled ones are told, because
    no curve is known there.

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
