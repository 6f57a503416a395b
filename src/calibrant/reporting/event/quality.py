"""Quality of the risks of an event beyond calibration, and certified error rates of rules."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from calibrant import metrics
from calibrant.core.arrays import whole_rows
from calibrant.core.guarantee import Known
from calibrant.decisions.thresholds import NeymanPearsonClassifier
from calibrant.errors import InputError
from calibrant.reporting import quality as of_answers
from calibrant.reporting.cautions import SURE_ROWS, copied, doubtful, shifted, small
from calibrant.reporting.quality import Shift
from calibrant.reporting.states import Seen

__all__ = ["PromisedRate", "RatePromises", "cautions", "quality", "rate_promises", "vetoes"]

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
    return [*_ranked(seen, found, SURE_ROWS), *doubtful(found, "prediction and outcome", SHIFTS)]


def _ranked(seen: Seen, found: EventQuality, fewest: int = ENOUGH) -> Iterator[str]:
    """Yield cautions about the ranking; one that is too good needs at least ``fewest`` rows."""
    if found.n < ENOUGH or min(found.events, found.n - found.events) < 1.0:
        return
    auroc = metrics.event_auroc.of(seen.counts.pairs)
    if auroc > TOO_GOOD and found.n >= fewest:
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
    for count, what in ((events, "events"), (found.n - events, "rows without the event")):
        if count == 0:
            yield f"There are no {what}: nothing here can say whether the risks are right."
        elif count < FEW_EVENTS:
            yield (
                f"There are only {count:,.0f} {what}: about {FEW_EVENTS} are needed to judge a"
                " calibration, whatever the number of rows."
            )


def _certain(found: Any) -> Iterator[str]:
    if found.certain_wrong:
        many = (
            f"{found.certain_wrong:,.0f} risks were given as exactly 0 or 1 and the opposite"
            " happened"
        )
        yield (
            f"{many}: the log loss, infinite there, counts 27.6 for each, and intercept and slope"
            " hang on where such risks are cut."
        )
