"""Reading of question logs, multilabel tables and ordinal arrays into a record."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from calibrant._support.options import require_option
from calibrant.arrays import ArrayLike, column_names, to_array, weights
from calibrant.errors import CalibrationWarning, InputError, warn
from calibrant.groups import Groups
from calibrant.labels import encode_labels, is_missing
from calibrant.questions.entries import (
    NESTED,
    Fields,
    batches,
    entries_of,
    is_a,
    numbers_of,
    words_of,
)
from calibrant.questions.record import CHOICE, FREE, KINDS, SCORE, TWO_SIDED, YES_NO, Questions

__all__ = ["as_questions", "decimals_of", "is_questions", "read_questions"]

#: Words for kinds in the types of a log.
WORDS = {
    **dict.fromkeys(
        ("yes_no", "yes/no", "yesno", "binary", "bool", "boolean", "noul", "predicate"), YES_NO
    ),
    **dict.fromkeys(("score", "rating", "ordinal", "scale", "grade", "likert"), SCORE),
    **dict.fromkeys(("choice", "multiple_choice", "classification", "intent"), CHOICE),
    **dict.fromkeys(("free answer", "free_answer", "free", "open"), FREE),
}
#: Most decimals of numbers that were rounded, and the error of decimals in binary.
MOST_DECIMALS, BINARY = 6, 1e-6
#: Largest error of a sum of probabilities that were not rounded, and most levels of a score.
SUMS, LEVELS = 1e-4, 10
#: Fields by which a mapping is a row of a log, and not a mapping of probabilities.
FORMS = {"probs", "confidence", "logprobs", "samples", "signals", *NESTED}


class _Column:
    """Names that are numbered as they come."""

    def __init__(self) -> None:
        self.codes: defaultdict[Any, int] = defaultdict()
        self.codes.default_factory = self.codes.__len__
        self.parts: list[np.ndarray] = []

    def add(self, names: Sequence[Any]) -> None:
        """Add the names of some rows."""
        self.parts.append(np.fromiter(map(self.codes.__getitem__, names), np.int32, len(names)))

    def groups(self) -> Groups:
        """The names and their numbers; a missing name is empty."""
        names = ["" if name is None else str(name) for name in self.codes]
        return Groups(np.array(names or [""], dtype=object), np.concatenate(self.parts))


def read_questions(
    source: Any,
    y: ArrayLike | None = None,
    *,
    id: str = "id",
    question: str = "question",
    probs: str | list[str] = "probs",
    label: str = "label",
    type: str = "type",
    model: str = "model",
    weight: str = "weight",
    confidence: str = "confidence",
    signals: Sequence[str] = (),
    ordered: bool = False,
    missing: Literal["raise", "skip"] = "raise",
    sample_weight: ArrayLike | None = None,
) -> Questions:
    """Read answers to questions from a log, a data frame or arrays.

    A row of a log is ``{"id": 7, "question": "topic", "probs": {"a": 0.7, "b": 0.3}, "label":
    "a"}``. Instead of ``probs`` it may have ``logprobs`` of the options, ``samples`` of the answer,
    or a ``confidence`` that the answer is right (with ``correct``): a free answer, which is wrong
    where its confidence is 0. The probability of yes is a number in ``probs``. A nested log has
    several questions for one item, in ``decisions``, ``questions`` or ``answers``. A label that is
    a mapping holds the shares of several raters.

    Parameters
    ----------
    source : path of JSON lines, data frame, iterable of mappings, or (n, L) probabilities
        Arrays hold one yes/no question in each column; with ``ordered`` the levels of one score.
    y : (n, L) of 0 and 1, or (n,) levels where ``ordered``, optional
        Outcomes of an array.
    id, question, probs, label, type, model, weight, confidence : str
        Names of the fields or columns. ``probs`` may be a list of columns, one for each option.
    signals : sequence of str
        Fields with further scores of a free answer, higher for better ones; they may be missing.
    ordered : bool, default False
        Whether options that are numbers are levels of a score.
    missing : {"raise", "skip"}
        What happens to rows without probabilities: an error, or a warning with their number.
    sample_weight : (n,), optional
        Weights of the rows, instead of the field ``weight``.

    Returns
    -------
    Questions

    Raises
    ------
    InputError
        When a row has no valid probabilities, or its label is not one of its options.

    See Also
    --------
    QuestionCalibrator : calibrates the record.
    QuestionRules : decides which rows to answer.

    Examples
    --------
    >>> log = [
    ...     {"id": 1, "question": "topic", "probs": {"art": 0.7, "war": 0.3}, "label": "art"},
    ...     {"id": 1, "question": "safe", "probs": {"yes": 0.9, "no": 0.1}, "label": True},
    ... ]
    >>> questions = read_questions(log)
    >>> len(questions), questions.of_right.tolist(), questions.decimals
    (2, [0.7, 0.9], 1)
    """
    require_option("missing", missing, ("raise", "skip"))
    if isinstance(source, Questions):
        return _weighted(source, sample_weight)
    if isinstance(source, np.ndarray) or y is not None:
        return _weighted(_of_arrays(source, y, ordered), sample_weight)
    held: Any = probs if is_a(probs, str) else tuple(probs)
    texts = (label, type, model, weight, confidence)
    fields = Fields(id, question, held, *texts, tuple(signals))
    return _weighted(_of_log(source, fields, ordered, missing), sample_weight)


def is_questions(P: Any) -> bool:
    """Whether P can only be answers to questions: a record, or a list of mappings."""
    listed = is_a(P, list, tuple) and len(P) > 0
    return is_a(P, Questions) or (listed and all(is_a(one, dict) for one in P))


def as_questions(P: Any, y: Any = None, sample_weight: Any = None) -> Questions:
    """The record of P: itself, a log, or one mapping of probabilities a row with outcomes y."""
    if isinstance(P, Questions):
        found = P if y is None else replace(P, right=_positions(P, list(y)), share=None)
        return _weighted(found, sample_weight)
    if is_questions(P) and any(FORMS & set(one) for one in P[:1]):
        return as_questions(read_questions(P), y, sample_weight)
    if is_questions(P):
        outcomes = [None] * len(P) if y is None else list(y)
        if len(outcomes) != len(P):
            raise InputError(f"y must have {len(P)} outcomes, one a row; got {len(outcomes)}.")
        log = [{"probs": p, "label": one} for p, one in zip(P, outcomes, strict=True)]
        return read_questions(log, sample_weight=sample_weight)
    return read_questions(P, y, sample_weight=sample_weight)


def _positions(record: Questions, outcomes: list[Any]) -> np.ndarray:
    """(n,) positions of outcomes among the options of a record's rows."""
    labels = _Column()
    labels.add([None if is_missing(one) else one for one in outcomes])
    if len(outcomes) != len(record):
        raise InputError(f"y must have {len(record)} outcomes, one a row; got {len(outcomes)}.")
    return _right(record, labels, list(labels.codes))


def _weighted(record: Questions, sample_weight: Any) -> Questions:
    if sample_weight is None:
        return record
    weight, kept = weights(sample_weight, len(record))
    if kept is None:
        return replace(record, weight=weight)
    return replace(record.take(kept), weight=weight, kept=kept)


def _of_arrays(P: Any, y: Any, ordered: bool) -> Questions:
    """Rows of an (n, L) array: a yes/no question for each entry, or one score for each row."""
    names = column_names(P)
    values = to_array(P, "P").astype(np.float64)
    if values.ndim == 1:
        values = values[:, None]
    n, L = len(values), int(values.shape[1])
    titles = np.array([str(j) for j in range(L)] if names is None else names, dtype=object)
    if ordered:
        classes = None if names is None else titles
        right = np.full(n, -1) if y is None else encode_labels(y, classes, n, L)[0]
        return _of_levels(values, titles, right)
    right = np.full((n, L), -1)
    if y is not None:
        given = to_array(y, "y").astype(np.float64).reshape(-1, L) if L == 1 else to_array(y, "y")
        if given.shape != values.shape or not np.isin(given[~np.isnan(given)], (0, 1)).all():
            raise InputError(
                f"y must be {values.shape} of 0 and 1 (nan if unknown), as P; got shape"
                f" {given.shape}; pass ordered=True for one score a row."
            )
        right = np.where(np.isnan(given), -1, given).astype(np.intp)
    _refuse_odd(values.ravel())
    if (values > 1.0 + SUMS).any():
        raise InputError(f"P must be at most 1; got {values.max():g}; pass probabilities.")
    p = np.minimum(values.ravel(), 1.0)
    column, item = np.divmod(np.arange(n * L), L)[::-1]
    both = np.array(["no", "yes"], dtype=object)
    found = _even(np.column_stack([1.0 - p, p]), both, YES_NO, item, right.ravel(), p)
    apart = item if L > 1 else None
    return replace(found, question=Groups(titles, column), cluster=apart)


def _of_levels(values: np.ndarray, titles: np.ndarray, right: np.ndarray) -> Questions:
    """Rows of an (n, K) array of the probabilities of ordered levels."""
    n, K = len(values), int(values.shape[1])
    _refuse_odd(values.ravel())
    total = values.sum(axis=1)
    _refuse_sums(total, np.full(n, K), 0.0)
    rows = np.arange(n)
    return _even(values / total[:, None], titles, SCORE, rows, right, values)


def _even(
    P: np.ndarray, names: np.ndarray, kind: int, item: Any, right: np.ndarray, given: np.ndarray
) -> Questions:
    """Rows (n, K) of one kind and one question; ``given`` may have been rounded."""
    n, K = len(P), int(P.shape[1])
    start = K * np.arange(n + 1)
    place = np.tile(np.arange(K), n)
    items = np.array([str(k) for k in range(int(item[-1]) + 1)], dtype=object)
    return Questions(
        P.ravel(),
        start,
        Groups(names, place),
        np.full(n, kind, np.int8),
        _one("", n),
        _one(KINDS[kind], n),
        Groups(items, item),
        _one("", n),
        right,
        decimals=decimals_of(given),
    )


def _one(name: Any, n: int) -> Groups:
    return Groups(np.array([name], dtype=object), np.zeros(n, np.intp))


def decimals_of(p: np.ndarray) -> int | None:
    """The number of decimals to which probabilities were rounded; None if they were not."""
    for part in (p.ravel()[:1000], p.ravel()):
        for d in range(1, MOST_DECIMALS + 1):
            scaled = part * 10.0**d
            if (np.abs(scaled - np.rint(scaled)) <= BINARY * max(1.0, 10.0 ** (d - 4))).all():
                break
        else:
            return None
    return d if ((p > 0.0) & (p < 1.0)).any() else None


def _refuse_odd(p: np.ndarray) -> None:
    odd = ~(np.isfinite(p) & (p >= 0.0))
    if odd.any():
        raise InputError(
            f"probabilities must be finite and at least 0; got {p[odd][0]:g} ({int(odd.sum())}"
            " such values); pass probabilities, or logits as logprobs."
        )


def _refuse_sums(total: np.ndarray, size: np.ndarray, half: float) -> None:
    away = np.abs(total - 1.0) - np.maximum(SUMS, half * size)
    if (away > 0.0).any():
        raise InputError(
            "the probabilities of a row must sum to 1; those of row"
            f" {int(away.argmax())} sum to {total[away.argmax()]:g}; pass every option."
        )


def _of_log(source: Any, fields: Fields, ordered: bool, missing: str) -> Questions:
    """The record of a log in any form that ``entries_of`` takes."""
    columns = {name: _Column() for name in ("id", "question", "type", "model", "label", "option")}
    values, sizes, kept = list[np.ndarray](), list[np.ndarray](), list[np.ndarray]()
    weight, signals, soft, free = list[Any](), list[Any](), list[Any](), list[bool]()
    for batch in batches(source, fields):
        rows = list(entries_of(batch, fields))
        valid = [one for one in rows if one.probs]
        kept.append(np.array([bool(one.probs) for one in rows]))
        for name in ("id", "question", "type", "model"):
            columns[name].add([getattr(one, name) for one in valid])
        free += [one.free for one in valid]
        soft += [(one.label if is_a(one.label, dict) else None) for one in valid]
        columns["label"].add([_label(one.label) for one in valid])
        probs = [_both(one.probs) for one in valid]
        columns["option"].add([name for one in probs for name in one])
        flat = [p for one in probs for p in one.values()]
        values.append(np.array(flat, dtype=np.float64))
        sizes.append(np.fromiter(map(len, probs), np.intp, len(probs)))
        weight += [one.weight for one in valid]
        signals += [one.signals for one in valid if one.signals is not None]
    if not sizes or not sum(map(len, sizes)):
        raise InputError("source has no rows with probabilities; pass at least one.")
    held = np.concatenate(kept)
    _told_missing(held, missing)
    flat = np.concatenate(values), np.concatenate(sizes), np.array(free)
    record = _assembled(*flat, columns, ordered)
    record = replace(record, right=_right(record, columns["label"], soft))
    if any(one is not None for one in soft):
        record = _shared(record, soft)
    if signals:
        record = replace(
            record, signals=np.array(signals, dtype=np.float64), signal_names=fields.signals
        )
    record = record if held.all() else replace(record, kept=held)
    given = None if all(one is None for one in weight) else weight
    return _weighted(record, given)


def _label(label: Any) -> Any:
    """A label as a key: None if it is missing or a mapping of shares."""
    if label is None or isinstance(label, dict) or label != label:
        return None
    return str(label) if not isinstance(label, float) else f"{label:g}"


def _both(probs: Any) -> Any:
    """The probabilities of an answer, with the opposite of a single event."""
    if len(probs) > 1:
        return probs
    ((name, p),) = probs.items()
    return {"no": 1.0 - p, "yes": p} if words_of(name) == 1 else probs


def _told_missing(held: np.ndarray, missing: str) -> None:
    absent = int((~held).sum())
    if absent and missing == "raise":
        raise InputError(
            f"every row must have probabilities or a confidence; {absent:,} of {len(held):,} rows"
            f' have none, the first is row {int((~held).argmax())}; pass missing="skip" to leave'
            " them out."
        )
    if absent:
        warn(f"{absent:,} of {len(held):,} rows have no probabilities.", CalibrationWarning)


def _assembled(
    values: np.ndarray,
    size: np.ndarray,
    free: np.ndarray,
    columns: dict[str, _Column],
    ordered: bool,
) -> Questions:
    """A record without outcomes, its options in the order of their kind."""
    start = np.append(0, np.cumsum(size))
    _refuse_odd(values)
    decimals = decimals_of(values)
    total = np.add.reduceat(values, start[:-1])
    _refuse_sums(total, size, 0.0 if decimals is None else 0.5 * 10.0**-decimals)
    option, types = columns["option"].groups(), columns["type"].groups()
    kind = _kinds(option, types, start, size, free, ordered)
    order = _order(option, kind, start, size)
    plain = types.names.tolist() == [""]
    items = columns["id"].groups()
    alone = items.names.tolist() == [""]
    n = len(size)
    return Questions(
        (values / np.repeat(total, size))[order],
        start,
        Groups(option.names, option.index[order]),
        kind,
        columns["question"].groups(),
        Groups(np.array(KINDS, dtype=object), kind.astype(np.intp)) if plain else types,
        Groups(np.array(list(map(str, range(n))), dtype=object), np.arange(n)) if alone else items,
        columns["model"].groups(),
        np.full(n, -1),
        decimals=decimals,
        cluster=None if alone or len(items.names) == n else items.index.astype(np.intp),
    )


def _kinds(
    option: Groups,
    types: Groups,
    start: np.ndarray,
    size: np.ndarray,
    free: np.ndarray,
    ordered: bool,
) -> np.ndarray:
    """(n,) the kind of each row: by its type, by its form, or else by the names of its options. The
    confidence of a yes/no question is that of "yes", any other that the answer is right.
    """
    named = np.array([WORDS.get(str(name).strip().lower(), -1) for name in types.names])
    kind = named[types.index]
    kind = np.where(free & (kind != YES_NO), FREE, kind)
    words = np.array([words_of(name) for name in option.names])[option.index]
    opposite = (size == 2) & (np.minimum.reduceat(words, start[:-1]) == 0)
    opposite &= np.maximum.reduceat(words, start[:-1]) == 1
    if ordered:
        level = np.isfinite(numbers_of(option.names))[option.index]
        levels = np.logical_and.reduceat(level, start[:-1]) & (size <= LEVELS) & (size > 2)
        kind = np.where((kind < 0) & levels, SCORE, kind)
    kind = np.where((kind < 0) & opposite, YES_NO, kind)
    odd = (np.isin(kind, TWO_SIDED) & ~opposite) | (size < 2)
    if odd.any():
        names = option.names[option.index[start[odd.argmax()] : start[odd.argmax() + 1]]].tolist()
        raise InputError(
            f"a row must have two options or more, and those of yes/no be yes and no; row"
            f" {int(odd.argmax())} has {names[:6]}; name its options, or set its type to choice."
        )
    return np.where(kind < 0, CHOICE, kind).astype(np.int8)


def _order(option: Groups, kind: np.ndarray, start: np.ndarray, size: np.ndarray) -> Any:
    """The order of the flat arrays in which "yes" follows "no", and levels ascend."""
    if (kind == CHOICE).all():
        return slice(None)
    words = np.array([float(words_of(name)) for name in option.names])
    numbers = numbers_of(option.names)
    numbers = np.where(np.isnan(numbers), np.arange(len(numbers)), numbers)
    row = np.repeat(np.arange(len(kind)), size)
    own = kind[row]
    key = np.where(np.isin(own, TWO_SIDED), words[option.index], numbers[option.index])
    place = np.arange(len(row)) - np.repeat(start[:-1], size)
    return np.lexsort((place, np.where(own == CHOICE, 0.0, key), row))


def _right(record: Questions, labels: _Column, soft: list[Any]) -> np.ndarray:
    """(n,) positions of the labels among the options of each row, -1 where missing."""
    names, option = list(labels.codes), record.option
    known = {str(name): code for code, name in enumerate(option.names.tolist())}
    exact = np.array([-1 if one is None else known.get(str(one), -2) for one in names] or [-1])
    words = np.array([words_of(name) for name in names] or [-1])
    code = np.concatenate(labels.parts)
    hit = option.index == np.repeat(exact[code], record.size)
    found = np.where(hit, record.place, -1)
    right = np.maximum.reduceat(found, record.start[:-1])
    event = np.isin(record.kind, TWO_SIDED) & (right < 0) & (words[code] >= 0)
    right = np.where(event, words[code], right)
    absent = (right < 0) & (exact[code] != -1)
    if absent.any():
        i = int(absent.argmax())
        own = option.names[option.index[record.start[i] : record.start[i + 1]]].tolist()
        raise InputError(
            f"label {names[code[i]]!r} of row {i} must be one of its options {own[:8]};"
            f" {int(absent.sum()):,} such rows; correct them, or leave the label out."
        )
    return right


def _shared(record: Questions, soft: list[Any]) -> Questions:
    """The record with the shares of raters in the rows that have them."""
    share, right = record.mass.copy(), record.right.copy()
    for i in [i for i, one in enumerate(soft) if one is not None]:
        own = slice(record.start[i], record.start[i + 1])
        names = record.option.names[record.option.index[own]].tolist()
        parts = np.array([float(soft[i].get(name, 0.0)) for name in names])
        if (parts < 0.0).any() or parts.sum() <= 0.0 or set(map(str, soft[i])) - set(names):
            raise InputError(
                f"shares of raters must be of the row's options, not negative, not all 0; row {i}"
                f" has {soft[i]}."
            )
        share[own], right[i] = parts / parts.sum(), int(parts.argmax())
    return replace(record, share=share, right=right)
