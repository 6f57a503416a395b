"""What the arithmetic for 10^10 rows needs besides CPU seconds a row:
``python -m benchmarks.scale.pieces ROWS`` prints, as JSON, the bytes of a row in files, the bytes
of the sums of a slice, and the CPU seconds to add the sums of a slice, and of the command for a
further file.
"""

import json
import pickle
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.scale.cells import ENVIRONMENT, cost, module
from benchmarks.scale.tables import parts, write

import calibrant as cb

__all__ = ["pieces"]

SLICES, FILES, TIMES = 10_000, 500, 3


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
    """CPU seconds of the command for one more file with the same rows in all."""
    import pyarrow.parquet as pq

    (table,) = parts(10 * FILES)
    seconds = []
    for name, pieces in (("one", 1), ("many", FILES)):
        (folder / name).mkdir(parents=True)
        size = len(table) // pieces
        for i in range(pieces):
            pq.write_table(table.slice(i * size, size), folder / name / f"{i}.parquet")
        command = module("calibrant", "evaluate", folder / name, "--risk", "risk")
        environment = {**ENVIRONMENT, "CALIBRANT_STREAMED_ROWS": "100"}
        seconds.append(min(cost(command, environment).cpu_s for _ in range(TIMES)))
    return max(seconds[1] - seconds[0], 0.0) / (FILES - 1)


if __name__ == "__main__":
    print(json.dumps(pieces(int(sys.argv[1]))))
