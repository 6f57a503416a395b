"""Kinds of files: opened whole, and written again with new predictions and everything else untouched."""

import gzip
import io
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from calibrant._support.npy import read_npy
from calibrant.cli.csv_text import encoding_of
from calibrant.cli.options import STDIN
from calibrant.cli.source import Source, distinct, reading_file, replaced
from calibrant.cli.table_sources import CsvSource, JsonlSource, ParquetSource
from calibrant.errors import InputError

__all__ = ["KINDS", "NpySource", "NpzSource", "open_source", "parts_of"]

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


def parts_of(path: Path) -> Iterator[Any]:
    """The file as sources of so many rows each as are quickly held: of CSV, JSON lines and Parquet."""
    kind = _kind_of(path)
    if path.suffix.lower() == ".parquet":
        yield from kind.parts(path)
        return
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    with opened(path, "rb") as file:
        encoding = encoding_of(file.read(4))
    with opened(path, "rt", encoding=encoding, newline="" if kind is CsvSource else "\n") as lines:
        try:
            yield from kind.parts(path, lines, encoding)
        except UnicodeDecodeError as error:
            found = f"byte {error.object[error.start]:#04x}"
            raise InputError(f"{path} must be {encoding.upper()} text; it holds {found}; save it again as UTF-8.") from None


def _unzipped(data, path):
    if not data.startswith(b"\x1f\x8b"):
        return io.BytesIO(data)
    with reading_file(path, "a gzip file", "compress it again"):
        return io.BytesIO(gzip.decompress(data))


def _kind_of(path: Path) -> Any:
    """The kind of source that a path's ending says, with or without .gz behind it."""
    name = path.name.lower().removesuffix(".gz")
    kind = KINDS.get(Path(name).suffix)
    if kind is None:
        raise InputError(f"{path} must end in {', '.join(KINDS)}, of which text may be compressed as .gz; convert it first.")
    return kind


class NpzSource(Source):
    """NumPy arrays by name."""

    kind = "npz"

    def _open(self, path, file):
        with reading_file(path, "an npz file of plain arrays", "save it with numpy.savez"), zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            names = distinct([member.filename.removesuffix(".npy") for member in members], path)
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


class NpySource(Source):
    """One NumPy array."""

    kind = "npy"

    def _open(self, path, file):
        with reading_file(path, "an npy file of plain numbers", "save it with numpy.save"):
            size = file.seek(0, io.SEEK_END)
            file.seek(0)
            return {"values": read_npy(file, size)}

    def write(self, path: Path, columns: dict[str, np.ndarray], renamed: dict[str, str]) -> None:
        """The calibrated probabilities alone."""
        with open(path, "wb") as file:
            np.save(file, columns["values"])


KINDS: dict[Any, Any] = {
    ".npz": NpzSource, ".npy": NpySource, ".csv": CsvSource, ".parquet": ParquetSource, ".jsonl": JsonlSource, ".ndjson": JsonlSource,
}  # fmt: skip
