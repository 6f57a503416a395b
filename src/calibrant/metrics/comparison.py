"""Models, or calibrators, against each other on the same rows."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike

from calibrant._support.extras import import_extra
from calibrant._support.text_table import text_table
from calibrant.contracts.columns import Result
from calibrant.contracts.domain import DOMAINS, domain_of_input
from calibrant.contracts.interval import require_level, require_resamples
from calibrant.contracts.metric import Metric
from calibrant.contracts.on_record import on_record
from calibrant.contracts.reading import read_for
from calibrant.errors import InputError
from calibrant.groups import WeightKind, cluster_ways, clustered, read_clusters
from calibrant.metrics.chosen_by import CHOSEN_BY
from calibrant.metrics.paired import PairedDifference, is_mean, meaning, paired_difference
from calibrant.metrics.several import metrics_by_name
from calibrant.predictions import Inputs

__all__ = ["Comparison", "PairRow", "compare", "holm"]


def holm(p: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """(p corrected, number that each test shares alpha by), (m,) each.

    The i-th smallest p is tested at alpha / (m - i) until the first that fails, at whose level
    those after it stay: an interval at 1 - alpha / share leaves 0 out exactly where the corrected p
    is at most alpha.
    """
    m, order = len(p), np.argsort(p, kind="stable")
    corrected, share = np.empty(m), np.empty(m)
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * (m - np.arange(m))), 1.0)
    share[order] = m - np.minimum(np.arange(m), np.count_nonzero(corrected <= alpha))
    return corrected, share


NAN = float("nan")
Correction = Callable[[np.ndarray, float], tuple[np.ndarray, np.ndarray]]
#: Name of a correction -> (p corrected, the number that each test shares alpha by).
CORRECTIONS: dict[str, Correction] = {
    "holm": holm,
    "bonferroni": lambda p, alpha: (np.minimum(p * len(p), 1.0), np.full(len(p), float(len(p)))),
    "none": lambda p, alpha: (p, np.ones(len(p))),
}
NOT_COVERED = (
    "the bootstrap of a difference of calibration errors does not cover where one is near 0;"
    " compare a proper score"
)
NO_SPREAD = (
    "the difference is the same in every row, or not finite: there is nothing to judge it by"
)


@dataclass(frozen=True)
class PairRow:
    """One metric, by its key, of two predictions, by their names.

    Attributes
    ----------
    metric, first, second : str
    first_value, second_value : float
    difference, low, high : float
        Second minus first, with its interval.
    p_value : float
        Of no difference, two-sided, corrected for the number of pairs; nan, as the interval is,
        where it is not compared.
    meaning : str
        Of the second: "better", "worse", "larger", "smaller", "no clear change", or "not compared".
    method : {"paired, analytic", "paired, bootstrap", ""}
    note : str
        Why it is not compared.
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
class Comparison(Result):
    """Predictions compared pair by pair: printed, a table.

    Attributes
    ----------
    rows : list of PairRow
    n, clusters : float
        Sum of the weights, and the number of clusters, nan where none were given.
    level, correction : as asked for

    See Also
    --------
    compare : makes it.
    """

    rows: list[PairRow]
    n: float
    clusters: float
    level: float
    correction: str

    def frame(self) -> Any:
        """One row a metric and pair, as a pandas data frame."""
        return import_extra("pandas", "a data frame of a comparison", "frames").DataFrame(
            [vars(row) for row in self.rows]
        )

    def __repr__(self) -> str:
        head = (
            "metric",
            "difference",
            "value",
            f"{100.0 * self.level:g} % interval",
            "p",
            "meaning",
        )
        rows = f"{self.n:g} rows" + (
            "" if np.isnan(self.clusters) else f" in {self.clusters:g} clusters"
        )
        table = text_table(head, [_shown(row) for row in self.rows])
        notes = dict.fromkeys(
            f"{row.metric} is not compared: {row.note}" for row in self.rows if row.note
        )
        return "\n".join(
            [*table, f"{rows}; correction for the number of pairs: {self.correction}", *notes]
        )


def _shown(row: PairRow):
    tested = (
        ("", "")
        if np.isnan(row.low)
        else (f"[{row.low:.4g}, {row.high:.4g}]", f"{row.p_value:.2g}")
    )
    return (
        row.metric,
        f"{row.second} - {row.first}",
        f"{row.difference:.4g}",
        *tested,
        row.meaning,
    )


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
    """Of records of the same rows, each of one output; ``cluster`` is (n,) numbers 0..G-1, by
    default those that the records carry.
    """
    require_level(level)
    require_resamples(n_resamples)
    if correction not in CORRECTIONS:
        raise InputError(f"correction must be one of {list(CORRECTIONS)}; got {correction!r}.")
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
        # As conformal intervals, which have no density.
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


@on_record(_of)
def compare(
    y_true: ArrayLike,
    P: Mapping[str, Any],
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
    y_true : (n,) labels, or SoftLabels; for regression outcomes
    P : {name: predictions}, two or more
        Each as a metric takes it: (n, K), or (n,) for binary; for regression a forecast, or the
        pair (mean, std).
    metrics : list of Metric, optional
        By default log loss and Brier score, of two classes that of the event; for forecasts CRPS
        and NLL.
    level : float, default 0.95
        Of the intervals, and 1 minus that of the tests.
    correction : {"holm", "bonferroni", "none"}
        For the number of pairs, in each metric by itself. Holm: a difference is called clear
        wrongly in at most 1 - ``level`` of all comparisons; each interval is as wide as its test is
        strict, so that it leaves out 0 exactly where the test speaks. Bonferroni: all intervals
        hold together.
    baseline : str, optional
        The one that the others are compared with, named before looking; by default every pair is
        compared.
    cluster : (n,) labels of any kind, or two columns of them, optional
        Which rows hang together (answers to one question, visits of one patient): clusters are then
        drawn anew, not rows. Two columns are two ways that cross (raters and items), of means over
        rows alone.
    n_resamples : int, default 1000
        Of the bootstrap of metrics that are no mean over rows; pairs by the dozen need more.
    random_state : int, default 0
    sample_weight : (n,), optional
        Weight 2 means the row twice, weight 0 no row.
    weight_kind : {"frequency", "sampling"}
        A weight is so many rows; or it is one row that stands for others ("sampling"), as weights
        of a design or of importance have it.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    Comparison
        Printed, a table; ``.rows``, ``.frame()``, ``.to_dict()``.

    Raises
    ------
    InputError
        When predictions cannot be read, there are fewer than two, or an option cannot be used.

    See Also
    --------
    report : calibrators compared on a page, out of fold.

    Notes
    -----
    Decide by one proper score, named beforehand: the correction does not count metrics. Means over
    rows, all proper scores among them, have the interval of a mean with one row not seen yet, whose
    difference is the least or the largest that one of these rows would have had with another label:
    a rare row that decides between two models may be missing. With ``cluster`` it is that of as
    many rows as the clusters are worth (CR2, Student's t by Satterthwaite's degrees of freedom).
    AUROC and AURC have a t interval by what each row moves them by; root mean squares, and slope
    and intercept up to 1,000 rows of either outcome, a paired bootstrap. Calibration errors (ECE,
    ICI) are **not compared**: near 0 the bootstrap of the difference held it 72 to 93 times of 100,
    debiased 30 to 85 (benchmarks/metrics/paired.py). Predictions made out of fold share their
    training rows, so that intervals are a little short.

    References
    ----------
    Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 1979.

    Examples
    --------
    >>> from calibrant.metrics import log_loss
    >>> y, p = [0, 1] * 50, [0.1, 0.8, 0.3, 0.9] * 25
    >>> compare(y, {"model": p, "rate": [0.5] * 100}, metrics=[log_loss])
    metric    difference    value   95 % interval    p        meaning
    log_loss  rate - model  0.4955  [0.415, 0.5164]  2.6e-10  worse
    100 rows; correction for the number of pairs: holm
    """
    if not (isinstance(cast(object, P), Mapping) and len(P) > 1):
        raise InputError(
            f'P must name two predictions or more, such as {{"a": P, "b": Q}}; got {P!r:.60}.'
        )
    # A pair is a mean and a std; a kind that is sure of one of the predictions is that of all.
    pairs = (cast(Any, one)[:2] if isinstance(one, tuple) else (one,) for one in P.values())
    domains = {domain_of_input(*pair) for pair in pairs}
    by = CHOSEN_BY[next(one for one in reversed(DOMAINS.values()) if one in domains)]
    named = list(metrics_by_name(by.compared([]) if metrics is None else metrics).values())
    records = {
        str(name): read_for(named, y_true, one, None, sample_weight, classes, inputs).one_output()
        for name, one in P.items()
    }
    if metrics is None:
        named = list(by.compared(records.values()))
    first = next(iter(records.values()))
    if len(ways := cluster_ways(cluster)) > 1:
        if others := [one.key for one in named if not is_mean(one)]:
            raise InputError(
                "metrics must be means of one loss a row where cluster has two columns; "
                f"got {others}; pass metrics=[metrics.log_loss], say."
            )
        crossed = np.column_stack([read_clusters(one, first) for one in ways])
        first = replace(clustered(first, None, weight_kind), cluster=crossed)
    else:
        first = clustered(first, cluster, weight_kind)
    records = {name: replace(record, weight=first.weight) for name, record in records.items()}
    options: dict[str, Any] = {"level": level, "correction": correction, "baseline": baseline}
    return _of(
        records,
        named,
        **options,
        cluster=first.cluster,
        n_resamples=n_resamples,
        random_state=random_state,
    )
