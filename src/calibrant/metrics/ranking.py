"""Metrics of ranking: AUROC, and errors among the most confident rows."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from calibrant._numerics.intervals import auroc_limits, moved_limits, rate_interval
from calibrant._numerics.thresholds import (
    optimal_area,
    ranked,
    risk_coverage,
    risk_coverage_area,
    row_moves,
)
from calibrant.core.metric import by_options
from calibrant.core.metric_kinds import Interval, WholeMetric
from calibrant.errors import InputError

__all__ = [
    "AreaUnderRiskCoverage",
    "ConfidenceAuroc",
    "CoverageAtRisk",
    "ExcessAreaUnderRiskCoverage",
    "area_under_risk_coverage",
    "auroc_of_sums",
    "confidence_auroc",
    "coverage_at_risk",
    "event_auroc",
    "excess_area_under_risk_coverage",
]


class ConfidenceAuroc(
    WholeMetric,
    direction="maximize",
    estimand="probability that the score orders two new rows, one of each kind, correctly",
    range=(0.0, 1.0),
    selects=True,
    ranks=True,
    paired=True,
    examples=({"target": "event"},),
):
    r"""Probability that a correct prediction has a higher confidence than a wrong one, or an event
    a higher risk than a non-event.

    .. math:: P(\hat z_i > \hat z_j) + \tfrac12 P(\hat z_i = \hat z_j), \quad i \text{ right}, j
        \text{ wrong}

    Parameters
    ----------
    target : {"answer", "event"} or a class label, default "answer"
        The probability to evaluate: the predicted label's (against whether it is correct), class
        1's of two, or the named class's.

    See Also
    --------
    area_under_risk_coverage : ranking and accuracy together.

    Notes
    -----
    It depends on the ranking alone, so an increasing calibration map does not change it. Use it to
    select a confidence signal, not a calibrator. It is 0.5 where all predictions are right or all
    are wrong. Its interval is DeLong's on the scale of the log-odds, with half an uninformative row
    added on either side.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson, "Comparing the areas under two or more correlated ROC
    curves", Biometrics 1988.

    Examples
    --------
    >>> confidence_auroc([0, 1, 0], [[0.9, 0.1], [0.3, 0.7], [0.4, 0.6]])
    1.0
    >>> event_auroc([0, 1, 0], [[0.9, 0.1], [0.3, 0.7], [0.4, 0.6]])
    1.0
    """

    target: Any = "answer"

    def _name(self) -> str:
        """Name of the metric: AUROC of the confidence, or of the event."""
        return "AUROC of the confidence" if self.target == "answer" else "AUROC of the event"

    name: ClassVar[str] = by_options(_name)

    def _key(self) -> str:
        """Key of the metric, as used by the gate."""
        return "confidence_auroc" if self.target == "answer" else "event_auroc"

    key: ClassVar[str] = by_options(_key)

    def _binary_only(self) -> bool:
        """Whether two classes are required: for the event."""
        return self.target == "event"

    binary_only: ClassVar[bool] = by_options(_binary_only)

    def _exceptions(self) -> Mapping[str, str]:
        """Cases without a ranking."""
        return (
            {"perfect_is_best": "0.5: without wrong predictions no ranking exists"}
            if self.target == "answer"
            else {}
        )

    exceptions: ClassVar[Mapping[str, str]] = by_options(_exceptions)

    def _value(self, record: Any) -> float:
        return self._revalued(record)(record.weights)

    def _revalued(self, record: Any) -> Any:
        # The analytic interval does not use other labels.
        unique, inverse, hit = _ranks(record, self.target)

        def value(weight: np.ndarray) -> float:
            right, wrong = (
                np.bincount(inverse, weights=side, minlength=len(unique))
                for side in (weight * hit, weight * (1.0 - hit))
            )
            return auroc_of_sums(right, wrong)

        return value

    def sides_of(self, record: Any) -> Any:
        """Whether each row is correct, or has the event, (n,)."""
        return record.pair(self.target)[1]

    def moves_of(self, record: Any) -> Any:
        """Influence of each row on the value, (n,)."""
        # DeLong's influence: the placement minus its mean, divided by the share of the row's side.
        (_, hit), weight = record.pair(self.target), record.weights
        moves, value, sides = (
            np.zeros(len(hit)),
            self._value(record),
            _placements(record, self.target),
        )
        if not all(len(mass) for _, mass in sides):
            return moves
        for side, (share, mass) in zip((1.0, 0.0), sides, strict=True):
            moves[hit == side] = (share - value) * (weight.sum() / mass.sum())
        return moves

    def _interval(
        self, record: Any, level: float, method: str, n_resamples: int, random_state: int
    ) -> Interval:
        right, wrong = _placements(record, self.target)
        if method not in ("auto", "analytic"):
            return super()._interval(record, level, method, n_resamples, random_state)
        limits, value = (0.0, 1.0), self._value(record)
        if len(right[0]) and len(wrong[0]):
            limits = auroc_limits(right, wrong, level)
        return Interval.holding(value, limits, level, "analytic", float(record.weights.sum()))


def auroc_of_sums(right: np.ndarray, wrong: np.ndarray) -> float:
    """The AUROC from the weights of both sides at each distinct score, ascending, (m,) each."""
    pairs = right.sum() * wrong.sum()
    return float(right @ (np.cumsum(wrong) - 0.5 * wrong) / pairs) if pairs > 0.0 else 0.5


def _ranks(record: Any, target: str) -> Any:
    """(distinct scores, place of each row among them, hits)."""
    return *record.ranks_of(target), record.pair(target)[1]


def _placements(record: Any, target: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """((placement, weight) of the right rows, the same of the wrong rows). A placement is the share
    of the other side that is ordered correctly.
    """
    unique, inverse, hit = _ranks(record, target)
    sides = []
    for side in (1.0, 0.0):
        of_side = hit == side
        other = np.bincount(inverse, weights=record.weights * ~of_side, minlength=len(unique))
        below = np.cumsum(other) - 0.5 * other
        # For wrong rows, the share of right rows above them.
        below = below if side == 1.0 else other.sum() - below
        share = below / max(other.sum(), 1e-300)
        sides.append((share[inverse[of_side]], record.weights[of_side]))
    return sides


confidence_auroc: ConfidenceAuroc = ConfidenceAuroc()
event_auroc: ConfidenceAuroc = ConfidenceAuroc(target="event")


class _Area(WholeMetric):
    """Template of areas under the risk-coverage curve; a subclass defines
    ``_of_curve(covered, wrong)`` and ``_moved(record)``, the influence of each row and its
    influence if it were wrong.
    """

    @abstractmethod
    def _of_curve(self, covered: np.ndarray, wrong: np.ndarray) -> float: ...

    @abstractmethod
    def _moved(self, record: Any) -> tuple[np.ndarray, np.ndarray]: ...

    def _value(self, record):
        return self._revalued(record)(record.weights)

    def _revalued(self, record):
        _, sums = ranked(*record.ranks)

        def value(weight, labels=record.labels):
            _, covered, wrong = sums(record.predicted == labels, weight)
            return min(max(self._of_curve(covered, wrong), 0.0), 1.0)

        return value

    def moves_of(self, record: Any) -> Any:
        """Influence of each row on the value, (n,)."""
        return self._moved(record)[0]

    def _interval(self, record, level, method, n_resamples, random_state):
        if method not in ("auto", "analytic"):
            return super()._interval(record, level, method, n_resamples, random_state)
        value, weight = self._value(record), record.weights
        limits = moved_limits(self.range, weight, value, *self._moved(record), level)
        return Interval.holding(value, limits, level, "analytic", float(weight.sum()))


class AreaUnderRiskCoverage(
    _Area,
    name="AURC",
    key="aurc",
    estimand="area in the population",
    direction="minimize",
    range=(0.0, 1.0),
    selects=True,
    ranks=True,
    paired=True,
):
    r"""Share of wrong predictions among the most confident ones, averaged over the share kept
    (AURC).

    .. math:: \int_0^1 P(\text{wrong} \mid \text{among the share } c \text{ of highest
        confidence})\, dc

    See Also
    --------
    excess_area_under_risk_coverage : the part due to imperfect ranking.
    risk_coverage_curve : the curve itself.

    Notes
    -----
    The integral is exact; rows of equal confidence are added together. The sum over rows used
    elsewhere differs by the order of 1/n. Use it to select a model for selective prediction; an
    increasing calibration map does not change it. It mixes the error rate with the ranking:
    ``excess_area_under_risk_coverage`` removes the error rate. Its interval is that of the mean of
    the rows' influences, with one unseen row; Student's t where rows are few.

    References
    ----------
    Geifman, Uziel and El-Yaniv, "Bias-reduced uncertainty estimation for deep neural classifiers",
    ICLR 2019.

    Examples
    --------
    >>> round(area_under_risk_coverage([0, 0], [[0.9, 0.1], [0.2, 0.8]]), 4)
    0.1534
    """

    def _of_curve(self, covered, wrong):
        return risk_coverage_area(covered, wrong)

    def _moved(self, record):
        return row_moves(record.ranks[1], record.correct, record.weights)


area_under_risk_coverage: AreaUnderRiskCoverage = AreaUnderRiskCoverage()


class ExcessAreaUnderRiskCoverage(
    _Area,
    name="E-AURC",
    key="excess_aurc",
    estimand="area in the population",
    direction="minimize",
    range=(0.0, 1.0),
    ranks=True,
    exceptions={"perfect_is_best": "all rankings are equal where every prediction is wrong"},
):
    r"""Excess area under the risk-coverage curve due to imperfect ranking (E-AURC).

    .. math:: \mathrm{AURC} - \left( r + (1 - r) \ln(1 - r) \right), \quad r = P(\text{wrong})

    See Also
    --------
    area_under_risk_coverage : the area including the part fixed by the accuracy.
    confidence_auroc : the ranking as a probability.

    Notes
    -----
    Use it to compare confidences of models that differ in accuracy. It does not measure
    calibration: an increasing map does not change it.

    References
    ----------
    Geifman, Uziel and El-Yaniv, "Bias-reduced uncertainty estimation for deep neural classifiers",
    ICLR 2019.

    Examples
    --------
    >>> round(excess_area_under_risk_coverage([0, 0], [[0.9, 0.1], [0.2, 0.8]]), 4)
    0.0
    """

    def _of_curve(self, covered, wrong):
        return risk_coverage_area(covered, wrong) - optimal_area(float(wrong[-1] / covered[-1]))

    def _moved(self, record):
        wrong, weight = 1.0 - record.correct, record.weights
        moves, if_wrong = row_moves(record.ranks[1], record.correct, weight)
        # Derivative of the area of a perfect ranking by the risk.
        risk = weight @ wrong / weight.sum()
        slope = -np.log1p(-min(risk, 1.0 - 1e-12))
        return moves - slope * (wrong - risk), if_wrong - slope * (1.0 - risk)


excess_area_under_risk_coverage: ExcessAreaUnderRiskCoverage = ExcessAreaUnderRiskCoverage()


class CoverageAtRisk(
    WholeMetric,
    name="coverage at risk",
    key="coverage_at_risk",
    estimand="share of the population that could be kept",
    direction="maximize",
    range=(0.0, 1.0),
    selects=True,
    ranks=True,
    paired=True,
    examples=({"risk": 0.2},),
):
    """Largest share of the rows that a confidence threshold can keep with at most ``risk`` of them
    wrong.

    Parameters
    ----------
    risk : float, default 0.05
        The allowed share of wrong predictions among those kept.

    See Also
    --------
    risk_coverage_curve : all risks at once.
    area_under_risk_coverage : an average that needs no risk.

    Notes
    -----
    Use it where a person takes over below a threshold. The threshold is the best in hindsight:
    expect a higher risk on new data, which the lower end of the interval accounts for. Rows of
    equal confidence are kept or dropped together.

    Examples
    --------
    >>> coverage_at_risk([0, 0, 1, 1], [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]], risk=0.1)
    0.75
    """

    risk: float = 0.05

    def _check(self) -> None:
        if not 0.0 <= self.risk <= 1.0:
            raise InputError(f"risk must be in [0, 1]; got {self.risk!r}.")

    def _interval(
        self, record: Any, level: float, method: str, n_resamples: int, random_state: int
    ) -> Interval:
        found = super()._interval(record, level, method, n_resamples, random_state)
        if method != "auto":
            return found
        # The smallest and largest share kept, by the interval of the risk above each confidence.
        _, covered, wrong = risk_coverage(record.confidence, record.correct, record.weights)
        least, most = rate_interval(wrong, covered, level)
        sure, may = (
            np.max(covered, where=ends <= self.risk, initial=0.0) / covered[-1]
            for ends in (most, least)
        )
        # One more row may have to be dropped.
        low = min(found.low, sure, found.n / (found.n + 1.0))
        return Interval.holding(
            found.value, (low, max(found.high, may)), level, "bootstrap", found.n
        )

    def _value(self, record: Any) -> float:
        return self._revalued(record)(record.weights)

    def _revalued(self, record: Any) -> Any:
        _, sums = ranked(*record.ranks)

        def value(weight: np.ndarray, labels: np.ndarray = record.labels) -> float:
            _, covered, wrong = sums(record.predicted == labels, weight)
            # The slack absorbs the rounding of summed weights.
            within = np.flatnonzero(wrong <= (self.risk + 1e-12) * covered)
            return float(covered[within[-1]] / covered[-1]) if len(within) else 0.0

        return value


coverage_at_risk: CoverageAtRisk = CoverageAtRisk()
