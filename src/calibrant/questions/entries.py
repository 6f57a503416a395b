"""Rows of a log, from the forms in which tools write them."""

import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from calibrant.arrays import column_names, plain_array
from calibrant.errors import InputError
from calibrant.labels import is_missing
from calibrant.questions.values import (
    OddValue,
    Places,
    chance_of,
    finite_of,
    is_a,
    is_list,
    label_of,
    number_of,
    shown,
    text_of,
)

__all__ = ["JUDGED", "NESTED", "OPTIONS", "Batch", "Entry", "Fields", "batches", "entries_of"]

#: Lines that are parsed together.
LINES = 16_384
#: Fields of a nested log that hold several questions about one item.
NESTED = ("decisions", "questions", "answers")
#: Prior count of an option among samples of an answer, and the name of the options not sampled.
PRIOR, OTHER = 0.5, "(other)"
#: Forms of a row: options, the confidence of a free answer, and one whose outcome is ``correct``.
OPTIONS, FREE_FORM, JUDGED = range(3)


class Fields(NamedTuple):
    """Names of the fields of a log."""

    id: str = "id"
    question: str = "question"
    probs: Any = "probs"
    label: str = "label"
    type: str = "type"
    model: str = "model"
    weight: str = "weight"
    confidence: str = "confidence"
    signals: tuple[str, ...] = ()

    @property
    def options(self) -> str:
        """The field of the probabilities of the options."""
        return self.probs if isinstance(self.probs, str) else "probs"


class Entry(NamedTuple):
    """One row: an answer with its question, the outcome if it is known, and the number of its line.

    ``form`` tells the confidences of free answers from the probabilities of options.
    """

    id: Any
    question: Any
    probs: Mapping[Any, Any] | None
    label: Any
    type: Any
    model: Any
    weight: Any
    at: int
    signals: tuple[float, ...] | None = None
    form: int = OPTIONS


class Batch(NamedTuple):
    """Some objects of a log, and what they are called in errors: a line or a row, by number."""

    objects: Sequence[Any]
    word: str
    number: Sequence[int]


def batches(source: Any, fields: Fields) -> Iterator[Batch]:
    """Mappings in lists of some thousands, from a path of JSON lines, a frame or an iterable."""
    of_file = isinstance(source, str | Path)
    for batch in _lines(Path(source)) if of_file else _listed_rows(source, fields):
        for k, one in enumerate(batch.objects):
            if type(one) is not dict and not is_a(one, Mapping):
                raise InputError(
                    "every row must be a mapping such as {'probs': {'a': 0.7, 'b': 0.3}};"
                    f" {batch.word} {batch.number[k]} is {shown(one)}; repair or drop it."
                )
        yield batch


def _listed_rows(source: Any, fields: Fields) -> Iterator[Batch]:
    if column_names(source) is not None:
        source = _frame_rows(source, fields)
    if is_a(source, Mapping, bytes) or not is_a(source, Iterable):
        raise InputError(
            "source must be a path of JSON lines, a data frame, or a list of mappings such as"
            f" {{'id': 1, 'question': 'a', 'probs': {{...}}}}; got a {type(source).__name__}."
        )
    rows: Iterator[Any] = iter(source)
    done = 0
    while objects := list[Any](islice(rows, LINES)):
        yield Batch(objects, "row", range(done, done + len(objects)))
        done += len(objects)


def _lines(path: Path) -> Iterator[Batch]:
    """The objects of a file of JSON lines, or of one JSON list; it may be compressed by gzip."""
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8-sig") as file:
            done = 0
            while lines := list(islice(file, LINES)):
                if not done and lines[0].lstrip().startswith("["):
                    listed = json.loads("".join(lines) + file.read())
                    yield Batch(listed, "row", range(len(listed)))
                    return
                number = [done + k for k, line in enumerate(lines, 1) if not line.isspace()]
                kept = [line for line in lines if not line.isspace()]
                yield Batch(_parsed(kept, number, path), "line", number)
                done += len(lines)
    except (UnicodeDecodeError, EOFError, gzip.BadGzipFile, ValueError, RecursionError) as error:
        raise InputError(
            f"{path} must hold JSON in UTF-8, one object a line; it does not ({error}); write it"
            " again."
        ) from None


def _parsed(lines: list[str], number: list[int], path: Path) -> list[Any]:
    """The objects of some lines, parsed together, or one by one if a line is damaged."""
    found: list[Any] = []
    with suppress(ValueError, RecursionError):
        found = json.loads(f"[{','.join(lines)}]")
    if len(found) == len(lines):
        return found
    return [_object(line, k, path) for line, k in zip(lines, number, strict=True)]


def _object(line: str, number: int, path: Path) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{path} must hold one JSON object a line; line {number} is not JSON ({error});"
            " repair or drop that line."
        ) from None


def _frame_rows(frame: Any, fields: Fields) -> Iterator[dict[Any, Any]]:
    """The rows of a data frame, with probabilities in a column of mappings or in one column for
    each option.
    """
    names = column_names(frame) or []
    several: list[Any] = list(fields.probs) if is_a(fields.probs, list, tuple) else []
    missing = [name for name in several if name not in names]
    if missing:
        raise InputError(f"source has no column {missing[0]!r}; name columns among {names[:12]}.")
    columns = {name: _listed(frame[name], str(name)) for name in names}
    for k, row in enumerate(zip(*columns.values(), strict=True)):
        found = dict(zip(columns, row, strict=True))
        if several:
            found["probs"] = {name: found[name] for name in several}
        held: Any = found.get(fields.options)
        if is_a(held, str):
            try:
                held = found[fields.options] = json.loads(held)
            except (ValueError, RecursionError):
                odd = OddValue("be a mapping, or its JSON", held, "repair it")
                raise odd.at(fields.options, f"row {k}") from None
        if is_a(held, Mapping):
            # A column of mappings holds in each row every option that some row has.
            found[fields.options] = {name: p for name, p in held.items() if not is_missing(p)}
        yield found


def _listed(column: Any, name: str) -> list[Any]:
    """The values of a column; mappings stay mappings in the lists of polars and pyarrow."""
    method = next((one for one in ("to_pylist", "to_list") if hasattr(column, one)), None)
    return plain_array(column, name).tolist() if method is None else getattr(column, method)()


def entries_of(batch: Batch, fields: Fields) -> Iterator[Entry]:
    """The rows of some objects of a log."""
    name, plain = fields.options, not fields.signals
    for one, at in zip(batch.objects, batch.number, strict=True):
        probs = one.get(name)
        label = one.get(fields.label)
        if plain and type(probs) is dict and label is not None:
            yield Entry(
                one.get(fields.id),
                one.get(fields.question),
                probs,
                label,
                one.get(fields.type),
                one.get(fields.model),
                one.get(fields.weight),
                at,
            )
        else:
            yield from _other_forms(one, fields, Places(batch.word, [at]))


def _other_forms(one: Mapping[Any, Any], fields: Fields, place: Places) -> Iterator[Entry]:
    """The rows of an object in any form."""
    for nested in NESTED:
        if is_a(one.get(nested), Mapping, list) and fields.options not in one:
            inside = _children(one, nested, fields, place)
            yield from entries_of(Batch(inside, place.word, [*place.number] * len(inside)), fields)
            return
    forms = _forms(fields)
    form = next((key for key in forms if _given(one.get(key))), None)
    signals = _signals(one, fields, place) if fields.signals else None
    free = form == fields.confidence or (form is None and signals is not None)
    label, kind = _outcome(one, fields, free)
    probs: Mapping[Any, Any] | None = None if signals is None else {"no": 0.5, "yes": 0.5}
    if form is not None:
        (probs,) = place.each(forms[form], form, [one[form]])
    if form == "samples" and not is_a(label, Mapping):
        (text,) = place.each(label_of, fields.label, [label])
        label = OTHER if text is not None and text not in (probs or ()) else text
    types, model, weight = (one.get(key) for key in (fields.type, fields.model, fields.weight))
    item, question = one.get(fields.id), one.get(fields.question)
    yield Entry(item, question, probs, label, types, model, weight, place.number[0], signals, kind)


def _children(
    one: Mapping[Any, Any], nested: str, fields: Fields, place: Places
) -> list[dict[Any, Any]]:
    """The questions of one item, with what they share."""
    held: Any = one[nested]
    shared = {key: one[key] for key in (fields.id, fields.model, fields.weight) if key in one}
    named: Any = is_a(held, Mapping)
    values = list(held.values()) if named else held
    for value in values:
        if not is_a(value, Mapping):
            odd = OddValue("hold a mapping for each question", value, "repair or drop that row")
            raise odd.at(nested, place[0])
    none = dict[Any, Any]()
    names = [{fields.question: name} for name in held] if named else [none] * len(values)
    return [{**shared, **name, **each} for name, each in zip(names, values, strict=True)]


def _forms(fields: Fields) -> dict[str, Callable[[Any], Any]]:
    """Readers of the forms of an answer, by their fields, the first of which counts."""
    return {
        fields.options: _of_options,
        "logprobs": _of_logs,
        "samples": _votes,
        fields.confidence: _of_event,
    }


def _given(value: Any) -> bool:
    return not is_missing(value) and not (
        (is_a(value, Mapping) or is_list(value)) and not len(value)
    )


def _outcome(one: Mapping[Any, Any], fields: Fields, free: bool) -> tuple[Any, int]:
    """(the outcome of a row, the form of its answer)."""
    label, judged = one.get(fields.label), one.get("correct") if fields.label else None
    # The label of a free answer is often the expected text.
    first = free and fields.label == Fields().label and not is_missing(judged)
    judged_only = is_missing(label) and not is_missing(judged)
    by_judge = first or judged_only
    return judged if by_judge else label, (JUDGED if by_judge else FREE_FORM) if free else OPTIONS


def _signals(one: Mapping[Any, Any], fields: Fields, place: Places) -> tuple[float, ...]:
    held: Any = one.get("signals")
    if held is not None and not is_a(held, Mapping):
        odd = OddValue("be a mapping of scores", held, "name each score")
        raise odd.at("signals", place[0])
    scores: dict[Any, Any] = {**one, **(held or {})}
    return tuple(place.each(finite_of, key, [scores.get(key)])[0] for key in fields.signals)


def _of_options(held: Any) -> Mapping[Any, Any]:
    if is_a(held, Mapping):
        return held
    if is_list(held):
        return {str(k): p for k, p in enumerate(held)}
    if is_a(held, str, bytes):
        raise OddValue("be a mapping, a list or a number", held, "name the options")
    return _of_event(held)


def _of_event(value: Any) -> dict[str, float]:
    p = chance_of(value)
    return {"no": 1.0 - p, "yes": p}


def _of_logs(logs: Any) -> dict[Any, float]:
    if not (is_a(logs, Mapping) or is_list(logs)):
        raise OddValue("be a mapping or a list", logs, "name the options")
    pairs: Any = logs.items() if is_a(logs, Mapping) else enumerate(logs)
    names, values = zip(*((name, number_of(one)) for name, one in pairs), strict=True)
    values = np.array(values)
    if not values.max() < np.inf or values.max() == -np.inf:
        raise OddValue("be numbers, one of them finite", logs, "repair that row")
    odds = np.exp(values - values.max())
    return dict(zip(names, (odds / np.sort(odds).sum()).tolist(), strict=True))


def _votes(samples: Any) -> dict[str, float]:
    """Shares of sampled answers with half a vote for each option, and for all others together."""
    if not is_list(samples):
        raise OddValue("be a list of answers", samples, "write one answer in brackets")
    if any(map(is_missing, samples)):
        raise OddValue("hold answers", samples, "leave out those that are missing")
    count = Counter(map(text_of, samples))
    total = sum(count.values()) + PRIOR * (len(count) + 1)
    return {key: (votes + PRIOR) / total for key, votes in count.items()} | {OTHER: PRIOR / total}
