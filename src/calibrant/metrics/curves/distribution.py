"""Joint counts of true and predicted classes, the distribution of the risk for rows with and
without the event, and the risk-coverage curve.

Joint counts are normalised by the true or the predicted class. The risk-coverage curve is the error
rate among the most confident predictions, for each share kept.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from calibrant._numerics import bins, intervals
from calibrant._numerics.certificates import simultaneous_limits
from calibrant._numerics.clusters import ranked_worth
from calibrant._numerics.thresholds import (
    probability_grid,
    probability_scale,
    risk_coverage,
    scale_ends,
)
from calibrant.core.arrays import ArrayLike
from calibrant.core.estimators import require_count, require_option
from calibrant.core.extras import import_extra
from calibrant.core.given import Inputs
from calibrant.core.groups import WeightKind
from calibrant.core.guarantee import Record
from calibrant.core.metric_kinds import on_record
from calibrant.core.predictions import Predictions
from calibrant.core.reading import read_clustered, read_labelled
from calibrant.errors import InputError

__all__ = [
    "JointDistribution",
    "RiskCoverageCurve",
    "RiskDistribution",
    "joint_distribution",
    "risk_coverage_curve",
    "risk_curve",
    "risk_distribution",
]


@dataclass(frozen=True)
class JointDistribution:
    """Joint counts (sums of weights) of true and predicted classes, with both normalisations.

    Attributes
    ----------
    classes : (K,)
    counts : (K, K), row the true class, column the predicted one.
    """

    classes: np.ndarray
    counts: np.ndarray

    @property
    def by_true(self) -> np.ndarray:
        """Confusion matrix: P(predicted | true), rows sum to 1; nan in the row of a class that
        never occurs.
        """
        return _shares(self.counts, self.counts.sum(axis=1, keepdims=True))

    @property
    def by_predicted(self) -> np.ndarray:
        r"""Reverse confusion matrix: P(true | predicted), columns sum to 1; its diagonal is
        Conf\ :sub:`1`; nan where never predicted.
        """
        return _shares(self.counts, self.counts.sum(axis=0, keepdims=True))

    def to_dict(self) -> dict[str, list[Any]]:
        """Return classes and counts as lists, ready for JSON."""
        return {"classes": self.classes.tolist(), "counts": self.counts.tolist()}

    def frame(self, normalise: str | None = None) -> Any:
        """Return a pandas data frame, rows true and columns predicted; ``normalise`` is None,
        "true" or "predicted".
        """
        tables = {None: self.counts, "true": self.by_true, "predicted": self.by_predicted}
        if normalise not in tables:
            raise InputError(f'normalise must be None, "true" or "predicted"; got {normalise!r}.')
        pandas = import_extra("pandas", "a data frame of the joint distribution", "frames")
        index, columns = (pandas.Index(self.classes, name=name) for name in ("true", "predicted"))
        return pandas.DataFrame(tables[normalise], index=index, columns=columns)


def _of(record: Any) -> JointDistribution:
    K = record.n_classes
    counts = np.bincount(
        record.labels * K + record.predicted, weights=record.weight, minlength=K * K
    )
    return JointDistribution(record.classes, counts.astype(np.float64).reshape(K, K))


@on_record(_of)
def joint_distribution(
    y_true: ArrayLike,
    P: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> JointDistribution:
    r"""Count each pair of true and predicted class.

    .. math:: N_{jk} = \sum_i w_i\, 1[y_i = j]\, 1[\arg\max P_i = k]

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    sample_weight : (n,), optional
        Weight 2 counts a row twice; weight 0 drops it.
    classes : (K,) labels in column order, optional
    inputs : {"probability", "logit"}

    Returns
    -------
    JointDistribution

    See Also
    --------
    JointDistributionDisplay : the plot of it.

    Notes
    -----
    Use ``by_predicted`` to see how far to trust a prediction: for a rare class its diagonal may be
    far below that of the confusion matrix. It depends on the class frequencies of the rows.

    References
    ----------
    Salamon et al., "Classification confidence in exploratory learning: a user's guide", MAKE 2023,
    figure 1.

    Examples
    --------
    >>> joint = joint_distribution([0, 0, 0, 1], [0.2, 0.4, 0.7, 0.9])
    >>> joint.counts.tolist(), joint.by_predicted.diagonal().tolist()
    ([[2.0, 1.0], [0.0, 1.0]], [1.0, 0.5])
    """
    record = read_labelled(y_true, P, sample_weight=sample_weight, classes=classes, inputs=inputs)
    return joint_distribution.of(record)


def _shares(counts: np.ndarray, total: np.ndarray) -> np.ndarray:
    return np.divide(counts, total, out=np.full(counts.shape, np.nan), where=total > 0.0)


@dataclass(frozen=True)
class RiskDistribution(Record):
    """Risk histogram, one row per bin, including empty ones: edges, and weight of rows with and
    without the event.
    """

    lower: np.ndarray
    upper: np.ndarray
    events: np.ndarray
    others: np.ndarray


def _risk_distribution_of(
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


@on_record(_risk_distribution_of)
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


@dataclass(frozen=True)
class RiskCoverageCurve(Record):
    """Risk-coverage curve, one row per distinct confidence, from the highest: threshold, share
    kept, its risk, and the interval.
    """

    confidence: np.ndarray
    coverage: np.ndarray
    risk: np.ndarray
    low: np.ndarray
    high: np.ndarray


def _risk_coverage_curve_of(
    record: Predictions,
    *,
    level: float = 0.95,
    band: Literal["pointwise", "simultaneous"] = "pointwise",
) -> RiskCoverageCurve:
    require_option("band", band, ("pointwise", "simultaneous"))
    found, worth = risk_coverage(record.confidence, record.correct, record.weights), 1.0
    if band == "simultaneous":
        if record.cluster is not None:
            raise InputError(
                'band="simultaneous" assumes independent rows; got clusters; leave out cluster,'
                ' or use band="pointwise".'
            )
        confidence, covered, wrong = found
        return RiskCoverageCurve(
            confidence,
            covered / covered[-1],
            wrong / covered,
            *simultaneous_limits(covered, wrong, level),
        )
    if record.cluster is not None:
        worth = ranked_worth(
            record.confidence, 1.0 - record.correct, record.weights, record.cluster, level
        )
    return risk_curve(*found, level, worth)


def risk_curve(
    confidence: np.ndarray,
    covered: np.ndarray,
    wrong: np.ndarray,
    level: float,
    worth: np.ndarray | float = 1.0,
) -> RiskCoverageCurve:
    """Compute the curve from the weight, and the wrong weight, of rows at or above each distinct
    confidence, from the highest, (m,) each.

    ``worth`` (m,) multiplies the number of those rows for clusters.
    """
    low, high = intervals.wilson(wrong * worth, covered * worth, level)
    return RiskCoverageCurve(confidence, covered / covered[-1], wrong / covered, low, high)


@on_record(_risk_coverage_curve_of)
def risk_coverage_curve(
    y_true: ArrayLike,
    P: ArrayLike,
    *,
    level: float = 0.95,
    band: Literal["pointwise", "simultaneous"] = "pointwise",
    cluster: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    weight_kind: WeightKind = "frequency",
    classes: ArrayLike | None = None,
    inputs: Inputs = "probability",
) -> RiskCoverageCurve:
    """Compute the share of wrong predictions at or above each confidence.

    Parameters
    ----------
    y_true : (n,) labels
    P : (n, K), or (n,) for binary
    level : float, default 0.95
        The level of each interval, or of all jointly.
    band : {"pointwise", "simultaneous"}, default "pointwise"
        Wilson's interval at each risk, or limits that cover the risks of new rows at all thresholds
        jointly. The latter are exact where rows are independent and lower confidence never means a
        lower risk.
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
    RiskCoverageCurve
        ``.frame()`` returns a data frame.

    Raises
    ------
    InputError
        When the predictions are invalid or labels are missing.

    See Also
    --------
    RiskCoverageDisplay : the plot of it. area_under_risk_coverage, coverage_at_risk : the curve as
        one number.

    Examples
    --------
    >>> curve = risk_coverage_curve([0, 0, 1], [[0.9, 0.1], [0.2, 0.8], [0.3, 0.7]])
    >>> curve.confidence.tolist(), curve.risk.round(3).tolist()
    ([0.9, 0.8, 0.7], [0.0, 0.5, 0.333])
    """
    record = read_clustered(
        y_true, P, cluster, weight_kind, sample_weight=sample_weight, classes=classes, inputs=inputs
    )
    return risk_coverage_curve.of(record, level=level, band=band)
