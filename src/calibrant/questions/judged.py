"""Comparison of models under one judge, and whether a judge carries over to another model."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels.clusters import variance_of_sum
from calibrant._kernels.intervals import normal_quantile
from calibrant.contracts.columns import Result
from calibrant.contracts.interval import require_level
from calibrant.errors import InputError
from calibrant.questions.rates import (
    LEAST,
    Sample,
    fitted_curve,
    influences,
    judge_weight,
    read_sample,
)

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
    names, code = np.unique(np.asarray(model), return_inverse=True)
    require_level(level)
    if len(names) != 2:
        raise InputError(f"model must name two models; got {len(names)}; compare them in pairs.")
    sample = read_sample(judge, labels, None, item, None, 0)
    total, moves = 0.0, np.zeros(len(code))
    for k, sign in ((0, 1.0), (1, -1.0)):
        rows = code == k
        own = sample.of(rows)
        seen = int(own.seen.sum())
        if seen < LEAST:
            raise InputError(f"labels must hold {LEAST} of model {names[k]!r}; got {seen}.")
        own = Sample(own.score, own.label, np.full(int(rows.sum()), own.seen.mean()), own.cluster)
        value, phi = influences(own, judge_weight(own))
        total, moves[rows] = total + sign * value, sign * phi / rows.sum()
    assert sample.cluster is not None
    variance, _ = variance_of_sum(moves, sample.cluster, np.ones(len(code)))
    freedom = float(len(np.unique(sample.cluster[sample.seen]))) - 1.0
    half = normal_quantile(level, freedom) * math.sqrt(variance)
    inner = normal_quantile(2.0 * level - 1.0, freedom) * math.sqrt(variance)
    state = "better" if total > half else "worse" if total < -half else "cannot tell"
    state = "equivalent" if abs(total) + inner <= margin else state
    numbers = (total, total - half, total + half, level, margin)
    return RateComparison(str(names[0]), str(names[1]), *numbers, state)


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

    with isotonic regression :math:`g_{-m}` on the labelled rows of the other models. It "holds" if
    the interval lies within the margin, "fails" if it lies beyond it, and is "shifted" if it
    excludes 0; with fewer than 20 labelled items there are "too few".

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
    sample = read_sample(judge, labels, None, item, None, 0)
    names, code = np.unique(np.asarray(model), return_inverse=True)
    found = list[Transport]()
    assert sample.cluster is not None
    for k, name in enumerate(names):
        own, rest = (code == k) & sample.seen, (code != k) & sample.seen
        n = len(np.unique(sample.cluster[own]))
        if n < CLUSTERS or rest.sum() < CLUSTERS:
            nan = math.nan
            found.append(Transport("too few", str(name), nan, nan, nan, margin, n, nan))
            continue
        inside = sample.score[rest].min(), sample.score[rest].max()
        scores = sample.score[code == k]
        outside = float(((scores < inside[0]) | (scores > inside[1])).mean())
        curve = fitted_curve(sample.of(rest))
        away = sample.label[own] - curve.predict(sample.score[own])
        value = float(away.mean())
        _, index = np.unique(sample.cluster[own], return_inverse=True)
        variance, _ = variance_of_sum(away - value, index, np.ones(len(away)))
        half = normal_quantile(level, n - 1.0) * math.sqrt(variance) / len(away)
        low, high = value - half, value + half
        state = _state(low, high, margin)
        found.append(Transport(state, str(name), value, low, high, margin, n, outside))
    return found


def _state(low: float, high: float, margin: float) -> str:
    if -margin <= low and high <= margin:
        return "holds"
    if low > margin or high < -margin:
        return "fails"
    return "shifted" if low > 0.0 or high < 0.0 else "cannot tell"
