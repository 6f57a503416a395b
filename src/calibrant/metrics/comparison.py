"""Comparisons of models or calibrators on the same rows, and the difference of a metric between two
predictions, with its interval and test.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, cast

import numpy as np
from scipy import special  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from calibrant._numerics.clusters import side_shares, variance_of_sum
from calibrant._numerics.intervals import (
    mean_limits,
    mean_tail,
    normal_interval,
    normal_quantile,
    powers,
)
from calibrant.core.arrays import ArrayLike
from calibrant.core.cards import Card, Shown
from calibrant.core.domain import DOMAINS, domain_of_input, outcomes_apart
from calibrant.core.estimators import require_option, seeded
from calibrant.core.extras import import_extra
from calibrant.core.given import Inputs
from calibrant.core.groups import WeightKind, cluster_ways, clustered, codes_of, read_clusters
from calibrant.core.guarantee import Result
from calibrant.core.labels import by_text
from calibrant.core.metric import require_level, require_resamples
from calibrant.core.metric_kinds import MeanMetric, Metric, RootMeanMetric, on_record
from calibrant.core.predictions import require_row_order, shared_classes
from calibrant.core.reading import read_for
from calibrant.core.text_table import p_text
from calibrant.errors import InputError
from calibrant.metrics.several import CHOSEN_BY, metrics_by_name

__all__ = [
    "Comparison",
    "PairRow",
    "PairedDifference",
    "compare",
    "holm",
    "is_mean",
    "meaning",
    "paired_difference",
    "read_models",
]


#: scipy's distribution functions, which have no types.
LAWS = cast(Any, special)


@dataclass(frozen=True)
class PairedDifference:
    """Difference, second minus first, on the same rows or resamples, so that shared variation
    cancels.

    Attributes
    ----------
    value : float
    method : {"paired, analytic", "paired, bootstrap"}
    mean, variance : float
        For a mean: the mean of the rows' differences, and its variance.
    freedom : float
        Degrees of freedom of the variance: rows minus one, or Satterthwaite's for clusters.
    sums : (4,) or None
        For a mean over rows with labels: the effective number of rows, and this number times the
        means of the differences, their squares and their cubes.
    unseen : (least, most)
        The range of differences of an unseen row: those of these rows with another label.
    draws : (n_resamples,) or None
        For any other metric: the difference on resamples.
    """

    value: float
    method: str
    mean: float = float("nan")
    variance: float = float("nan")
    freedom: float = float("inf")
    sums: np.ndarray | None = None
    unseen: tuple[float, float] = (0.0, 0.0)
    draws: np.ndarray | None = None

    def limits(self, level: float) -> tuple[float, float]:
        """Compute (low, high) of the difference."""
        if self.sums is not None:
            # Widened to Student's t for few rows or clusters.
            wide = 2.0 * float(LAWS.ndtr(normal_quantile(level, self.freedom))) - 1.0
            low, high = mean_limits(self.sums[0], self.sums[1:], *self.unseen, wide)
            return float(low), float(high)
        if self.draws is None:
            return normal_interval(self.mean, self.variance, level, self.freedom)
        # Resampling biases calibration errors upward, and unequally before and after; reflected
        # quantiles remove the bias.
        low, high = (
            2.0 * self.value - np.quantile(self.draws, [0.5 + 0.5 * level, 0.5 - 0.5 * level])
        ).tolist()
        return low, high

    @property
    def degenerate(self) -> bool:
        """Whether nothing varies, so that the difference has no standard error."""
        if self.draws is not None:
            return not np.ptp(self.draws) > 0.0
        return not self.variance > (1e-12 * self.mean) ** 2

    @property
    def p_value(self) -> float:
        """Two-sided p-value of no difference: 1 minus the level at which ``limits`` begin to
        contain 0.
        """
        if self.sums is not None:
            tail = mean_tail(self.sums[0], self.sums[1:], *self.unseen)
            return float(2.0 * LAWS.stdtr(self.freedom, LAWS.ndtri(tail)))
        if self.draws is None:
            return float(2.0 * LAWS.stdtr(self.freedom, -abs(self.mean) / np.sqrt(self.variance)))
        reflected = 2.0 * self.value - self.draws
        tails = [1.0 + np.count_nonzero(side) for side in (reflected <= 0.0, reflected >= 0.0)]
        return min(2.0 * min(tails) / (len(reflected) + 1.0), 1.0)


def is_mean(metric: Metric) -> bool:
    """Whether the metric is a plain mean of one loss per row."""
    return isinstance(metric, MeanMetric) and not isinstance(metric, RootMeanMetric)


# Conformal intervals of few rows are infinite; such means have no difference.
@np.errstate(invalid="ignore")
@seeded
def paired_difference(
    metric: Any, first: Any, second: Any, *, n_resamples: int, random_state: int
) -> PairedDifference:
    """Compare two records of the same rows, weights and clusters, each of one output.

    For a mean, the result follows from the rows' differences or, with clusters, from their sums
    over clusters. Any other metric is computed on resamples of the rows or clusters.
    """
    value = metric.of(second) - metric.of(first)
    if is_mean(metric):
        return _of_mean(metric, value, first, second)
    moves = [metric.moves_of(record) for record in (first, second)]
    if all(one is not None for one in moves):
        sides = [metric.sides_of(record) for record in (first, second)]
        if sides[0] is None:
            _, variance, freedom = _mean(moves[1] - moves[0], first.weights, first.cluster)
        else:
            variance, freedom = _of_sides(moves, sides, first.weights, first.cluster)
        return PairedDifference(value, "paired, analytic", value, variance, freedom)
    # One order for both, because they share their resamples.
    order = np.argsort(codes_of(first) + codes_of(second), kind="stable")
    first, second = first.take(order), second.take(order)
    draws = metric.resampled_of(second, n_resamples, random_state) - metric.resampled_of(
        first, n_resamples, random_state
    )
    return PairedDifference(value, "paired, bootstrap", draws=draws)


def _of_mean(metric: Any, value: float, first: Any, second: Any) -> PairedDifference:
    difference, weight = metric.losses_of(second) - metric.losses_of(first), first.weights
    found = PairedDifference(value, "paired, analytic", *_mean(difference, weight, first.cluster))
    others = first.other_labels(second)
    if not (others and np.isfinite(found.variance)):
        return found
    if_other = [
        metric.losses_of(second.with_labels(one)) - metric.losses_of(first.with_labels(one))
        for one in others
    ]
    # Outcomes that are impossible under both predictions have no difference.
    least, most = np.nanmin(if_other), np.nanmax(if_other)
    worth = weight.sum()
    if first.cluster is not None and found.variance > 0.0:
        # Number of independent rows whose mean has this variance.
        worth = min(worth, 1.0 + (weight @ (difference - found.mean) ** 2) / worth / found.variance)
    sums = np.array([weight.sum(), *(weight @ power for power in powers(difference))]) * (
        worth / weight.sum()
    )
    return replace(found, sums=sums, unseen=(float(least), float(most)))


def _of_sides(moves: Any, sides: Any, weight: np.ndarray, cluster: Any) -> tuple[float, float]:
    """(variance of second minus first, degrees of freedom), for metrics that compare two kinds of
    rows.

    Influences are relative to the mean of their own few rows, which shrinks them. Each is rescaled
    by the share of its row, or cluster, in its side (CR2). This gives DeLong's variance for rows
    and Obuchowski's for equal clusters. The rarer side sets the degrees of freedom.
    """
    shares = [side_shares(side, weight, cluster) for side in sides]
    freedom = min(worth for _, worth in shares) - 1.0
    if not freedom > 0.0:
        # One row, or one cluster, carries no information about others.
        return float("nan"), 0.0
    stretched = [
        move / np.sqrt(np.maximum(1.0 - share, 1e-300))
        for move, (share, _) in zip(moves, shares, strict=True)
    ]
    difference = weight * (stretched[1] - stretched[0])
    if cluster is None:
        return difference @ (stretched[1] - stretched[0]) / weight.sum() ** 2, freedom
    sums = np.bincount(cluster, weights=difference)
    return sums @ sums / weight.sum() ** 2, freedom


def _mean(difference: Any, weight: np.ndarray, cluster: Any) -> tuple[float, float, float]:
    """(mean, its variance, degrees of freedom)."""
    n = weight.sum()
    mean = weight @ difference / n
    if cluster is None:
        return mean, weight @ (difference - mean) ** 2 / n / max(n - 1.0, 1.0), max(n - 1.0, 1.0)
    variance, freedom = variance_of_sum(weight * (difference - mean), cluster, weight)
    return mean, variance / n**2, freedom


def meaning(low: float, high: float, direction: str) -> str:
    """Describe the second from an interval of second minus first: "better", "worse", "larger",
    "smaller", "no clear change".
    """
    if not (low > 0.0 or high < 0.0):
        return "no clear change"
    if direction == "none":
        return "larger" if low > 0.0 else "smaller"
    return "better" if (high < 0.0) == (direction == "minimize") else "worse"


def holm(p: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """Holm's correction: (corrected p, divisor of alpha for each test), (m,) each.

    The i-th smallest p is tested at alpha / (m - i) until the first one fails; later ones keep that
    level. So an interval at 1 - alpha / divisor excludes 0 exactly where the corrected p is at most
    alpha.
    """
    m, order = len(p), np.argsort(p, kind="stable")
    corrected, share = np.empty(m), np.empty(m)
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * (m - np.arange(m))), 1.0)
    share[order] = m - np.minimum(np.arange(m), np.count_nonzero(corrected <= alpha))
    return corrected, share


NAN = float("nan")
Correction = Callable[[np.ndarray, float], tuple[np.ndarray, np.ndarray]]
#: Name of a correction -> (corrected p, divisor of alpha for each test).
CORRECTIONS: dict[str, Correction] = {
    "holm": holm,
    "bonferroni": lambda p, alpha: (np.minimum(p * len(p), 1.0), np.full(len(p), float(len(p)))),
    "none": lambda p, alpha: (p, np.ones(len(p))),
}
NOT_COVERED = (
    "bootstrap intervals of a difference of calibration errors undercover where one is near 0;"
    " compare a proper score"
)
NO_SPREAD = "the difference is constant over the rows or not finite, so it has no standard error"


@dataclass(frozen=True)
class PairRow:
    """Comparison of two named predictions by one metric, named by its key.

    Attributes
    ----------
    metric, first, second : str
    first_value, second_value : float
    difference, low, high : float
        Second minus first, with its interval.
    p_value : float
        Two-sided test of no difference, corrected for the number of pairs; nan, like the interval,
        where they are not compared.
    meaning : str
        The second is "better", "worse", "larger" or "smaller"; or "no clear change" or "not
        compared".
    method : {"paired, analytic", "paired, bootstrap", ""}
    note : str
        The reason why they are not compared.
    """

    metric: str
    first: str
    second: str
    first_value: float
    second_value: float
    difference: float
    low: float
    high: float
    p_value: float
    meaning: str
    method: str
    note: str = ""


@dataclass(frozen=True, repr=False)
class Comparison(Shown, Result):
    """Pairwise comparison of predictions; prints as a table.

    Attributes
    ----------
    rows : list of PairRow
    n, clusters : float
        Sum of the weights, and the number of clusters, nan without clusters.
    level, correction : the arguments of ``compare``

    See Also
    --------
    compare : returns it.
    """

    rows: list[PairRow]
    n: float
    clusters: float
    level: float
    correction: str

    def frame(self) -> Any:
        """Return a pandas data frame with one row per metric and pair."""
        return import_extra("pandas", "a data frame of a comparison", "frames").DataFrame(
            [vars(row) for row in self.rows]
        )

    def _card(self) -> Card:
        clear = [row for row in self.rows if row.meaning in ("better", "worse")]
        sentence = f"{len(clear)} of {len(self.rows)} differences are clear."
        if len({(row.first, row.second) for row in self.rows}) == 1:
            found = ", ".join(f"{row.meaning} in {row.metric}" for row in self.rows)
            sentence = f"{self.rows[0].second} against {self.rows[0].first}: {found}."
        return Card(
            sentence,
            "Comparison on the same rows",
            "Clear differences" if clear else "No clear difference",
            "act" if clear else "unknown",
            head=self.table[0],
            rows=self.table[1],
            where=" ".join(self.notes),
        )

    @property
    def table(self) -> tuple[Sequence[str], list[Sequence[str]]]:
        """The head and the rows of the table that is printed."""
        interval = f"{100.0 * self.level:g} % interval"
        head = ("metric", "first", "second", "second - first", interval, "p", "second is")
        return head, [_shown(row) for row in self.rows]

    @property
    def notes(self) -> list[str]:
        """The rows, the correction, and the reasons why metrics are not compared."""
        clusters = "" if np.isnan(self.clusters) else f" in {self.clusters:g} clusters"
        said = f"{self.n:g} rows{clusters}; correction for the number of pairs: {self.correction}."
        reasons = (f"{row.metric} is not compared: {row.note}." for row in self.rows if row.note)
        return [said, *dict.fromkeys(reasons)]


def _shown(row: PairRow) -> Sequence[str]:
    tested = (
        ("", "")
        if np.isnan(row.low)
        else (f"[{row.low:+.4g},\xa0{row.high:+.4g}]", p_text(row.p_value))
    )
    values = (f"{row.first} {row.first_value:.4g}", f"{row.second} {row.second_value:.4g}")
    return row.metric, *values, f"{row.difference:+.4g}", *tested, row.meaning


def _of(
    records: Mapping[str, Any],
    metrics: Sequence[Metric],
    *,
    level: float = 0.95,
    correction: Literal["holm", "bonferroni", "none"] = "holm",
    baseline: str | None = None,
    cluster: np.ndarray | None = None,
    n_resamples: int = 1000,
    random_state: int = 0,
) -> Comparison:
    """Compare records of the same rows, each of one output. ``cluster`` is (n,) numbers 0..G-1, by
    default those of the records.
    """
    require_level(level)
    require_resamples(n_resamples)
    require_option("correction", correction, CORRECTIONS)
    baseline = None if baseline is None else str(baseline)
    if baseline is not None and baseline not in records:
        raise InputError(f"baseline must be one of the names {list(records)}; got {baseline!r}.")
    cluster = next(iter(records.values())).cluster if cluster is None else cluster
    records = {name: replace(record, cluster=cluster) for name, record in records.items()}
    pairs = (
        list(combinations(records, 2))
        if baseline is None
        else [(baseline, name) for name in records if name != baseline]
    )
    drawn = {"n_resamples": n_resamples, "random_state": random_state}
    rows = [
        row
        for name, metric in metrics_by_name(metrics).items()
        for row in _rows(name, metric, records, pairs, drawn, 1.0 - level, CORRECTIONS[correction])
    ]
    weights = next(iter(records.values())).weights
    ways: list[Any] = [] if cluster is None else list(np.atleast_2d(cluster.T))
    fewest = min((float(len(np.unique(one))) for one in ways), default=NAN)
    return Comparison(rows, float(weights.sum()), fewest, level, correction)


def _rows(
    name: str,
    metric: Metric,
    records: Any,
    pairs: Any,
    drawn: Any,
    alpha: float,
    correct: Correction,
) -> Iterator[PairRow]:
    try:
        value = {one: metric.of(record) for one, record in records.items()}
    except InputError as error:
        # For example conformal intervals, which have no density.
        yield from (
            PairRow(name, a, b, NAN, NAN, NAN, NAN, NAN, NAN, "not compared", "", str(error))
            for a, b in pairs
        )
        return
    if not metric.paired:
        found = [PairedDifference(value[b] - value[a], "") for a, b in pairs]
    else:
        found = [paired_difference(metric, records[a], records[b], **drawn) for a, b in pairs]
    p, share = correct(np.array([1.0 if one.degenerate else one.p_value for one in found]), alpha)
    for (a, b), one, p_value, among in zip(pairs, found, p.tolist(), share.tolist(), strict=True):
        values = name, a, b, value[a], value[b], float(one.value)
        if one.degenerate:
            yield PairRow(
                *values, NAN, NAN, NAN, "not compared", "", NO_SPREAD if one.method else NOT_COVERED
            )
        else:
            low, high = map(float, one.limits(1.0 - alpha / among))
            yield PairRow(
                *values, low, high, p_value, meaning(low, high, metric.direction), one.method
            )


def read_models(
    y_true: Any,
    P: Mapping[str, Any],
    metrics: Sequence[Metric] | None,
    sample_weight: ArrayLike | None,
    classes: ArrayLike | None,
    inputs: Inputs,
) -> tuple[list[Metric], dict[str, Any]]:
    """Return (the metrics, by default those of the kind of prediction; {name: record of one
    output}) of several predictions of the same rows, as for ``compare``.
    """
    if not (isinstance(cast(object, P), Mapping) and len(P) > 1):
        raise InputError(
            'P must be a dictionary of at least two predictions, such as {"a": P, "b": Q};'
            f" got {P!r:.60}."
        )
    models: Mapping[str, Any] = by_text(P, "P")
    # A pair is a mean and a std. If the kind of one prediction is certain, all have it.
    pairs = (cast(Any, one)[:2] if isinstance(one, tuple) else (one,) for one in P.values())
    domains = {domain_of_input(*pair) for pair in pairs}
    by = CHOSEN_BY[next(one for one in reversed(DOMAINS.values()) if one in domains)]
    named = list(metrics_by_name(by.compared([]) if metrics is None else metrics).values())
    pair = by.score.domain.paired
    if pair is not None:
        models, y_true, sample_weight = pair(models, y_true, sample_weight), None, None
    else:
        require_row_order({"y_true": y_true, **models})
        if classes is None and "classes" in by.score.domain.options:
            classes = shared_classes(models)
    records = {
        name: read_for(named, y_true, one, None, sample_weight, classes, inputs).one_output()
        for name, one in models.items()
    }
    if metrics is None:
        named = list(by.compared(records.values()))
    return named, records


@on_record(_of)
def compare(
    y_true: Any,
    P: Mapping[str, Any] | None = None,
    *,
    metrics: Sequence[Metric] | None = None,
    level: float = 0.95,
    correction: Literal["holm", "bonferroni", "none"] = "holm",
    baseline: str | None = None,
    cluster: ArrayLike | None = None,
    n_resamples: int = 1000,
    random_state: int = 0,
    sample_weight: ArrayLike | None = None,
    weight_kind: WeightKind = "frequency",
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> Comparison:
    r"""Test whether one model, or calibrator, is better than another on the same rows.

    .. math:: d_i = \ell(P_i^b, y_i) - \ell(P_i^a, y_i), \quad \bar d = \frac1n \sum_i d_i

    Parameters
    ----------
    y_true : (n,) labels, or SoftLabels; for regression outcomes; or, as the only argument,
        {name: questions}, logs of the same items and questions, paired by these and by the names of
        the options; they hold the same outcomes (free answers have their own)
    P : {name: predictions}, two or more
        Predictions as a metric takes them: (n, K), or (n,) for binary; for regression, a forecast
        or the pair (mean, std).
    metrics : list of Metric, optional
        By default log loss and Brier score (that of the event for two classes); CRPS and NLL for
        forecasts.
    level : float, default 0.95
        The level of the intervals; the tests use 1 - ``level``.
    correction : {"holm", "bonferroni", "none"}
        Correction for the number of pairs, separately in each metric. Holm: at most 1 - ``level``
        of all comparisons report a false difference, and an interval excludes 0 exactly where its
        test rejects. Bonferroni: all intervals hold jointly.
    baseline : optional
        The name of the prediction that the others are compared with, chosen before seeing results;
        by default all pairs are compared.
    cluster : (n,) labels of any kind, or two columns of them, optional
        Clusters of dependent rows (answers to one question, visits of one patient): clusters, not
        rows, are then resampled. Two columns are crossed clusters (raters and items), for means
        over rows only.
    n_resamples : int, default 1000
        Resamples of the bootstrap, for metrics that are no mean over rows; dozens of pairs need
        more.
    random_state : int, default 0
    sample_weight : (n,), optional
        Weight 2 counts a row twice; weight 0 drops it.
    weight_kind : {"frequency", "sampling"}
        "frequency": a weight counts identical rows. "sampling": a weighted row is one row that
        stands for others, as with design or importance weights.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    Comparison
        It prints as a table and has ``.rows``, ``.frame()`` and ``.to_dict()``.

    Raises
    ------
    InputError
        When predictions or an option are invalid, or there are fewer than two predictions.

    See Also
    --------
    report : an out-of-fold comparison of calibrators on a page.

    Notes
    -----
    Decide by one proper score, named beforehand: the correction does not count metrics. Means over
    rows, including all proper scores, have the interval of a mean with one unseen row. Its
    difference is the smallest or largest that one of these rows would have with another label,
    because a rare, decisive row may be missing. With ``cluster``, the interval uses the effective
    number of rows (CR2, Student's t with Satterthwaite's degrees of freedom). AUROC and AURC have a
    t interval from the influence of each row. Root mean squares have a paired bootstrap, as have
    slope and intercept up to 1,000 rows of either outcome. Calibration errors (ECE, ICI) are **not
    compared**: near 0 the bootstrap of the difference covered it 72 to 93 times of 100, debiased 30
    to 85 (benchmarks/metrics/paired.py). Out-of-fold predictions share training rows, so intervals
    are slightly short.

    References
    ----------
    Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 1979.

    Examples
    --------
    >>> from calibrant.metrics import log_loss
    >>> y, p = [0, 1] * 50, [0.1, 0.8, 0.3, 0.9] * 25
    >>> compare(y, {"model": p, "rate": [0.5] * 100}, metrics=[log_loss])
    rate against model: worse in log_loss.
    metric    first         second       second - first      95 % interval        p  second is
    log_loss  model 0.1976  rate 0.6931         +0.4955  [+0.415, +0.5164]  < 0.001  worse
    100 rows; correction for the number of pairs: holm.
    """
    given = outcomes_apart(y_true, P)
    named, records = read_models(*given, metrics, sample_weight, classes, inputs)
    first = next(iter(records.values()))
    if len(ways := cluster_ways(cluster)) > 1:
        if others := [one.key for one in named if not is_mean(one)]:
            raise InputError(
                f"metrics must be means over rows where cluster has two columns; got {others};"
                " pass, for example, metrics=[metrics.log_loss]."
            )
        crossed = np.column_stack([read_clusters(one, first) for one in ways])
        first = replace(clustered(first, None, weight_kind), cluster=crossed)
    else:
        first = clustered(first, cluster, weight_kind)
    records = {name: replace(record, weight=first.weight) for name, record in records.items()}
    options: dict[str, Any] = {"level": level, "correction": correction, "baseline": baseline}
    return compare.of(
        records,
        named,
        **options,
        cluster=first.cluster,
        n_resamples=n_resamples,
        random_state=random_state,
    )
