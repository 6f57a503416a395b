"""The event of two labels, and the risk of it: which label is meant, and what a column of risks or scores holds."""

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import click
import numpy as np

from calibrant.cli.columns import require_all
from calibrant.cli.wording import few
from calibrant.contracts.reading import REGRESSION
from calibrant.errors import InputError, warn
from calibrant.frames.columns import NO_AND_YES, event_places
from calibrant.labels import is_missing, places

__all__ = ["QUESTIONS", "UNITS", "as_risk", "event_of", "refuse_target", "refuse_unsaid", "two_labels", "viewed"]

#: What --target asks of predictions of classes, apart from a class's label.
QUESTIONS = ("event", "answer", "classes")
#: By --inputs: the values there can be, which values are none of them, and the probability that they mean, where that is another number.
UNITS: dict[str, tuple[str, Callable[..., Any], Callable[..., Any] | None]] = {
    "probability": ("probabilities in [0, 1]", lambda v: (v < 0.0) | (v > 1.0 + 1e-5), None),
    "percent": ("percentages, 0 to 100", lambda v: (v < 0.0) | (v > 100.0), lambda v: v / 100.0),
    "log_probability": ("logarithms of probabilities, at most 0", lambda v: v > 0.0, np.exp),
    "logit": ("log-odds", np.isinf, None),
    "score": ("finite scores", np.isinf, None),
}
PARTNER = {a: b for pair in NO_AND_YES for a, b in (pair, pair[::-1])}


def as_risk(values: np.ndarray, inputs: str, name: str, path: Any) -> tuple[np.ndarray, str]:
    """(values, "probability", "logit" or "score") of one column, by what ``inputs`` says it holds; what is none of that is refused."""
    rule, off, meant = UNITS[inputs]
    if values.dtype.kind not in "fiu":
        return values, inputs  # the door says what it is
    require_all(np.isnan(values), name, path, "a number")
    bad = np.flatnonzero(off(values))
    if len(bad):
        raise InputError(
            f"{path}: {name!r} must hold {rule}; row {bad[0]} is {values[bad[0]]:.6g} ({len(bad)} such rows); "
            f"say what it holds with --inputs {', '.join(one for one in UNITS if one != inputs)}."
        )
    return values if meant is None else meant(values.astype(np.float64)), inputs if inputs in ("logit", "score") else "probability"


def two_labels(labels: Sequence[Any], positive: str | None, path: Any) -> tuple[Any, list[Any] | None]:
    """(labels, [other label, the event's]) of rows with one risk each; of several others all are "not EVENT". None: the door knows.

    Examples
    --------
    >>> two_labels(["Yes", "Yes"], None, "f")[1], two_labels([0, 1], None, "f")[1], two_labels(["good", "bad"], "bad", "f")[1]
    (['No', 'Yes'], None, ['good', 'bad'])
    """
    listed = list(labels) if isinstance(labels, list) else np.asarray(labels).tolist()
    seen = list(dict.fromkeys(listed))
    if any(map(is_missing, seen)) or any(isinstance(label, float) and not label.is_integer() for label in seen):
        return labels, None
    own = _event_among(seen, positive, f"the labels of {path}")
    if positive is None and not any(isinstance(label, str) for label in seen):
        return labels, None
    event = next((label for label, is_it in zip(seen, own, strict=True) if is_it), None)
    others = [label for label, is_it in zip(seen, own, strict=True) if not is_it]
    event = event if event is not None else positive if positive is not None else _partner(others[0])
    if len(others) == 1:
        return labels, [others[0], event]
    other = f"not {event}" if positive is not None else _partner(event)
    if positive is not None:
        warn(f"{path} has {len(others)} labels beside {event!r}, which all count as rows without the event: {few(others)}.")
    return np.array([event if label == event else other for label in listed], dtype=object), [other, event]


def _event_among(names, positive, what):
    """Which of the names is the event; one that is none of several is refused, and so are names that do not say it themselves."""
    if positive is None:
        try:
            return event_places(names)
        except InputError:
            raise InputError(f"{what} must say which is the event; name it with --positive LABEL; they are {few(names)}.") from None
    own = event_places(names, positive)
    if not any(own) and len(names) > 1:
        raise InputError(f"--positive must be among {what}, {few(names)}; got {positive!r}.")
    return own


def _partner(label):
    """The other of no and yes, written in the same way."""
    made = PARTNER[str(label).casefold()]
    return made.upper() if label.isupper() else made.title() if label.istitle() else made


def event_of(classes: Sequence[Any], positive: str | None, path: Any) -> Any:
    """The label of the event among two classes of columns; None where neither they nor --positive say it."""
    if positive is None and not _say_it(classes):
        return None
    return list(classes)[_event_among(list(classes), positive, f"the classes of {path}").index(True)]


def _say_it(classes):
    try:
        return any(event_places(classes))
    except InputError:
        return False


def refuse_target(data: Any, target: str | None) -> None:
    """Refuse --target where nothing is asked of classes."""
    if target is not None and data.domain is REGRESSION:
        raise click.UsageError(f"--target is for predictions of classes; {data.path.name} holds forecasts of a number; leave it out.")


def refuse_unsaid(classes: Sequence[Any], path: Any) -> NoReturn:
    """Refuse two classes of which neither is known to be the event."""
    raise InputError(
        f"which of the classes {few(classes)} of {path} is the event must be said: --positive LABEL; "
        "or ask how likely the model's own answer is right: --target answer."
    )


def viewed(data: Any, target: str | None, calibrator: Any = None) -> Any:
    """What --target asks of a file, "answer", "classes", "event", or the label of a class; None of forecasts.

    By default the event of two classes, and the classes of more; the answer where a calibrator speaks of it alone.
    """
    if data.domain is REGRESSION:
        return None
    if target is None and calibrator is not None and calibrator.tags.output == "confidence":
        return "answer"
    classes = data.own_classes
    if target is None or target == "event":
        if len(classes) > 2:
            if target is None:
                return "classes"
            raise click.UsageError(f"--target event is for two classes; {data.path.name} has {len(classes)}; name one of {few(classes)}.")
        if data.event is None:
            refuse_unsaid(classes, data.path)
        return "event" if data.event == classes[1] else data.event
    if target in QUESTIONS:
        return target
    found = places([target], classes)[0]
    if found < 0:
        raise click.UsageError(f"--target must be {', '.join(QUESTIONS)}, or one of the classes {few(classes)}; got {target!r}.")
    return list(classes)[found]
