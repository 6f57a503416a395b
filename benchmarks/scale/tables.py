"""Tables of the benchmark: ``python -m benchmarks.scale.tables FILE ROWS SLICES FURTHER``.

A row has a risk (six decimals, so that CSV and Parquet hold the same numbers) and a label, a slice
if SLICES is not 0, and FURTHER other columns. The risks are 1.4 times too sure in log-odds. The
ending of FILE says whether CSV or Parquet is written, in parts.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as text
import pyarrow.parquet as pq

__all__ = ["CHUNK", "parts", "write"]

CHUNK = 500_000
SITES = np.array(["north", "south", "east", "west"])


def parts(rows: int, slices: int = 0, further: int = 0) -> Iterator[pa.Table]:
    """Yield the rows in tables of at most CHUNK."""
    for seed, start in enumerate(range(0, rows, CHUNK)):
        rng, n = np.random.default_rng(seed), min(CHUNK, rows - start)
        z = rng.normal(-1.0, 1.5, n)
        risk = np.clip((1.0 / (1.0 + np.exp(-1.4 * z))).round(6), 1e-6, 1.0 - 1e-6)
        columns = {"risk": risk, "label": (rng.random(n) < 1.0 / (1.0 + np.exp(-z))).astype(int)}
        if slices:
            columns["slice"] = rng.integers(0, slices, n)
        kinds = (
            lambda rng=rng, n=n: rng.normal(size=n).round(4),
            lambda rng=rng, n=n: rng.integers(0, 100, n),
            lambda rng=rng, n=n: rng.choice(SITES, n),
        )
        columns |= {f"x{j}": kinds[j % len(kinds)]() for j in range(further)}
        yield pa.table(columns)


def write(file: Path, rows: int, slices: int = 0, further: int = 0) -> None:
    """Write the rows to one file."""
    first, *_ = parts(1, slices, further)
    if file.suffix == ".csv":
        writer = text.CSVWriter(file, first.schema)
    else:
        writer = pq.ParquetWriter(file, first.schema, compression="zstd")
    with writer:
        for part in parts(rows, slices, further):
            writer.write_table(part)


if __name__ == "__main__":
    write(Path(sys.argv[1]), *map(int, sys.argv[2:]))
