"""Report on the risk of an event, on records as pairs of the event and the rest; quality of the
risks beyond calibration; and certified error rates of rules.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal, cast

import numpy as np

from calibrant import metrics
from calibrant._numerics.intervals import wilson
from calibrant._numerics.thresholds import probability_scale
from calibrant.core.arrays import whole_rows
from calibrant.core.guarantee import Known
from calibrant.core.text_table import counted
from calibrant.decisions.thresholds import NeymanPearsonClassifier
from calibrant.errors import InputError
from calibrant.metrics.curves.reliability import ReliabilityCurve
from calibrant.metrics.ranking import auroc_of_sums
from calibrant.reporting import quality as of_answers
from calibrant.reporting import states as curves
from calibrant.reporting.calibrate import Compared
from calibrant.reporting.classification import CLASSIFICATION, Classes
from calibrant.reporting.compared_scores import Measure, Score, score_table
from calibrant.reporting.evidence import distance, explained, latent, separation
from calibrant.reporting.judge import Words
from calibrant.reporting.options import Decisions, Settings
from calibrant.reporting.quality import SURE_ROWS, Shift, copied, doubtful, shifted, small
from calibrant.reporting.report_table import affordable, few_resamples
from calibrant.reporting.states import (
    BIN_COUNTS,
    Place,
    Seen,
    Worth,
    alone,
    by_region,
    together,
    worth_of,
)
from calibrant.reporting.summary import Chance
from calibrant.reporting.verdict import words_of_risks

__all__ = [
    "EVENT",
    "KEYS",
    "PromisedRate",
    "RatePromises",
    "cautions",
    "quality",
    "rate_promises",
    "vetoes",
]


RATES, CONFIDENCE = (0.01, 0.05, 0.1), 0.95
#: Rows near a threshold that show what it is after calibration.
NEAREST = 25


@dataclass(frozen=True)
class PromisedRate:
    """Threshold for one error rate, before and after calibration (about), and the share of rows it
    decides; or None, and the reason.
    """

    error: Literal["false alarms", "missed events"]
    rate: float
    threshold: float | None
    calibrated: float | None
    share: float | None
    note: str


@dataclass(frozen=True)
class RatePromises:
    """Certified error rates; each guarantee holds separately, not all of them simultaneously."""

    confidence: float
    rates: list[PromisedRate]


def rate_promises(found: Any) -> RatePromises | None:
    """Certify rates on pairs of uncalibrated risk and event, with thresholds on the scale of the
    calibrated risks too; None unless weights are whole.
    """
    rows, after = found.before.rows, None if found.after is None else found.after.rows
    if not whole_rows(rows.weights).all():
        return None
    return RatePromises(
        CONFIDENCE,
        [
            _promised(rows, after, error, rate)
            for error in ("false alarms", "missed events")
            for rate in RATES
        ],
    )


def _promised(
    rows: Any, after: Any, error: Literal["false alarms", "missed events"], rate: float
) -> PromisedRate:
    alarms = error == "false alarms"
    rule = NeymanPearsonClassifier(rate if alarms else None, None if alarms else rate, CONFIDENCE)
    try:
        rule.fit_scores(
            rows.confidence, rows.correct, cluster=rows.cluster, sample_weight=rows.weight
        )
    except InputError as reason:
        return PromisedRate(error, rate, None, None, None, str(reason))
    decided = rule.decide_scores(rows.confidence) == (1 if alarms else 0)
    (said,) = rule.guarantees_
    return PromisedRate(
        error,
        rate,
        rule.high_,
        None if after is None else _calibrated(rows.confidence, after.confidence, rule.high_),
        float(np.average(decided, weights=rows.weights)),
        str(said),
    )


def _calibrated(before: np.ndarray, after: np.ndarray, threshold: float) -> float:
    """Return the mean calibrated risk of the rows whose risk is nearest to the threshold."""
    distance = np.abs(before - threshold)
    nearest = distance <= np.sort(distance)[:NEAREST][-1]
    return float(after[nearest].mean())


#: Fewer events, or fewer rows without one, make intervals of calibration wide (Collins et al.,
#: Statistics in Medicine 2016).
FEW_EVENTS = 100
#: Fewest events, and rows without one, seen or predicted, of a verdict.
FEWEST_EVENTS = 10
#: Least number of rows for a caution about the ranking.
ENOUGH = 50
#: An AUROC above the first is too good; one significantly below the second is reversed.
TOO_GOOD, REVERSED, BACKWARDS = 0.999, 0.45, 0.999
SHIFTS = {
    "event_shift": "The event occurs at another rate",
    "risk_shift": "The risks are spread otherwise",
}


@dataclass(frozen=True)
class EventQuality(Known):
    """Quality of the rows, as :class:`~calibrant.reporting.quality.ClassQuality`.

    ``rate`` is the share of events, ``risk`` the mean risk; ``certain_wrong`` counts the rows of a
    risk of exactly 0 or 1 where the opposite happened.
    """

    n: float
    sparse_bins: int
    repeated: float
    events: float
    rate: float
    risk: float
    certain_wrong: float
    shared: float | None
    event_shift: Shift | None
    risk_shift: Shift | None


def quality(seen: Seen, calibration: Seen | None = None) -> EventQuality:
    """Describe the rows measured, as pairs of the event, and how they differ from the fit rows, if
    these are others.
    """
    found, risks = of_answers.quality(seen, calibration), seen.counts.confidence
    certain = risks.sums[risks.values == 0.0, 1].sum() + risks.sums[risks.values == 1.0, 2].sum()
    return EventQuality(
        found.n,
        found.sparse_bins,
        found.repeated,
        float(seen.counts.total[1]),
        found.accuracy,
        found.confidence,
        float(certain),
        found.shared,
        found.label_shift,
        found.confidence_shift,
    )


def cautions(seen: Seen, found: EventQuality) -> list[str]:
    """Return a sentence for each reason why the numbers may mislead; ``found`` is the quality."""
    copies = copied(found, "prediction and outcome")
    return [
        *_ranked(seen, found),
        *_few(found),
        *copies,
        *shifted(found, SHIFTS),
        *small(found.n),
        *_certain(found),
    ]


def vetoes(seen: Seen, found: EventQuality) -> list[str]:
    """Return the cautions that rule out any advice."""
    return [*_ranked(seen, found), *doubtful(found, "prediction and outcome", SHIFTS)]


def _ranked(seen: Seen, found: EventQuality) -> Iterator[str]:
    """Yield cautions about a ranking that is too good, or reversed."""
    if found.n < ENOUGH or min(found.events, found.n - found.events) < 1.0:
        return
    auroc = auroc_of_sums(*seen.counts.confidence.sums.T[1:])
    if auroc > TOO_GOOD and found.n >= SURE_ROWS:
        yield (
            "The risks put nearly every event above every other row: check that the model was not"
            " trained on these rows, as its risks would mean nothing."
        )
    if auroc < REVERSED and metrics.event_auroc.interval_of(seen.rows, level=BACKWARDS).high < 0.5:
        yield (
            "The risks look reversed: rows with the event have the lower risks (an AUROC of"
            f" {auroc:.2f}). Check that these are the risks of the event and not of its opposite."
        )


def _few(found: Any) -> Iterator[str]:
    events = found.events
    for count, what in ((events, "event"), (found.n - events, "other row")):
        if count == 0:
            yield f"There are no {what}s: nothing here can say whether the risks are right."
        elif count < FEW_EVENTS:
            is_ = "is" if round(count) == 1 else "are"
            yield (
                f"There {is_} only {counted(count, what)}: below about {FEW_EVENTS} all intervals"
                " are wide, whatever the number of rows."
            )


def _certain(found: Any) -> Iterator[str]:
    if found.certain_wrong:
        many = f"{found.certain_wrong:,.0f} risks are exactly 0 or 1 although the opposite happened"
        yield (
            f"{many}: the log loss, infinite there, counts 27.6 for each, and intercept and slope"
            " hang on where such risks are cut."
        )


#: Metrics in the order of the page: scores to choose by, mean errors, local errors, and rankings.
METRICS = (
    metrics.log_loss,
    metrics.event_brier_score,
    metrics.d2_brier,
    metrics.observed_expected_ratio,
    metrics.calibration_in_the_large,
    metrics.calibration_slope,
    metrics.positive_class_calibration_error,
    metrics.integrated_calibration_index,
    metrics.calibration_e90,
    metrics.event_auroc,
)
#: Key -> name.
KEYS = {metric.key: metric.name for metric in METRICS}
#: Least number of rows in a bin of the first figure, and of events and of rows without one: a curve
#: of smaller bins is noisy for any model.
ENOUGH_ROWS, ENOUGH_EVENTS = 100, 20
#: The main drawing starts with at most this number of bins.
MOST_BINS = 15
#: Draws for the band of the smooth curve.
LOESS_DRAWS = 400


@dataclass(frozen=True)
class RiskGap:
    """Rows, the rate of events, the mean risk, gap = risk - rate and ratio = rate / risk (O/E),
    with intervals; None without rows.
    """

    rows: float
    rate: float | None = None
    risk: float | None = None
    gap: float | None = None
    low: float | None = None
    high: float | None = None
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None


@dataclass(frozen=True)
class Answer:
    """Section on whether the predicted label is right: its curve, and the metrics that the event
    lacks.
    """

    metrics: list[Score]
    equal_mass: dict[str, ReliabilityCurve | None]


@dataclass(frozen=True)
class Acting:
    """Costs of acting on all rows of a risk of at least ``threshold``, for 10,000 rows, before
    and after calibration, beside acting on all and on none.
    """

    cost_false_positive: float
    cost_false_negative: float
    threshold: float
    before: float
    after: float | None
    all: float
    none: float


def _acting(found: Compared, decisions: Decisions) -> list[Acting]:
    """Return the costs as given, then with half and twice the cost of a missed event; empty
    without costs.
    """
    alarm, missed = decisions.cost_false_positive, decisions.cost_false_negative
    if alarm is None or missed is None:
        return []
    return [_acted(found, alarm, factor * missed) for factor in (1.0, 0.5, 2.0)]


def _acted(found: Compared, alarm: float, missed: float) -> Acting:
    threshold = alarm / (alarm + missed)

    def cost(seen: Any) -> float:
        table = metrics.threshold_table.of(
            curves.pairs(seen),
            thresholds=[threshold],
            cost_false_positive=alarm,
            cost_false_negative=missed,
        )
        return 1e4 * float(table.expected_cost[0])

    n, events, _ = found.before.counts.total
    costs, rate = found.both(cost), events / n
    return Acting(
        alarm,
        missed,
        threshold,
        costs["before"],
        costs["after"],
        1e4 * float(1.0 - rate) * alarm,
        1e4 * float(rate) * missed,
    )


@dataclass(frozen=True)
class Sections:
    """Sections of a report on an event; most are {"before", "after": ...}, with "after" None
    without calibration.
    """

    n_bins: int
    scale: str
    bins: int
    binned: dict[str, Any]
    distribution: dict[str, Any]
    medians: dict[str, Any]
    loess: dict[str, Any]
    corp: dict[str, Any]
    decision: dict[str, Any]
    gain: dict[str, Any]
    thresholds: Any
    acting: list[Acting]
    regions: list[Place]
    answer: Answer
    confidence: None
    signals: list[Any]
    distance: dict[str, Any] | None
    latent: dict[str, Any] | None
    promises: RatePromises | None


def _counts(n: float, events: float) -> list[int]:
    """Return the numbers of bins that the rows, events and rows without one are enough for."""
    rare = min(events, n - events)
    return [
        count for count in BIN_COUNTS if n >= count * ENOUGH_ROWS and rare >= count * ENOUGH_EVENTS
    ] or [BIN_COUNTS[0]]


def _scale(pairs: Any) -> str:
    """Return the scale of all axes of risks: logarithmic where the event is rare."""
    rare = probability_scale(pairs.confidence, pairs.correct, pairs.weights) == "log"
    return "log" if rare else "linear"


def _medians(seen: Any) -> dict[str, float | None]:
    """Return the median risk of the events and of the others; None without any."""
    found, (_, *masses) = seen.counts.confidence, seen.counts.confidence.sums.T
    return {
        kind: float(found.values[np.searchsorted(mass.cumsum(), 0.5 * mass.sum())])
        if mass.any()
        else None
        for kind, mass in zip(("events", "others"), masses, strict=True)
    }


def _answer(found: Compared, settings: Settings) -> Answer:
    measured = [
        one
        for one in CLASSIFICATION.measures(found.before, settings.n_bins, settings.n_resamples)
        if one.metric.key not in KEYS
    ]
    scores = score_table(
        found.before,
        found.after,
        measured,
        level=settings.level,
        random_state=settings.random_state,
        folds=found.folds,
    )
    curve = partial(
        metrics.reliability_curve.of, n_bins=settings.n_bins, strategy="mass", level=settings.level
    )
    return Answer(scores, found.both(curve))


class Event(Classes):
    """Report on the risk of an event, on records as pairs of the event and the rest."""

    target = "event"
    quality: ClassVar[Callable[..., Any]] = staticmethod(quality)
    cautions: ClassVar[Callable[..., list[str]]] = staticmethod(cautions)
    vetoes: ClassVar[Callable[..., list[str]]] = staticmethod(vetoes)
    words: ClassVar[Callable[..., Words]] = staticmethod(words_of_risks)

    def measures(self, record: Any, n_bins: int, n_resamples: int) -> list[Measure]:
        """Return proper scores, mean and local errors of the risk, and rankings."""
        metrics_of = (
            replace(one, n_bins=n_bins) if one.key == "event_ece" else one for one in METRICS
        )
        # The intervals of the ICI and of E90 are approximate, so the page shows their values under
        # perfect calibration instead.
        few = few_resamples(record, n_resamples)
        counts = {
            "ici": 0,
            "e90": 0,
            "event_auroc": few,
            "calibration_in_the_large": few,
            "calibration_slope": few,
        }
        return [
            Measure(
                one,
                counts.get(one.key, affordable(one, record, n_resamples)),
                analytic=one.key not in ("ici", "e90", "event_ece"),
            )
            for one in metrics_of
        ]

    def seen(self, record: Any, settings: Settings) -> Any:
        """Compute the states; those of a page have more bins of equal weight."""
        counts = sorted({*BIN_COUNTS, settings.n_bins}) if settings.page else ()
        return Seen.of([record], settings.n_bins, settings.level, counts)

    def chance(self, seen: Any, settings: Settings, after: bool = False) -> Any:
        """Compute the binned error and the ICI expected under perfect calibration."""
        ici = metrics.integrated_calibration_index
        null = ici.null_of(seen.rows, level=settings.level, random_state=settings.random_state)
        return replace(
            super().chance(seen, settings), ici=Chance(ici.of(seen.rows), null.value, null.high)
        )

    def few(self, found: Any) -> str | None:
        """Return how many events, or rows without one, there must be at least."""
        events, others = found.events, found.n - found.events
        if events and others:
            events = max(events, found.n * found.risk)
            others = max(others, found.n * (1.0 - found.risk))
        missing = [
            what
            for count, what in ((events, "events"), (others, "rows without the event"))
            if count < FEWEST_EVENTS
        ]
        return f"about {FEWEST_EVENTS} {' and as many '.join(missing)}" if missing else None

    def gaps(self, sums: np.ndarray, level: float, worth: Worth = alone) -> list[RiskGap]:
        """Return the gap of each group, with simultaneous intervals; ``sums`` are weight, events
        and risk.
        """
        n, events, total = sums.T
        shared = together(level, n)
        low, high = wilson(events * worth(shared), n * worth(shared), shared)
        safe = np.where(n > 0, n, 1.0)
        rate, risk = events / safe, total / safe
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = [np.where(risk > 0, ends / risk, np.nan) for ends in (rate, low, high)]
        columns = np.column_stack([rate, risk, risk - rate, risk - high, risk - low, *ratios])
        return [
            RiskGap(float(n[k]), *columns[k].tolist()) if n[k] > 0 else RiskGap(0.0)
            for k in range(len(n))
        ]

    def sections(self, found: Compared, settings: Settings, used: Any, chance: Any) -> Any:
        """Build the sections: curves, decisions, certified rates, and the predicted label."""
        pairs, level = found.before.counts.pairs, settings.level
        shown, whole = found.shown, cast(Any, found.whole).whole
        near = explained(used, whole.before, settings.random_state)
        index = shown.regions.index(shown.rows.confidence)
        worth = worth_of(shown.rows, shown.rows.correct, index, len(shown.regions))
        scale = _scale(pairs)
        counts = _counts(*found.before.counts.total[:2])
        return Sections(
            n_bins=settings.n_bins,
            scale=scale,
            bins=max(count for count in counts if count <= MOST_BINS),
            binned=found.both(lambda seen: curves.binned(curves.in_mass(seen, level, counts))),
            distribution=found.both(
                lambda seen: metrics.risk_distribution.of(seen.counts.pairs, scale=scale)
            ),
            medians=found.both(_medians),
            loess=found.both(
                lambda seen: metrics.loess_curve.of(
                    seen.rows, level=level, n_draws=LOESS_DRAWS, random_state=settings.random_state
                )
            ),
            corp=found.both(lambda seen: curves.corp(seen, level, settings.random_state)),
            decision=found.both(
                lambda seen: metrics.decision_curve.of(curves.pairs(seen), level=level)
            ),
            gain=found.both(lambda seen: curves.gain(seen, level)),
            thresholds=metrics.threshold_table.of(
                curves.pairs(shown), **vars(settings.decisions), level=level
            ),
            acting=_acting(found, settings.decisions),
            regions=by_region(shown.regions, self.gaps(shown.region_sums, level, worth)),
            answer=_answer(whole, settings),
            confidence=None,
            signals=separation(near, level),
            distance=distance(near, level, settings.random_state),
            latent=latent(used, whole.before, level),
            promises=rate_promises(found),
        )


EVENT = Event()
