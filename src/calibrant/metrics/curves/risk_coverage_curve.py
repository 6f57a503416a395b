"""Risk-coverage curve: the error rate among the most confident predictions, for each share kept."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from calibrant._numerics import intervals
from calibrant._numerics.certificates import simultaneous_limits
from calibrant._numerics.clusters import ranked_worth
from calibrant._numerics.thresholds import risk_coverage
from calibrant.core.estimators import require_option
from calibrant.core.given import Inputs
from calibrant.core.groups import WeightKind
from calibrant.core.guarantee import Record
from calibrant.core.metric_kinds import on_record
from calibrant.core.predictions import Predictions
from calibrant.core.reading import read_clustered
from calibrant.errors import InputError

__all__ = ["RiskCoverageCurve", "risk_coverage_curve", "risk_curve"]


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


def _of(
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


@on_record(_of)
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
