"""Tables in files opened by the kind of each: whole, or in parts that fit into memory."""

import gzip
import io
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from calibrant.core.exports import of_kinds
from calibrant.core.stores import located, unpacked
from calibrant.errors import InputError
from calibrant.tables.engines import arrow_engine
from calibrant.tables.paths import paths_of
from calibrant.tables.sources import (
    CsvSource,
    JsonlSource,
    NpySource,
    NpzSource,
    ParquetSource,
    TableSource,
    no_table,
    reading_file,
)
from calibrant.tables.texts import PART_CELLS

__all__ = ["KINDS", "open_source", "parts_of"]

KINDS: dict[Any, Any] = {
    ".npz": NpzSource,
    ".npy": NpySource,
    ".csv": CsvSource,
    ".tsv": CsvSource,
    ".parquet": ParquetSource,
    ".jsonl": JsonlSource,
    ".ndjson": JsonlSource,
}


def open_source(path: Path, files: list[Path] | None = None, wide: bool = False) -> Any:
    """Open a table: a file by its ending, or several ``files`` as one, with the columns of the
    first, or of all if ``wide``.
    """
    paths = paths_of(path) if files is None else files
    # Columns of a file by its name would be written to the output of it alone.
    types = {} if paths == [located(path)] else arrow_engine.folder_types(paths)
    sources = [_opened(one, types) for one in paths]
    if len(sources) == 1:
        return sources[0]
    for other in sources[1:]:
        _require_alike(sources[0], other)
    if wide:
        fields = _all_fields(sources)
        sources = [source.widened(fields) for source in sources]
    return type(sources[0]).joined(
        located(path), [(source, np.arange(len(source))) for source in sources]
    )


def _all_fields(sources):
    """Return name -> type of every column, in the order in which they appear."""
    fields = {}
    for source in sources:
        for name, kind in source.fields.items():
            fields.setdefault(name, kind)
    return fields


def _require_alike(first, other):
    """Require that the files of one table are of one kind and have the same columns."""
    if type(other) is not type(first) or not isinstance(first, TableSource):
        raise InputError(
            f"the files of one table must all be CSV, Parquet or JSON lines; {other.path} is of"
            " another kind; name files of one kind."
        )
    missing = (
        []
        if first.kind == "jsonl"
        else [name for name in first.content if name not in other.content]
    )
    if missing:
        raise InputError(
            f"{other.path} must have the columns of {first.path}; it has no {missing[0]!r}; name"
            " files with the same columns."
        )


def _opened(path: Any, types: dict[str, Any]) -> Any:
    """Open a file, which may be compressed by gzip, with the columns of its folders."""
    kind = _kind_of(path)
    with path.open("rb") as file:
        unzipped = file if path.suffix.lower() != ".gz" else _unzipped(file.read(), path)
        source = kind(path, unzipped)
    return source.in_folders(types) if isinstance(source, TableSource) and types else source


def parts_of(path: Path | list[Path], cells: int = PART_CELLS, wide: bool = False) -> Iterator[Any]:
    """Read a table of CSV, JSON lines or Parquet in parts that fit into memory, of about ``cells``
    values; all have the columns of every file if ``wide``.
    """
    first, paths = None, paths_of(path)
    alone = not isinstance(path, list) and paths == [located(path)]
    types = {} if alone else arrow_engine.folder_types(paths)
    wide = wide and len(paths) > 1
    begins = (part.in_folders(types) for file in paths for part in islice(_parts(file, cells), 1))
    fields = _all_fields(begins) if wide else {}
    for file in paths:
        for part in _parts(file, cells):
            part = part.in_folders(types) if types else part
            first = part if first is None else first
            _require_alike(first, part)
            yield part.widened(fields) if wide else part


def _parts(path, cells):
    kind: Any = _kind_of(path)
    if not hasattr(kind, "parts"):
        raise no_table(path)
    if path.suffix.lower() == ".parquet":
        yield from kind.parts(path, cells)
        return
    with unpacked(path) as file:
        yield from kind.parts(path, file, cells)


def _unzipped(data, path):
    if not data.startswith(b"\x1f\x8b"):
        return io.BytesIO(data)
    with reading_file(path, "a gzip file", "compress it again"):
        return io.BytesIO(gzip.decompress(data))


def _kind_of(path: Path) -> Any:
    """Return the kind of source by the path's ending, with or without a further .gz."""
    of_kinds("formats")
    name = path.name.lower().removesuffix(".gz")
    kind = KINDS.get(Path(name).suffix)
    if kind is None:
        raise InputError(
            f"{path} must end in {', '.join(KINDS)}, or .gz after a text format; convert it first."
        )
    return kind
