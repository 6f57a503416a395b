"""The table of thresholds: what acting at each of them leads to, in the words of those who must choose one."""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels.clusters import group_worth
from calibrant._kernels.intervals import quotient, wilson
from calibrant._kernels.thresholds import net_benefit_interval, threshold_counts
from calibrant.contracts.columns import Record
from calibrant.contracts.interval import require_level
from calibrant.contracts.on_record import on_record
from calibrant.contracts.reading import read_labelled
from calibrant.errors import InputError
from calibrant.groups import WeightKind, clustered
from calibrant.metrics.benefit import read_thresholds, table_thresholds
from calibrant.metrics.curves.decision_curve import net_benefit_worth
from calibrant.predictions import Inputs, Predictions

__all__ = ["ThresholdTable", "threshold_table"]


@dataclass(frozen=True)
class ThresholdTable(Record):
    """One row a threshold: shares with Wilson's limits (nan in [0, 1] where nothing is counted), net benefit, and cost a row."""

    threshold: np.ndarray
    flagged: np.ndarray
    flagged_low: np.ndarray
    flagged_high: np.ndarray
    alerts_per_1000: np.ndarray
    sensitivity: np.ndarray
    sensitivity_low: np.ndarray
    sensitivity_high: np.ndarray
    specificity: np.ndarray
    specificity_low: np.ndarray
    specificity_high: np.ndarray
    ppv: np.ndarray
    ppv_low: np.ndarray
    ppv_high: np.ndarray
    npv: np.ndarray
    npv_low: np.ndarray
    npv_high: np.ndarray
    net_benefit: np.ndarray
    net_benefit_low: np.ndarray
    net_benefit_high: np.ndarray
    expected_cost: np.ndarray


def _of(
    record: Predictions, *, target: int | str = "event", thresholds: ArrayLike | None = None, cost_false_positive: float | None = None,
    cost_false_negative: float | None = None, level: float = 0.95,
) -> ThresholdTable:  # fmt: skip
    require_level(level)
    costs = _costs(cost_false_positive, cost_false_negative)
    score, hit = record.pair(target)
    weight = record.weights
    if thresholds is not None:
        t = read_thresholds(thresholds)
    else:
        t = table_thresholds(float(weight @ hit / weight.sum()))
        t = t if costs is None else np.unique(np.append(t, costs[0] / sum(costs)))
    true, false, events, others = threshold_counts(score, hit, weight, t, record.resolution)
    n, missed, spared = events + others, np.maximum(events - true, 0.0), np.maximum(others - false, 0.0)
    worth, gained = _worths(record, score, hit, t, level), net_benefit_worth(record, score, hit, t, level)
    parts, wholes = (true + false, true, spared, true, spared), (n, events, others, true + false, missed + spared)
    flagged, *rest = (_share(part, whole, one, level) for part, whole, one in zip(parts, wholes, worth, strict=True))
    rest.append(net_benefit_interval(true * gained, false * gained, events * gained, others * gained, t, level))
    cost = np.full_like(t, np.nan) if costs is None else (costs[0] * false + costs[1] * missed) / n
    return ThresholdTable(*[t, *flagged, 1000.0 * flagged[0], *(column for share in rest for column in share), cost])


def _share(part: np.ndarray, whole: Any, worth: np.ndarray, level: float):
    whole = np.broadcast_to(whole, part.shape)
    return quotient(part, whole), *wilson(part * worth, whole * worth, level)


def _worths(record: Predictions, score: np.ndarray, hit: np.ndarray, thresholds: np.ndarray, level: float):
    """(5, T) by what rows in clusters are to be multiplied, for each share of the table; 1 without clusters."""
    if record.cluster is None:
        return np.ones((5, len(thresholds)))

    def by(value: Any, group: Any):
        # Of the rows of group 1, and then of group 0.
        return group_worth(value, record.weights, cast(np.ndarray, record.cluster), group.astype(np.intp), 2, level)[::-1]

    flags = [(score >= t * (1.0 - record.resolution)) * 1.0 for t in thresholds]
    return np.array([[by(flag, np.ones(len(hit)))[0], *by(flag, hit), *by(hit, flag)] for flag in flags]).reshape(-1, 5).T


def _costs(false_positive: float | None, false_negative: float | None) -> tuple[float, float] | None:
    if false_positive is None and false_negative is None:
        return None
    costs: dict[str, Any] = {"cost_false_positive": false_positive, "cost_false_negative": false_negative}
    for name, cost in costs.items():
        if cost is None or not (np.isfinite(cost) and cost > 0.0):
            raise InputError(f"{name} must be a number above 0, in the unit of the other cost; got {cost!r}.")
    return float(costs["cost_false_positive"]), float(costs["cost_false_negative"])


@on_record(_of)
def threshold_table(
    y_true: ArrayLike,
    P: ArrayLike,
    *,
    target: int | str = "event",
    thresholds: ArrayLike | None = None,
    cost_false_positive: float | None = None,
    cost_false_negative: float | None = None,
    level: float = 0.95,
    cluster: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    weight_kind: WeightKind = "frequency",
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> ThresholdTable:
    r"""What flagging rows of at least a risk leads to, for some thresholds.

    .. math:: \mathrm{cost}(t) = (c_{FP} \, FP_t + c_{FN} \, FN_t) / n, \quad t^* = c_{FP} / (c_{FP} + c_{FN})

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    target : "event", "answer" or a class label, default "event"
        The second of two classes; of more classes name one.
    thresholds : (T,) numbers in [0, 1), optional
        By default round numbers, finer where the event is in fewer rows than 5 %; with costs also :math:`t^*`, the best threshold of a
        calibrated risk.
    cost_false_positive, cost_false_negative : float, optional
        Of a row flagged without the event and of an event missed, in one unit; both or none.
    level : float, default 0.95
        Of the intervals: Wilson's for shares; for the net benefit those of its two shares joined.
    cluster : (n,) labels of any kind, optional
        Which rows hang together (visits of one patient, answers to one question): intervals then count clusters.
    sample_weight : (n,), optional
        Weight 2 means the row twice, weight 0 no row.
    weight_kind : {"frequency", "sampling"}
        A weight is so many rows; or it is one row that stands for others ("sampling"), as weights of a design or of importance have it.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    ThresholdTable
        ``.frame()`` gives it as a data frame: share flagged, alerts per 1,000 rows, sensitivity, specificity, PPV (share of the flagged
        that have the event), NPV, net benefit, and the expected cost a row (nan without costs).

    Raises
    ------
    InputError
        When the predictions cannot be read, or a threshold or cost is outside its range.

    See Also
    --------
    decision_curve : the net benefit over all thresholds.
    gain_curve : by the share of rows flagged.

    Notes
    -----
    Use it to see what a threshold means before choosing it by costs or capacity. Numbers at the threshold that looks best in this table
    are too good: judge it on other rows.

    Examples
    --------
    >>> table = threshold_table([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9], cost_false_positive=1, cost_false_negative=3, thresholds=[0.25, 0.5])
    >>> table.sensitivity.tolist(), table.ppv.round(3).tolist(), table.expected_cost.tolist()
    ([1.0, 0.5], [0.667, 0.5], [0.25, 1.0])
    """
    record = clustered(read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs), cluster, weight_kind)
    costs = {"cost_false_positive": cost_false_positive, "cost_false_negative": cost_false_negative}
    return _of(record, target=target, thresholds=thresholds, level=level, **costs)
