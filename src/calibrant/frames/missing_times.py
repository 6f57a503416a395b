"""Rows without a time are in no hour, day or week: which they are, for the error that refuses them."""

from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant.errors import InputError
from calibrant.frames.engines.choosing import opened

if TYPE_CHECKING:
    from calibrant.frames.sliced import Sliced

__all__ = ["refuse_missing_times"]

#: Rows named in the message.
NAMED = 3


def refuse_missing_times(found: "Sliced", source: Any, module: Any, time: str | None) -> None:
    """InputError with the numbers of the rows that have no time, for the evaluation of a source sliced by ``time``."""
    # Time is the last of what rows are sliced by.
    if time is None or not any(group[len(found.by) - 1] is None for group in found.state.groups):
        return
    # A cluster's engine has no order of rows to number them by.
    rows = [] if module.CLUSTER else _missing(module.batches(opened(source, module), [time], ordered=True), time)
    more = f" and {len(rows) - NAMED:,} more" if len(rows) > NAMED else ""
    named = f"{', '.join(f'row {row}' for row in rows[:NAMED])}{more}" if rows else "some rows"
    verb = "has" if len(rows) == 1 else "have"
    raise InputError(f"column {time!r} must have a time in every row; {named} {verb} none; repair those rows or filter them out first.")


def _missing(batches, name):
    rows, start = [], 0
    for batch in batches:
        empty = np.asarray(batch.column(name).is_null().to_numpy(zero_copy_only=False))
        rows += (start + np.flatnonzero(empty)).tolist()
        start += len(empty)
    return rows
