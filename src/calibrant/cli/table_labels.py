"""Labels that occur in a table of any size, read in one pass: refuse missing ones, and an event
that no row has.
"""

from collections.abc import Collection
from typing import Any

import click
import numpy as np

from calibrant.cli.options import Columns
from calibrant.cli.wording import few, say
from calibrant.errors import InputError
from calibrant.frames.columns import class_names, encode, event_places
from calibrant.frames.engines.choosing import choose, opened, reading
from calibrant.levels import is_unlabelled

__all__ = ["labels_in", "refuse_absent", "refuse_other"]

#: Largest number of distinct labels; more suggest that the column is not one of labels.
MOST_LABELS = 100_000


def labels_in(table: Any, name: str, classes: Collection[str] = ()) -> list[Any]:
    """Return all labels that occur, with texts as whole numbers if all of them are."""
    module, seen = choose(table, "auto"), {}
    with reading(table):
        for batch in module.batches(opened(table, module), [name]):
            values, codes = encode(batch.column(name))
            there = np.bincount(codes, minlength=len(values)) > 0
            seen.update(
                dict.fromkeys(value for value, own in zip(values, there, strict=True) if own)
            )
            if len(seen) > MOST_LABELS:
                raise InputError(
                    f"{name!r} must hold labels of classes; it holds more than {MOST_LABELS:,}"
                    " values; name another column."
                )
    missing = [label for label in seen if is_unlabelled(label, classes)]
    if missing:
        words = "" if None in missing else f" but {few(missing)}"
        raise InputError(
            f"{name!r} must hold a label in every row; some rows have none{words}; fill them in, or"
            " leave out such rows with --skip-missing."
        )
    listed = list(seen)
    return class_names(listed) if all(isinstance(value, str) for value in listed) else listed


def refuse_absent(source: str, table: Any, label: str, columns: Columns, target: Any) -> None:
    """Refuse an event that is none of several labels of a table, and warn if one other label is
    all that it holds.
    """
    named = {"--positive": columns.positive, "--classes": (columns.declared or [None])[-1]}
    option, event = next(
        ((name, one) for name, one in named.items() if one is not None), ("--target", target)
    )
    labels = labels_in(table, label, columns.declared)
    if event in (None, "event", "answer") or any(event_places(labels, event)):
        return
    if len(labels) > 1 and option != "--classes":
        raise InputError(
            f"{option} must be among the labels of {source}, {few(labels)}; got {event!r}."
        )
    say(
        f"Warning: no row of {source} has the label {event!r}, which {option} names as the event.",
        err=True,
    )


def refuse_other(target: str, columns: Columns) -> None:
    """Refuse a class that is not known to be the event, whose risk one column holds."""
    event = (columns.declared or [None])[-1]
    if target != event and (event is not None or target.casefold() not in ("1", "true", "yes")):
        raise click.UsageError(
            f"--target must be the event, because slices read one column as its risk; got"
            f" {target!r}; leave it out, and name the event with --positive."
        )
