"""What 10^10 rows cost, by arithmetic from the parts in ``measured.json``, and what breaks first.

The tables are shown on the guide's page on 10^10 rows. Nothing here was run at that size.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["TABLES", "hours", "table"]

STORED = Path(__file__).with_name("measured.json")
ROWS, SLICES, FILES = 10**10, 1_000, 20_000
CORES, WORKERS = 16, 64
#: Bytes of memory of the machine, of its disk, and bytes a second from storage.
MEMORY, DISK, STORAGE = 64e9, 1e12, 1e9
#: Most parts of a table on a cluster, as in ``tables/engines/file_tasks.py``.
TASKS = 1024
DAY, HOUR = 86_400.0, 3_600.0

Rows = list[list[str]]


def table(name: str) -> Rows:
    """Return a table as text, the heading first."""
    return TABLES[name](json.loads(STORED.read_text(encoding="utf-8")))


def hours(part: Mapping[str, Any], cores: int, rows: float = ROWS) -> float:
    """Return the hours of a command on several cores, by Amdahl's law: the share of its time that
    two threads do not shorten is not shortened by more of them.
    """
    alone = min(max(2.0 * part["two_s"] / part["one_s"] - 1.0, 0.0), 1.0)
    return part["one_s"] * rows / 1e6 * (alone + (1.0 - alone) / cores) / HOUR


def measured(stored: Mapping[str, Any]) -> Rows:
    """Seconds of each command for 10^6 further rows."""
    rows = [["command", "CPU s, 1e6 rows", "wall s, 1 thread", "wall s, 2 threads", "peak MiB"]]
    for part in stored["threads"]:
        seconds = [f"{part[key]:.2f}" for key in ("cpu_s", "one_s", "two_s")]
        rows.append([part["what"], *seconds, f"{part['peak_mib']:,.0f}"])
    return rows


def pieces(stored: Mapping[str, Any]) -> Rows:
    """Bytes of rows and slices, and seconds of slices and files."""
    found = stored["pieces"]
    return [
        ["what", "measured"],
        ["a row of a risk and a label in Parquet", f"{found['parquet_row_bytes']:.1f} bytes"],
        ["a row of a risk and a label in CSV", f"{found['csv_row_bytes']:.1f} bytes"],
        ["a row of 12 columns in Parquet", f"{found['parquet_wide_row_bytes']:.1f} bytes"],
        ["the sums of a slice, as they are sent", f"{found['slice_bytes']:,.0f} bytes"],
        ["a slice in memory, of the whole command", f"{_memory_of(stored):,.0f} bytes"],
        ["to add the sums of a slice", f"{1e6 * found['slice_add_s']:.2f} µs"],
        ["a further file, for the command", f"{1e3 * found['file_s']:.2f} ms"],
    ]


def _memory_of(stored):
    """Bytes of peak memory for each further slice."""
    sizes = {row["what"]: row for row in stored["slices"]}
    few, many = (sizes[f"evaluate by {n:,} slices"]["peak_mib"] for n in (1_000, 100_000))
    return max(many - few, 0.0) * 2**20 / 99_000


def one_machine(stored: Mapping[str, Any]) -> Rows:
    """Each command on one machine."""
    rows = [["command", "core-hours", f"hours, {CORES} cores", "read", "hours, 1 GB/s"]]
    for part in stored["threads"]:
        kind = "csv" if "csv" in part["what"] else "parquet"
        wide = "_wide" if "12 columns" in part["what"] else ""
        size = stored["pieces"][f"{kind}{wide}_row_bytes"] * ROWS
        rows.append(
            [
                part["what"],
                f"{part['cpu_s'] * ROWS / 1e6 / HOUR:.1f}",
                f"{hours(part, CORES):.2f}",
                f"{size / 1e9:,.0f} GB",
                f"{size / STORAGE / HOUR:.2f}",
            ]
        )
    return rows


def cluster(stored: Mapping[str, Any]) -> Rows:
    """Sums by slice of Parquet on a cluster."""
    found, seconds = stored["pieces"], _on_a_cluster(stored)
    rows = [["slices", f"hours, {WORKERS} cores", "sums", "sent to the driver", "adding them"]]
    for slices in (1_000, 100_000, 1_000_000, 10_000_000):
        size = slices * found["slice_bytes"]
        rows.append(
            [
                f"{slices:,}",
                f"{seconds * ROWS / 1e6 / HOUR / WORKERS:.2f}",
                _bytes(size),
                _bytes(size * TASKS),
                _seconds(slices * found["slice_add_s"] * TASKS),
            ]
        )
    return rows


def _on_a_cluster(stored):
    """CPU seconds of 10^6 rows of files, of the dearest cluster that was measured; without one, of
    the embedded engine.
    """
    clusters = [
        row["cpu_s"] / row["rows"] * 1e6
        for row in stored.get("engines", ())
        if row["case"] in ("dask files", "spark files", "ray files")
    ]
    embedded = next(one for one in stored["threads"] if "slices" in one["what"])
    return max(clusters, default=embedded["cpu_s"])


def breaks(stored: Mapping[str, Any]) -> Rows:
    """Limits, the one that 10^10 rows come closest to first."""
    found = stored["pieces"]
    limits = [
        _limit("sums in the memory of one machine", "64 GB", SLICES, "slices",
               MEMORY / max(_memory_of(stored) * CORES, 1e-9)),
        _limit("sums of 1,024 tasks, added by a driver", "an hour", SLICES, "slices",
               HOUR / (found["slice_add_s"] * TASKS)),
        _limit("files, opened by one core", "an hour", FILES, "files",
               HOUR / found["file_s"]),
        _limit("the temporary Parquet file of a CSV table", "1 TB", ROWS, "rows",
               DISK / found["parquet_row_bytes"]),
    ]  # fmt: skip
    for part in stored["threads"]:
        most = ROWS * DAY / HOUR / hours(part, CORES)
        limits.append(_limit(f"{part['what']}, {CORES} cores", "a day", ROWS, "rows", most))
    limits.sort(key=lambda one: -one[0])
    return [["what", "limit", "reached at", "used by 1e10 rows"], *(one[1] for one in limits)]


def _limit(what: str, limit: str, used: float, unit: str, most: float) -> tuple[float, list[str]]:
    """The share of a limit that is used, and its row."""
    share = used / most
    percent = f"{100.0 * share:,.0f}" if share >= 0.1 else f"{100.0 * share:.2g}"
    return share, [what, limit, f"{_round(most)} {unit}", f"{percent} %"]


def _round(number: float) -> str:
    """A large number with two digits, with an exponent where it is above a million."""
    mantissa, _, exponent = f"{number:.1e}".partition("e")
    return f"{mantissa}e{int(exponent)}" if number >= 1e6 else f"{float(f'{number:.1e}'):,.0f}"


def _bytes(size: float) -> str:
    for unit in ("MB", "GB", "TB"):
        size /= 1e6 if unit == "MB" else 1e3
        if size < 1e3:
            break
    return f"{size:,.1f} {unit}"


def _seconds(seconds: float) -> str:
    return f"{seconds:,.1f} s" if seconds < HOUR else f"{seconds / HOUR:,.1f} h"


def peers(stored: Mapping[str, Any]) -> Rows:
    """Commands beside other libraries, at the largest size of each."""
    heading = ["command", "rows", "CPU s", "MiB", "beside", "its CPU s", "its MiB", "ratio"]
    rows = [row for name in ("text", "slices", "fit", "apply") for row in stored[name]]
    largest = {
        row["what"]: max(r["rows"] for r in rows if r["what"] == row["what"]) for row in rows
    }
    return [heading] + [
        [
            *(row["what"], f"{row['rows']:,}", f"{row['cpu_s']:.1f}", f"{row['peak_mib']:,.0f}"),
            *(row["peer"], f"{row['peer_cpu_s']:.1f}", f"{row['peer_peak_mib']:,.0f}"),
            f"{row['ratio']:.2f}",
        ]
        for row in rows
        if row["rows"] == largest[row["what"]]
    ]


TABLES: Mapping[str, Callable[[Mapping[str, Any]], Rows]] = {
    one.__name__: one for one in (measured, pieces, one_machine, cluster, breaks, peers)
}
