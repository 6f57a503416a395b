"""Values of slices and classes as small whole numbers, column by column and joined."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from calibrant.errors import InputError
from calibrant.levels import level_of, levels_of

__all__ = ["EVERY", "combinations", "encode", "floor", "mixed", "present"]

EVERY = ("hour", "day", "week", "month", "quarter", "year")
#: Whole numbers that lie this close together are their own code.
SPAN = 8192


def encode(column: Any) -> tuple[list[Any], np.ndarray]:
    """(values, number of each row's among them (n,) intp) of an Arrow array; a value may have no row."""
    import pyarrow.types as types

    if types.is_integer(column.type) and not column.null_count and len(column):
        found = column.to_numpy()
        low, high = int(found.min()), int(found.max())
        if high - low < SPAN:
            return list(range(low, high + 1)), np.subtract(found, low, dtype=np.intp, casting="unsafe")
    if not hasattr(column, "dictionary"):
        column = column.dictionary_encode()
    values = _levels(column.dictionary, types)
    codes = column.indices.to_numpy(zero_copy_only=False)
    if column.null_count:
        codes = np.where(np.isnan(codes), len(values), codes) if codes.dtype.kind == "f" else codes
        values = [*values, None]
    # Arrow tells 0.0 from -0.0, and NaN from null; a slice is one.
    place: dict[Any, int] = {}
    to = np.array([place.setdefault(value, len(place)) for value in values], dtype=np.intp)
    return list(place), to[codes.astype(np.intp)]


def mixed(parts: Sequence[Any]) -> np.ndarray:
    """Number of each row's combination of values among all combinations, (n,), of encoded columns."""
    code = parts[0][1]
    for values, part in parts[1:]:
        code = code * len(values) + part
    return code


def combinations(values: Sequence[Any], codes: np.ndarray) -> list[tuple[Any, ...]]:
    """The combinations of values that these codes of :func:`mixed` stand for, as tuples."""
    columns = []
    for named in reversed(values):
        codes, digit = np.divmod(codes, len(named))
        columns.append([named[d] for d in digit.tolist()])
    return list(zip(*reversed(columns), strict=True))


def present(code: np.ndarray, n_codes: int) -> tuple[np.ndarray, np.ndarray]:
    """The codes that have rows, and each row's number among them."""
    if n_codes > 4 * len(code):
        return np.unique(code, return_inverse=True)
    # A table of all codes is quicker than sorting the rows, where it is not much longer than they are.
    seen = np.bincount(code, minlength=n_codes) > 0
    return np.flatnonzero(seen), (np.cumsum(seen) - 1)[code]


def floor(column: Any, every: str, name: str) -> Any:
    """Times cut to the hour, day, ... they are in; those with a zone in UTC, as ``calibrant.levels`` reads them."""
    import pyarrow.compute as pc
    import pyarrow.types as types

    if not (types.is_timestamp(column.type) or types.is_date(column.type)):
        raise InputError(f"time must be a column of times; {name!r} holds {column.type}.")
    if types.is_timestamp(column.type) and column.type.tz is not None:
        import pyarrow as pa

        # Arrow keeps UTC; not every engine keeps the zone.
        column = column.view(pa.timestamp(column.type.unit))
    return pc.floor_temporal(column, unit=every)


def _levels(column, types):
    """What the values of an Arrow array are read as, whatever engine it comes from."""
    if types.is_timestamp(column.type) or types.is_duration(column.type):
        # As NumPy has them: nanoseconds, and UTC where there is a zone, need no library of times.
        return levels_of(column.to_numpy(zero_copy_only=False))
    return [level_of(value) for value in column.to_pylist()]
