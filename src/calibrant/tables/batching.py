"""Batches small enough for a core's cache, and large enough to make the cost per batch small."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from calibrant.errors import InputError

__all__ = ["batch_rows", "gathered", "hive_root", "rows_from", "runs"]

BATCH_ROWS, BATCH_BYTES, FEWEST_ROWS, RUN = 2**17, 2**24, 2**10, 16
#: Assumed length of the lists in a column of lists, because its type does not tell.
LIST_LENGTH = 1000


def batch_rows(kinds: dict[str, str], columns: Sequence[str] | None = None) -> int:
    """Rows per batch to request from an engine, for these columns (None: all)."""
    width = 8 * sum(
        LIST_LENGTH if kinds[name] == "list" else 1
        for name in (kinds if columns is None else columns)
    )
    return max(FEWEST_ROWS, min(BATCH_ROWS, BATCH_BYTES // width))


def gathered(batches: Sequence[Any]) -> Iterator[Any]:
    """Record batches of a suitable size: small neighbours are joined and large ones are cut.

    No batch is empty.
    """
    waiting, rows, size = [], 0, 0
    for batch in batches:
        for start in range(0, batch.num_rows, BATCH_ROWS):
            waiting.append(batch.slice(start, BATCH_ROWS))
            rows, size = rows + waiting[-1].num_rows, size + waiting[-1].nbytes
            if rows >= BATCH_ROWS // 2 or size >= BATCH_BYTES:
                yield from _one(waiting)
                waiting, rows, size = [], 0, 0
    if waiting:
        yield from _one(waiting)


@contextmanager
def rows_from(start: int) -> Iterator[None]:
    """Count the rows of an error of a batch from the table's first row; the batch begins at row
    ``start``.

    Examples
    --------
    >>> with rows_from(1000):
    ...     raise InputError("P must be finite; row 2 is nan (3 in all).")
    Traceback (most recent call last):
    calibrant.errors.InputError: P must be finite; row 1002 is nan (3 in its part of the table).
    """
    try:
        yield
    except InputError as error:
        words = re.sub(r"\brow (\d+)", lambda row: f"row {start + int(row[1])}", str(error))
        words = words.replace(" in all)", " in its part of the table)") if start else words
        raise InputError(words) from None


def runs(batches: Iterator[Any]) -> Iterator[Any]:
    """Lists of neighbouring batches; each list is one task of a thread."""
    run, rows, size = [], 0, 0
    for batch in batches:
        run.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= RUN * BATCH_ROWS or size >= RUN * BATCH_BYTES:
            yield run
            run, rows, size = [], 0, 0
    if run:
        yield run


def _one(batches: list[Any]) -> list[Any]:
    if len(batches) == 1:
        return batches
    import pyarrow as pa

    return pa.Table.from_batches(batches).combine_chunks().to_batches()


def hive_root(paths: Sequence[str]) -> Any:
    """The parent of the first folder named ``name=value``; None if there is no such folder."""
    folders = Path(paths[0]).absolute().parts[:-1]
    named = [i for i, name in enumerate(folders) if "=" in name.strip("=")]
    return str(Path(*folders[: named[0]])) if named else None
