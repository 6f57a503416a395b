"""Rows of a log, from the forms in which tools write them."""

import gzip
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from calibrant.arrays import column_names, plain_array
from calibrant.errors import InputError

__all__ = ["NESTED", "Entry", "Fields", "batches", "entries_of", "is_a", "numbers_of", "words_of"]

#: Lines that are parsed together.
LINES = 16_384
#: Fields of a nested log that hold several questions about one item.
NESTED = ("decisions", "questions", "answers")
#: Prior count of an option among samples of an answer, and the name of the options not sampled.
PRIOR, OTHER = 0.5, "(other)"
#: Words for the event and its opposite among the names of options.
EVENT = {"yes": 1, "true": 1, "1": 1, "no": 0, "false": 0, "0": 0}


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


class Entry(NamedTuple):
    """One row: an answer with its question, and the outcome if it is known; ``free`` if the two
    probabilities are those of a wrong and of a right answer.
    """

    id: Any
    question: Any
    probs: Mapping[str, Any] | None
    label: Any
    type: Any
    model: Any
    weight: Any
    signals: tuple[Any, ...] | None = None
    free: bool = False


def is_a(value: Any, *kinds: Any) -> bool:
    """Whether a value of any type is of one of these types."""
    return isinstance(value, kinds)


def batches(source: Any, fields: Fields) -> Iterator[list[Any]]:
    """Mappings in lists of some thousands, from a path of JSON lines, a frame or an iterable."""
    if isinstance(source, str | Path):
        yield from _lines(Path(source))
        return
    if column_names(source) is not None:
        source = _frame_rows(source, fields)
    if is_a(source, Mapping) or not is_a(source, Iterable):
        raise InputError(
            "source must be a path of JSON lines, a data frame, or a list of mappings such as"
            f" {{'id': 1, 'question': 'a', 'probs': {{...}}}}; got a {type(source).__name__}."
        )
    rows: Iterator[Any] = iter(source)
    while batch := list[Any](islice(rows, LINES)):
        odd = next((one for one in batch if not is_a(one, Mapping)), None)
        if odd is not None:
            raise InputError(
                f"every row must be a mapping such as {{'probs': {{'a': 0.7, 'b': 0.3}}}}; got"
                f" {odd!r:.60}."
            )
        yield batch


def _lines(path: Path) -> Iterator[list[Any]]:
    """The objects of a file of JSON lines, or of one JSON list; it may be compressed by gzip."""
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    with opened(path, "rt", encoding="utf-8-sig") as file:
        done = 0
        while lines := list(islice(file, LINES)):
            if not done and lines[0].lstrip().startswith("["):
                yield json.loads("".join(lines) + file.read())
                return
            kept = [line for line in lines if not line.isspace()]
            try:
                found = json.loads(f"[{','.join(kept)}]")
            except ValueError:
                found = [_object(line, path, done + i) for i, line in enumerate(lines) if line]
            yield found
            done += len(lines)


def _object(line: str, path: Path, number: int) -> Any:
    try:
        return json.loads(line)
    except ValueError as error:
        raise InputError(
            f"{path} must hold one JSON object a line; line {number + 1} is not JSON ({error});"
            " repair or drop that line."
        ) from None


def _frame_rows(frame: Any, fields: Fields) -> Iterator[dict[str, Any]]:
    """The rows of a data frame, with probabilities in a column of mappings or in one column for
    each option.
    """
    names = column_names(frame) or []
    several: list[Any] = list(fields.probs) if is_a(fields.probs, list, tuple) else []
    missing = [name for name in several if name not in names]
    if missing:
        raise InputError(f"source has no column {missing[0]!r}; name columns among {names[:12]}.")
    columns = {name: _listed(frame[name], str(name)) for name in names}
    for row in zip(*columns.values(), strict=True):
        found = dict(zip(columns, row, strict=True))
        if several:
            found["probs"] = {str(name): found[name] for name in several}
        held: Any = found.get("probs" if several else fields.probs)
        if is_a(held, str):
            held = json.loads(held)
        if is_a(held, Mapping):
            found["probs"] = {name: p for name, p in held.items() if p is not None and p == p}
        yield found


def _listed(column: Any, name: str) -> list[Any]:
    """The values of a column; mappings stay mappings in the lists of polars and pyarrow."""
    method = next((one for one in ("to_pylist", "to_list") if hasattr(column, one)), None)
    return plain_array(column, name).tolist() if method is None else getattr(column, method)()


def entries_of(batch: list[Any], fields: Fields) -> Iterator[Entry]:
    """The rows of some objects of a log."""
    name, *_ = (fields.probs if isinstance(fields.probs, str) else "probs",)
    for one in batch:
        probs = one.get(name)
        if type(probs) is dict and not fields.signals:
            yield Entry(
                one.get(fields.id),
                one.get(fields.question),
                probs,
                one.get(fields.label),
                one.get(fields.type),
                one.get(fields.model),
                one.get(fields.weight),
            )
        else:
            yield from _other_forms(one, fields, name)


def _other_forms(one: Mapping[str, Any], fields: Fields, name: str) -> Iterator[Entry]:
    """The rows of an object without a mapping of probabilities."""
    for nested in NESTED:
        held = one.get(nested)
        if is_a(held, Mapping, list) and name not in one:
            yield from entries_of(list(_children(one, held, fields)), fields)
            return
    label = one.get(fields.label, one.get("correct"))
    probs, label, free = _probabilities(one, fields, name, label)
    if free and fields.label == Fields().label:
        # The label of a free answer is often the expected text.
        label = one.get("correct", label)
    signals = None
    if fields.signals:
        held = one.get("signals", one)
        signals = tuple(held.get(key) for key in fields.signals)
        free = free or probs is None
        probs = {"no": 0.5, "yes": 0.5} if probs is None else probs
    types, model, weight = (one.get(key) for key in (fields.type, fields.model, fields.weight))
    item, question = one.get(fields.id), one.get(fields.question)
    yield Entry(item, question, probs, label, types, model, weight, signals, free)


def _children(one: Mapping[str, Any], held: Any, fields: Fields) -> Iterator[dict[str, Any]]:
    """The questions of one item, with what they share."""
    shared = {key: one[key] for key in (fields.id, fields.model, fields.weight) if key in one}
    pairs: Any = held.items() if is_a(held, Mapping) else ((None, each) for each in held)
    for question, each in pairs:
        named = {} if question is None else {fields.question: question}
        yield {**shared, **named, **each}


def _probabilities(
    one: Any, fields: Fields, name: str, label: Any
) -> tuple[dict[str, float] | None, Any, bool]:
    """The probabilities of an object's options, its outcome in their names, and whether they are
    those of a wrong and of a right free answer.
    """
    held: Any = one.get(name)
    if is_a(held, Mapping):
        return dict(held), label, False
    if is_a(held, list):
        return {str(k): p for k, p in enumerate(held)}, label, False
    if (logs := one.get("logprobs")) is not None:
        pairs: Any = logs.items() if is_a(logs, Mapping) else enumerate(logs)
        names, values = zip(*((str(key), float(value)) for key, value in pairs), strict=True)
        odds = np.exp(np.array(values) - max(values))
        return dict(zip(names, (odds / odds.sum()).tolist(), strict=True)), label, False
    if (samples := one.get("samples")) is not None:
        return *_votes(samples, label), False
    event = isinstance(held, int | float)
    held = held if event else one.get(fields.confidence)
    if held is None or held != held:
        return None, label, False
    return {"no": 1.0 - float(held), "yes": float(held)}, label, not event


def _votes(samples: Any, label: Any) -> tuple[dict[str, float], Any]:
    """Shares of sampled answers with half a vote for each option, and for all others together."""
    count = Counter(map(str, samples))
    total = sum(count.values()) + PRIOR * (len(count) + 1)
    shares = {key: (votes + PRIOR) / total for key, votes in count.items()} | {OTHER: PRIOR / total}
    return shares, label if label is None or str(label) in shares else OTHER


def words_of(name: Any) -> int:
    """1 if a name means the event, 0 if its opposite, -1 otherwise."""
    return EVENT.get(str(name).strip().lower(), -1)


def numbers_of(names: Iterable[Any]) -> np.ndarray:
    """The numbers that names spell, nan for others."""

    def number(name: Any) -> float:
        try:
            return float(name)
        except (TypeError, ValueError):
            return np.nan

    return np.array([number(name) for name in names])
