"""Objects of a log, from a file of JSON lines, a data frame or a list."""

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from calibrant.core.arrays import column_names, plain_array
from calibrant.core.labels import is_missing
from calibrant.errors import InputError
from calibrant.questions.values import OddValue, is_a, shown

__all__ = ["Batch", "Fields", "batches"]

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
