"""Distribution of the risk, for rows with and without the event."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from calibrant._numerics import bins
from calibrant._numerics.thresholds import probability_grid, probability_scale, scale_ends
from calibrant.core.estimators import require_count
from calibrant.core.given import Inputs
from calibrant.core.guarantee import Record
from calibrant.core.metric_kinds import on_record
from calibrant.core.predictions import Predictions
from calibrant.core.reading import read_labelled
from calibrant.errors import InputError

__all__ = ["RiskDistribution", "risk_distribution"]


@dataclass(frozen=True)
class RiskDistribution(Record):
    """Risk histogram, one row per bin, including empty ones: edges, and weight of rows with and
    without the event.
    """

    lower: np.ndarray
    upper: np.ndarray
    events: np.ndarray
    others: np.ndarray


def _of(
    record: Predictions, *, target: int | str = "event", n_bins: int = 40, scale: str = "linear"
) -> RiskDistribution:
    require_count("n_bins", n_bins)
    score, hit = record.pair(target)
    scale = probability_scale(score, hit, record.weights) if scale == "auto" else scale
    if scale == "linear":
        index, edges = (
            bins.equal_width_index(score, n_bins, record.resolution),
            bins.equal_width_edges(n_bins),
        )
    elif scale in ("log", "logit"):
        rate = record.weights @ hit / record.weights.sum()
        edges = probability_grid(scale, *scale_ends(scale, score, rate), n_bins + 1)
        index = np.searchsorted(edges[1:-1], score * (1.0 + record.resolution), side="right")
        edges[[0, -1]] = 0.0, 1.0
    else:
        raise InputError(f'scale must be "linear", "log", "logit" or "auto"; got {scale!r}.')
    sums = bins.grouped_sums(index, n_bins, [hit], record.weight)
    return RiskDistribution(
        edges[:-1], edges[1:], sums[:, 1], np.maximum(sums[:, 0] - sums[:, 1], 0.0)
    )


@on_record(_of)
def risk_distribution(
    y_true: ArrayLike,
    P: ArrayLike,
    *,
    target: int | str = "event",
    n_bins: int = 40,
    scale: Literal["linear", "log", "logit", "auto"] = "linear",
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> RiskDistribution:
    """Count rows with and without the event in bins of the risk.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    target : "event", "answer" or a class label, default "event"
        The second of two classes; of more classes name one.
    n_bins : int, default 40
    scale : {"linear", "log", "logit", "auto"}
        The scale on which bins are equally wide; the first and last bin reach 0 and 1. "auto" uses
        the logit where many risks are near both ends, and the logarithm for events in fewer than 5
        % of the rows.
    sample_weight : (n,), optional
        Weight 2 counts a row twice; weight 0 drops it.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    RiskDistribution
        ``.frame()`` returns a data frame; ``events + others`` sums to the weight of all rows.

    Raises
    ------
    InputError
        When the predictions or an option are invalid.

    See Also
    --------
    RiskDistributionDisplay : the plot of it.
    confidence_histogram : the same for the confidence of right and wrong answers.

    Notes
    -----
    It shows sharpness: the spread of the risks, and the number of rows behind each part of a
    calibration curve.

    Examples
    --------
    >>> found = risk_distribution([1, 1, 0, 1], [0.9, 0.8, 0.3, 0.2], n_bins=2)
    >>> found.events.tolist(), found.others.tolist()
    ([1.0, 2.0], [1.0, 0.0])
    """
    record = read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs)
    return risk_distribution.of(record, target=target, n_bins=n_bins, scale=scale)
