"""Whether the numbers on an event can be trusted: how many events, repeated rows, and rows unlike those calibrated on."""

from collections.abc import Iterator
from typing import Any

from calibrant.reporting import quality as of_answers
from calibrant.reporting.cautions import copied, shifted, small

__all__ = ["cautions", "quality"]

#: Below so many events, or rows without one, intervals of the calibration are wide (Collins et al., Statistics in Medicine 2016).
FEW_EVENTS = 100
SHIFTS = {"event_shift": "The event occurs at another rate", "risk_shift": "The risks are spread otherwise"}


def quality(record: Any, calibration: Any = None) -> dict[str, Any]:
    """n, events, rate (share of events), risk (mean), sparse_bins, repeated, certain_wrong, and with ``calibration`` shared and shifts.

    ``record`` is the pair of an event, as is ``calibration``, the rows fitted on where they are others; ``certain_wrong`` counts the rows
    of a risk of exactly 0 or 1 where the opposite happened.
    """
    found = of_answers.quality(record, calibration)
    sure = (record.confidence == 0.0) | (record.confidence == 1.0)
    certain = float(record.weights @ (sure & (record.confidence != record.correct)))
    kept = {name: found[name] for name in ("n", "sparse_bins", "repeated")}
    shifts = {} if calibration is None else {
        "shared": found["shared"], "event_shift": found["label_shift"], "risk_shift": found["confidence_shift"],
    }  # fmt: skip
    events = float(record.weights @ record.correct)
    return {**kept, "events": events, "rate": found["accuracy"], "risk": found["confidence"], "certain_wrong": certain, **shifts}


def cautions(record: Any, found: dict[str, Any]) -> list[str]:
    """One sentence for each thing that makes the numbers weaker than they look; ``found`` is from ``quality``."""
    return [*_few(found), *copied(found, "prediction and outcome"), *shifted(found, SHIFTS), *small(found["n"]), *_certain(found)]


def _few(found) -> Iterator[str]:
    events = found["events"]
    for count, what in ((events, "events"), (found["n"] - events, "rows without the event")):
        if count == 0:
            yield f"There are no {what}: nothing here can say whether the risks are right."
        elif count < FEW_EVENTS:
            yield f"There are only {count:,.0f} {what}: about {FEW_EVENTS} are needed to judge a calibration, whatever the number of rows."


def _certain(found) -> Iterator[str]:
    if found["certain_wrong"]:
        yield f"{found['certain_wrong']:,.0f} risks were given as exactly 0 or 1 and the opposite happened."
