"""Miscalibration of probabilities: the joint test, and the limits of the typical error and of that
of the tails.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy

from calibrant._numerics.bins import Ranks, equal_mass_groups, grouped_sums
from calibrant._numerics.bootstrap import (
    MANY_ROWS,
    ROWS_FOR_EACH,
    hit_drawer,
    null_generator,
    pooled_gaps,
)
from calibrant._numerics.clusters import dense, mean_worth
from calibrant._numerics.intervals import clopper_pearson, squared_limits
from calibrant._numerics.logistic import log_odds
from calibrant._numerics.normal_scores import smallest_p
from calibrant._numerics.planning import typical_parts, typical_rows
from calibrant.core.guarantee import Known
from calibrant.metrics.bounds import equivalence

__all__ = [
    "ALPHA",
    "MARGIN",
    "Miscalibration",
    "draws_of",
    "miscalibration",
    "points",
    "surely",
    "typical_error",
]


#: Level of the joint test and of the test of equivalence.
ALPHA = 0.05
#: Largest error that does not matter, in probability; for a rare event, as a share of its rate.
MARGIN, MARGIN_SHARE = 0.02, 0.2
#: Draws under the null, and rows times draws that they may cost.
FEWEST, DRAWS, BUDGET = 200, 1000, 2e7
#: Parts of the rows by score, at most; and the variance of the events in a part, or group, at
#: least.
PARTS, LEAST_VARIANCE = 32, 5.0
EQUIVALENCE_BINS = 5
#: How the checks are called, in their order.
CHECKS = ("offset", "slope", "binned", "smooth", "tail", "group")
#: Shares of the rows in the tails, of either side; rows of a tail at least.
TAILS, TAIL_ROWS = (0.01, 0.05), 20
#: A tail may be this much larger than its share, because of equal scores.
TIED = 2.0


@dataclass(frozen=True)
class Miscalibration(Known):
    """Evidence of miscalibration, before or after calibration.

    Attributes
    ----------
    p_value : of the joint test: the smallest p-value of the checks, by its own law
    checks : the p-value of each check alone
    equivalence : the p-value of "off by the margin or more somewhere": small where all is well
    margin : the largest error that would not matter
    wanted : rows after which true predictions would be shown to be within the margin
    rows, n : rows, and how many of them count as independent
    low, high : limits (95 %) of the typical error, the root mean square of that of parts
    tails : by name, the limits (95 % for all) of the observed rate less the mean prediction
    """

    p_value: float
    checks: dict[str, float]
    equivalence: float
    margin: float
    wanted: float
    rows: float = 0.0
    n: float = 0.0
    low: float = 0.0
    high: float = 1.0
    tails: dict[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])

    @property
    def seen(self) -> bool:
        """Whether the joint test is significant."""
        return self.p_value <= ALPHA

    @property
    def within(self) -> bool:
        """Whether all errors are significantly within the margin."""
        return self.equivalence <= ALPHA

    @property
    def tail(self) -> str | None:
        """The tail that is off beyond doubt by more than the margin, if any."""
        sure = {name: surely(*limits) for name, limits in self.tails.items()}
        worst = max(sure, key=lambda name: sure[name], default=None)
        return worst if worst is not None and sure[worst] > self.margin else None

    @property
    def worst(self) -> str:
        """The check with the strongest evidence."""
        return min(self.checks, key=lambda name: self.checks[name])


def surely(low: float, high: float) -> float:
    """Size that a gap within these limits has at least; negative where they hold 0."""
    return max(low, -high)


def _own_margin(rate: float) -> float:
    """Return two points, or a fifth of the rate of an event (or its absence) below one in ten."""
    rare = min(rate, 1.0 - rate)
    return min(MARGIN, MARGIN_SHARE * rare) if rare > 0.0 else MARGIN


def miscalibration(
    rows: Any, groups: Any, margin: float | None, *, centred: bool, random_state: int
) -> Miscalibration:
    r"""Test the confidences of rows for miscalibration, and compute how far off they can be.

    The checks are sums of errors, :math:`\sum_i w_i a_i (h_i - s_i)`: of all rows (``offset``), by
    log-odds (``slope``), squared in parts of equal variance (``binned``), the range of their
    running total (``smooth``), and the largest of a tail (``tail``) or group (``group``), in
    standard deviations.

    Parameters
    ----------
    rows : record with confidence, correct, weights and cluster
    groups : of the rows, with ``index`` (n,), or None
    margin : the largest error that would not matter; None: two points, less of rare events
    centred : bool
        The null: what was said is right on average in every part, with errors as those seen
        vary; or (False) right in every row.
    random_state : int
    """
    score, hit, weight, ranks = rows.confidence, rows.correct, rows.weights, rows.ranks
    total, variance = float(weight.sum()), weight * score * (1.0 - score)
    margin = _own_margin(float(weight @ hit / total)) if margin is None else margin
    slope = _slope(score, variance)
    part, ends = _parts(variance, ranks), _tails(score, weight, ranks)
    sums = _sums(weight, slope, part, list(ends.values()), None if groups is None else groups.index)
    scale = np.asarray(sums.power(2) @ (score * (1.0 - score) / np.maximum(weight, 1e-300))).ravel()
    n_parts = int(part.max()) + 1
    rng = null_generator(random_state)
    if centred:
        drawn = _centred(sums, hit - score, part, rows, scale, rng)
    else:
        drawn = _drawn(sums, rows, part, [*ends.values()], groups, rng)
    observed = sums @ (hit - score)
    of = [_checks(one, n_parts, len(ends), scale) for one in (observed[None, :], drawn)]
    own, p_value = smallest_p(of[0][0], of[1])
    worth = _worth(rows)
    low, high = typical_error(score, hit, weight, total * worth, groups, ranks)
    checked = [name for name in CHECKS if ends or name != "tail"]
    return Miscalibration(
        p_value=p_value,
        checks=dict(zip(checked, own.tolist(), strict=False)),
        equivalence=_equivalence(score, hit, rows, margin, groups),
        margin=margin,
        wanted=typical_rows(score, weight, margin, ranks) / worth,
        rows=total,
        n=total * worth,
        low=low,
        high=high,
        tails={name: _limits(score, hit, weight * worth, rows) for name, rows in ends.items()},
    )


def draws_of(n: int) -> int:
    """Return how many draws n rows allow."""
    return int(np.clip(BUDGET / n, FEWEST, DRAWS))


#: Parts of equal weight of the scores within which outcomes of very many rows are drawn together.
DRAWN_PARTS = 500


def _drawn(
    sums: Any,
    rows: Any,
    part: np.ndarray,
    ends: list[np.ndarray],
    groups: Any,
    rng: np.random.Generator,
) -> np.ndarray:
    """(B, m) sums of the errors of outcomes drawn from the scores; of many rows by units of near
    scores that are in the same sums.
    """
    score, weight = rows.confidence, rows.weights
    if rows.cluster is None and len(score) >= MANY_ROWS:
        unit = equal_mass_groups(score, DRAWN_PARTS, weight, rows.ranks)
        for place in (part, *ends, *([] if groups is None else [groups.index])):
            unit, count = dense(unit * (int(place.max()) + 1) + place)
        if len(score) >= ROWS_FOR_EACH * count:
            columns = [score, score * (1.0 - score)]
            mass, risk, variance = grouped_sums(unit, count, columns, weight).T
            starts = np.arange(len(unit) + 1)
            member = scipy.sparse.csr_matrix((1.0 / mass[unit], unit, starts), (len(unit), count))
            off = pooled_gaps(mass, risk / mass, variance / mass, draws_of(count), rng)
            return ((sums @ member) @ off).T
    draw = hit_drawer(score, rows.correct, weight, rows.cluster)
    return np.array([sums @ (draw(rng) - score) for _ in range(draws_of(len(score)))])


def _centred(
    sums: Any,
    error: np.ndarray,
    part: np.ndarray,
    rows: Any,
    least: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """(B, m) normal draws of sums of errors that vary about the mean of their part as those seen.

    ``sums`` is (m, n), weights included; a row of weight w is w rows, and those of a cluster are
    one, with as many degrees of freedom as their weights are worth. Each sum has the variance
    ``least`` (m,), that of true risks, or more: few rows may all be right.
    """
    weight = rows.weights
    mean = np.bincount(part, weight * error) / np.bincount(part, weight)
    off, count = error - mean[part], weight.sum()
    if rows.cluster is None:
        scaled = sums.multiply(off / np.sqrt(weight)).tocsr()
    else:
        share = np.bincount(rows.cluster, weight)
        member = scipy.sparse.csr_matrix((np.ones(len(off)), (np.arange(len(off)), rows.cluster)))
        scaled, count = sums.multiply(off).tocsr() @ member, share.sum() ** 2 / (share @ share)
    freedom = max(count - 1.0, 1.0)
    covariance = np.asarray((scaled @ scaled.T).todense()) * count / freedom
    own = np.diag(covariance)
    more = np.sqrt(np.maximum(least / np.where(own > 0.0, own, 1.0), 1.0))
    drawn = rng.multivariate_normal(np.zeros(len(own)), covariance, DRAWS, method="eigh") * more
    return drawn / np.sqrt(rng.chisquare(freedom, (DRAWS, 1)) / freedom)


def _slope(score: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """The log-odds about their mean, where the outcomes vary."""
    odds = log_odds(score)
    return odds - (variance @ odds / variance.sum() if variance.sum() > 0.0 else 0.0)


def _parts(variance: np.ndarray, ranks: Ranks) -> np.ndarray:
    """Parts 0..F-1 of the rows by score, of about equal variance; rows of one score are of one."""
    mass = np.bincount(ranks[1], variance)
    count = int(np.clip(mass.sum() / LEAST_VARIANCE, 1, PARTS))
    before = np.cumsum(mass) - mass
    part = np.minimum((before / max(mass.sum(), 1e-300) * count).astype(int), count - 1)
    return np.unique(part, return_inverse=True)[1][ranks[1]]


def _tails(score: np.ndarray, weight: np.ndarray, ranks: Ranks) -> dict[str, np.ndarray]:
    """{name: whether each row is in the tail} of the tails with enough rows."""
    values, place = ranks
    below = np.cumsum(np.bincount(place, weight)) / weight.sum()
    found = {}
    for share in TAILS:
        low, high = (
            values[min(np.searchsorted(below, upto), len(values) - 1)]
            for upto in (share, 1.0 - share)
        )
        for name, rows in (("lowest", score <= low), ("highest", score >= high)):
            if TAIL_ROWS <= weight[rows].sum() <= TIED * share * weight.sum():
                found[f"{name} {100 * share:.0f} %"] = rows
    return found


def _limits(
    score: np.ndarray, hit: np.ndarray, weight: np.ndarray, rows: np.ndarray
) -> tuple[float, float]:
    """Exact limits of the rate in the rows of a tail less the mean score, for all tails."""
    n, mean = weight[rows].sum(), np.average(score[rows], weights=weight[rows])
    level = 1.0 - ALPHA / (2 * len(TAILS))
    low, high = clopper_pearson(weight[rows] @ hit[rows], n, level)
    return float(low - mean), float(high - mean)


def typical_error(
    score: np.ndarray,
    hit: np.ndarray,
    weight: np.ndarray,
    n: float,
    groups: Any = None,
    ranks: Ranks | None = None,
) -> tuple[float, float]:
    r"""Limits (95 %) of the typical error: the root mean square of the errors of parts of rows, by
    score, or by group where it is larger there.

    With shares :math:`w_b` of the rows, gaps :math:`g_b` and variances :math:`v_b` of a row, the
    larger of p (1 - p) and what was seen, :math:`\sum_b w_b g_b^2` has noise whose weighted
    variances are :math:`v_b / n` (:func:`~calibrant._numerics.intervals.squared_limits`).

    Parameters
    ----------
    score, hit, weight : (n,) probability, outcome and weight
    n : rows that count as independent
    groups : of the rows, with ``index`` (n,), or None
    ranks : of the scores, where they are known

    Returns
    -------
    tuple of float
        A lower limit of 0 says that chance alone explains all.
    """
    by_score = equal_mass_groups(score, typical_parts(n), weight, ranks)
    if groups is None:
        return _typical(by_score, score, hit, weight, n, 1.0 - ALPHA)
    parts = (by_score, np.unique(groups.index, return_inverse=True)[1])
    limits = [_typical(part, score, hit, weight, n, 1.0 - 0.5 * ALPHA) for part in parts]
    return max(low for low, _ in limits), max(high for _, high in limits)


def _typical(
    part: np.ndarray, score: np.ndarray, hit: np.ndarray, weight: np.ndarray, n: float, level: float
) -> tuple[float, float]:
    """Limits of the typical error over parts 0..B-1 of the rows."""
    sums = grouped_sums(
        part, int(part.max()) + 1, [hit - score, (hit - score) ** 2, score * (1.0 - score)], weight
    )
    mass, gap, square, bernoulli = sums[:, 0], *(sums[:, 1:] / sums[:, :1]).T
    # Where nothing can vary, as at exactly 0 and 1, the rows say that little does.
    least = np.where(bernoulli > 0.0, 0.0, 1.0 / (n * mass / mass.sum() + 2.0))
    variance = np.maximum(np.maximum(bernoulli, square - gap**2), least)
    low, high = squared_limits(float(mass @ gap**2 / mass.sum()), variance / n, level)
    return min(low, 1.0), min(high, 1.0)


def _sums(
    weight: np.ndarray,
    slope: np.ndarray,
    part: np.ndarray,
    ends: list[np.ndarray],
    group: np.ndarray | None,
) -> Any:
    """(m, n) sparse: times errors it gives their sums by part, by slope, by tail and by group."""
    n = len(weight)
    by_part = _in_order_of(part)
    columns = [by_part, np.arange(n), *map(np.flatnonzero, ends)]
    values = [weight[by_part], weight * slope, *(weight[rows] for rows in columns[2:])]
    counts = [*np.bincount(part), *map(len, columns[1:])]
    if group is not None:
        by_group = _in_order_of(group)
        columns, values = [*columns, by_group], [*values, weight[by_group]]
        counts += [*np.bincount(group)]
    starts = np.append(0, np.cumsum(counts)).astype(np.int32)
    places = np.concatenate(columns, dtype=np.int32)
    return scipy.sparse.csr_matrix((np.concatenate(values), places, starts), shape=(len(counts), n))


def _in_order_of(part: np.ndarray) -> np.ndarray:
    """(n,) rows in the order of their part, fast for few parts."""
    return np.argsort(part.astype(np.min_scalar_type(int(part.max()))), kind="stable")


def _checks(sums: np.ndarray, n_parts: int, n_tails: int, variance: np.ndarray) -> np.ndarray:
    """(B, c) the checks of sums (B, m), of which ``variance`` (m,) is that under the null."""
    parts, first = sums[:, :n_parts], n_parts + 1 + n_tails
    standard = sums / np.sqrt(np.maximum(variance, 1e-300))
    run = np.column_stack([np.zeros(len(parts)), parts.cumsum(axis=1)])
    found = [
        abs(run[:, -1]),
        abs(sums[:, n_parts]),
        (parts**2 / np.maximum(variance[:n_parts], 1e-300)).sum(axis=1),
        np.ptp(run, axis=1),
    ]
    if n_tails:
        found.append(abs(standard[:, n_parts + 1 : first]).max(axis=1))
    enough = variance[first:] >= LEAST_VARIANCE
    if enough.any():
        found.append(abs(standard[:, first:][:, enough]).max(axis=1))
    return np.column_stack(found)


def _worth(rows: Any) -> float:
    """The share of the rows that counts: those of a cluster are as alike as their errors."""
    if rows.cluster is None:
        return 1.0
    return mean_worth(rows.correct - rows.confidence, rows.weights, rows.cluster, 1.0 - ALPHA)


def _equivalence(
    score: np.ndarray, hit: np.ndarray, rows: Any, margin: float, groups: Any
) -> float:
    """The largest p-value of the parts by score and of the groups."""
    parts = [equal_mass_groups(score, EQUIVALENCE_BINS, rows.weights, rows.ranks)]
    parts += [] if groups is None else [groups.index]
    return max(
        equivalence(score, hit, rows.weights, rows.cluster, margin, part)[1] for part in parts
    )


def points(size: float) -> str:
    """Format a probability in points, with two digits."""
    size = 100.0 * size
    told = f"{size:.0f}" if size >= 9.5 else f"{size:.1f}" if size >= 0.95 else f"{size:.2g}"
    told = told.removesuffix(".0")
    return f"{told} point{'' if told == '1' else 's'}"
