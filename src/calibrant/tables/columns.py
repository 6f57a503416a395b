"""The roles of a table's columns, and the columns of a batch as arrays."""

import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from calibrant.core.arrays import NO_AND_YES, resolution
from calibrant.core.given import Inputs
from calibrant.core.labels import is_unlabelled, label_key, level_of, levels_of, places
from calibrant.core.text_table import abridged
from calibrant.errors import InputError
from calibrant.tables.names import require_different

__all__ = [
    "EVERY",
    "Layout",
    "at_most_one",
    "class_names",
    "coded",
    "distinct",
    "encode",
    "event_places",
    "floor",
    "forecast_layout",
    "label_values",
    "layout",
    "numbers",
    "of_one_kind",
    "pair_of",
    "present",
    "quantile_levels",
    "starred",
    "whole_numbers",
]


def event_places(
    labels: Iterable[Any], event: Any = None, *, spellings: bool = False
) -> list[bool]:
    """Mark which of these labels are the event, compared by value or by text.

    Without ``event``, it is the 1, true or yes of a pair; any other event must be named. With
    ``spellings`` a label of the pair may be written in several, as true and True.

    Examples
    --------
    >>> event_places(["Yes", "No"]), event_places(["bad", "good"], "bad")
    ([True, False], [True, False])
    """
    listed = [label_key(label) for label in labels]
    if event is not None:
        return [place == 0 for place in places(listed, [event])]
    pair, texts = pair_of(listed), list(map(_folded, listed))
    if pair is not None and (spellings or len(set(texts)) == len(texts)):
        return [text == pair[1] for text in texts]
    raise InputError(
        "the event must be named if the labels are not 0 and 1, booleans, or no and yes; got"
        f" {str(listed[:6])[1:-1]}; pass classes=[...] with the label of the event last."
    )


def pair_of(labels: Iterable[Any]) -> tuple[str, str] | None:
    """The pair, such as no and yes, that has all of these labels; None if there is none.

    Examples
    --------
    >>> pair_of([True, "true"]), pair_of(["Yes"]), pair_of(["yes", "1"])
    (('false', 'true'), ('no', 'yes'), None)
    """
    texts = set(map(_folded, labels))
    return next((pair for pair in NO_AND_YES if texts <= {*pair}), None)


def _folded(label: Any) -> str:
    return str(label_key(label)).casefold()


#: A whole number that is a name because of its zeros.
CODE = re.compile(r"\s*[+-]?0[0-9]+\s*")
#: From here on, not every whole number is a float64.
EXACT = 2.0**53
EVERY = ("hour", "day", "week", "month", "quarter", "year")
#: Integers within a range smaller than this are encoded by their offset from the smallest.
SPAN = 8192


def encode(column: Any) -> tuple[list[Any], np.ndarray]:
    """Encode an Arrow array: (values, index of each row's value, (n,) intp).

    Some values may occur in no row.
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
    # Arrow distinguishes 0.0 from -0.0 and NaN from null; slices must not.
    place: dict[Any, int] = {}
    to = np.array([place.setdefault(value, len(place)) for value in values], dtype=np.intp)
    return list(place), to[codes.astype(np.intp)]


def distinct(
    parts: Sequence[tuple[Sequence[Any], np.ndarray]], n: int
) -> tuple[np.ndarray, np.ndarray]:
    """The combinations of values that occur in n rows of encoded columns: (codes (m, columns), the
    index of each row's combination (n,)); smaller codes of earlier columns come first.

    Examples
    --------
    >>> codes, index = distinct([("ab", np.array([1, 0, 1])), ("xyz", np.array([0, 2, 0]))], 3)
    >>> codes.tolist(), index.tolist()
    ([[0, 2], [1, 0]], [1, 0, 1])
    """
    count, index = min(n, 1), np.zeros(n, dtype=np.intp)
    for values, part in parts:
        # The product of all columns' values may be too large for an integer.
        seen, index = present(index * len(values) + part, count * len(values))
        count = len(seen)
    codes = np.zeros((count, len(parts)), dtype=np.int32)
    for j, (_, part) in enumerate(parts):
        codes[index, j] = part
    return codes, index


def present(code: np.ndarray, n_codes: int) -> tuple[np.ndarray, np.ndarray]:
    """The codes that occur, and the index of each row's code among them."""
    if n_codes > 4 * len(code):
        return np.unique(code, return_inverse=True)
    # Counting all codes is faster than sorting the rows, unless there are many more codes than
    # rows.
    seen = np.bincount(code, minlength=n_codes) > 0
    return np.flatnonzero(seen), (np.cumsum(seen) - 1)[code]


def floor(column: Any, every: str, name: str) -> Any:
    """Round times down to the hour, day, ...; times with a zone are rounded in UTC.

    ``calibrant.core.labels`` reads times in the same way.
    """
    import pyarrow.compute as pc
    import pyarrow.types as types

    if types.is_string(column.type) or types.is_large_string(column.type):
        column = _times(column, name)
    if not (types.is_timestamp(column.type) or types.is_date(column.type)):
        raise InputError(f"time must be a column of times; {name!r} holds {column.type}.")
    if types.is_timestamp(column.type) and column.type.tz is not None:
        import pyarrow as pa

        # Arrow stores UTC, and not every engine keeps the zone.
        column = column.view(pa.timestamp(column.type.unit))
    return pc.floor_temporal(column, unit=every)


def _times(column: Any, name: str) -> Any:
    """Read texts as times, with or without a zone; blank ones are missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pc.utf8_trim_whitespace(column.cast(pa.string()))
    texts = pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)
    for zone in (None, "UTC"):
        with suppress(pa.ArrowInvalid):
            return texts.cast(pa.timestamp("us", zone))
    dated = pc.match_substring_regex(texts, r"^\d{4}-\d\d-\d\d")
    odd = texts.filter(pc.invert(dated))
    example = odd.drop_null() if odd.null_count < len(odd) else texts.drop_null()
    raise InputError(
        "time must name a column of times such as 2026-03-01 12:00:00;"
        f" {name!r} holds {abridged(example[0].as_py())}."
    )


def _levels(column: Any, types: Any) -> Any:
    """The values of an Arrow array as levels that are the same from every engine."""
    if types.is_integer(column.type):
        return column.to_pylist()
    if types.is_timestamp(column.type) or types.is_duration(column.type):
        # NumPy's times, in nanoseconds and UTC, need no time zone library.
        return levels_of(column.to_numpy(zero_copy_only=False))
    return [level_of(value) for value in column.to_pylist()]


@dataclass(frozen=True)
class Layout:
    """The names of the columns by their roles.

    ``values`` name columns of probabilities (several, one of lists, or one of the second class), a
    score, a mean and a std, or quantiles at ``levels``. ``mode`` is "columns", "list", "second",
    "score", "event" (one column, the probability of a class) or "forecast". ``inputs`` tells
    probabilities from logits. For a score without ``predicted``, the label tells whether the answer
    is right: it equals ``event``, or is 1, true or yes.
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
    others: tuple[Any, ...] = ()

    @property
    def named(self) -> list[Any]:
        """The labels that are known to be classes."""
        return [*(self.classes or self.others), self.event]

    @property
    def needed(self) -> list[str]:
        """All columns to read."""
        names = [*self.values, self.label, self.predicted, self.weight, *self.by, self.time]
        return list(dict.fromkeys(name for name in names if name is not None))

    @property
    def group_names(self) -> tuple[str, ...]:
        """Names of the columns that define a slice."""
        return (*self.by, *([self.every] if self.time else []))

    def probabilities(self, batch: Any) -> np.ndarray:
        """(n, K) values in their own dtype, or (n,) probabilities of the second class."""
        if self.mode == "list":
            return _list_values(batch.column(self.values[0]), self.values[0])
        columns = [numbers(batch, name) for name in self.values]
        if len(columns) == 1:
            return at_most_one(columns[0]) if self.inputs == "probability" else columns[0]
        # The kernel needs the values of each class to be contiguous in memory.
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
    """Check the requested columns against those of the table.

    ``types`` maps the name of a column that holds lists to "list".
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
            class_names(starred(values, probabilities).values())
            if isinstance(probabilities, str)
            else values
        )
    if target not in (None, "answer", "classes"):
        values, event = _of_event(mode, values, classes, target, named is not None)
        return _there(
            Layout(
                *("event", values, None, label, None, weight, by, time, every, event),
                others=tuple(classes or ()),
            ),
            types,
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


def _of_event(
    mode: str, values: tuple[Any, ...], classes: list[str] | None, target: str, ordered: bool
) -> tuple[Any, ...]:
    """Return (column of the event's probability, its label) for the event that ``target`` names.

    The label is None if the labels define the event themselves. ``ordered`` classes have it last.
    """
    if mode == "second":
        return values, target if target != "event" else classes[-1] if ordered else None
    if mode != "columns" or len(classes) != len(values):
        raise InputError(
            f"target={target!r} needs one column of probabilities per class, or one of the event;"
            f" got {list(values)[:6]}."
        )
    if target == "event" and len(classes) != 2:
        raise InputError(
            f'target="event" needs two classes; got {len(classes)}; pass one of'
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
    """The layout of a table of outcomes with means and standard deviations, or with quantiles."""
    beside = label, None, weight, by, time, every
    if quantiles is None:
        if std is None or mean is None:
            raise InputError("mean= also needs std=, the column of standard deviations.")
        return _there(Layout("forecast", (mean, std), None, *beside), names)
    if mean is not None or std is not None:
        raise InputError("pass mean= and std=, or quantiles=, not both.")
    found = quantile_levels(names, quantiles)
    if len(found) < 2:
        listed = ", ".join(list(names)[:20])
        raise InputError(
            'quantiles must be a pattern such as "q_*", ends such as "lower=0.1,upper=0.9", or a'
            f" series, and name at least two columns; got {quantiles!r} for {listed}."
        )
    ordered = sorted(found, key=lambda name: found[name])
    return _there(
        Layout(
            "forecast", tuple(ordered), None, *beside, levels=tuple(found[name] for name in ordered)
        ),
        names,
    )


def _there(columns: Layout, names: Collection[str]) -> Layout:
    """The layout with ``by`` as a tuple, after a check that all its columns exist."""
    if columns.every not in EVERY:
        raise InputError(f"every must be one of {', '.join(EVERY)}; got {columns.every!r}.")
    columns = replace(
        columns, by=(columns.by,) if isinstance(columns.by, str) else tuple(columns.by or ())
    )
    require_different((*columns.by, columns.time), "by and time")
    missing = [name for name in columns.needed if name not in names]
    if missing:
        raise InputError(
            f"the table must have a column {missing[0]!r}; it has {', '.join(list(names)[:20])}."
        )
    return columns


def _probability_columns(types: dict[str, str], probabilities: Any) -> tuple[Any, ...]:
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
    """Matching names -> the part of each that the pattern's star stands for.

    The result is empty if the pattern has no star.
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


#: Quantile columns of a series: NAME_q0.05 (Darts), NAME-lo-90 and NAME-median (Nixtla).
SERIES = re.compile(
    r"(?P<series>.+)(_q(?P<level>0?\.\d+)|-(?P<end>lo|hi)-(?P<width>\d+(\.\d+)?)|-median)"
)


def quantile_levels(names: Iterable[str], pattern: str = "auto") -> dict[str, float]:
    """Quantile columns -> levels between 0 and 1.

    Parameters
    ----------
    names : names of the columns
    pattern : str, default "auto"
        A star for the level, as in "q_*"; the ends of intervals, as in "lower=0.1,upper=0.9"; the
        name of one series of Darts or Nixtla; or "auto": q_0.05 or 0.05 (AutoGluon), or the columns
        of the only such series.

    Examples
    --------
    >>> quantile_levels(["q_0.1", "q_0.9"]), quantile_levels(["mean", "0.1", "0.9"])
    ({'q_0.1': 0.1, 'q_0.9': 0.9}, {'0.1': 0.1, '0.9': 0.9})
    >>> quantile_levels(["ds", "y", "ETS", "ETS-lo-90", "ETS-hi-90"])
    {'ETS-lo-90': 0.05, 'ETS-hi-90': 0.95}
    >>> quantile_levels(["yhat_lower", "yhat_upper"], "yhat_lower=0.1,yhat_upper=0.9")
    {'yhat_lower': 0.1, 'yhat_upper': 0.9}
    """
    listed = list(names)
    if "=" in pattern:
        parts = (part.strip().rpartition("=") for part in pattern.split(","))
        ends = {name: level for name, _, level in parts}
        absent = [name for name in ends if name not in listed]
        if absent:
            raise InputError(
                f"quantiles must name columns of the table; it has no {absent[0]!r} but"
                f" {', '.join(listed[:12])}."
            )
        return {name: _level(text, pattern) for name, text in ends.items()}
    if "*" in pattern:
        return _starred_levels(listed, pattern)
    series = _series(listed)
    if pattern != "auto":
        return series.get(pattern, {})
    usual = (_starred_levels(listed, "q_*"), _starred_levels(listed, "*"))
    quantiles = next((levels for levels in usual if len(levels) > 1), None)
    if quantiles is None and len(series) > 1:
        raise InputError(
            f"the table has quantiles of {len(series)} series, {', '.join(list(series)[:6])}; name"
            f' one, as in quantiles="{next(iter(series))}".'
        )
    return next(iter(series.values()), {}) if quantiles is None else quantiles


def _starred_levels(names: list[str], pattern: str) -> dict[str, float]:
    levels = {}
    for name, text in starred(names, pattern).items():
        with suppress(ValueError):
            levels[name] = float(text)
    inside = {name: level for name, level in levels.items() if 0.0 < level < 1.0}
    ends = [name for name, level in levels.items() if level in (0.0, 1.0)]
    if ends and len(inside) > 1 and pattern != "*":
        raise InputError(
            f"quantiles must have levels above 0 and below 1; got the column {ends[0]!r}; leave it"
            ' out of the table, or name the others, as in quantiles="low=0.1,high=0.9".'
        )
    return inside


def _level(text: str, pattern: str) -> float:
    with suppress(ValueError):
        if 0.0 < float(text) < 1.0:
            return float(text)
    raise InputError(
        f"quantiles must give each column a level between 0 and 1; got {text!r} in {pattern!r};"
        ' write "lower=0.1,upper=0.9" for intervals of 80 %.'
    )


def _series(names: list[str]) -> dict[str, dict[str, float]]:
    """Name of a series -> its quantile columns and their levels."""
    series: dict[str, dict[str, float]] = {}
    for name in names:
        match = SERIES.fullmatch(name)
        if match is None:
            continue
        low = 0.5 - float(match["width"] or 0.0) / 200.0
        level = round(low if match["end"] != "hi" else 1.0 - low, 12)
        level = level if match["level"] is None else float(match["level"])
        if 0.0 < level < 1.0:
            series.setdefault(match["series"], {})[name] = level
    return series


def whole_numbers(texts: Any) -> list[Any]:
    """The texts as integers if all of them are, and none is too large for a float to hold;
    otherwise the texts.

    The "0" of a header and the 0 or 0.0 of a column are then the same class.

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


def label_values(labels: Iterable[Any], classes: Collection[Any] = ()) -> list[Any]:
    """The labels, with texts of whole numbers as these numbers, except names of ``classes`` and
    codes such as 007.

    Examples
    --------
    >>> label_values(["1", "1e0", 1, "01", "a"]), label_values(["1.0", "1"], ["1.0", "1"])
    ([1, 1, 1, '01', 'a'], ['1.0', '1'])
    """
    return [
        label_key(value)
        if not isinstance(value, str) or value in classes or CODE.fullmatch(value)
        else whole_numbers([value])[0]
        for value in labels
    ]


def of_one_kind(values: list[Any]) -> list[Any]:
    """The values of a column of slices or groups, whose files may differ in kind: numbers as text
    if some values are text.

    Examples
    --------
    >>> of_one_kind([300, "007", None]), of_one_kind([300, 0.5])
    (['300', '007', None], [300, 0.5])
    """
    kinds = set(map(type, values))
    if str not in kinds or kinds.isdisjoint((bool, int, float)):
        return values
    return [str(value) if isinstance(value, int | float) else value for value in values]


def class_names(texts: Any) -> list[Any]:
    """The names of classes as integers if all of them are and stay apart, or as the texts.

    Examples
    --------
    >>> class_names(["0", "1"]), class_names(["1", "01"]), class_names(["1", "1.0"])
    ([0, 1], ['1', '01'], ['1', '1.0'])
    """
    listed = list(texts)
    plain = whole_numbers(listed)
    return plain if len(set(plain)) == len(set(listed)) else listed


def _as_whole(text: str) -> int:
    number = float(text)
    if "_" in text or not number.is_integer() or abs(number) >= EXACT:
        raise ValueError(text)
    return int(number)


def _require_all(missing: np.ndarray, name: str) -> None:
    rows = np.flatnonzero(missing)
    if len(rows):
        raise InputError(
            f"column {name!r} must have a value in every row; row {rows[0]} is missing ({len(rows)}"
            " in all); filter out those rows first."
        )


def coded(batch: Any, name: str, classes: Collection[Any] = ()) -> Any:
    """Encode a column of labels, none of them missing: (values, index of each row's value)."""
    values, codes = encode(batch.column(name))
    missing = np.array([is_unlabelled(value, classes) for value in values], dtype=bool)
    _require_all(missing[codes], name)
    place: dict[Any, int] = {}
    labels = label_values(values, classes)
    to = np.array([place.setdefault(label, len(place)) for label in labels], dtype=np.intp)
    return list(place), to[codes]


def numbers(batch: Any, name: str) -> np.ndarray:
    """A column of numbers, (n,) float32 or float64."""
    import pyarrow as pa
    import pyarrow.types as types

    column = batch.column(name)
    if column.null_count:
        _require_all(column.is_null().to_numpy(zero_copy_only=False), name)
    if types.is_string(column.type) or types.is_large_string(column.type):
        try:
            column = column.cast(pa.float64())
        except pa.ArrowInvalid:
            row = _first_text(column)
            raise InputError(
                f"column {name!r} must hold numbers; row {row} is {abridged(column[row].as_py())};"
                " repair or drop that row."
            ) from None
    try:
        out = column.to_numpy(zero_copy_only=False)
        return (
            out
            if out.dtype in (np.float32, np.float64)
            else out.astype(np.float32 if out.dtype == np.float16 else np.float64)
        )
    except (TypeError, ValueError):
        raise InputError(f"column {name!r} must hold numbers; it holds {column.type}.") from None


def _first_text(column: Any) -> int:
    """The row of the first text that is no number."""
    import pyarrow as pa

    row = 0
    with suppress(pa.ArrowInvalid):
        for value in column:
            value.cast(pa.float64())
            row += 1
    return row


def at_most_one(values: np.ndarray) -> np.ndarray:
    """The probabilities, with 1 for those that rounding has left just above it.

    Examples
    --------
    >>> at_most_one(np.array([0.5, 1.0000000000000002, 1.5])).tolist()
    [0.5, 1.0, 1.5]
    """
    one, most = values.dtype.type(1), 1.0 + 2.0 * resolution(None, values)
    return np.where((values > one) & (values <= most), one, values)


def _list_values(column: Any, name: str) -> np.ndarray:
    if not hasattr(column, "flatten"):
        raise InputError(f"column {name!r} must hold a list in every row; some hold none.")
    flat, n = column.flatten().to_numpy(zero_copy_only=False), len(column)
    K = len(flat) // n if n else 0
    if column.null_count or n * K != len(flat) or (n and not _all_of_length(column, K)):
        raise InputError(
            f"column {name!r} must hold one list of the same length in every row, without nulls."
        )
    return flat.reshape(n, K)


def _all_of_length(column: Any, K: int) -> bool:
    if hasattr(column.type, "list_size") and column.type.list_size >= 0:
        return True
    return bool((np.diff(column.offsets.to_numpy()) == K).all())
