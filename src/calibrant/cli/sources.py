"""Kinds of files: opened whole, and written again with new predictions and everything else untouched."""

import csv
import gzip
import io
import json
import sys
import warnings
import zipfile
from abc import ABC, abstractmethod
from contextlib import contextmanager
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import numpy as np

from calibrant._support.extras import import_extra
from calibrant._support.npy import read_npy
from calibrant.cli.csv_text import decoded, rows_of
from calibrant.cli.json_lines import columns_of, objects_of
from calibrant.cli.options import STDIN
from calibrant.cli.wording import abridged
from calibrant.errors import InputError, MissingDependencyError
from calibrant.labels import label_array

__all__ = ["KINDS", "CsvSource", "NpySource", "NpzSource", "ParquetSource", "open_source"]

#: How the bytes of a kind begin, for standard input, which has no name; text is CSV or, from its first mark, JSON.
BEGINNINGS = {b"PAR1": ".parquet", b"PK": ".npz", b"\x93NUMPY": ".npy", b"{": ".jsonl"}


def open_source(path: Path) -> Any:
    """The source for a path, by its ending; for standard input by how it begins. Either may be compressed by gzip."""
    path = Path(path)
    if path != STDIN:
        kind = _kind_of(path)
        with open(path, "rb") as file:
            return kind(path, file if path.suffix.lower() != ".gz" else _unzipped(file.read(), path))
    file = _unzipped(sys.stdin.buffer.read(), path := Path("standard input"))
    first = file.read(100).replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")
    return KINDS[next((ending for begins, ending in BEGINNINGS.items() if first.startswith(begins)), ".csv")](path, file)


def _unzipped(data, path):
    if not data.startswith(b"\x1f\x8b"):
        return io.BytesIO(data)
    with _reading(path, "a gzip file", "compress it again"):
        return io.BytesIO(gzip.decompress(data))


def _kind_of(path: Path) -> Any:
    """The kind of source that a path's ending says, with or without .gz behind it."""
    name = path.name.lower().removesuffix(".gz")
    kind = KINDS.get(Path(name).suffix)
    if kind is None:
        raise InputError(f"{path} must end in {', '.join(KINDS)}, of which text may be compressed as .gz; convert it first.")
    return kind


@contextmanager
def _reading(path, what, remedy):
    """Whatever a library says of bytes that it cannot read, said of the file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            yield
    except (InputError, MissingDependencyError):
        raise
    except MemoryError:
        raise InputError(f"{path} needs more memory than there is; split it into files of fewer rows.") from None
    except Exception as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        words = " ".join(said.split())[:200] or type(error).__name__
        raise InputError(f"{path} is damaged or not {what} ({words}); {remedy}.") from None


class _Source(ABC):
    """Content by name; ``column(name)`` gives one array, ``write(path, columns, renamed)`` all of it with new predictions."""

    kind = ""

    def __init__(self, path, file):
        self.path = path
        file.seek(0)
        self.content = self._open(path, file)

    @abstractmethod
    def _open(self, path, file) -> Any:
        """Everything in the file, by name."""

    def column(self, name):
        """One array or column."""
        return self.content[name]

    def described(self):
        """The names inside, for messages."""
        names = list(self.content)
        return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")


def _distinct(names, path):
    """The names, once no two are the same."""
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None) if len(set(names)) < len(names) else None
    if twice is not None:
        raise InputError(f"{path} has {names.count(twice)} columns or arrays named {twice!r}; give each a name of its own.")
    return names


class NpzSource(_Source):
    """NumPy arrays by name."""

    kind = "npz"

    def _open(self, path, file):
        with _reading(path, "an npz file of plain arrays", "save it with numpy.savez"), zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            names = _distinct([member.filename.removesuffix(".npy") for member in members], path)
            return {name: self._member(archive, member) for name, member in zip(names, members, strict=True)}

    @staticmethod
    def _member(archive, member):
        with archive.open(member) as file:
            return read_npy(file, member.file_size)

    def write(self, path: Path, columns: dict[str, np.ndarray], renamed: dict[str, str]) -> None:
        """The arrays given take the place of their namesakes; the others stay."""
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, array in replaced(self.content, columns, renamed).items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                    np.lib.format.write_array(file, array, allow_pickle=False)


class NpySource(_Source):
    """One NumPy array."""

    kind = "npy"

    def _open(self, path, file):
        with _reading(path, "an npy file of plain numbers", "save it with numpy.save"):
            size = file.seek(0, io.SEEK_END)
            file.seek(0)
            return {"values": read_npy(file, size)}

    def write(self, path: str | Path, columns: Any, renamed: Any) -> None:
        """The calibrated probabilities alone."""
        with open(path, "wb") as file:
            np.save(file, columns["values"])


class CsvSource(_Source):
    """Columns of text, so that what is not a prediction is written again letter by letter, in the encoding it came in."""

    kind = "csv"
    encoding: str

    def _open(self, path, file):
        text, self.encoding = decoded(file.read(), path)
        header, rows = rows_of(text, path)
        return {name: list(values) for name, values in zip(_distinct(header, path), zip(*rows, strict=True), strict=True)}

    def write(self, path: Path, columns: dict[str, np.ndarray], renamed: dict[str, str]) -> None:
        """The columns given take the place of their namesakes; the others stay letter by letter."""
        texts = {name: [v if isinstance(v, str) else repr(v) for v in values.tolist()] for name, values in columns.items()}
        content = replaced(self.content, texts, renamed)
        with open(path, "w", newline="", encoding=self.encoding) as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(content)
            writer.writerows(zip(*content.values(), strict=True))


class ParquetSource(_Source):
    """An Arrow table."""

    kind = "parquet"

    def _open(self, path, file):
        parquet = import_extra("pyarrow.parquet", "reading parquet", "cli")
        with _reading(path, "a parquet file", "write it again"):
            self.table: Any = parquet.read_table(file)
            self.table.validate(full=True)
        names = _distinct(self.table.column_names, path)
        return {name: self.table.column(name) for name in names}

    def column(self, name: str) -> np.ndarray:
        """As NumPy, strings as objects."""
        with _reading(self.path, f"a file whose column {name!r} holds plain values", "write that column again"):
            return self.content[name].to_numpy()

    def write(self, path: Path, columns: dict[str, np.ndarray], renamed: dict[str, str]) -> None:
        """The columns given take the place of their namesakes; the others keep their types."""
        pyarrow = import_extra("pyarrow", "writing parquet", "cli")
        content = replaced(self.content, {name: pyarrow.array(values) for name, values in columns.items()}, renamed)
        fields = [pyarrow.field(name, content[name].type) if name in columns else self.table.schema.field(name) for name in content]
        schema = pyarrow.schema(fields, metadata=self.table.schema.metadata)
        import_extra("pyarrow.parquet", "writing parquet", "cli").write_table(pyarrow.table(list(content.values()), schema=schema), path)


class JsonlSource(_Source):
    """One JSON object a line; what lies deeper has the keys on its way as its name, as in ``model.score``."""

    kind = "jsonl"

    def _open(self, path, file):
        self.objects = objects_of(decoded(file.read(), path)[0], path)
        columns, self.ways = columns_of(self.objects, path)
        return columns

    def column(self, name):
        """As NumPy, values of several kinds as objects."""
        values = self.content[name]
        listed = next((value for value in values if isinstance(value, list | dict)), None)
        if listed is not None:
            raise InputError(f"{self.path}: {name!r} must hold one value a line; it holds {abridged(listed)}; name another.")
        return label_array(values, name)

    def write(self, path: Path, columns: dict[str, np.ndarray], renamed: dict[str, str]) -> None:
        """The values given take the place of their namesakes; the others stay."""
        lists = {name: values.tolist() for name, values in columns.items()}
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
            for i, old in enumerate(self.objects):
                new = {renamed.get(name, name): value for name, value in old.items()}
                for name, values in lists.items():
                    *outer, last = self.ways.get(name, (name,))
                    reduce(getitem, outer, new)[last] = values[i]
                file.write(json.dumps(new, ensure_ascii=False) + "\n")


KINDS: dict[Any, Any] = {
    ".npz": NpzSource, ".npy": NpySource, ".csv": CsvSource, ".parquet": ParquetSource, ".jsonl": JsonlSource, ".ndjson": JsonlSource,
}  # fmt: skip


def replaced(content: dict[str, Any], columns: dict[str, Any], renamed: dict[str, str]) -> dict[str, Any]:
    """The content in its order, ``columns`` in place of those of the same name, or of the one they are ``renamed`` from; others last."""
    out = {}
    for name, old in content.items():
        new = renamed.get(name, name)
        out[new] = columns.get(new, old)
    return {**out, **{name: values for name, values in columns.items() if name not in out}}
