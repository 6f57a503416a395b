"""What acting above a threshold brings: net benefit, plain and standardised, and lift."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, cast

import numpy as np

from calibrant._kernels.intervals import quotient, rate_interval
from calibrant._kernels.thresholds import RARE, net_benefit_interval, risk_coverage
from calibrant._kernels.thresholds import net_benefit as benefit
from calibrant._support.options import require_option
from calibrant.arrays import to_array
from calibrant.contracts.base_metric import by_options
from calibrant.contracts.metric import Interval, SumMetric, WholeMetric
from calibrant.errors import InputError
from calibrant.metrics.pair import Targeted

__all__ = [
    "Lift",
    "NetBenefit",
    "StandardisedNetBenefit",
    "curve_thresholds",
    "lift",
    "net_benefit",
    "read_thresholds",
    "standardised_net_benefit",
    "table_thresholds",
]

TABLE = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)


def read_thresholds(thresholds: Any) -> np.ndarray:
    """(T,) float64 from numbers of at least 0 and below 1: at 1 a false positive would cost
    without bound.
    """
    found = np.atleast_1d(to_array(thresholds, "thresholds")).astype(np.float64)
    if found.ndim != 1 or not len(found) or not ((found >= 0.0) & (found < 1.0)).all():
        raise InputError(
            f"thresholds must be numbers of at least 0 and below 1; got {thresholds!r}."
        )
    return found


def curve_thresholds(rate: float) -> np.ndarray:
    """(100,) hundredths from 0 on; where the event is rare, equal steps of the logarithm about
    its rate.
    """
    return (
        np.arange(100) / 100 if rate >= RARE or rate <= 0.0 else np.geomspace(0.1 * rate, 0.99, 100)
    )


def table_thresholds(rate: float) -> np.ndarray:
    """A grid of round numbers short enough to read; where the event is rare, 1, 2 and 5 of each
    decade from below its rate to 0.5.
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
    r"""Net benefit of acting where the risk is at least a threshold, in true positives a row.

    .. math:: NB(t) = \frac{TP_t}{n} - \frac{FP_t}{n} \cdot \frac{t}{1 - t}

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        Whose probability: class 1's of two, the predicted label's against its being right, or the
        named class's.
    threshold : float, default 0.5
        The risk from which one acts, at least 0 and below 1. It says what a false alarm costs: at
        0.1 nine of them outweigh one event.
    prevalence : float, optional
        The event's rate where the model is used, for case-control data:
        :math:`\pi \cdot TPR - (1 - \pi) FPR \cdot t / (1 - t)`.
    strategy : {"model", "all", "none"}
        Act on the model's risk; on every row, as if there were no model; or on none, which is worth
        0.

    See Also
    --------
    standardised_net_benefit : divided by the share of events, so that 1 is the best there is.

    Notes
    -----
    A model is of use at a threshold where it beats both "all" and "none". Choose the threshold by
    what errors cost, never as the one where this is largest, and look at all that reasonable people
    would choose: ``decision_curve``. Its interval joins Wilson's of the shares of true and false
    positives. nan where a prevalence is given and rows with or without the event are missing.

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
        """Without rows of either kind there are no rates; the best there is, is the share of
        events.
        """
        names = ("one_row", "one_class_only") if self.prevalence else ()
        out = {str(name): "no rate without rows of its kind: nan" for name in names}
        return (
            out
            if self.target == "answer"
            else out | {"perfect_is_best": "the best there is, is the share of events"}
        )

    exceptions: ClassVar[Mapping[str, str]] = by_options(_exceptions)

    def _check(self):
        if not 0.0 <= self.threshold < 1.0:
            raise InputError(f"threshold must be at least 0 and below 1; got {self.threshold!r}.")
        if self.prevalence is not None and not 0.0 < self.prevalence < 1.0:
            raise InputError(f"prevalence must be between 0 and 1; got {self.prevalence!r}.")
        require_option("strategy", self.strategy, STRATEGIES)

    def _columns(self, record: Any):
        score, hit = record.pair(self.target)
        if self.strategy == "model":
            # A risk that its dtype rounded to just below the threshold is on it.
            acted = (score >= self.threshold * (1.0 - record.resolution)).astype(np.float64)
        else:
            acted = np.full(len(score), float(self.strategy == "all"))
        return [hit, 1.0 - hit, acted * hit, acted * (1.0 - hit)]

    def _finalise(self, totals: np.ndarray):
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

    def _limits(self, totals: np.ndarray, level: float):
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
    r"""Net benefit divided by the share of events: 1 is acting on every event and on nothing else.

    .. math:: sNB(t) = NB(t) / \pi = TPR_t - \frac{1 - \pi}{\pi} \cdot \frac{t}{1 - t} FPR_t

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        Whose probability: class 1's of two, the predicted label's against its being right, or the
        named class's.
    threshold : float, default 0.5
        The risk from which one acts, at least 0 and below 1.
    prevalence : float, optional
        The event's rate where the model is used, for case-control data.
    strategy : {"model", "all", "none"}
        Act on the model's risk, on every row, or on none.

    See Also
    --------
    net_benefit : in true positives a row.

    Notes
    -----
    Also "relative utility". It compares places with different rates of the event, where the net
    benefit itself grows with the rate; else it says what ``net_benefit`` says. nan where no event
    happened.

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
        """Without events there is nothing to divide by."""
        names = (
            ("one_class_only",)
            if self.target == "event"
            else ("exact_zero_and_one", "perfect_is_best")
        )
        return dict.fromkeys(
            ("one_row", *names),
            "nan without events, and without rows of either kind where a prevalence is given",
        )

    exceptions: ClassVar[Mapping[str, str]] = by_options(_exceptions)


standardised_net_benefit: StandardisedNetBenefit = StandardisedNetBenefit()


#: How far the interval may be from Wilson's, either way; and at most where the risk jumps.
SCALE, FARTHEST = (0.3, 1.5), 4.0


class Lift(
    Targeted,
    WholeMetric,
    name="lift",
    key="lift",
    estimand="lift at the same share of ever more rows of the same kind",
    direction="maximize",
    range=(0.0, float("inf")),
    selects=True,
):
    r"""Share of events among the rows of highest risk, divided by their share among all rows.

    .. math:: \frac{P(y = 1 \mid \text{among the share } s \text{ of highest risk})}{P(y = 1)}

    Parameters
    ----------
    target : {"event", "answer"} or a class label, default "event"
        Whose probability: class 1's of two, the predicted label's against its being right, or the
        named class's.
    share : float, default 0.1
        The share of rows that is looked at, above 0 and at most 1.

    See Also
    --------
    gain_curve : the same at every share.

    Notes
    -----
    1 is chance; at most 1 / share, and 1 / the share of events. Use it where a fixed number of rows
    can be looked at. Rows of equal risk at the border count in part, as if drawn at random among
    them. It depends on the order alone, so calibration by an increasing map does not change it. nan
    where no event happened. Its interval is Wilson's of the share of events found, stretched to the
    variance that it has as the border is estimated too, upwards for the rates on either side of it,
    which differ where the risk jumps at the share; in simulations of 100 to 2,000 rows it held the
    truth 93 to 100 times of 100, tied risks among them.

    Examples
    --------
    >>> lift([0, 0, 0, 1, 0, 1, 0, 1], [0.1, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.9], share=0.25)
    1.3333333333333333
    """

    share: float = 0.1

    def _exceptions(self) -> Mapping[str, str]:
        """Where there is no event, and as the best there is depends on how many there are."""
        none = ("one_row", "one_class_only" if self.target == "event" else "exact_zero_and_one")
        return dict.fromkeys(none, "no event: nan") | {
            "perfect_is_best": "the best there is depends on the share of events"
        }

    exceptions: ClassVar[Mapping[str, str]] = by_options(_exceptions)

    def _check(self):
        if not 0.0 < self.share <= 1.0:
            raise InputError(f"share must be above 0 and at most 1; got {self.share!r}.")

    def _value(self, record: Any):
        flagged, events = self._curve(record)
        return self._found(flagged, events) / self.share if events[-1] > 0.0 else float("nan")

    def _curve(self, record: Any):
        """(weight flagged, weight of events among it), from none to all, by distinct risk."""
        score, hit = record.pair(self.target)
        # The kernel sums what goes wrong down the ranks; here that is the event.
        _, flagged, events = risk_coverage(score, 1.0 - hit, record.weights)
        return np.append(0.0, flagged), np.append(0.0, events)

    def _found(self, flagged: np.ndarray, events: np.ndarray):
        """Share of the events that is among the share of rows."""
        return float(cast(Any, np.interp(self.share * flagged[-1], flagged, events)) / events[-1])

    def _interval(
        self, record: Any, level: float, method: str, n_resamples: int, random_state: int
    ):
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
        # Where the risk jumps at the border, more or fewer rows above the jump than the share both
        # make the share found too small.
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

    def _rate_at_border(self, flagged: np.ndarray, events: np.ndarray, *sides: float):
        """Share of events among the rows at either side of the border, and a row of either kind."""
        n = flagged[-1]
        half = max(0.5 * n ** (2.0 / 3.0), min(5.0, 0.5 * n))
        ends = np.clip(self.share * n + half * np.array(sides), 0.0, n)
        found = float(np.diff(cast(np.ndarray, np.interp(ends, flagged, events)))[0])
        return (found + 1.0) / (float(np.diff(ends)[0]) + 2.0)


def _stretch(found: float, share: float, rate: float, border: float) -> float:
    """Standard error of the share found over that of Wilson's, which takes the border as given.

    The influence of a row on the share found is (1{flagged} - found) y - border (1{flagged} -
    share), over the rate.
    """
    given = rate * found * (1.0 - found)
    if given <= 0.0:
        return 1.0
    variance = max(given * (1.0 - 2.0 * border) + border * border * share * (1.0 - share), 0.0)
    return float(np.sqrt(variance / given))


lift: Lift = Lift()
