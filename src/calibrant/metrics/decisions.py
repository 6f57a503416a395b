"""Calibration error that bounds the loss of decisions at the worst cut-off or payoff; and the
benefit of acting above a threshold: net benefit, standardised net benefit, and lift.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, cast

import numpy as np

from calibrant._numerics.bins import grouped_sums
from calibrant._numerics.intervals import quotient, rate_interval
from calibrant._numerics.thresholds import RARE, decision_loss, net_benefit_interval, risk_coverage
from calibrant._numerics.thresholds import net_benefit as benefit
from calibrant.core.arrays import to_array
from calibrant.core.calibrator import Promises
from calibrant.core.estimators import require_option
from calibrant.core.metric import by_options
from calibrant.core.metric_kinds import Interval, SumMetric, WholeMetric
from calibrant.errors import InputError
from calibrant.metrics.events import PairMetric, Targeted

__all__ = [
    "CalibrationDecisionLoss",
    "Lift",
    "NetBenefit",
    "StandardisedNetBenefit",
    "calibration_decision_loss",
    "curve_thresholds",
    "lift",
    "net_benefit",
    "read_thresholds",
    "standardised_net_benefit",
    "table_thresholds",
]


#: With fewer rows per distinct score, the interval begins at 0.
ROWS_EACH = 10.0


class CalibrationDecisionLoss(
    PairMetric,
    name="CDL",
    key="cdl",
    direction="minimize",
    range=(0.0, 1.0),
    examples=({"target": "answer"},),
):
    r"""Mean payoff gained by knowing the true rate at each distinct score, for the worst V-shaped
    payoff in [0, 1] (CDL).

    .. math:: \sup_\mu \frac{1}{\max(\mu, 1 - \mu)} \sum_v w_v \left| \bar c_v - \mu \right|
        1\{\mu \text{ between } v \text{ and } \bar c_v\}

    over the distinct scores v, of share :math:`w_v` and rate :math:`\bar c_v`.

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        The probability to evaluate: class 1's of two, the predicted label's (against whether it is
        correct), or the named class's.

    See Also
    --------
    positive_class_calibration_error : the error in bins, where scores are distinct.

    Notes
    -----
    Use it for scores with few distinct values (rounded, or from a table), to bound the loss of any
    decision maker who trusts them. The loss is at most twice this value, for any payoffs in [0, 1].
    The value is at most twice the ECE of the distinct scores, and can be far smaller. Where most
    scores are distinct, it is uninformative and gives no warning: round the scores first. Its
    interval begins at 0 below ten rows per score. It is no sum over rows, so it has no state. It is
    not truthful: coarser scores have less noise.

    References
    ----------
    Hu and Wu, "Predict to minimize swap regret for all payoff-bounded tasks", FOCS 2024.

    Examples
    --------
    >>> round(calibration_decision_loss([0, 1, 1, 1], [0.4, 0.4, 0.4, 0.4]), 3)
    0.583
    """

    target: Any = "event"

    promises: ClassVar[Promises] = Promises(
        "no", "no", "yes", "against the best use of the scores: at most twice its value"
    )

    def _pair_value(self, score: np.ndarray, hit: np.ndarray, weight: np.ndarray) -> float:
        unique, index = np.unique(score, return_inverse=True)
        mass, hits = grouped_sums(index, len(unique), [hit], weight).T
        return min(decision_loss(unique, hits / mass, mass), 1.0)

    def _interval(
        self, record: Any, level: float, method: str, n_resamples: int, random_state: int
    ) -> Interval:
        found = super()._interval(record, level, method, n_resamples, random_state)
        distinct = len(np.unique(record.pair(self.target)[0]))
        if found.method != "debiased" or found.n >= ROWS_EACH * distinct:
            return found
        return Interval.holding(
            found.value, (0.0, found.high), level, found.method, found.n, found.plain
        )


calibration_decision_loss: CalibrationDecisionLoss = CalibrationDecisionLoss()


TABLE = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)


def read_thresholds(thresholds: Any) -> np.ndarray:
    """Read thresholds as (T,) float64, each at least 0 and below 1: at 1 the cost of a false
    positive would be unbounded.
    """
    found = np.atleast_1d(to_array(thresholds, "thresholds")).astype(np.float64)
    if found.ndim != 1 or not len(found) or not ((found >= 0.0) & (found < 1.0)).all():
        raise InputError(
            f"thresholds must be numbers from 0 up to, but not including, 1; got {thresholds!r}."
        )
    return found


def curve_thresholds(rate: float) -> np.ndarray:
    """(100,) hundredths from 0; for a rare event, equal logarithmic steps around its rate."""
    return (
        np.arange(100) / 100 if rate >= RARE or rate <= 0.0 else np.geomspace(0.1 * rate, 0.99, 100)
    )


def table_thresholds(rate: float) -> np.ndarray:
    """Short grid of round numbers; for a rare event, 1, 2 and 5 of each decade from below its rate
    to 0.5.
    """
    if rate >= RARE or rate <= 0.0:
        return np.array(TABLE)
    decades = np.arange(np.floor(np.log10(rate)) - 1.0, 0.0)
    return np.round(np.multiply.outer(10.0**decades, [1.0, 2.0, 5.0]).ravel(), 12)


STRATEGIES = ("model", "all", "none")


class NetBenefit(
    Targeted,
    SumMetric,
    name="net benefit",
    key="net_benefit",
    estimand="net benefit of acting on new rows at the same threshold",
    direction="maximize",
    range=(float("-inf"), 1.0),
    selects=True,
    examples=({"target": "answer", "threshold": 0.2}, {"threshold": 0.3, "prevalence": 0.1}),
):
    r"""Net benefit of acting where the risk is at least a threshold, in true positives per row.

    .. math:: NB(t) = \frac{TP_t}{n} - \frac{FP_t}{n} \cdot \frac{t}{1 - t}

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        The probability to evaluate: class 1's of two, the predicted label's (against whether it is
        correct), or the named class's.
    threshold : float, default 0.5
        The lowest risk at which one acts, at least 0 and below 1. It sets the cost of a false
        alarm: at 0.1, nine false alarms outweigh one event.
    prevalence : float, optional
        The event's rate where the model is used, for case-control data:
        :math:`\pi \cdot TPR - (1 - \pi) FPR \cdot t / (1 - t)`.
    strategy : {"model", "all", "none"}
        Act on the model's risk, on every row (no model needed), or on no row (net benefit 0).

    See Also
    --------
    standardised_net_benefit : divided by the share of events, so that the maximum is 1.

    Notes
    -----
    A model is useful at a threshold where it beats both "all" and "none". Choose the threshold by
    the costs of errors, never by the largest net benefit; ``decision_curve`` shows all reasonable
    thresholds. The interval combines Wilson's intervals of the shares of true and false positives.
    The value is nan where a prevalence is passed and rows with or without the event are missing.

    References
    ----------
    Vickers and Elkin, "Decision curve analysis: a novel method for evaluating prediction models",
    Medical Decision Making 2006.

    Examples
    --------
    >>> y, p = [0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9]
    >>> (
    ...     round(net_benefit(y, p, threshold=0.25), 4),
    ...     round(net_benefit(y, p, threshold=0.25, strategy="all"), 4),
    ... )
    (0.4167, 0.3333)
    """

    threshold: float = 0.5
    prevalence: float | None = None
    strategy: Literal["model", "all", "none"] = "model"

    _standardised: ClassVar[bool] = False

    def _exceptions(self) -> Mapping[str, str]:
        """nan without rows of either kind; the maximum is the share of events."""
        names = ("one_row", "one_class_only") if self.prevalence else ()
        out = {str(name): "nan: no rate without rows of that outcome" for name in names}
        return (
            out
            if self.target == "answer"
            else out | {"perfect_is_best": "the maximum is the share of events"}
        )

    exceptions: ClassVar[Mapping[str, str]] = by_options(_exceptions)

    def _check(self) -> None:
        if not 0.0 <= self.threshold < 1.0:
            raise InputError(f"threshold must be at least 0 and below 1; got {self.threshold!r}.")
        if self.prevalence is not None and not 0.0 < self.prevalence < 1.0:
            raise InputError(f"prevalence must be between 0 and 1; got {self.prevalence!r}.")
        require_option("strategy", self.strategy, STRATEGIES)

    def _columns(self, record: Any) -> list[np.ndarray]:
        score, hit = record.pair(self.target)
        if self.strategy == "model":
            # A risk that its dtype rounded to just below the threshold counts as on it.
            acted = (score >= self.threshold * (1.0 - record.resolution)).astype(np.float64)
        else:
            acted = np.full(len(score), float(self.strategy == "all"))
        return [hit, 1.0 - hit, acted * hit, acted * (1.0 - hit)]

    def _finalise(self, totals: np.ndarray) -> np.ndarray:
        n, events, others, true, false = (totals[..., j] for j in range(5))
        if self.prevalence is not None:
            shares = (
                self.prevalence * quotient(true, events),
                (1.0 - self.prevalence) * quotient(false, others),
            )
            return benefit(*shares, self.prevalence if self._standardised else 1.0, self.threshold)
        return quotient(
            benefit(true, false, 1.0, self.threshold), events if self._standardised else n
        )

    def _limits(self, totals: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
        value = self._finalise(totals)
        if self.strategy == "none":
            return value, value
        known = np.isfinite(value)
        events, others, true, false = (np.where(known, totals[..., j], 1.0) for j in range(1, 5))
        options: dict[str, Any] = {
            "prevalence": self.prevalence,
            "standardised": self._standardised,
        }
        _, low, high = net_benefit_interval(
            true, false, events, others, self.threshold, level, **options
        )
        return np.where(known, np.minimum(low, value), np.nan), np.where(
            known, np.maximum(np.minimum(high, 1.0), value), np.nan
        )


net_benefit: NetBenefit = NetBenefit()


class StandardisedNetBenefit(
    NetBenefit, name="standardised net benefit", key="standardised_net_benefit"
):
    r"""Net benefit divided by the share of events; 1 means acting on every event and on nothing
    else.

    .. math:: sNB(t) = NB(t) / \pi = TPR_t - \frac{1 - \pi}{\pi} \cdot \frac{t}{1 - t} FPR_t

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        The probability to evaluate: class 1's of two, the predicted label's (against whether it is
        correct), or the named class's.
    threshold : float, default 0.5
        The lowest risk at which one acts, at least 0 and below 1.
    prevalence : float, optional
        The event's rate where the model is used, for case-control data.
    strategy : {"model", "all", "none"}
        Act on the model's risk, on every row, or on none.

    See Also
    --------
    net_benefit : the same in true positives per row.

    Notes
    -----
    Also called "relative utility". Use it to compare populations with different event rates, where
    the net benefit itself grows with the rate; otherwise it carries the same information as
    ``net_benefit``. It is nan without events.

    References
    ----------
    Kerr, Brown, Zhu and Janes, "Assessing the clinical impact of risk prediction models with
    decision curves", JCO 2016.

    Examples
    --------
    >>> round(standardised_net_benefit([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9], threshold=0.25), 4)
    0.8333
    """

    _standardised: ClassVar[bool] = True

    def _exceptions(self) -> Mapping[str, str]:
        """nan without events: the denominator is 0."""
        names = (
            ("one_class_only",)
            if self.target == "event"
            else ("exact_zero_and_one", "perfect_is_best")
        )
        return dict.fromkeys(
            ("one_row", *names),
            "nan without events, and, with a prevalence, without rows of either outcome",
        )

    exceptions: ClassVar[Mapping[str, str]] = by_options(_exceptions)


standardised_net_benefit: StandardisedNetBenefit = StandardisedNetBenefit()


#: Bounds of the ratio to Wilson's width, down and up; and the maximum where the risk jumps.
SCALE, FARTHEST = (0.3, 1.5), 4.0


class Lift(
    Targeted,
    WholeMetric,
    name="lift",
    key="lift",
    estimand="lift at the same share of the population",
    direction="maximize",
    range=(0.0, float("inf")),
    selects=True,
):
    r"""Share of events among the rows of highest risk, divided by their share among all rows.

    .. math:: \frac{P(y = 1 \mid \text{among the share } s \text{ of highest risk})}{P(y = 1)}

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        The probability to evaluate: class 1's of two, the predicted label's (against whether it is
        correct), or the named class's.
    share : float, default 0.1
        The share of rows that is flagged, above 0 and at most 1.

    See Also
    --------
    gain_curve : the same at every share.

    Notes
    -----
    The lift is 1 by chance, and at most 1 / share and 1 / the share of events. Use it where a fixed
    number of rows can be examined. Rows with the risk of the cut-off count in part, as if drawn at
    random among them. It depends on the order alone, so an increasing calibration map does not
    change it. It is nan without events. Its interval is Wilson's for the share of events found,
    widened because the cut-off is estimated too and because event rates may differ on its two
    sides. In simulations of 100 to 2,000 rows, some with tied risks, it covered the truth 93 to 100
    times of 100.

    Examples
    --------
    >>> lift([0, 0, 0, 1, 0, 1, 0, 1], [0.1, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.9], share=0.25)
    1.3333333333333333
    """

    share: float = 0.1

    def _exceptions(self) -> Mapping[str, str]:
        """nan without events; the maximum depends on the number of events."""
        none = ("one_row", "one_class_only" if self.target == "event" else "exact_zero_and_one")
        return dict.fromkeys(none, "nan: no event") | {
            "perfect_is_best": "the maximum depends on the share of events"
        }

    exceptions: ClassVar[Mapping[str, str]] = by_options(_exceptions)

    def _check(self) -> None:
        if not 0.0 < self.share <= 1.0:
            raise InputError(f"share must be above 0 and at most 1; got {self.share!r}.")

    def _value(self, record: Any) -> float:
        flagged, events = self._curve(record)
        return self._found(flagged, events) / self.share if events[-1] > 0.0 else float("nan")

    def _curve(self, record: Any) -> tuple[np.ndarray, np.ndarray]:
        """(weight flagged, weight of events flagged), from none to all, by distinct risk."""
        score, hit = record.pair(self.target)
        # The kernel sums errors down the ranks; here the event takes the place of the error.
        _, flagged, events = risk_coverage(score, 1.0 - hit, record.weights)
        return np.append(0.0, flagged), np.append(0.0, events)

    def _found(self, flagged: np.ndarray, events: np.ndarray) -> float:
        """Share of the events within the flagged share of rows."""
        return float(cast(Any, np.interp(self.share * flagged[-1], flagged, events)) / events[-1])

    def _interval(
        self, record: Any, level: float, method: str, n_resamples: int, random_state: int
    ) -> Interval:
        if method not in ("auto", "analytic"):
            return super()._interval(record, level, method, n_resamples, random_state)
        flagged, events = self._curve(record)
        n, all_ = float(record.weights.sum()), float(events[-1])
        if all_ <= 0.0:
            return Interval(float("nan"), float("nan"), float("nan"), level, "analytic", n)
        found = self._found(flagged, events)
        low, high = rate_interval(found * all_, all_, level)
        about, *beside = (
            _stretch(found, self.share, all_ / n, self._rate_at_border(flagged, events, *sides))
            for sides in ((-1.0, 1.0), (-1.0, 0.0), (0.0, 1.0))
        )
        about = float(np.clip(about, *SCALE))
        # Where the risk jumps at the cut-off, the share found is too small whether more or fewer
        # rows than the share lie above the jump.
        wide = min(max(about, *beside), FARTHEST) * 0.5 * (high - low)
        ends = [
            (found - about * (found - low)) / self.share,
            (found + max(about * (high - found), wide)) / self.share,
        ]
        if self.share == 1.0:
            ends = [1.0, 1.0]
        return Interval(
            found / self.share,
            float(max(ends[0], 0.0)),
            float(min(ends[1], 1.0 / self.share)),
            level,
            "analytic",
            n,
        )

    def _rate_at_border(self, flagged: np.ndarray, events: np.ndarray, *sides: float) -> float:
        """Share of events among the rows on either side of the cut-off, plus one row of either
        outcome.
        """
        n = flagged[-1]
        half = max(0.5 * n ** (2.0 / 3.0), min(5.0, 0.5 * n))
        ends = np.clip(self.share * n + half * np.array(sides), 0.0, n)
        found = float(np.diff(cast(np.ndarray, np.interp(ends, flagged, events)))[0])
        return (found + 1.0) / (float(np.diff(ends)[0]) + 2.0)


def _stretch(found: float, share: float, rate: float, border: float) -> float:
    """Ratio of the standard error of the share found to Wilson's, which treats the cut-off as
    known.

    The influence of a row on the share found is (1{flagged} - found) y - border (1{flagged} -
    share), divided by the rate.
    """
    given = rate * found * (1.0 - found)
    if given <= 0.0:
        return 1.0
    variance = max(given * (1.0 - 2.0 * border) + border * border * share * (1.0 - share), 0.0)
    return float(np.sqrt(variance / given))


lift: Lift = Lift()
