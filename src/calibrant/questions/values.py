"""Names and numbers in the fields of a log, with errors that name the row and the field; and
objects of a log, from a file of JSON lines, a data frame or a list.
"""

import io
import json
import math
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from calibrant.core.arrays import column_names, plain_array
from calibrant.core.labels import is_missing
from calibrant.core.stores import Address, located, unpacked
from calibrant.errors import InputError

__all__ = [
    "Batch",
    "Fields",
    "OddValue",
    "Places",
    "batches",
    "chance_of",
    "finite_of",
    "is_a",
    "is_list",
    "label_of",
    "number_of",
    "options_by_text",
    "reading_row",
    "shown",
    "text_of",
    "words_of",
]


#: The largest whole number that is a name, and the largest that a float holds exactly.
LARGEST, WHOLE = 10**300, 2.0**53
#: Words for the event and its opposite among the names of options.
EVENT = {"yes": 1, "true": 1, "1": 1, "no": 0, "false": 0, "0": 0}


class OddValue(Exception):
    """A value that a field must not hold: the rule, and what to do."""

    def __init__(self, rule: str, value: Any, remedy: str) -> None:
        super().__init__(rule)
        self.rule: str = rule
        self.value: Any = value
        self.remedy: str = remedy

    def at(self, field: str, place: str) -> InputError:
        """The error for a field of a row."""
        return InputError(
            f"{field!r} of {place} must {self.rule}; got {shown(self.value)}; {self.remedy}."
        )


@dataclass(frozen=True)
class Places:
    """Names of the rows of a record in errors: "line 3" or "row 2"."""

    word: str
    number: Sequence[int]

    def __getitem__(self, i: Any) -> str:
        return f"{self.word} {self.number[int(i)]}"

    def each(
        self, convert: Callable[[Any], Any], field: str, values: Sequence[Any], rows: Any = None
    ) -> list[Any]:
        """Convert the values of a field, one a row or those of ``rows``."""
        try:
            return [convert(value) for value in values]
        except OddValue:
            pass
        for i, value in enumerate(values):
            try:
                convert(value)
            except OddValue as error:
                raise error.at(field, self[i if rows is None else rows[i]]) from None
        raise AssertionError


def is_a(value: Any, *kinds: Any) -> bool:
    """Whether a value of any type is of one of these types."""
    return isinstance(value, kinds)


def is_list(value: Any) -> bool:
    """Whether a value is a list, or an array of one dimension."""
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim == 1)


@contextmanager
def reading_row(place: str, what: str) -> Generator[None, None, None]:
    """Turn errors of a row that is not in the form of its tool into one that names it."""
    try:
        yield
    except InputError:
        raise
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        why = f"no {error}" if isinstance(error, KeyError) else error
        raise InputError(f"{place} must be {what}; it is not ({why}); drop it.") from None


def shown(value: Any) -> str:
    """A value in an error, in one short line."""
    try:
        text = repr(value)
    except Exception:
        text = f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def text_of(name: Any) -> str:
    """The text of a name: 1, 1.0 and "1" are one name; a missing one is empty."""
    if type(name) is str or (type(name) is int and -WHOLE < name < WHOLE):
        return str(name)
    if name is None:
        return ""
    if is_a(name, str):
        return str(name)
    if is_missing(name):
        return ""
    if is_a(name, Mapping, list, set, frozenset, bytes, bytearray, np.ndarray):
        raise OddValue("be a text or a number", name, "write it as a text")
    if is_a(name, float, np.floating) and abs(name) < WHOLE and float(name).is_integer():
        return str(int(name))
    if is_a(name, int) and abs(name) > LARGEST:
        raise OddValue("be a text or a number of 300 digits at most", name, "write a shorter one")
    return str(name)


def label_of(label: Any) -> str | None:
    """The text of an outcome; None if it is missing."""
    if type(label) is str:
        return label
    return None if is_missing(label) else text_of(label)


def number_of(value: Any) -> float:
    """A number; texts, booleans and what is missing are none."""
    if is_a(value, Real, Decimal) and not is_a(value, bool, np.bool_):
        with suppress(ValueError, OverflowError):
            return float(value)
    raise OddValue("be a number", value, "write a number, or leave the field out")


def finite_of(value: Any) -> float:
    """A finite number, nan if it is missing."""
    number = math.nan if value is None or is_missing(value) else number_of(value)
    if math.isinf(number):
        raise OddValue("be finite", value, "leave it out if it is missing")
    return number


def chance_of(value: Any) -> float:
    """A number from 0 to 1."""
    number = number_of(value)
    if not 0.0 <= number <= 1.0:
        raise OddValue("be from 0 to 1", value, "divide percentages by 100")
    return number


def options_by_text(probs: Mapping[Any, Any]) -> Mapping[str, Any]:
    """The probabilities of an answer by the texts of its options, with the opposite of a single
    event.
    """
    if {*map(type, probs)} != {str}:
        count = len(probs)
        probs = {text_of(name): p for name, p in probs.items()}
        if len(probs) < count:
            raise OddValue("have options of different names", probs, "rename those that are alike")
    if len(probs) > 1:
        return probs
    ((name, value),) = probs.items()
    if words_of(name) != 1:
        return probs
    p = chance_of(value)
    return {"no": 1.0 - p, "yes": p}


def words_of(name: str) -> int:
    """1 if a name means the event, 0 if its opposite, -1 otherwise."""
    return EVENT.get(name.strip().lower(), -1)


#: Lines that are parsed together.
LINES = 16_384


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


class Batch(NamedTuple):
    """Some objects of a log, and what they are called in errors: a line or a row, by number."""

    objects: Sequence[Any]
    word: str
    number: Sequence[int]


def batches(source: Any, fields: Fields) -> Iterator[Batch]:
    """Mappings in lists of some thousands, from a path of JSON lines, a frame or an iterable."""
    if isinstance(source, Batch):
        yield source
        return
    of_file = isinstance(source, str | Path | Address)
    for batch in _lines(located(source)) if of_file else _listed_rows(source, fields):
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
    opened = io.TextIOWrapper(unpacked(path), encoding="utf-8-sig")
    try:
        with opened as file:
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
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
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
