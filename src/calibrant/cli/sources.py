"""Kinds of files: opened whole, and written again with new predictions and everything else untouched."""

import csv
import zipfile
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import numpy as np

from calibrant._base.extras import import_extra
from calibrant.errors import InputError

__all__ = ["CsvSource", "NpySource", "NpzSource", "ParquetSource", "open_source"]


def open_source(path):
    """The source for a path, by its ending."""
    kind = KINDS.get(Path(path).suffix.lower())
    if kind is None:
        raise InputError(f"{path} must end in {', '.join(KINDS)}; convert it first.")
    return kind(Path(path))


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


class NpzSource(_Source):
    """NumPy arrays by name."""

    kind = "npz"

    def _open(self, path):
        try:
            with np.load(path, allow_pickle=False) as archive:
                return {key: archive[key] for key in archive.files}
        except (ValueError, zipfile.BadZipFile, EOFError, AttributeError) as error:
            raise InputError(f"{path} is not an npz file of plain arrays ({error}); save it with numpy.savez.") from None

    def write(self, path, columns, renamed):
        """The arrays given take the place of their namesakes; the others stay."""
        with open(path, "wb") as file:
            np.savez_compressed(file, **replaced(self.content, columns, renamed))


class NpySource(_Source):
    """One NumPy array."""

    kind = "npy"

    def _open(self, path):
        try:
            return {"values": np.load(path, allow_pickle=False)}
        except (ValueError, EOFError) as error:
            raise InputError(f"{path} is not an npy file of plain numbers ({error}); save it with numpy.save.") from None

    def write(self, path, columns, renamed):
        """The calibrated probabilities alone."""
        with open(path, "wb") as file:
            np.save(file, columns["values"])


class CsvSource(_Source):
    """Columns of text, so that what is not a prediction is written again letter by letter."""

    kind = "csv"

    def _open(self, path):
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = list(csv.reader(file))
        if len(rows) < 2:
            raise InputError(f"{path} must have a line of column names and at least one row; it has {len(rows)} lines.")
        header, rows = rows[0], [row for row in rows[1:] if row]
        uneven = next((i for i, row in enumerate(rows) if len(row) != len(header)), None)
        if uneven is not None:
            raise InputError(f"{path} has {len(header)} column names and {len(rows[uneven])} values in row {uneven}; repair that row.")
        return {name: list(values) for name, values in zip(header, zip(*rows, strict=True), strict=True)}

    def write(self, path, columns, renamed):
        """The columns given take the place of their namesakes; the others stay letter by letter."""
        content = replaced(self.content, {name: map(repr, values.tolist()) for name, values in columns.items()}, renamed)
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(content)
            writer.writerows(zip(*content.values(), strict=True))


class ParquetSource(_Source):
    """An Arrow table."""

    kind = "parquet"

    def _open(self, path):
        parquet = import_extra("pyarrow.parquet", "reading parquet", "cli")
        lib = import_extra("pyarrow", "reading parquet", "cli").lib
        try:
            self.table = parquet.read_table(path)
        except lib.ArrowInvalid as error:
            raise InputError(f"{path} is not a parquet file ({error}).") from None
        return {name: self.table.column(name) for name in self.table.column_names}

    def column(self, name):
        """As NumPy, strings as objects."""
        return self.content[name].to_numpy()

    def write(self, path, columns, renamed):
        """The columns given take the place of their namesakes; the others keep their types."""
        pyarrow = import_extra("pyarrow", "writing parquet", "cli")
        content = replaced(self.content, {name: pyarrow.array(values) for name, values in columns.items()}, renamed)
        fields = [pyarrow.field(name, pyarrow.float64()) if name in columns else self.table.schema.field(name) for name in content]
        schema = pyarrow.schema(fields, metadata=self.table.schema.metadata)
        import_extra("pyarrow.parquet", "writing parquet", "cli").write_table(pyarrow.table(list(content.values()), schema=schema), path)


KINDS = {".npz": NpzSource, ".npy": NpySource, ".csv": CsvSource, ".parquet": ParquetSource}


def replaced(content, columns, renamed):
    """The content in its order, ``columns`` in place of those of the same name, or of the one they are ``renamed`` from; others last."""
    out = {}
    for name, old in content.items():
        new = renamed.get(name, name)
        out[new] = columns.get(new, old)
    return {**out, **{name: values for name, values in columns.items() if name not in out}}
