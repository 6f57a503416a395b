"""Files above a size: how many rows they have, and a sample of those for what cannot be had from sums."""

import gzip
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from calibrant.cli.options import STDIN, Columns
from calibrant.cli.reading import read_source
from calibrant.cli.sources import parts_of
from calibrant.cli.wording import say
from calibrant.errors import InputError, MissingDependencyError
from calibrant.frames.row_hash import drawn, row_hash
from calibrant.frames.table_rows import row_count

__all__ = ["STREAMED_ROWS", "large_rows", "read_sample"]

#: Tables of more rows than this are read in parts. The environment variable of the same name with CALIBRANT_ before it says another number.
STREAMED_ROWS = 1_000_000
ENVIRONMENT = "CALIBRANT_STREAMED_ROWS"
TEXT = (".csv", ".jsonl", ".ndjson")
BLOCK = 2**22


def large_rows(path: Path) -> int | None:
    """How many rows the file has where these are more than are read at once; of text, lines. None of others, and of standard input."""
    limit, name = _limit(), path.name.lower().removesuffix(".gz")
    if path == STDIN or not path.is_file() or not name.endswith((".parquet", *TEXT)):
        return None
    if not name.endswith(TEXT) and path.suffix.lower() == ".gz":
        return None
    try:
        rows = _lines(path, limit) if name.endswith(TEXT) else row_count([path])
    except (InputError, MissingDependencyError, OSError, EOFError, zlib.error):
        return None  # it is damaged or cannot be read here, which is said when it is opened whole
    return rows if rows > limit else None


def _limit():
    told = os.environ.get(ENVIRONMENT, "")
    if told and not told.isdigit():
        raise InputError(f"{ENVIRONMENT} must be a whole number of rows; got {told!r}; correct or unset it.")
    return int(told) if told else STREAMED_ROWS


def _lines(path, limit):
    """Lines of a file, but for the names of columns; 0 where its size alone says that they are few."""
    compressed = path.suffix.lower() == ".gz"
    if not compressed and path.stat().st_size <= 2 * limit:
        return 0
    with (gzip.open if compressed else open)(path, "rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(BLOCK), b"")) - 1


def read_sample(path: Path, count: int, columns: Columns, why: str, *, cluster: str | None = None, prefer: str | None = None) -> Any:
    """So many rows, drawn by their place or cluster, as are read at once, as a file of predictions; says so."""
    share, chosen, start, rows = _limit() / count, [], 0, 0
    for part in parts_of(path):
        n = len(next(iter(part.content.values())))
        number = row_hash(start, n) if cluster is None else _of_clusters(part, cluster)
        own = drawn(number, share)
        if len(own):
            # A part of its own, so that the rest can be forgotten.
            chosen.append((type(part).joined(path, [(part, own)]), np.arange(len(own))))
        start, rows = start + n, rows + len(own)
    say(f"{path} has {start:,} rows; {why}, so a seeded sample of {rows:,} of them is read.", err=True)
    said = f"The numbers are of a seeded sample of {rows:,} of the {start:,} {'rows' if cluster is None else 'rows, drawn by cluster'}."
    if not chosen:
        raise InputError(f"{path} must have rows enough for a sample; none was drawn; set {ENVIRONMENT} higher.")
    source = type(chosen[0][0]).joined(path, chosen)
    source.said = said
    return read_source(source, columns, prefer=prefer)


def _of_clusters(part, name):
    """A number for each row that those of its cluster share."""
    values, of_row = np.unique(np.asarray(part.column(part.require(name))).astype(str), return_inverse=True)
    return np.concatenate([row_hash(zlib.crc32(value.encode()), 1) for value in values.tolist()])[of_row]
