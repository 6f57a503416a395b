"""How well the confidence ranks right predictions above wrong ones."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant._kernels.intervals import normal_interval
from calibrant.contracts.metric import Interval, WholeMetric

__all__ = ["ConfidenceAuroc", "confidence_auroc"]


@dataclass(frozen=True, repr=False)
class ConfidenceAuroc(WholeMetric):
    r"""Probability that a right prediction has a higher confidence than a wrong one, ties counting half.

    .. math:: P(\hat z_i > \hat z_j) + \tfrac12 P(\hat z_i = \hat z_j), \quad i \text{ right}, j \text{ wrong}

    See Also
    --------
    area_under_risk_coverage : the ranking and the accuracy together.

    Notes
    -----
    It looks at the ranking alone, so calibration by an increasing map leaves it as it is. Use it to choose a confidence signal, not a
    calibrator. 0.5 where all predictions are right or all are wrong, as nothing can be ranked. Its interval is DeLong's.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson, "Comparing the areas under two or more correlated ROC curves", Biometrics 1988.

    Examples
    --------
    >>> confidence_auroc([0, 1, 0], [[0.9, 0.1], [0.3, 0.7], [0.4, 0.6]])
    1.0
    """

    name: ClassVar[str] = "AUROC of the confidence"
    key: ClassVar[str] = "confidence_auroc"
    direction: ClassVar[str] = "maximize"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    selects: ClassVar[bool] = True
    exceptions: ClassVar[Mapping[str, str]] = {"perfect_is_best": "with no wrong prediction there is nothing to rank: 0.5"}

    def _value(self, record):
        right, wrong = _placements(record)
        return float(right[0] @ right[1] / right[1].sum()) if len(right[0]) and len(wrong[0]) else 0.5

    def _interval(self, record, level, method, n_resamples, random_state):
        right, wrong = _placements(record)
        if method not in ("auto", "analytic") or not (len(right[0]) and len(wrong[0])):
            return super()._interval(record, level, method, n_resamples, random_state)
        value = self._value(record)
        low, high = normal_interval(value, _variance_of_mean(*right) + _variance_of_mean(*wrong), level)
        return Interval(value, float(max(low, 0.0)), float(min(high, 1.0)), level, "analytic", float(record.weights.sum()))


def _placements(record):
    """((placement, weight) of the right rows, the same of the wrong rows): the share of the other side that each row beats."""
    unique, inverse = np.unique(record.confidence, return_inverse=True)
    sides = []
    for side in (1.0, 0.0):
        of_side = record.correct == side
        other = np.bincount(inverse, weights=record.weights * ~of_side, minlength=len(unique))
        below = np.cumsum(other) - 0.5 * other
        share = below / max(other.sum(), 1e-300)
        sides.append((share[inverse[of_side]], record.weights[of_side]))
    return sides


def _variance_of_mean(values, weight):
    n = weight.sum()
    centred = values - weight @ values / n
    return weight @ (centred * centred) / n / max(n - 1.0, 1.0)


confidence_auroc: ConfidenceAuroc = ConfidenceAuroc()
