"""How well a probability ranks: the confidence, right predictions above wrong ones; the risk, events above the rest."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from calibrant._kernels.auroc_limits import auroc_limits
from calibrant.contracts.by_options import by_options
from calibrant.contracts.metric import Interval, WholeMetric

__all__ = ["ConfidenceAuroc", "confidence_auroc", "event_auroc"]


@dataclass(frozen=True, repr=False)
class ConfidenceAuroc(WholeMetric):
    r"""Probability that a right prediction has a higher confidence than a wrong one, or an event a higher risk than a row without it.

    .. math:: P(\hat z_i > \hat z_j) + \tfrac12 P(\hat z_i = \hat z_j), \quad i \text{ right}, j \text{ wrong}

    Parameters
    ----------
    target : {"answer", "event"} or a class label, default "answer"
        Whose probability: the predicted label's against its being right, class 1's of two, or the named class's.

    See Also
    --------
    area_under_risk_coverage : the ranking and the accuracy together.

    Notes
    -----
    It looks at the ranking alone, so calibration by an increasing map leaves it as it is. Use it to choose a confidence signal, not a
    calibrator. 0.5 where all predictions are right or all are wrong, as nothing can be ranked. Its interval is
    DeLong's on the scale of the log-odds, with half a row more on either side that nothing is known of.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson, "Comparing the areas under two or more correlated ROC curves", Biometrics 1988.

    Examples
    --------
    >>> confidence_auroc([0, 1, 0], [[0.9, 0.1], [0.3, 0.7], [0.4, 0.6]])
    1.0
    >>> event_auroc([0, 1, 0], [[0.9, 0.1], [0.3, 0.7], [0.4, 0.6]])
    1.0
    """

    target: Any = "answer"

    direction: ClassVar[str] = "maximize"
    estimand: ClassVar[str] = "chance that of two new rows, one of either kind, the score ranks the right one above"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    selects: ClassVar[bool] = True
    paired: ClassVar[bool] = True

    @classmethod
    def _examples(cls):
        return [cls(), cls(target="event")]

    def _name(self) -> str:
        """AUROC of the confidence, or of the event."""
        return "AUROC of the confidence" if self.target == "answer" else "AUROC of the event"

    name: ClassVar[str] = by_options(_name)

    def _key(self) -> str:
        """The name as the gate has it."""
        return "confidence_auroc" if self.target == "answer" else "event_auroc"

    key: ClassVar[str] = by_options(_key)

    def _binary_only(self) -> bool:
        """Of the event of two classes."""
        return self.target == "event"

    binary_only: ClassVar[bool] = by_options(_binary_only)

    def _exceptions(self) -> Mapping[str, str]:
        """Where nothing can be ranked."""
        return {"perfect_is_best": "with no wrong prediction there is nothing to rank: 0.5"} if self.target == "answer" else {}

    exceptions: ClassVar[Mapping[str, str]] = by_options(_exceptions)

    def _value(self, record):
        return self._revalued(record)(record.weights)

    def _revalued(self, record):
        # Its own interval looks at no other labels.
        unique, inverse, hit = _ranks(record, self.target)

        def value(weight):
            right, wrong = (np.bincount(inverse, weights=side, minlength=len(unique)) for side in (weight * hit, weight * (1.0 - hit)))
            pairs = right.sum() * wrong.sum()
            return float(right @ (np.cumsum(wrong) - 0.5 * wrong) / pairs) if pairs > 0.0 else 0.5

        return value

    def sides_of(self, record: Any) -> Any:
        """Whether each row is right, or has the event, (n,)."""
        return record.pair(self.target)[1]

    def moves_of(self, record: Any) -> Any:
        """How far each row moves it, (n,)."""
        # DeLong's: a row moves it by the placement beyond the mean, by as much more as its side has fewer rows.
        (_, hit), weight = record.pair(self.target), record.weights
        moves, value, sides = np.zeros(len(hit)), self._value(record), _placements(record, self.target)
        if not all(len(mass) for _, mass in sides):
            return moves
        for side, (share, mass) in zip((1.0, 0.0), sides, strict=True):
            moves[hit == side] = (share - value) * (weight.sum() / mass.sum())
        return moves

    def _interval(self, record, level, method, n_resamples, random_state):
        right, wrong = _placements(record, self.target)
        if method not in ("auto", "analytic"):
            return super()._interval(record, level, method, n_resamples, random_state)
        limits, value = (0.0, 1.0), self._value(record)
        if len(right[0]) and len(wrong[0]):
            limits = auroc_limits(right, wrong, level)
        return Interval.holding(value, limits, level, "analytic", float(record.weights.sum()))


def _ranks(record, target):
    """(distinct scores, place of each row among them, hits)."""
    score, hit = record.pair(target)
    return *(record.ranks if score is record.confidence else np.unique(score, return_inverse=True)), hit


def _placements(record, target):
    """((placement, weight) of the right rows, the same of the wrong rows): the share of the other side on the right side of each."""
    unique, inverse, hit = _ranks(record, target)
    sides = []
    for side in (1.0, 0.0):
        of_side = hit == side
        other = np.bincount(inverse, weights=record.weights * ~of_side, minlength=len(unique))
        below = np.cumsum(other) - 0.5 * other
        # Of the wrong, the share that beats them.
        below = below if side == 1.0 else other.sum() - below
        share = below / max(other.sum(), 1e-300)
        sides.append((share[inverse[of_side]], record.weights[of_side]))
    return sides


confidence_auroc: ConfidenceAuroc = ConfidenceAuroc()
event_auroc: ConfidenceAuroc = ConfidenceAuroc(target="event")
