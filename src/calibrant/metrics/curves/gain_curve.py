"""The cumulative gains: which share of the events is among the rows of highest risk, for each share of rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels import intervals
from calibrant._kernels.clusters import ranked_worth
from calibrant._kernels.thresholds import risk_coverage
from calibrant.contracts.columns import Record
from calibrant.contracts.interval import require_level
from calibrant.contracts.on_record import on_record
from calibrant.contracts.reading import read_labelled
from calibrant.errors import InputError
from calibrant.groups import WeightKind, clustered
from calibrant.predictions import Inputs, Predictions

__all__ = ["GainCurve", "gain_curve"]


@dataclass(frozen=True)
class GainCurve(Record):
    """One row a distinct risk, from the highest: share of rows flagged, share of events found, its interval, and the lift."""

    threshold: np.ndarray
    flagged: np.ndarray
    found: np.ndarray
    low: np.ndarray
    high: np.ndarray
    lift: np.ndarray


def _of(record: Predictions, *, target: int | str = "event", level: float = 0.95) -> GainCurve:
    require_level(level)
    score, hit = record.pair(target)
    # The kernel sums what goes wrong down the ranks; here that is the event.
    threshold, flagged, events = risk_coverage(score, 1.0 - hit, record.weights)
    if events[-1] <= 0.0:
        raise InputError("y_true must hold the event, for a share of it to be found; got none of it.")
    worth: Any = 1.0
    if record.cluster is not None:
        worth = ranked_worth(score, np.ones(len(hit)), record.weights * hit, record.cluster, level, of_all=True)
    low, high = intervals.wilson(events * worth, events[-1] * worth, level)
    found, share = events / events[-1], flagged / flagged[-1]
    # With every row flagged every event is found, in any sample.
    return GainCurve(threshold, share, found, np.where(share < 1.0, low, 1.0), high, found / share)


@on_record(_of)
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
    r"""Share of the events among the rows flagged, over the share of rows flagged, the highest risks first.

    .. math:: G(t) = P(p \ge t \mid y = 1), \quad F(t) = P(p \ge t), \quad \mathrm{lift}(t) = G(t) / F(t)

    Rows of equal risk are flagged together; between two rows of the curve a straight line is what flagging some of them at random gives.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    target : "event", "answer" or a class label, default "event"
        The second of two classes; of more classes name one.
    level : float, default 0.95
        Of the Wilson interval of the share found, at each threshold by itself.
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
    GainCurve
        ``.frame()`` gives it as a data frame.

    Raises
    ------
    InputError
        When the predictions cannot be read or no row holds the event.

    See Also
    --------
    GainDisplay : draws it.
    threshold_table : the same by thresholds chosen.

    Notes
    -----
    Use it where a fixed number of rows can be looked at. It depends on the order of the risks alone and says nothing about calibration.

    Examples
    --------
    >>> curve = gain_curve([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9])
    >>> curve.flagged.tolist(), curve.found.tolist(), curve.lift.round(2).tolist()
    ([0.25, 0.5, 0.75, 1.0], [0.5, 0.5, 1.0, 1.0], [2.0, 1.0, 1.33, 1.0])
    """
    record = clustered(read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs), cluster, weight_kind)
    return _of(record, target=target, level=level)
