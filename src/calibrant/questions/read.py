"""Reading of question logs into a record."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, Literal

import numpy as np

from calibrant.core.arrays import ArrayLike, column_names
from calibrant.core.estimators import require_option
from calibrant.errors import InputError
from calibrant.questions.log import Column, Log, right_of, unshared, weighted, with_shares
from calibrant.questions.record import FORMS, Questions, fields_in
from calibrant.questions.tables import of_arrays
from calibrant.questions.values import Fields, Places, batches, is_a, label_of, shown

__all__ = ["as_questions", "is_questions", "is_table", "read_questions"]


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
    ordered: bool | Sequence[Any] = False,
    missing: Literal["raise", "skip"] = "raise",
    sample_weight: ArrayLike | None = None,
) -> Questions:
    """Read answers to questions from a log, a data frame or arrays.

    A row of a log is ``{"id": 7, "question": "topic", "probs": {"a": 0.7, "b": 0.3}, "label":
    "a"}``. Instead of ``probs`` it may have ``logprobs`` of the options, ``samples`` of the answer,
    or a ``confidence`` that the answer is right (with ``correct``): a free answer, which is wrong
    where its confidence is 0. Of several the first in this order counts, and a ``confidence``
    beside it is only checked. The probability of yes is a number in ``probs``. A nested log has
    several questions for one item, in ``decisions``, ``questions`` or ``answers``, and their
    outcomes in each or in ``labels`` by question. A label that is a mapping holds the shares of
    several raters. ``correct`` of a free answer comes before its label, which may be the expected
    text or number; a label that is true or false must agree. Beside options ``correct`` tells
    whether the most likely one is right; false is refused where several others could be. A label
    that was not sampled is "(other)".

    Parameters
    ----------
    source : path of JSON lines, data frame, iterable of mappings, or (n, L) probabilities
        Arrays hold one yes/no question in each column; with ``ordered`` the levels of one score.
    y : (n, L) of 0 and 1, or (n,) levels where ``ordered``, optional
        Outcomes of an array, whose columns are matched by name if both have names; or (n,) outcomes
        of the rows of a log.
    id, question, probs, label, type, model, weight, confidence : str
        Names of the fields or columns; a name other than the default must be in some row. ``probs``
        may be a list of columns, one for each option. Weights are in every row, or missing in all.
    signals : sequence of str
        Fields with further scores of a free answer, higher for better ones; they may be missing.
    ordered : bool or sequence, default False
        Whether options that are numbers are levels of a score; or the names of levels, ascending,
        such as ``["low", "mid", "high"]``. Rows of the type score need it, unless their levels are
        numbers.
    missing : {"raise", "skip"}
        What happens to rows without probabilities: an error, or a warning with their number.
    sample_weight : (n,), optional
        Weights of the rows of a log, instead of the field ``weight``, or of an array.

    Returns
    -------
    Questions

    Raises
    ------
    InputError
        When a row is malformed, has no probabilities, or its label is not one of its options: a
        sentence with its line, the field, and what it holds.

    See Also
    --------
    QuestionCalibrator : calibrates the record.
    QuestionRules : decides which rows to answer.

    Notes
    -----
    Names are texts: the ids 1, 1.0 and "1" are one item. A row without an id is an item of its own.
    What a row means depends on no other row, nor on the order of its options.

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
        return as_questions(source, y, sample_weight)
    texts = {"id": id, "question": question, "label": label, "type": type, "model": model}
    texts |= {"weight": weight, "confidence": confidence}
    for name, value in texts.items():
        if not is_a(value, str):
            raise InputError(f"{name} must be the name of a field; got {shown(value)}.")
    held: Any = probs if is_a(probs, str) else _names("probs", probs)
    fields = Fields(**texts, probs=held, signals=_names("signals", signals))
    levels = bool(ordered) if is_a(ordered, bool, np.bool_) else _names("ordered", ordered)
    # An empty name means no field.
    named = {k: v for k, v in {**texts, "probs": held}.items() if is_a(v, str) and v not in ("", k)}
    if is_table(source, fields, y is not None):
        _require_fields(named, set())
        record = of_arrays(source, y, levels)
        # A row of the table has an answer to each question.
        each = len(record) // len(np.unique(record.item.index))
        return weighted(record, sample_weight, each)
    log, there = Log(fields), set[str]()
    for batch in batches(source, fields):
        log.add(batch)
        there |= fields_in(batch.objects) if named else set()
    _require_fields(named, there)
    record = log.record(levels, missing)
    return record if y is None and sample_weight is None else as_questions(record, y, sample_weight)


def _require_fields(named: Mapping[str, Any], there: set[str]) -> None:
    """Refuse fields that the caller names and that no row has."""
    for name, field in named.items():
        if field not in there:
            rule = f"a field of some row, {sorted(there)[:12]}" if there else "left out of a table"
            raise InputError(
                f"{name} must be {rule}; got {shown(field)}; repair it or leave it out."
            )


def _names(name: str, values: Any) -> tuple[Any, ...]:
    """Several names, or one; each can be a key."""
    try:
        names = (values,) if is_a(values, str) else tuple(values)
        hash(names)
    except TypeError:
        raise InputError(f"{name} must be a list of names; got {shown(values)}.") from None
    return names


def is_table(P: Any, fields: Fields | None = None, outcomes: bool = False) -> bool:
    """Whether P is an array or a frame of numbers, one column a question or level; a frame with
    other columns of a log is none, unless its ``outcomes`` are given.
    """
    if is_a(P, Questions, str) or is_questions(P):
        return False
    fields = Fields() if fields is None else fields
    several = fields.probs if is_a(fields.probs, tuple) else ()
    own = {*FORMS, fields.options, fields.confidence, *map(str, several)}
    if (names := column_names(P)) is not None:
        others = () if outcomes else (fields.id, fields.question, fields.label, fields.type)
        return not {*own, *others} & {*map(str, names)}
    if is_a(P, list, tuple):
        return len(P) > 0 and all(is_a(one, list, tuple, np.ndarray, Real) for one in P)
    return hasattr(P, "__array__") and not is_a(next(iter(P), None), Mapping)


def is_questions(P: Any) -> bool:
    """Whether P can only be answers to questions: a record, or a list of mappings."""
    listed = is_a(P, list, tuple) and len(P) > 0
    return is_a(P, Questions) or (listed and all(is_a(one, dict) for one in P))


def as_questions(P: Any, y: Any = None, sample_weight: Any = None) -> Questions:
    """The record of P: itself, a log, or one mapping of probabilities a row with outcomes y."""
    if isinstance(P, Questions):
        return weighted(P if y is None else _with_outcomes(P, y), sample_weight)
    plain = is_questions(P) and not any(FORMS & set(one) for one in P)
    rows = [{"probs": p} for p in P] if plain else P
    return read_questions(rows, y, sample_weight=sample_weight)


def _with_outcomes(record: Questions, y: Any) -> Questions:
    """The record with other outcomes, one a row."""
    outcomes = list(y) if hasattr(y, "__iter__") and not is_a(y, str, Mapping) else [y]
    if len(outcomes) != len(record):
        raise InputError(f"y must have {len(record)} outcomes, one a row; got {len(outcomes)}.")
    places, labels = Places("row", range(len(record))), Column()
    soft = [one if is_a(one, Mapping) else None for one in outcomes]
    labels.add(places.each(label_of, "y", unshared(outcomes)))
    found = replace(record, right=right_of(record, labels, soft, places), share=None)
    return with_shares(found, soft, places)
