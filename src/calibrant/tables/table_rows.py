"""The rows of Parquet files in their order, batch by batch, as predictions."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from calibrant._numerics.threads import map_ahead
from calibrant.core.extras import import_extra
from calibrant.core.predictions import Predictions
from calibrant.errors import InputError
from calibrant.tables.batching import gathered, runs
from calibrant.tables.columns import Layout, numbers
from calibrant.tables.engines.choosing import choose, opened, reading
from calibrant.tables.kernel import record_of

__all__ = ["TableRows", "drawn", "row_count", "row_hash"]


def row_hash(start: int, count: int, seed: int = 0) -> np.ndarray:
    """(count,) pseudo-random uint64 numbers of rows ``start``, ``start`` + 1, ... (splitmix64).

    Examples
    --------
    >>> bool((row_hash(3, 2) == row_hash(0, 5)[3:]).all())
    True
    """
    with np.errstate(over="ignore"):
        key = np.arange(start + 1, start + count + 1, dtype=np.uint64) + np.uint64(
            seed
        ) * np.uint64(0x632BE59BD9B4E019)
        key *= np.uint64(0x9E3779B97F4A7C15)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            key ^= key >> np.uint64(shift)
            key *= np.uint64(factor)
        return key ^ (key >> np.uint64(31))


def drawn(number: np.ndarray, share: float) -> np.ndarray:
    """Positions of the rows drawn for a sample of this share, by their pseudo-random numbers."""
    return np.flatnonzero(number < np.uint64(min(int(share * 2.0**64), 2**64 - 1)))


def row_count(paths: Sequence[str | Path]) -> int:
    """The number of rows of Parquet files, read from their metadata."""
    parquet = import_extra("pyarrow.parquet", "reading Parquet", "frames")
    rows = 0
    for path in paths:
        # Python opens the file, because its name may not be valid text.
        with reading([path]), open(path, "rb") as file:
            rows += parquet.read_metadata(file).num_rows
    return rows


@dataclass(frozen=True)
class TableRows:
    """Parquet files that are read again for each pass.

    ``seed`` is that of the pseudo-random number of each row, which depends on its position.
    """

    paths: Sequence[str]
    layout: Layout
    engine: str = "auto"
    seed: int = 0

    def fold(
        self,
        work: Callable[[Predictions, np.ndarray], Any],
        progress: Callable[[int], Any] | None = None,
    ) -> Any:
        """The sum of ``work(record, number of each row)`` over all batches, on several threads.

        The results of ``work`` are added by their method ``plus``.
        """
        total = None
        with reading(list(self.paths)):
            for found, rows in map_ahead(lambda run: self._over(work, *run), self._runs()):
                if found is not None:
                    total = found if total is None else total.plus(found)
                if progress is not None:
                    progress(rows)
        if total is None:
            raise InputError(f"{self.paths[0]} has no rows to count; name files with rows.")
        return total

    def _runs(self) -> Iterator[tuple[int, list[Any]]]:
        module, start = choose(list(self.paths), self.engine), 0
        if module.CLUSTER:
            raise InputError(
                "engine must read files in order, as polars, duckdb and pyarrow do; got"
                f' "{self.engine}".'
            )
        table = opened(list(self.paths), module)
        for run in runs(gathered(module.batches(table, self.layout.needed, ordered=True))):
            yield start, run
            start += sum(batch.num_rows for batch in run)

    def _over(self, work, start, run):
        total, rows = None, 0
        for batch in run:
            found = self._one(work, start + rows, batch)
            if found is not None:
                total = found if total is None else total.plus(found)
            rows += batch.num_rows
        return total, rows

    def _one(self, work, start, batch):
        weight = None if self.layout.weight is None else numbers(batch, self.layout.weight)
        if weight is not None and not weight.any():
            return None
        record, _ = record_of(self.layout, batch, weight)
        return work(record, record.per_row(row_hash(start, batch.num_rows, self.seed)))
