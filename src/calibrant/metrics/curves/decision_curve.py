"""The decision curve: what acting on the risk is worth, at each threshold, beside acting on all and on none."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels.clusters import mean_worth
from calibrant._kernels.thresholds import net_benefit, net_benefit_interval, threshold_counts
from calibrant.contracts.columns import Record
from calibrant.contracts.interval import require_level
from calibrant.contracts.on_record import on_record
from calibrant.contracts.reading import read_labelled
from calibrant.errors import InputError
from calibrant.groups import WeightKind, clustered
from calibrant.metrics.benefit import curve_thresholds, read_thresholds
from calibrant.predictions import Inputs, Predictions

__all__ = ["DecisionCurve", "decision_curve", "net_benefit_worth"]


@dataclass(frozen=True)
class DecisionCurve(Record):
    """One row a threshold: net benefit of the model, its interval, that of acting on all and on none, and actions saved a row."""

    threshold: np.ndarray
    net_benefit: np.ndarray
    low: np.ndarray
    high: np.ndarray
    treat_all: np.ndarray
    treat_none: np.ndarray
    avoided: np.ndarray


def _of(
    record: Predictions, *, target: int | str = "event", thresholds: ArrayLike | None = None, standardised: bool = False,
    prevalence: float | None = None, level: float = 0.95,
) -> DecisionCurve:  # fmt: skip
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
    value, low, high = net_benefit_interval(true, false, whole[0], whole[1], t, level, prevalence=prevalence, standardised=standardised)
    everyone = net_benefit(rate, 1.0 - rate, rate if standardised else 1.0, t)
    # A threshold of 0 acts on all: nothing is saved.
    avoided = np.divide((value - everyone) * (1.0 - t), t, out=np.zeros_like(t), where=t > 0.0)
    return DecisionCurve(t, value, low, high, everyone, np.zeros_like(t), avoided * (rate if standardised else 1.0))


def net_benefit_worth(record: Predictions, score: np.ndarray, hit: np.ndarray, thresholds: np.ndarray, level: float) -> np.ndarray:
    """By what rows in clusters are to be multiplied at each threshold, for what flagging each of them gains; 1 without clusters."""
    worth = np.ones(len(thresholds))
    if record.cluster is not None:
        for k, t in enumerate(thresholds):
            gained = np.where(score >= t * (1.0 - record.resolution), hit - (1.0 - hit) * t / (1.0 - t), 0.0)
            worth[k] = mean_worth(gained, record.weights, record.cluster, level)
    return worth


def _require(events: Any, others: Any, standardised: Any, prevalence: Any):
    if prevalence is not None and not 0.0 < prevalence < 1.0:
        raise InputError(f"prevalence must be between 0 and 1; got {prevalence!r}.")
    if events <= 0.0 and (standardised or prevalence is not None):
        raise InputError("y_true must hold the event for a standardised net benefit or a prevalence; got none of it.")
    if others <= 0.0 and prevalence is not None:
        raise InputError("y_true must hold rows without the event where a prevalence is given; got none.")


@on_record(_of)
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
    r"""Net benefit of acting where the risk is at least a threshold, over the thresholds.

    .. math:: NB(t) = \frac{TP_t}{n} - \frac{FP_t}{n} \cdot \frac{t}{1 - t}

    A threshold says how many false positives a true one is worth: at 0.1, nine. Acting on all has
    :math:`\pi - (1 - \pi)\, t / (1 - t)`, acting on none 0.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    target : "event", "answer" or a class label, default "event"
        The second of two classes; of more classes name one.
    thresholds : (T,) numbers in [0, 1), optional
        By default hundredths, or equal steps of the logarithm where the event is in fewer rows than 5 %.
    standardised : bool, default False
        Divided by the prevalence, so that 1 is the best there is.
    prevalence : float, optional
        The event's rate where the model is used, for case-control data: rows with and without the event are two samples.
    level : float, default 0.95
        Of the interval at each threshold by itself.
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
    DecisionCurve
        ``.frame()`` gives it as a data frame; ``avoided`` is how many actions a row the model saves beside acting on all, at no loss of
        events found.

    Raises
    ------
    InputError
        When the predictions cannot be read, a threshold or the prevalence is outside its range, or no row holds the event where it
        divides.

    See Also
    --------
    DecisionCurveDisplay : draws it.
    threshold_table : the same thresholds with everything else they lead to.

    Notes
    -----
    Use it to see whether decisions gain from the model, over the thresholds that reasonable people would choose; a model below acting on
    all or on none there does harm, however good its other numbers. Do not choose the threshold where the curve is highest: it follows
    from what errors cost. The interval joins Wilson's for the shares of true and of false positives. For the difference of two models
    resample rows in pairs.

    References
    ----------
    Vickers and Elkin, "Decision curve analysis: a novel method for evaluating prediction models", Medical Decision Making 2006.
    Zou and Donner, "Construction of confidence limits about effect measures: a general approach", Statistics in Medicine 2008.

    Examples
    --------
    >>> curve = decision_curve([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9], thresholds=[0.25, 0.5])
    >>> curve.net_benefit.round(3).tolist(), curve.treat_all.round(3).tolist()
    ([0.417, 0.0], [0.333, 0.0])
    """
    record = clustered(read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs), cluster, weight_kind)
    return _of(record, target=target, thresholds=thresholds, standardised=standardised, prevalence=prevalence, level=level)
