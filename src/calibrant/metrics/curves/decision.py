"""Benefit of acting above a threshold, at every threshold: decision curve, gain curve, table."""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from calibrant._numerics import intervals
from calibrant._numerics.clusters import group_worth, mean_worth, ranked_worth
from calibrant._numerics.intervals import quotient, wilson
from calibrant._numerics.thresholds import (
    net_benefit,
    net_benefit_interval,
    risk_coverage,
    threshold_counts,
)
from calibrant.core.arrays import ArrayLike
from calibrant.core.given import Inputs
from calibrant.core.groups import WeightKind
from calibrant.core.guarantee import Record
from calibrant.core.metric import require_level
from calibrant.core.metric_kinds import on_record
from calibrant.core.predictions import Predictions
from calibrant.core.reading import read_clustered
from calibrant.errors import InputError
from calibrant.metrics.decisions import curve_thresholds, read_thresholds, table_thresholds

__all__ = [
    "DecisionCurve",
    "GainCurve",
    "ThresholdTable",
    "decision_curve",
    "gain_curve",
    "net_benefit_worth",
    "threshold_table",
]


@dataclass(frozen=True)
class DecisionCurve(Record):
    """Decision curve, one row per threshold: net benefit of the model, its interval, of acting on
    all and on none, and actions saved per row.
    """

    threshold: np.ndarray
    net_benefit: np.ndarray
    low: np.ndarray
    high: np.ndarray
    treat_all: np.ndarray
    treat_none: np.ndarray
    avoided: np.ndarray


def _decision_curve_of(
    record: Predictions,
    *,
    target: int | str = "event",
    thresholds: ArrayLike | None = None,
    standardised: bool = False,
    prevalence: float | None = None,
    level: float = 0.95,
) -> DecisionCurve:
    require_level(level)
    score, hit = record.pair(target)
    events = float(record.weights @ hit)
    others = float(record.weights.sum()) - events
    _require(events, others, standardised, prevalence)
    rate = events / (events + others) if prevalence is None else prevalence
    t = curve_thresholds(rate) if thresholds is None else read_thresholds(thresholds)
    counts = threshold_counts(score, hit, record.weights, t, record.resolution)
    worth = net_benefit_worth(record, score, hit, t, level)
    true, false, *whole = (count * worth for count in counts)
    value, low, high = net_benefit_interval(
        true, false, whole[0], whole[1], t, level, prevalence=prevalence, standardised=standardised
    )
    everyone = net_benefit(rate, 1.0 - rate, rate if standardised else 1.0, t)
    # A threshold of 0 acts on all rows, so it saves no action.
    avoided = np.divide((value - everyone) * (1.0 - t), t, out=np.zeros_like(t), where=t > 0.0)
    return DecisionCurve(
        t, value, low, high, everyone, np.zeros_like(t), avoided * (rate if standardised else 1.0)
    )


def net_benefit_worth(
    record: Predictions, score: np.ndarray, hit: np.ndarray, thresholds: np.ndarray, level: float
) -> np.ndarray:
    """Factor on the number of rows at each threshold for the clustered gains of flagging; 1 without
    clusters.
    """
    worth = np.ones(len(thresholds))
    if record.cluster is not None:
        for k, t in enumerate(thresholds):
            gained = np.where(
                score >= t * (1.0 - record.resolution), hit - (1.0 - hit) * t / (1.0 - t), 0.0
            )
            worth[k] = mean_worth(gained, record.weights, record.cluster, level)
    return worth


def _require(events: Any, others: Any, standardised: Any, prevalence: Any) -> None:
    if prevalence is not None and not 0.0 < prevalence < 1.0:
        raise InputError(f"prevalence must be between 0 and 1; got {prevalence!r}.")
    if events <= 0.0 and (standardised or prevalence is not None):
        raise InputError(
            "y_true must contain the event for a standardised net benefit or a prevalence; got"
            " no event."
        )
    if others <= 0.0 and prevalence is not None:
        raise InputError(
            "y_true must contain rows without the event where a prevalence is passed; got none."
        )


@on_record(_decision_curve_of)
def decision_curve(
    y_true: ArrayLike,
    P: ArrayLike,
    *,
    target: int | str = "event",
    thresholds: ArrayLike | None = None,
    standardised: bool = False,
    prevalence: float | None = None,
    level: float = 0.95,
    cluster: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    weight_kind: WeightKind = "frequency",
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> DecisionCurve:
    r"""Compute the net benefit of acting where the risk is at least a threshold, over thresholds.

    .. math:: NB(t) = \frac{TP_t}{n} - \frac{FP_t}{n} \cdot \frac{t}{1 - t}

    A threshold sets how many false positives equal one true positive: nine at 0.1. Acting on all
    has :math:`\pi - (1 - \pi)\, t / (1 - t)`, acting on none 0.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    target : "event", "answer" or a class label, default "event"
        The second of two classes; with more classes, name one.
    thresholds : (T,) numbers in [0, 1), optional
        By default hundredths, or equal logarithmic steps for events in fewer than 5 % of the rows.
    standardised : bool, default False
        Whether to divide by the prevalence, so that the maximum is 1.
    prevalence : float, optional
        The event's rate where the model is used, for case-control data: rows with and without the
        event are two samples.
    level : float, default 0.95
        The level of the pointwise interval at each threshold.
    cluster : (n,) labels of any kind, optional
        Clusters of dependent rows (visits of one patient, answers to one question). Intervals then
        count clusters.
    sample_weight : (n,), optional
        Weight 2 counts a row twice; weight 0 drops it.
    weight_kind : {"frequency", "sampling"}
        "frequency": a weight counts identical rows. "sampling": a weighted row is one row that
        stands for others, as with design or importance weights.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    DecisionCurve
        ``.frame()`` returns a data frame; ``avoided`` is the number of actions per row that the
        model saves compared with acting on all, without missing more events.

    Raises
    ------
    InputError
        When the predictions are invalid, a threshold or the prevalence is out of range, or no row
        has the event where it is a divisor.

    See Also
    --------
    DecisionCurveDisplay : the plot of it.
    threshold_table : all consequences of some thresholds.

    Notes
    -----
    Use it to check whether decisions benefit from the model, over the thresholds that reasonable
    people would choose. A model below acting on all or on none there does harm, however good its
    other metrics. Do not choose the threshold where the curve is highest: it follows from the costs
    of errors. The interval combines Wilson's for the shares of true and of false positives. To
    compare two models, resample rows in pairs.

    References
    ----------
    Vickers and Elkin, "Decision curve analysis: a novel method for evaluating prediction models",
    Medical Decision Making 2006. Zou and Donner, "Construction of confidence limits about effect
    measures: a general approach", Statistics in Medicine 2008.

    Examples
    --------
    >>> curve = decision_curve([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9], thresholds=[0.25, 0.5])
    >>> curve.net_benefit.round(3).tolist(), curve.treat_all.round(3).tolist()
    ([0.417, 0.0], [0.333, 0.0])
    """
    record = read_clustered(
        y_true, P, cluster, weight_kind, sample_weight=sample_weight, classes=classes, inputs=inputs
    )
    return decision_curve.of(
        record,
        target=target,
        thresholds=thresholds,
        standardised=standardised,
        prevalence=prevalence,
        level=level,
    )


@dataclass(frozen=True)
class GainCurve(Record):
    """Gain curve, one row per distinct risk, from the highest: share of rows flagged, share of
    events found, its interval, and lift.
    """

    threshold: np.ndarray
    flagged: np.ndarray
    found: np.ndarray
    low: np.ndarray
    high: np.ndarray
    lift: np.ndarray


def _gain_curve_of(
    record: Predictions, *, target: int | str = "event", level: float = 0.95
) -> GainCurve:
    require_level(level)
    score, hit = record.pair(target)
    # The kernel sums errors down the ranks; here the event takes the place of the error.
    threshold, flagged, events = risk_coverage(score, 1.0 - hit, record.weights)
    if events[-1] <= 0.0:
        raise InputError("y_true must contain the event for a gain curve; got no event.")
    worth: Any = 1.0
    if record.cluster is not None:
        worth = ranked_worth(
            score, np.ones(len(hit)), record.weights * hit, record.cluster, level, of_all=True
        )
    low, high = intervals.wilson(events * worth, events[-1] * worth, level)
    found, share = events / events[-1], flagged / flagged[-1]
    # With every row flagged, every event is found in any sample.
    return GainCurve(threshold, share, found, np.where(share < 1.0, low, 1.0), high, found / share)


@on_record(_gain_curve_of)
def gain_curve(
    y_true: ArrayLike,
    P: ArrayLike,
    *,
    target: int | str = "event",
    level: float = 0.95,
    cluster: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    weight_kind: WeightKind = "frequency",
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> GainCurve:
    r"""Compute the share of events found against the share of rows flagged, highest risks first.

    .. math:: G(t) = P(p \ge t \mid y = 1), \quad F(t) = P(p \ge t), \quad \mathrm{lift}(t) = G(t)
        / F(t)

    Rows of equal risk are flagged together. The straight line between two rows of the curve
    corresponds to flagging some of them at random.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    target : "event", "answer" or a class label, default "event"
        The second of two classes; with more classes, name one.
    level : float, default 0.95
        The level of the pointwise Wilson interval of the share found.
    cluster : (n,) labels of any kind, optional
        Clusters of dependent rows (visits of one patient, answers to one question). Intervals then
        count clusters.
    sample_weight : (n,), optional
        Weight 2 counts a row twice; weight 0 drops it.
    weight_kind : {"frequency", "sampling"}
        "frequency": a weight counts identical rows. "sampling": a weighted row is one row that
        stands for others, as with design or importance weights.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    GainCurve
        ``.frame()`` returns a data frame.

    Raises
    ------
    InputError
        When the predictions are invalid or no row has the event.

    See Also
    --------
    GainDisplay : the plot of it.
    threshold_table : the same at chosen thresholds.

    Notes
    -----
    Use it where a fixed number of rows can be examined. It depends on the order of the risks alone
    and does not measure calibration.

    Examples
    --------
    >>> curve = gain_curve([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9])
    >>> curve.flagged.tolist(), curve.found.tolist(), curve.lift.round(2).tolist()
    ([0.25, 0.5, 0.75, 1.0], [0.5, 0.5, 1.0, 1.0], [2.0, 1.0, 1.33, 1.0])
    """
    record = read_clustered(
        y_true, P, cluster, weight_kind, sample_weight=sample_weight, classes=classes, inputs=inputs
    )
    return gain_curve.of(record, target=target, level=level)


@dataclass(frozen=True)
class ThresholdTable(Record):
    """Table of thresholds, one per row: shares with Wilson's limits (nan in [0, 1] where the
    denominator is 0), net benefit, and cost per row.
    """

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


def _threshold_table_of(
    record: Predictions,
    *,
    target: int | str = "event",
    thresholds: ArrayLike | None = None,
    cost_false_positive: float | None = None,
    cost_false_negative: float | None = None,
    level: float = 0.95,
) -> ThresholdTable:
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
    n, missed, spared = (
        events + others,
        np.maximum(events - true, 0.0),
        np.maximum(others - false, 0.0),
    )
    worth, gained = (
        _worths(record, score, hit, t, level),
        net_benefit_worth(record, score, hit, t, level),
    )
    parts, wholes = (
        (true + false, true, spared, true, spared),
        (n, events, others, true + false, missed + spared),
    )
    flagged, *rest = (
        _share(part, whole, one, level)
        for part, whole, one in zip(parts, wholes, worth, strict=True)
    )
    rest.append(
        net_benefit_interval(
            true * gained, false * gained, events * gained, others * gained, t, level
        )
    )
    cost = np.full_like(t, np.nan) if costs is None else (costs[0] * false + costs[1] * missed) / n
    return ThresholdTable(
        *[t, *flagged, 1000.0 * flagged[0], *(column for share in rest for column in share), cost]
    )


def _share(
    part: np.ndarray, whole: Any, worth: np.ndarray, level: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    whole = np.broadcast_to(whole, part.shape)
    return quotient(part, whole), *wilson(part * worth, whole * worth, level)


def _worths(
    record: Predictions, score: np.ndarray, hit: np.ndarray, thresholds: np.ndarray, level: float
) -> np.ndarray:
    """Factors on the number of rows for clusters, (5, T), one for each share of the table; 1
    without clusters.
    """
    if record.cluster is None:
        return np.ones((5, len(thresholds)))

    def by(value: Any, group: Any) -> np.ndarray:
        # First for the rows of group 1, then for those of group 0.
        return group_worth(
            value, record.weights, cast(np.ndarray, record.cluster), group.astype(np.intp), 2, level
        )[::-1]

    flags = [(score >= t * (1.0 - record.resolution)) * 1.0 for t in thresholds]
    return (
        np.array(
            [[by(flag, np.ones(len(hit)))[0], *by(flag, hit), *by(hit, flag)] for flag in flags]
        )
        .reshape(-1, 5)
        .T
    )


def _costs(
    false_positive: float | None, false_negative: float | None
) -> tuple[float, float] | None:
    if false_positive is None and false_negative is None:
        return None
    costs: dict[str, Any] = {
        "cost_false_positive": false_positive,
        "cost_false_negative": false_negative,
    }
    for name, cost in costs.items():
        if cost is None or not (np.isfinite(cost) and cost > 0.0):
            raise InputError(
                f"{name} must be a number above 0, in the unit of the other cost; got {cost!r}."
            )
    return float(costs["cost_false_positive"]), float(costs["cost_false_negative"])


@on_record(_threshold_table_of)
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
    r"""Tabulate the consequences of flagging rows at or above each of some thresholds.

    .. math:: \mathrm{cost}(t) = (c_{FP} \, FP_t + c_{FN} \, FN_t) / n, \quad t^* = c_{FP} /
        (c_{FP} + c_{FN})

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    target : "event", "answer" or a class label, default "event"
        The second of two classes; with more classes, name one.
    thresholds : (T,) numbers in [0, 1), optional
        By default round numbers, finer for events in fewer than 5 % of the rows; with costs also
        :math:`t^*`, the best threshold of a calibrated risk.
    cost_false_positive, cost_false_negative : float, optional
        The costs of a false alarm and of a missed event, in one unit; pass both or none.
    level : float, default 0.95
        The level of the intervals: Wilson's for shares; for the net benefit, those of its two
        shares combined.
    cluster : (n,) labels of any kind, optional
        Clusters of dependent rows (visits of one patient, answers to one question). Intervals then
        count clusters.
    sample_weight : (n,), optional
        Weight 2 counts a row twice; weight 0 drops it.
    weight_kind : {"frequency", "sampling"}
        "frequency": a weight counts identical rows. "sampling": a weighted row is one row that
        stands for others, as with design or importance weights.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    ThresholdTable
        ``.frame()`` returns a data frame: share flagged, alerts per 1,000 rows, sensitivity,
        specificity, PPV (share of flagged rows with the event), NPV, net benefit, and the expected
        cost per row (nan without costs).

    Raises
    ------
    InputError
        When the predictions are invalid, or a threshold or cost is out of range.

    See Also
    --------
    decision_curve : the net benefit over all thresholds.
    gain_curve : the events found by the share of rows flagged.

    Notes
    -----
    Use it to see the effects of a threshold before choosing it by costs or capacity. Results at the
    threshold that looks best in this table are optimistic: evaluate it on other rows.

    Examples
    --------
    >>> table = threshold_table(
    ...     [0, 0, 1, 1],
    ...     [0.1, 0.6, 0.4, 0.9],
    ...     cost_false_positive=1,
    ...     cost_false_negative=3,
    ...     thresholds=[0.25, 0.5],
    ... )
    >>> table.sensitivity.tolist(), table.ppv.round(3).tolist(), table.expected_cost.tolist()
    ([1.0, 0.5], [0.667, 0.5], [0.25, 1.0])
    """
    record = read_clustered(
        y_true, P, cluster, weight_kind, sample_weight=sample_weight, classes=classes, inputs=inputs
    )
    costs = {"cost_false_positive": cost_false_positive, "cost_false_negative": cost_false_negative}
    return threshold_table.of(record, target=target, thresholds=thresholds, level=level, **costs)
