"""Kinds of files: opened whole, and written again with new predictions and everything else untouched."""

import csv
import os
import warnings
import zipfile
from abc import ABC, abstractmethod
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from calibrant._support.extras import import_extra
from calibrant._support.npy import read_npy
from calibrant.cli.csv_text import decoded, rows_of
from calibrant.errors import InputError, MissingDependencyError

__all__ = ["CsvSource", "NpySource", "NpzSource", "ParquetSource", "open_source"]


def open_source(path: Path) -> Any:
    """The source for a path, by its ending."""
    kind = KINDS.get(Path(path).suffix.lower())
    if kind is None:
        raise InputError(f"{path} must end in {', '.join(KINDS)}; convert it first.")
    return kind(Path(path))


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

    def __init__(self, path):
        self.path = path
        self.content = self._open(path)

    @abstractmethod
    def _open(self, path) -> Any:
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

    def _open(self, path):
        words = "an npz file of plain arrays", "save it with numpy.savez"
        with open(path, "rb") as file, _reading(path, *words), zipfile.ZipFile(file) as archive:
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

    def _open(self, path):
        with open(path, "rb") as file, _reading(path, "an npy file of plain numbers", "save it with numpy.save"):
            return {"values": read_npy(file, os.fstat(file.fileno()).st_size)}

    def write(self, path: str | Path, columns: Any, renamed: Any) -> None:
        """The calibrated probabilities alone."""
        with open(path, "wb") as file:
            np.save(file, columns["values"])


class CsvSource(_Source):
    """Columns of text, so that what is not a prediction is written again letter by letter, in the encoding it came in."""

    kind = "csv"
    encoding: str

    def _open(self, path):
        text, self.encoding = decoded(path)
        header, rows = rows_of(text, path)
        return {name: list(values) for name, values in zip(_distinct(header, path), zip(*rows, strict=True), strict=True)}

    def write(self, path: Path, columns: dict[str, np.ndarray], renamed: dict[str, str]) -> None:
        """The columns given take the place of their namesakes; the others stay letter by letter."""
        content = replaced(self.content, {name: map(repr, values.tolist()) for name, values in columns.items()}, renamed)
        with open(path, "w", newline="", encoding=self.encoding) as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(content)
            writer.writerows(zip(*content.values(), strict=True))


class ParquetSource(_Source):
    """An Arrow table."""

    kind = "parquet"

    def _open(self, path):
        parquet = import_extra("pyarrow.parquet", "reading parquet", "cli")
        with open(path, "rb") as file, _reading(path, "a parquet file", "write it again"):
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
        fields = [pyarrow.field(name, pyarrow.float64()) if name in columns else self.table.schema.field(name) for name in content]
        schema = pyarrow.schema(fields, metadata=self.table.schema.metadata)
        import_extra("pyarrow.parquet", "writing parquet", "cli").write_table(pyarrow.table(list(content.values()), schema=schema), path)


KINDS: dict[Any, Any] = {".npz": NpzSource, ".npy": NpySource, ".csv": CsvSource, ".parquet": ParquetSource}


def replaced(content: dict[str, Any], columns: dict[str, Any], renamed: dict[str, str]) -> dict[str, Any]:
    """The content in its order, ``columns`` in place of those of the same name, or of the one they are ``renamed`` from; others last."""
    out = {}
    for name, old in content.items():
        new = renamed.get(name, name)
        out[new] = columns.get(new, old)
    return {**out, **{name: values for name, values in columns.items() if name not in out}}
