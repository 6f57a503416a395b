"""Find the columns of a file by their content, and the label of the event."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, NoReturn

import numpy as np

from calibrant.core.labels import (
    NO_VALUE,
    SoftLabels,
    array_of,
    is_indicator,
    is_missing,
    is_number,
    is_unlabelled,
    partner_of,
)
from calibrant.core.text_table import abridged, few
from calibrant.errors import InputError, Note, warn
from calibrant.tables.columns import (
    at_most_one,
    class_names,
    encode,
    event_places,
    label_values,
    starred,
    whole_numbers,
)
from calibrant.tables.engines.choosing import choose, opened, reading
from calibrant.tables.names import ARRAYS, PATTERNS, SINGLE, Columns
from calibrant.tables.texts import Texts

__all__ = [
    "QUESTIONS",
    "UNITS",
    "as_floats",
    "as_risk",
    "event_last",
    "event_of",
    "find",
    "key_of",
    "label_of",
    "labels_in",
    "missing_in",
    "of_array",
    "of_raters",
    "rater_columns",
    "refuse_absent",
    "refuse_unsaid",
    "require_all",
    "same_kind",
    "two_labels",
]

#: The remedy of a missing value.
FILL_IN = "fill them in, or leave out such rows with --skip-missing"
#: Texts for a missing value that may be names in columns that hold no labels.
WORDS = {text for text in NO_VALUE if text.lower() != "nan"}


def find(source: Any, columns: Columns, prefer: str | None) -> tuple[Any, str, Any]:
    """Return (names, inputs, classes) of the columns of predictions of a table."""
    given = {"probability": columns.one or columns.probabilities, "logit": columns.logits}
    kinds = [kind for kind, name in given.items() if name is not None] or ["probability", "logit"]
    if prefer == "logit" and len(kinds) == 2:
        kinds.reverse()
    for kind in kinds:
        names, classes = (
            _named(source, given[kind], columns.one is None)
            if given[kind] is not None
            else _usual(source, kind)
        )
        if names:
            return names, kind, classes
    ends = [name for name in source.content if name.lower().endswith(("lower", "upper"))][:2]
    remedy = (
        f"give the ends of its intervals their levels, --quantiles {ends[0]}=0.1,{ends[1]}=0.9 for"
        " intervals of 80 %"
        if len(ends) == 2
        else 'name yours with --risk, --probabilities "a,b,c" (or "score_*", a star for the class)'
        " or --logits; name forecasts of a number with --mean and --std, or --quantiles"
    )
    raise InputError(
        f"{source.path} must have columns of predictions such as p_CLASS, one for each class; it"
        f" has {source.described()}; {remedy}."
    )


def _usual(source, kind):
    for pattern in PATTERNS[kind]:
        names, classes = _matching(source, pattern)
        if names:
            return names, classes
    single = [name for name in SINGLE if name in source.content] if kind == "probability" else []
    return single[:1], None


def _named(source, text, several):
    """Return (names, classes) of the columns in an option; the name of a risk has no pattern."""
    if "*" in text and several:
        names, classes = _matching(source, text)
        if not names:
            raise InputError(
                f"{source.path} has no column like {text!r}; name one of {source.described()}."
            )
        return names, classes
    names = [part.strip() for part in text.split(",")] if several else [text]
    missing = [name for name in names if name not in source.content]
    if missing:
        raise InputError(
            f"{source.path} has no column {missing[0]!r}; name one of {source.described()}."
        )
    return names, names if len(names) > 1 else None


def _matching(source, pattern):
    """Return the columns that match, and their classes: the part that the star stands for."""
    found = starred(source.content, pattern)
    return list(found), class_names(found.values()) if len(found) > 1 else None


def key_of(source: Any, name: str | None, what: str) -> str | None:
    """Return the name of an array or column of a kind in ``ARRAYS``: the one given, or the first
    usual name in the file.
    """
    return (
        source.require(name)
        if name is not None
        else next((key for key in ARRAYS[what] if key in source.content), None)
    )


def label_of(source: Any, columns: Columns) -> str:
    """Return the name of the labels; refuse a file without them."""
    name = key_of(source, columns.label, "label")
    if name is None:
        raise InputError(
            f"{source.path} must hold the true labels as {', '.join(ARRAYS['label'])}; it holds"
            f" {source.described()}; name yours with {columns.label_option}."
        )
    return name


def as_floats(column: Any, name: str, path: Any) -> np.ndarray:
    """Convert a column to numbers, (n,) float64."""
    if getattr(column, "dtype", np.dtype(object)).kind in "mM":
        raise InputError(
            f"{path}: column {name!r} must hold numbers; it holds {column.dtype}; name another"
            " column."
        )
    if isinstance(column, Texts):
        if column.numbers is not None:
            return column.numbers
        column = column.tolist()
    try:
        values = np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        values = None
    if values is None or _holds_text(column):
        listed = column if isinstance(column, list) else column.tolist()
        bad = next(
            (
                i
                for i, value in enumerate(listed)
                if not _is_missing(value) and not _is_number(value)
            ),
            None,
        )
        if bad is not None:
            said = f"row {bad} is {abridged(listed[bad])}; {_remedy(str(listed[bad]))}"
            raise InputError(f"{path}: column {name!r} must hold numbers; {said}.")
        values = np.array([np.nan if _is_missing(value) else float(value) for value in listed])
    require_all(np.isnan(values), name, path, "a number")
    return values


def require_all(missing: np.ndarray, name: str, path: Any, what: str) -> None:
    """Refuse a column with missing values."""
    refuse_missing(np.flatnonzero(missing), name, path, what)


def refuse_missing(rows: np.ndarray, name: str, path: Any, what: str) -> None:
    """Refuse these rows of a column, if there are any."""
    if len(rows):
        raise InputError(
            f"{path}: {name!r} must hold {what} in every row; row {rows[0]} is missing ({len(rows)}"
            f" in all); {FILL_IN}."
        )


def missing_in(source: Any, name: str, classes: Collection[str] = WORDS) -> np.ndarray:
    """Return (n,) whether each row of an array or column is missing; with ``classes``, for labels,
    also the texts that programs write for a missing value, unless one of these is a class.
    """
    values = source.column(name)
    if source.kind == "csv":
        if values.numbers is not None:
            return np.zeros(len(values), dtype=bool)
        return values.each(lambda text: is_unlabelled(text, classes), bool)
    if values.dtype.kind not in "fOUT":
        return np.isnat(values) if values.dtype.kind in "mM" else np.zeros(len(values), dtype=bool)
    found = (
        np.isnan(values)
        if values.dtype.kind == "f"
        else np.array([is_unlabelled(value, classes) for value in values.tolist()], dtype=bool)
    )
    return np.asarray(found.any(axis=tuple(range(1, found.ndim))))


def _is_missing(value: Any) -> bool:
    return not value.strip() if isinstance(value, str) else is_missing(value)


def _is_number(value: Any) -> bool:
    # Python reads 0_1 and True as numbers, but users do not write numbers so.
    return is_number(value) and "_" not in str(value) and not isinstance(value, bool)


def _holds_text(column: Any) -> bool:
    """Whether the column has a value that only Python reads as a number."""
    texts = (
        column if isinstance(column, list) else column.tolist() if column.dtype.kind in "OU" else []
    )
    return any(
        isinstance(value, bool) or (isinstance(value, str) and "_" in value) for value in texts
    )


def _remedy(text):
    """Return the remedy for a value that Python does not read as a number."""
    if text.strip().endswith("%") and is_number(text.strip().removesuffix("%")):
        return "remove the percent signs, and pass --inputs percent for a column of risks"
    if text.count(",") == 1 and is_number(text.replace(",", ".")):
        return "write numbers with a point, or separate the values by semicolons"
    return "repair or drop that row"


def same_kind(labels: Texts | None, classes: Sequence[str] | None) -> Any:
    """Return the labels (n,), and the classes, as whole numbers if all of their texts are, so that
    "0" in a header and 0 in a column are one class. Two texts of one number, such as 1 and 01, stay
    texts.
    """
    distinct = [] if labels is None else labels.distinct
    texts, n_labels = [*distinct, *map(str, classes or ())], len(distinct)
    plain = whole_numbers(texts)
    apart = (
        class_names(texts[n_labels:]) == plain[n_labels:]
        if classes is not None
        else {*label_values(texts)} == {*plain}
    )
    values = plain if apart else texts
    return (
        None if labels is None else array_of(values[:n_labels])[labels.codes],
        classes if classes is None or values == texts else values[n_labels:],
    )


#: Values of --target for predictions of classes, apart from a class's label.
QUESTIONS = ("event", "answer", "classes")
#: Unit in --inputs -> (its valid values in words, a test for invalid values, the conversion to
#: probabilities or None).
UNITS: dict[str, tuple[str, Callable[..., Any], Callable[..., Any] | None]] = {
    "probability": ("probabilities in [0, 1]", lambda v: (v < 0.0) | (v > 1.0), None),
    "percent": ("percentages, 0 to 100", lambda v: (v < 0.0) | (v > 100.0), lambda v: v / 100.0),
    "log_probability": ("logarithms of probabilities, at most 0", lambda v: v > 0.0, np.exp),
    "logit": ("log-odds", np.isinf, None),
    "score": ("finite scores", np.isinf, None),
}


def as_risk(values: np.ndarray, inputs: str, name: str, path: Any) -> tuple[np.ndarray, str]:
    """Return (values, "probability", "logit" or "score") of one column in the unit ``inputs``;
    refuse invalid values.
    """
    rule, off, meant = UNITS[inputs]
    if values.dtype.kind not in "fiu":
        return values, inputs  # the reader of predictions refuses them
    require_all(np.isnan(values), name, path, "a number")
    if inputs == "probability" and values.dtype.kind == "f":
        values = at_most_one(values)
    bad = np.flatnonzero(off(values))
    if len(bad):
        raise InputError(
            f"{path}: {name!r} must hold {rule}; row {bad[0]} is {values[bad[0]]:.9g} ({len(bad)}"
            " in all); set its unit with --inputs"
            f" {', '.join(one for one in UNITS if one != inputs)}."
        )
    return values if meant is None else meant(values.astype(np.float64)), (
        inputs
        if inputs
        in (
            "logit",
            "score",
        )
        else "probability"
    )


def two_labels(
    labels: Sequence[Any], positive: str | None, path: Any
) -> tuple[Any, list[Any] | None]:
    """Return (labels, [other label, event]) of rows with one risk each; several other labels become
    "not EVENT", and None leaves the choice to the reader of predictions.

    Examples
    --------
    >>> (
    ...     two_labels(["Yes", "Yes"], None, "f")[1],
    ...     two_labels([0, 1], None, "f")[1],
    ...     two_labels(["good", "bad"], "bad", "f")[1],
    ... )
    (['No', 'Yes'], None, ['good', 'bad'])
    """
    listed = list(labels) if isinstance(labels, list) else np.asarray(labels).tolist()
    seen = list(dict.fromkeys(listed))
    if any(map(is_missing, seen)) or any(
        isinstance(label, float) and not label.is_integer() for label in seen
    ):
        return labels, None
    own = _event_among(seen, positive, f"the labels of {path}", spellings=True)
    if positive is None and not any(isinstance(label, str) for label in seen):
        return labels, None
    event = next((label for label, is_it in zip(seen, own, strict=True) if is_it), None)
    others = [label for label, is_it in zip(seen, own, strict=True) if not is_it]
    event = (
        event if event is not None else positive if positive is not None else partner_of(others[0])
    )
    if len(seen) - sum(own) == 1 >= sum(own):
        return labels, [others[0], event]
    other = f"not {event}" if positive is not None else partner_of(str(event))
    if positive is not None:
        warn(
            f"{path} has {len(others)} labels other than {event!r}, which all count as no event:"
            f" {few(others)}."
        )
    marks = dict(zip(seen, own, strict=True))
    return np.array([event if marks[label] else other for label in listed], dtype=object), [
        other,
        event,
    ]


def _event_among(names, positive, what, spellings=False):
    """Return whether each name is the event; refuse a --positive that is none of them, and names
    that do not show the event.
    """
    if positive is None:
        try:
            return event_places(names, spellings=spellings)
        except InputError:
            raise InputError(
                f"{what} do not show which is the event; they are {few(names)}; name it with"
                " --positive LABEL."
            ) from None
    own = event_places(names, positive)
    if not any(own) and len(names) > 1:
        raise InputError(f"--positive must be among {what}, {few(names)}; got {positive!r}.")
    return own


def event_of(classes: Sequence[Any], positive: str | None, path: Any) -> Any:
    """Return the label of the event among two classes of columns; None if neither they nor
    --positive show it.
    """
    if positive is None and not _say_it(classes):
        return None
    return list(classes)[
        _event_among(list(classes), positive, f"the classes of {path}").index(True)
    ]


def _say_it(classes):
    try:
        return any(event_places(classes))
    except InputError:
        return False


def refuse_unsaid(classes: Sequence[Any], path: Any) -> NoReturn:
    """Refuse two classes of which neither is known to be the event."""
    raise InputError(
        f"the classes {few(classes)} of {path} do not show which is the event; name it with"
        " --positive LABEL, or measure the predicted label with --target answer."
    )


#: Largest number of distinct labels; more suggest that the column is not one of labels.
MOST_LABELS = 100_000


def labels_in(table: Any, name: str, path: Any, classes: Collection[str] = ()) -> list[Any]:
    """Return all labels that occur in a table of files at ``path``, as ``label_values``."""
    module, seen, start, lost = choose(table, "auto"), {}, 0, []
    with reading(table):
        for batch in module.batches(opened(table, module), [name], ordered=True):
            values, codes = encode(batch.column(name))
            missing = np.array([is_unlabelled(value, classes) for value in values], dtype=bool)
            lost.append(start + np.flatnonzero(missing[codes]))
            start += len(codes)
            places = np.flatnonzero(np.bincount(codes, minlength=len(values)))
            seen.update(dict.fromkeys(label_values([values[i] for i in places], classes)))
            if len(seen) > MOST_LABELS:
                raise InputError(
                    f"{name!r} must hold labels of classes; it holds more than {MOST_LABELS:,}"
                    " values; name another column."
                )
    refuse_missing(np.concatenate(lost or [np.zeros(0, int)]), name, path, "a label")
    return list(seen)


def refuse_absent(source: str, table: Any, label: str, columns: Columns, target: Any) -> None:
    """Refuse an event that is none of several labels of a table, and warn if one other label is
    all that it holds.
    """
    option, event = (
        ("--positive", columns.positive)
        if columns.positive is not None
        else ("--classes", columns.declared[-1])
        if columns.declared
        else ("--target", target)
    )
    labels = labels_in(table, label, source, columns.declared)
    if event in (None, "event", "answer") or any(event_places(labels, event)):
        return
    if len(labels) > 1 and option != "--classes":
        raise InputError(
            f"{option} must be among the labels of {source}, {few(labels)}; got {event!r}."
        )
    warn(f"no row of {source} has the label {event!r}, which {option} names as the event.")


#: Columns of the shares, or numbers of votes, of several raters, one for each class.
RATERS = ("share_*", "votes_*")


def rater_columns(source: Any, label: str | None) -> dict[str, str]:
    """Return the columns of raters, each with its class: those that --label means by a star, or the
    usual ones of a table without labels.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> rater_columns(SimpleNamespace(content=["p_a", "share_a", "share_b"]), None)
    {'share_a': 'a', 'share_b': 'b'}
    """
    usual = () if any(name in source.content for name in ARRAYS["label"]) else RATERS
    patterns = usual if label is None else (label,)
    return next((own for one in patterns if (own := starred(source.content, one))), {})


def of_raters(values: np.ndarray, classes: Any, path: Any, called: str) -> SoftLabels:
    """Return the labels of raters from shares (n, K), or from numbers of votes, with a note."""
    one = values.shape[1] == 1
    if not one and (values > 1.0).any() and (values % 1.0 == 0.0).all():
        warn(f"{path}: the votes in {called} are divided by their sums: a row counts once.", Note)
        values = values / np.maximum(np.abs(values).sum(axis=1, keepdims=True), 1.0)
    found = SoftLabels(values[:, 0] if one else values)
    found.names = None if one else classes
    return found


def of_array(labels: Any, path: Any) -> Any:
    """Return an array of labels; one of a column for each class as shares, unless it marks classes
    by 0 and 1.
    """
    several = getattr(labels, "ndim", 1) == 2 and labels.shape[1] > 1
    if not several or labels.dtype.kind not in "fiu" or is_indicator(labels):
        return labels
    return of_raters(labels.astype(np.float64), None, path, "the labels")


def event_last(names: Sequence[Any], positive: str | None, path: Any) -> list[Any]:
    """Return the two classes of raters' columns, the event last: one column of risks is of it."""
    if (event := event_of(names, positive, path)) is None:
        refuse_unsaid(names, path)
    return [*(name for name in names if name != event), event]
