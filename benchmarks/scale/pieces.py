"""What the arithmetic for 10^10 rows needs besides CPU seconds a row:
``python -m benchmarks.scale.pieces ROWS`` prints, as JSON, the bytes of a row in files, the bytes
of the sums of a slice, and the CPU seconds to add the sums of a slice and to open a file.
"""

import json
import pickle
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.scale.tables import parts, write

import calibrant as cb
from calibrant.tables.apply import row_count

__all__ = ["pieces"]

SLICES, FILES, TIMES = 10_000, 200, 3


def pieces(rows: int) -> dict[str, float]:
    """Return the measured parts, from a table of so many rows."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        made: dict[str, float] = {}
        for name, further in (("", 0), ("_wide", 10)):
            for kind in ("csv", "parquet"):
                file = place / f"rows{name}.{kind}"
                write(file, rows, further=further)
                made[f"{kind}{name}_row_bytes"] = file.stat().st_size / rows
        file = place / "slices.parquet"
        write(file, rows, SLICES)
        made |= _states(file)
        return made | {"file_s": _opening(place / "many")}


def _states(file: Path) -> dict[str, float]:
    state = cb.evaluate(str(file), probabilities="risk", label="label", by="slice").state
    packed, slices = pickle.dumps(state), len({group[0] for group in state.groups})
    start = time.process_time()
    for _ in range(TIMES):
        state += pickle.loads(packed)
    seconds = (time.process_time() - start) / TIMES
    return {"slice_bytes": len(packed) / slices, "slice_add_s": seconds / slices}


def _opening(folder: Path) -> float:
    """CPU seconds of reading the number of rows of one file."""
    import pyarrow.parquet as pq

    folder.mkdir()
    (table,) = parts(100, SLICES)
    files = [folder / f"{i}.parquet" for i in range(FILES)]
    for file in files:
        pq.write_table(table, file)
    row_count(files)
    start = time.process_time()
    row_count(files)
    return (time.process_time() - start) / FILES


if __name__ == "__main__":
    print(json.dumps(pieces(int(sys.argv[1]))))
