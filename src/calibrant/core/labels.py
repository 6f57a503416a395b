"""Labels of rows and of columns as positions of classes, and values of group columns.

Values of groups are read by one rule for every container, file and engine, also where numbers are
cut into levels.
"""

import re
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import takewhile
from typing import Any, NoReturn

import numpy as np

from calibrant.core.arrays import (
    NO_AND_YES,
    ArrayLike,
    column_names,
    plain_array,
    resolution,
    row_sum_limits,
    to_array,
    yes_of,
)
from calibrant.errors import InputError

__all__ = [
    "MOST_VALUES",
    "NUMBER",
    "SoftLabels",
    "array_of",
    "by_text",
    "class_array",
    "encode_labels",
    "is_indicator",
    "is_missing",
    "is_number",
    "is_unlabelled",
    "label_array",
    "label_key",
    "level_of",
    "levels_of",
    "numbers_of",
    "numbers_said",
    "numbers_to_cut",
    "partner_of",
    "places",
    "positions",
    "said_of",
    "soft_refused",
]


def by_text(given: Mapping[Any, Any], argument: str) -> dict[str, Any]:
    """Return a mapping under the texts of its names; two names of one text are refused.

    Examples
    --------
    >>> by_text({1: "good", "b": "bad"}, "models")
    {'1': 'good', 'b': 'bad'}
    """
    named = dict[str, Any]()
    for name, value in given.items():
        if str(name) in named:
            first = next(one for one in given if str(one) == str(name))
            raise InputError(
                f"{argument} must have names that differ as text; got {first!r} and {name!r}; give"
                " one of them another name."
            )
        named[str(name)] = value
    return named


class SoftLabels:
    r"""Soft labels: shares of several raters, passed as ``y``.

    .. math:: \ell(P_i, s_i) = \sum_k s_{ik}\, \ell(P_i, k)

    The loss of a row is the mean of the losses over the raters' labels, so it does not depend on
    the number of raters; the log loss is :math:`-\sum_k s_{ik} \log P_{ik}`. A row counts once.

    Parameters
    ----------
    shares : (n, K) shares of each class, or (n,) of the second of two classes
        Between 0 and 1; rows of (n, K) sum to 1, up to the rounding of their decimals. Named
        columns of a data frame are matched with the names of the classes; other columns are in the
        order of the columns of ``P``.

    Attributes
    ----------
    shares : (n, K) float64
    names : list of the columns' names, or None

    Raises
    ------
    InputError
        When a share is not in [0, 1] or a row does not sum to 1.

    See Also
    --------
    metrics.log_loss : One of the proper scores that take them.
    TemperatureScaling : One of the calibrators that are fitted to them.

    Notes
    -----
    Use them where several raters labelled the same row and disagree. They are accepted
    by the log loss, the Brier, spherical and ranked probability scores, O/E, the calibration bias,
    the binned calibration errors, ``metrics.compute``, ``metrics.compare``,
    ``metrics.reliability_curve`` and the calibrators and maps whose fit is a weighted one (tag
    ``soft_labels``). A share's variance lies between p (1 - p) / m for m raters who answer
    independently and p (1 - p) for raters who all agree. Intervals therefore use the observed
    variance between rows instead of a Bernoulli variance. Memory grows with the number of classes
    that have a share of a row. Tests, rankings (AUROC), audits, decisions and reports need outcomes
    of 0 and 1 and raise an error for soft labels; pass them the label of one rater per row.

    References
    ----------
    Peterson et al., "Human uncertainty makes classification more robust", ICCV 2019.

    Examples
    --------
    >>> from calibrant.metrics import log_loss
    >>> round(log_loss(SoftLabels([0.75, 0.0]), [0.5, 0.2]), 4)
    0.4581
    """

    def __init__(self, shares: ArrayLike) -> None:
        values = to_array(shares, "shares").astype(np.float64)
        if values.ndim == 1:
            values = np.column_stack([1.0 - values, values])
        if values.ndim != 2 or values.shape[1] < 2:
            raise InputError(
                f"shares must be (n,), or (n, K) of two classes up; got {values.shape}."
            )
        sums = values.sum(axis=1)
        limits = row_sum_limits(values, resolution(shares, values))
        bad = np.flatnonzero(~((values >= 0.0).all(axis=1) & (np.abs(sums - 1.0) <= limits)))
        if len(bad):
            raise InputError(
                "shares must be between 0 and 1 and sum to 1 in each row; "
                f"row {bad[0]} is {values[bad[0]]} ({len(bad)} in all); "
                "divide counts of votes by their row sums."
            )
        self.shares: np.ndarray = values / sums[:, None]
        self.names: list[Any] | None = column_names(shares, "shares")

    def __len__(self) -> int:
        return len(self.shares)

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise soft_refused("this function")

    def in_order(self, classes: np.ndarray | None, n_rows: int, n_classes: int) -> np.ndarray:
        """(n, K) shares, in the order of the columns of predictions of this shape."""
        if self.shares.shape != (n_rows, n_classes):
            raise InputError(
                f"the shares of soft labels must be {(n_rows, n_classes)}, as the predictions are; "
                f"got {self.shares.shape}; check that both have the same rows and classes."
            )
        if self.names is None or classes is None:
            return self.shares
        order = places(classes, self.names)
        if sorted(order) != list(range(n_classes)):
            raise InputError(
                f"the columns of shares must be named by the classes {_few(classes)}; "
                f"got {_few(self.names)}; rename them, or pass an array in the order of P."
            )
        return self.shares[:, order]


def soft_refused(what: str) -> InputError:
    """The error if ``what`` needs outcomes of 0 and 1 and labels are soft."""
    return InputError(
        f"{what} takes one label per row; got soft labels (shares of raters); pass the label of one"
        " rater per row, or use a method for shares: a proper score, O/E, the bias, a binned"
        " calibration error, a reliability curve or a weighted fit."
    )


def class_array(classes: ArrayLike | None, n_classes: int) -> np.ndarray | None:
    """Class labels in column order as an array (object dtype unless they are all of one simple
    kind), or None.
    """
    if classes is None:
        return None
    if not hasattr(classes, "__len__") or isinstance(classes, str | bytes):
        raise InputError(
            f"classes must be the labels of the columns of P, in column order; got {classes!r};"
            " pass a list of them."
        )
    listed = classes.tolist() if isinstance(classes, np.ndarray) else list(classes)
    if len(listed) != n_classes:
        raise InputError(
            f"P must have one column for each class; got {n_classes} columns and the {len(listed)}"
            f" classes {_few(listed)}; pass all columns, in the order of the classes."
        )
    if len(set(listed)) != len(listed):
        raise InputError(f"classes must be distinct; got {listed}; remove the repeated ones.")
    return array_of(listed)


def array_of(values: Iterable[Any]) -> np.ndarray:
    """The values as an array that keeps each unchanged; only texts, or only numbers, keep their
    dtype, except whole numbers beyond int64, which NumPy would round.
    """
    kinds = {type(v) for v in values}
    if len(kinds) == 1 and kinds <= {int, str, bool, float}:
        made = np.array(values)
        if kinds != {int} or made.dtype.kind == "i":
            return made
    return np.fromiter(values, dtype=object, count=len(values))


def encode_labels(
    y: ArrayLike,
    classes: np.ndarray | None,
    n_rows: int | None,
    n_classes: int,
    *,
    name: str = "y",
    swapped_hint: bool = False,
    positions: bool = True,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Labels as positions in ``classes``; without classes they must be 0..K-1, booleans, or the
    texts no and yes (or false and true). Returns (labels, classes).

    Where no class is named by a number, whole numbers 0..K-1 are positions too, unless
    ``positions`` is False: the order of columns whose names come from a table is not defined. If a
    class is named by a number, numbers are names.
    """
    labels = _labels_1d(y, n_rows, name)
    if classes is None:
        texts = yes_of(labels) if n_classes == 2 else None
        if texts is not None:
            # As for booleans, the second column is that of yes.
            seen: list[Any] = [next(iter(labels[texts == k]), None) for k in (False, True)]
            named = [own or partner_of(seen[1 - k]) for k, own in enumerate(seen)]
            return texts.astype(np.intp), np.array(named)
        codes = _positions(labels, n_classes)
        if codes is None:
            _refuse_positions(labels, n_classes, name, swapped_hint)
        return codes, np.array([False, True]) if labels.dtype.kind == "b" else None
    unique, inverse = _unique(labels, name)
    codes = places(unique, classes)
    unknown = [u for u, c in zip(unique, codes, strict=True) if c < 0]
    if positions and len(unknown) == len(unique) and not any(map(is_number, classes)):
        columns = _positions(labels, n_classes)
        if columns is not None:
            return columns, classes
    found = np.asarray(codes, dtype=np.intp)[inverse]
    if not unknown:
        return found, classes
    if np.array_equal(classes, np.arange(n_classes)) and swapped_hint:
        _refuse_positions(labels, n_classes, name, swapped_hint)
    raise InputError(
        f"{name} must hold only the classes {_few(classes)}; got {_few(unknown)}, first in row"
        f" {int(np.argmax(found < 0))}; "
        + (
            "write the labels as the columns are named."
            if len(unknown) == len(unique)
            else "add the missing ones to classes= or drop those rows."
        )
    )


def label_array(y: Any, name: str) -> np.ndarray:
    """Labels as an array that keeps each label as it is: NumPy would turn [1, "a"] into strings
    and tuples into columns.
    """
    if isinstance(y, list | tuple):
        kinds = {type(v) for v in y}
        if not (kinds <= {int, float, bool} or len(kinds) == 1) or kinds == {tuple}:
            return np.fromiter(y, dtype=object, count=len(y))
    labels = plain_array(y, name)
    return labels if labels.dtype.kind in "OUSfiub" else labels.astype(object)


def is_missing(label: Any) -> bool:
    """Whether a label is missing: None, NaN, NaT, or pandas' NA."""
    return (
        label is None
        or type(label).__name__ in ("NAType", "NaTType")
        or (isinstance(label, float | np.floating) and label != label)
    )


def _labels_1d(y: Any, n_rows: int | None, name: str) -> np.ndarray:
    labels = label_array(y, name)
    if labels.ndim != 1:
        _refuse_columns(labels, name)
    if n_rows is not None and len(labels) != n_rows:
        raise InputError(
            f"{name} must have one label for each of the {n_rows} predictions; got {len(labels)};"
            " check that both come from the same rows."
        )
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise InputError(
            f"{name} must not be missing; row {int(np.flatnonzero(~np.isfinite(labels))[0])} is "
            f"{labels[~np.isfinite(labels)][0]}; drop those rows."
        )
    if labels.dtype.kind == "O":
        missing = next((i for i, v in enumerate(labels.tolist()) if is_missing(v)), None)
        if missing is not None:
            raise InputError(
                f"{name} must not be missing; row {missing} is {labels[missing]}; drop those rows."
            )
    return labels


def _refuse_columns(labels: np.ndarray, name: str) -> NoReturn:
    """Error for labels that are not one-dimensional; the remedy depends on multi-label rows."""
    got = f"{name} must be one label per row, (n,); got shape {labels.shape}; "
    if labels.ndim != 2 or 1 in labels.shape:
        raise InputError(f"{got}pass np.ravel({name}).")
    swap = "swap the arguments if y and P are exchanged."
    if not is_indicator(labels):
        if labels.dtype.kind == "f" and np.allclose(labels.sum(axis=1), 1.0):
            swap = "pass shares of raters as SoftLabels, or " + swap
        raise InputError(f"{got}pass the column with the label of each row, or {swap}")
    count = labels.astype(int).sum(axis=1)
    several = np.flatnonzero(count != 1)
    if not len(several):
        raise InputError(f"{got}pass {name}.argmax(axis=1), or {swap}")
    raise InputError(
        f"{got}row {several[0]} has {count[several[0]]} labels ({len(several)} rows have none or"
        " several), so each column is a separate event: calibrate the columns one by one,"
        f" {name}[:, k] with P[:, k]."
    )


def is_indicator(labels: np.ndarray) -> bool:
    """Whether labels in columns are only 0 and 1 (or False and True)."""
    try:
        return bool(np.isin(np.asarray(labels, dtype=np.float64), (0.0, 1.0)).all())
    except (TypeError, ValueError):
        return False


def _integers(labels: np.ndarray) -> Any:
    if labels.dtype.kind in "iu":
        return labels.astype(np.intp)
    if labels.dtype.kind == "f" and (labels == np.floor(labels)).all():
        return labels.astype(np.intp)
    if labels.dtype.kind == "O" and all(
        isinstance(v, int | np.integer) and not isinstance(v, bool) for v in labels
    ):
        return labels.astype(np.intp)
    return None


def _positions(labels: np.ndarray, n_classes: int) -> Any:
    """Labels as column numbers, (n,) intp, or None if they are not; with two columns, True is the
    second.
    """
    codes = (
        labels.astype(np.intp) if labels.dtype.kind == "b" and n_classes == 2 else _integers(labels)
    )
    return (
        None
        if codes is None or (len(codes) and (codes.min() < 0 or codes.max() >= n_classes))
        else codes
    )


def is_number(label: Any) -> bool:
    """Whether a value is a number, possibly as text, like the column names of polars frames."""
    try:
        float(label)
    except (TypeError, ValueError):
        return False
    return True


def _refuse_positions(labels, n_classes, name, swapped_hint) -> NoReturn:
    if swapped_hint and labels.dtype.kind == "f":
        raise InputError(
            f"{name} holds fractions and P holds only 0 and 1: the two look swapped; pass them the"
            " other way."
        )
    seen = _few(sorted({str(v) for v in labels}) if labels.dtype.kind == "O" else np.unique(labels))
    raise InputError(
        f"{name} must be the column numbers 0..{n_classes - 1} when the columns of P are not named;"
        f" got {seen}; "
        + (
            "pass shares of raters as SoftLabels(y)."
            if _fractions(labels)
            else "pass classes=[...] with the label of each column, in column order."
        )
    )


def _fractions(labels):
    """Whether labels are numbers between 0 and 1, and some are fractions."""
    return labels.dtype.kind == "f" and bool(((labels >= 0.0) & (labels <= 1.0)).all())


def _unique(labels: np.ndarray, name: str) -> tuple[Any, ...]:
    if labels.dtype.kind in "iub":
        unique, inverse = np.unique(labels, return_inverse=True)
        return unique.tolist(), inverse
    try:
        seen: dict[Hashable, int] = {}
        inverse = np.fromiter(
            (seen.setdefault(label_key(v), len(seen)) for v in labels.tolist()),
            np.intp,
            len(labels),
        )
    except TypeError:
        raise InputError(
            f"{name} must hold hashable labels; got {type(labels[0]).__name__}; convert it to"
            " strings or integers."
        ) from None
    return list(seen), inverse


def partner_of(label: str) -> str:
    """The other of no and yes, false and true, or 0 and 1, in the same upper or lower case."""
    pair = next(pair for pair in NO_AND_YES if label.casefold() in pair)
    made = pair[label.casefold() == pair[0]]
    return made.upper() if label.isupper() else made.title() if label.istitle() else made


def places(labels: Iterable[Any], classes: Iterable[Any]) -> list[int]:
    """Index of each label in the classes, or -1: first by value (1, 1.0 and True are one class),
    then by text.

    Files and frames may store a numeric class as text, so values are also compared by their text,
    and booleans by that of their number.

    Examples
    --------
    >>> (
    ...     places([1.0, "1", True, 2], [0, 1]),
    ...     places([0, "True"], ["0", "1"]),
    ...     places(["1", "True"], [False, True]),
    ... )
    ([1, 1, 1, -1], [0, -1], [1, 1])
    """
    own, known = ([label_key(label) for label in given] for given in (labels, classes))
    value = {key: k for k, key in enumerate(known)}
    found = [value.get(key, -1) for key in own]
    if -1 not in found:
        return found
    text = {said(key): k for said in (_number_text, str) for k, key in enumerate(known)}
    return [
        text.get(str(key), text.get(_number_text(key), -1)) if k < 0 else k
        for key, k in zip(own, found, strict=True)
    ]


def label_key(label: Any) -> Hashable:
    """Labels that compare equal share a key: NumPy scalars and whole floats as Python numbers."""
    label = label.item() if isinstance(label, np.generic) else label
    return int(label) if isinstance(label, float) and label.is_integer() else label


def _number_text(key: Any) -> str:
    return str(int(key) if isinstance(key, bool) else key)


def _few(values: Any) -> str:
    listed = [v.item() if isinstance(v, np.generic) else v for v in values]
    return str(listed) if len(listed) <= 6 else f"{listed[:6]} and {len(listed) - 6} more"


# -- Values of group columns -----------------------------------------------------------------------

#: Integers with more distinct values than this are cut at quantiles, like all columns with
#: fractions.
MOST_VALUES = 20
#: The usual form of a number; 007 and 1_000 are names.
NUMBER = re.compile(r"[+-]?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
#: A date with a time of day, as ISO 8601, pandas, SQL and Arrow write it.
TIME = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?(?:\.(\d+))?(Z|[+-]\d\d(?::?\d\d)?)?")
#: Texts that programs write for a missing value.
NO_VALUE = frozenset(
    ["nan", "NaN", "Nan", "NAN", "NaT", "NA", "<NA>", "N/A", "n/a", "null", "NULL", "None"]
)
#: Types of pandas that are texts in every file.
TEXTS_IN_FILES = ("Interval", "Period")


def level_of(value: Any) -> Hashable:
    """Read a value as a level.

    Missing values (None, NaN, NaT, NA, and empty or blank texts) become None. A number, including
    decimals, whole floats and durations (in seconds), becomes a Python number. A time, or its text,
    becomes its ISO text without trailing zeros, in UTC if it has a zone, and only the date at
    midnight. Other texts are unchanged. Levels are read as themselves.

    Examples
    --------
    >>> (
    ...     level_of(""),
    ...     level_of(2.0),
    ...     level_of(datetime(2026, 3, 1, 12)),
    ...     level_of("2026-03-01 12:00:00+00:00"),
    ... )
    (None, 2, '2026-03-01T12:00:00', '2026-03-01T12:00:00')
    """
    if isinstance(value, str):
        return _text_level(str(value))
    if isinstance(value, tuple):
        return tuple(map(level_of, value))
    if is_missing(value):
        return None
    if isinstance(value, np.datetime64 | np.timedelta64):
        return levels_of(np.array([value]))[0]
    if isinstance(value, date | time):
        return _time_level(value)
    if isinstance(value, timedelta):
        return label_key(value.total_seconds())
    if isinstance(value, Decimal):
        return None if value.is_nan() else label_key(float(value))
    return str(value) if type(value).__name__ in TEXTS_IN_FILES else label_key(value)


def is_unlabelled(value: Any, classes: Collection[Any] = ()) -> bool:
    """Whether a value in a column of labels is none: missing, blank, or a text that programs write
    for a missing value, unless it is the name of one of the ``classes``.

    Examples
    --------
    >>> is_unlabelled(" nan"), is_unlabelled("None", ["None", "some"]), is_unlabelled("none")
    (True, False, False)
    """
    if not isinstance(value, str):
        return is_missing(value)
    text = value.strip()
    return not text or (text in NO_VALUE and text not in classes)


def levels_of(values: np.ndarray) -> list[Any]:
    """``level_of`` of each value of an array (n,)."""
    if values.dtype.kind == "M":
        return [
            None if text == "NaT" else _text_level(text)
            for text in np.datetime_as_string(values).tolist()
        ]
    if values.dtype.kind == "m":
        return [None if value != value else label_key(value) for value in _seconds(values).tolist()]
    return [level_of(value) for value in values.tolist()]


def positions(known: Sequence[Any], given: Sequence[Any]) -> list[int]:
    """Index of each value among known levels, or -1: by value, by its level, or by its text.

    The first keeps levels of files from an older rule. The last is for files, where a number or a
    boolean may be a text.

    Examples
    --------
    >>> positions([1, "1", None], [1.0, "1", ""]), positions(["2", True], [2, "2.0", "TRUE", "007"])
    ([0, 1, 2], [0, 0, 1, -1])
    """
    readings = (label_key, level_of, said_of)
    # Among levels with equal readings the first counts.
    tables = [
        {reading(level): k for k, level in reversed(list(enumerate(known)))} for reading in readings
    ]
    each = list(zip(readings, tables, strict=True))
    return [
        next((table[key] for reading, table in each if (key := reading(value)) in table), -1)
        for value in given
    ]


def numbers_of(column: np.ndarray) -> np.ndarray | None:
    """(n,) float64 of a numeric column, NaN where missing; None for others, also booleans."""
    if column.dtype.kind in "iuf":
        return column.astype(np.float64)
    if column.dtype.kind == "m":
        return _seconds(column)
    if column.dtype.kind != "O":
        return None
    # The first entry of a column of texts decides.
    numbers = list(takewhile(lambda number: number is not None, map(_number, column.tolist())))
    return None if len(numbers) < len(column) else np.array(numbers, dtype=np.float64)


def numbers_said(column: np.ndarray) -> np.ndarray | None:
    """``numbers_of`` a column that may hold numbers as texts, as in files."""
    said = [said_of(value) for value in column.tolist()]
    return numbers_of(np.fromiter(said, dtype=object, count=len(said)))


def numbers_to_cut(column: np.ndarray, *, named: bool = True) -> np.ndarray | None:
    """(n,) float64 of a column to be cut at quantiles, NaN where missing; None for a column of
    levels.

    Numbers are cut if one of them is not an integer, or if more than ``MOST_VALUES`` differ: they
    are then amounts, such as ages. In a column without a name (``named``) integers are labels,
    however many.
    """
    values = numbers_of(column)
    if values is None:
        return None
    known = np.unique(values[~np.isnan(values)])
    whole = bool((known == np.floor(known)).all())
    return None if whole and (len(known) <= MOST_VALUES or not named) else values


def _number(value: float) -> Any:
    """The value as a float, NaN if it is missing; None if it is not a number."""
    number = isinstance(value, int | float | np.number | Decimal | timedelta) and not isinstance(
        value, bool
    )
    level = level_of(value)
    return float("nan") if level is None else float(level) if number else None


def _seconds(durations):
    out = durations / np.timedelta64(1, "s")
    return np.where(np.isnat(durations), np.nan, out)


def _time_level(value):
    if isinstance(value, datetime) and value.utcoffset() is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return _text_level(value.isoformat())


def _text_level(text: str) -> Any:
    found = TIME.fullmatch(text)
    if found is None:
        return text if text.strip(" ") else None
    day, minute, second, fraction, zone = found.groups()
    if zone not in (None, "Z"):
        try:
            shifted = datetime.fromisoformat(f"{day}T{minute}{zone}").astimezone(UTC)
        except (ValueError, OverflowError):
            return text
        day, minute = shifted.date().isoformat(), shifted.time().isoformat("minutes")
    fraction = (fraction or "").rstrip("0")
    clock = f"{minute}{second or ':00'}{'.' if fraction else ''}{fraction}"
    return day if clock == "00:00:00" else f"{day}T{clock}"


def said_of(level: Any) -> Any:
    """Read a level from its text: a number or a boolean where possible.

    Examples
    --------
    >>> said_of(" 2.0 "), said_of("TRUE"), said_of(True), said_of("007")
    (2, 'true', 'true', '007')
    """
    if isinstance(level, tuple):
        return tuple(map(said_of, level))
    level = level_of(level)
    if isinstance(level, bool):
        return str(level).lower()
    if not isinstance(level, str):
        return level
    text = level.strip(" ")
    if NUMBER.fullmatch(text):
        return label_key(float(text)) if any(mark in text for mark in ".eE") else int(text)
    return text.lower() if text.lower() in ("true", "false") else level
