"""Which columns of a table hold what, and a batch of them as arrays."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from calibrant.errors import InputError
from calibrant.labels import label_key, places
from calibrant.levels import level_of, levels_of
from calibrant.predictions import Inputs

__all__ = [
    "EVERY",
    "NO_AND_YES",
    "Layout",
    "coded",
    "combinations",
    "encode",
    "event_places",
    "floor",
    "forecast_layout",
    "layout",
    "mixed",
    "numbers",
    "present",
    "starred",
    "starred_levels",
    "whole_numbers",
]

#: Pairs of labels of which the second says itself that it is the event; of others the order of the
#: alphabet would turn good and bad round.
NO_AND_YES = (("0", "1"), ("false", "true"), ("no", "yes"))


def event_places(labels: Iterable[Any], event: Any = None) -> list[bool]:
    """Which of these labels are the event: by value or text, or where None is named the 1, true or
    yes of two; others must be named.

    Examples
    --------
    >>> event_places(["Yes", "No"]), event_places(["bad", "good"], "bad")
    ([True, False], [True, False])
    """
    listed = [label_key(label) for label in labels]
    if event is not None:
        return [place == 0 for place in places(listed, [event])]
    texts = [str(int(key)) if isinstance(key, bool) else str(key).casefold() for key in listed]
    for no, yes in NO_AND_YES:
        if set(texts) <= {no, yes} and len(set(texts)) == len(texts):
            return [text == yes for text in texts]
    raise InputError(
        "the event must be named where the labels are not 0 and 1, booleans, or no and yes; got"
        f" {str(listed[:6])[1:-1]}; pass classes=[...] with the label of the event last."
    )


EVERY = ("hour", "day", "week", "month", "quarter", "year")
#: Whole numbers that lie this close together are their own code.
SPAN = 8192


def encode(column: Any) -> tuple[list[Any], np.ndarray]:
    """(values, number of each row's among them (n,) intp) of an Arrow array; a value may have no
    row.
    """
    import pyarrow.types as types

    if types.is_integer(column.type) and not column.null_count and len(column):
        found = column.to_numpy()
        low, high = int(found.min()), int(found.max())
        if high - low < SPAN:
            return list(range(low, high + 1)), np.subtract(
                found, low, dtype=np.intp, casting="unsafe"
            )
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
    """Number of each row's combination of values among all combinations, (n,), of encoded
    columns.
    """
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
    # A table of all codes is quicker than sorting the rows, where it is not much longer than they
    # are.
    seen = np.bincount(code, minlength=n_codes) > 0
    return np.flatnonzero(seen), (np.cumsum(seen) - 1)[code]


def floor(column: Any, every: str, name: str) -> Any:
    """Times cut to the hour, day, ... they are in; those with a zone in UTC, as
    ``calibrant.levels`` reads them.
    """
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


@dataclass(frozen=True)
class Layout:
    """The columns by their names; ``values`` are probabilities (several, or one list column, or one
    of the second class), one score, mean and std, or quantiles at ``levels``.

    ``mode`` is "columns", "list", "second", "score", "event" (of one column: the probability of a
    class) or "forecast"; ``inputs`` says whether the values are probabilities or logits. A score
    without ``predicted`` is right where the label is ``event``, or says so.
    """

    mode: str
    values: tuple[Any, ...]
    classes: tuple[Any, ...] | None
    label: str | None
    predicted: str | None = None
    weight: str | None = None
    by: tuple[Any, ...] = ()
    time: str | None = None
    every: str = "day"
    event: Any = None
    inputs: Inputs = "probability"
    levels: tuple[float, ...] | None = None

    @property
    def needed(self) -> list[str]:
        """All columns to read."""
        names = [*self.values, self.label, self.predicted, self.weight, *self.by, self.time]
        return list(dict.fromkeys(name for name in names if name is not None))

    @property
    def group_names(self) -> tuple[str, ...]:
        """Names of the slice's values."""
        return (*self.by, *([self.every] if self.time else []))

    def probabilities(self, batch: Any) -> np.ndarray:
        """(n, K) as they came (float32 stays float32), or (n,) probability of the second class."""
        if self.mode == "list":
            return _list_values(batch.column(self.values[0]), self.values[0])
        columns = [numbers(batch, name) for name in self.values]
        if len(columns) == 1:
            return columns[0]
        # One row a class in memory, which is how the kernel wants them.
        return np.stack(columns).T

    def slices(self, batch: Any) -> list[tuple[list[Any], np.ndarray]]:
        """The encoded columns that rows are sliced by, in the order of ``group_names``."""
        encoded = [encode(batch.column(name)) for name in self.by]
        if self.time:
            encoded.append(encode(floor(batch.column(self.time), self.every, self.time)))
        return encoded


def layout(
    types: dict[str, str],
    *,
    label: str | None,
    probabilities: str | Sequence[str] | None,
    score: str | None,
    predicted: str | None,
    weight: str | None = None,
    by: str | Sequence[str] = (),
    time: str | None = None,
    every: str = "day",
    classes: Any = None,
    target: Any = None,
) -> Layout:
    """Check the columns asked for against those there; ``types`` maps a name to "list" where the
    column holds lists.
    """
    if (probabilities is None) == (score is None):
        raise InputError(
            "pass either probabilities= (all classes) or score= with predicted= (the predicted"
            " class only)."
        )
    if score is not None and predicted is None:
        right = None if target in (None, "answer", "event") else target
        return _there(
            Layout("score", (score,), None, label, None, weight, by, time, every, right), types
        )
    mode, values = (
        ("score", (score,)) if score is not None else _probability_columns(types, probabilities)
    )
    named = classes
    if mode == "columns" and classes is None:
        classes = (
            whole_numbers(starred(values, probabilities).values())
            if isinstance(probabilities, str)
            else values
        )
    if target not in (None, "answer", "classes"):
        values, event = _of_event(mode, values, classes, target, named is not None)
        return _there(
            Layout("event", values, None, label, None, weight, by, time, every, event), types
        )
    if classes is None and mode == "second":
        classes = (0, 1)
    classes = None if classes is None else tuple(classes)
    out = _there(
        Layout(
            mode,
            values,
            classes,
            label,
            predicted if mode == "score" else None,
            weight,
            by,
            time,
            every,
        ),
        types,
    )
    if mode == "columns" and classes is not None and len(out.classes) != len(values):
        raise InputError(
            f"classes must name the {len(values)} columns of probabilities; got {len(out.classes)}."
        )
    return out


def _of_event(mode, values, classes, target, ordered):
    """(the column of its probability, its label or None where the labels say it) of the event that
    is asked for; ``ordered`` classes have
    it last."""
    if mode == "second":
        return values, target if target != "event" else classes[-1] if ordered else None
    if mode != "columns" or len(classes) != len(values):
        raise InputError(
            f"target={target!r} takes a column of probabilities for each class, or one of the"
            f" event's; got {list(values)[:6]}."
        )
    if target == "event" and len(classes) != 2:
        raise InputError(
            f'target="event" takes two classes; got {len(classes)}; name one of'
            f' {list(classes)[:6]}, or "classes".'
        )
    named = classes[-1] if target == "event" and ordered else None if target == "event" else target
    match = event_places(classes, named)
    if True not in match:
        raise InputError(f"target must be one of the classes {list(classes)[:6]}; got {target!r}.")
    k = match.index(True)
    return (values[k],), classes[k]


def forecast_layout(
    names: Sequence[str],
    *,
    label: str,
    mean: Any = None,
    std: Any = None,
    quantiles: str | None = None,
    weight: np.ndarray | None = None,
    by: str = (),
    time: Any = None,
    every: str = "day",
) -> Layout:
    """Columns of outcomes, and of means and standard deviations or of quantiles."""
    beside = label, None, weight, by, time, every
    if quantiles is None:
        if std is None or mean is None:
            raise InputError("mean= needs std=, the column of standard deviations.")
        return _there(Layout("forecast", (mean, std), None, *beside), names)
    if mean is not None or std is not None:
        raise InputError("pass mean= and std=, or quantiles=, not both.")
    found = starred_levels(names, quantiles)
    if len(found) < 2:
        listed = ", ".join(list(names)[:20])
        raise InputError(
            f'quantiles must be a pattern such as "q_*" of two columns or more; got {quantiles!r}'
            f" for {listed}."
        )
    ordered = sorted(found, key=lambda name: found[name])
    return _there(
        Layout(
            "forecast", tuple(ordered), None, *beside, levels=tuple(found[name] for name in ordered)
        ),
        names,
    )


def _there(columns, names):
    """The layout, its slices as a tuple, once all its columns are found."""
    if columns.every not in EVERY:
        raise InputError(f"every must be one of {', '.join(EVERY)}; got {columns.every!r}.")
    columns = replace(
        columns, by=(columns.by,) if isinstance(columns.by, str) else tuple(columns.by or ())
    )
    missing = [name for name in columns.needed if name not in names]
    if missing:
        raise InputError(
            f"the table must have a column {missing[0]!r}; it has {', '.join(list(names)[:20])}."
        )
    return columns


def _probability_columns(types, probabilities):
    if not isinstance(probabilities, str):
        found = list(probabilities)
    elif "*" in probabilities:
        found = list(starred(types, probabilities))
    else:
        found = [probabilities]
    if not found:
        raise InputError(
            f"the table must have columns like {probabilities!r}; it has"
            f" {', '.join(list(types)[:20])}."
        )
    if len(found) > 1:
        return "columns", tuple(found)
    return ("list" if types.get(found[0]) == "list" else "second"), tuple(found)


def starred(names: Any, pattern: Any) -> dict[str, str]:
    """Name -> the part of it that the pattern's star stands for, of the names that match; none
    where the pattern has no star.
    """
    start, star, end = pattern.partition("*")
    return (
        {
            name: name[len(start) : len(name) - len(end)]
            for name in names
            if fnmatchcase(name, pattern)
        }
        if star
        else {}
    )


def starred_levels(names: Any, pattern: str) -> dict[str, float]:
    """Name -> level, of the columns of quantiles: those that match, whose star stands for a
    number between 0 and 1.
    """
    found = {}
    for name, text in starred(names, pattern).items():
        with suppress(ValueError):
            found[name] = float(text)
    return {name: level for name, level in found.items() if 0.0 < level < 1.0}


def whole_numbers(texts: Any) -> list[Any]:
    """The texts as whole numbers where all of them are; a header's "0" and a column's 0 or 0.0 are
    then one class.

    Examples
    --------
    >>> whole_numbers(["0", "1.0"]), whole_numbers(["0", "none"]), whole_numbers(["1_0", "1_1"])
    ([0, 1], ['0', 'none'], ['1_0', '1_1'])
    """
    listed = list(texts)
    try:
        number = {text: _as_whole(text) for text in set(listed)}
    except ValueError:
        return listed
    return [number[text] for text in listed]


def _as_whole(text):
    number = float(text)
    if "_" in text or not number.is_integer():
        raise ValueError(text)
    return int(text) if text.lstrip("+-").isdecimal() else int(number)


def _whole(column, name):
    _require_all(column.null_count, name)
    return column


def _require_all(n_missing, name):
    if n_missing:
        raise InputError(
            f"column {name!r} must have a value in every row; {n_missing} are missing; filter those"
            " rows out first."
        )


def coded(batch: Any, name: str) -> Any:
    """(values, number of each row's among them) of a column without nulls, NaN among them."""
    values, codes = encode(_whole(batch.column(name), name))
    _require_all(np.count_nonzero(codes == values.index(None)) if None in values else 0, name)
    return values, codes


def numbers(batch: Any, name: str) -> np.ndarray:
    """A column of numbers, (n,) float32 or float64."""
    column = _whole(batch.column(name), name)
    try:
        out = column.to_numpy(zero_copy_only=False)
        return (
            out
            if out.dtype in (np.float32, np.float64)
            else out.astype(np.float32 if out.dtype == np.float16 else np.float64)
        )
    except (TypeError, ValueError):
        raise InputError(f"column {name!r} must hold numbers; it holds {column.type}.") from None


def _list_values(column, name):
    flat, n = column.flatten().to_numpy(zero_copy_only=False), len(column)
    K = len(flat) // n if n else 0
    if column.null_count or n * K != len(flat) or (n and not _all_of_length(column, K)):
        raise InputError(
            f"column {name!r} must hold one list of the same length in every row, without nulls."
        )
    return flat.reshape(n, K)


def _all_of_length(column, K):
    if hasattr(column.type, "list_size") and column.type.list_size >= 0:
        return True
    return bool((np.diff(column.offsets.to_numpy()) == K).all())
