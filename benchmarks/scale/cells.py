"""Cost of a command in a process of its own. The module imports nothing heavy: the peak memory of
a new process is at least that of the process that starts it.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

__all__ = ["Cost", "Task", "cost", "line", "measured", "module", "threaded"]

#: One thread of each library; byte code is written once, as in an installed package.
ENVIRONMENT = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"), "1"),
    "CALIBRANT_THREADS": "1",
    "PYTHONPYCACHEPREFIX": f"{tempfile.gettempdir()}/calibrant",
    "PYTHONDONTWRITEBYTECODE": "",
}
HEADS = (
    f"{'what':38} {'rows':>11} {'CPU s':>8} {'MiB':>7}   {'beside':22} {'CPU s':>8} {'MiB':>7}"
    f" {'ratio':>7}"
)


@dataclass(frozen=True)
class Cost:
    """CPU and wall seconds of a process and those that it started, the largest peak memory of one
    of them, and what it printed.
    """

    cpu_s: float
    wall_s: float
    peak_mib: float
    text: str


@dataclass(frozen=True)
class Task:
    """One command of ours and commands of others for the same table.

    ``agree`` raises an error if the text of ours and of a peer have other numbers.
    """

    what: str
    rows: int
    ours: list[str]
    peers: Mapping[str, list[str]]
    agree: Callable[[str, str], None] = field(default=lambda ours, peer: None)


def module(name: str, *arguments: Any) -> list[str]:
    """Return the command that runs a module with this Python."""
    return [sys.executable, "-m", name, *map(str, arguments)]


def cost(command: list[str], environment: Mapping[str, str] = ENVIRONMENT) -> Cost:
    """Run a command, and return what it cost."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=out, stderr=err, env={**os.environ, **environment}
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        if process.returncode:
            raise RuntimeError(f"{' '.join(command)}\n{err.read().decode()[-2000:]}")
        cpu = usage.ru_utime + usage.ru_stime
        return Cost(cpu, wall, usage.ru_maxrss / 1024, out.read().decode())


def measured(task: Task, repeats: int) -> Iterator[dict[str, Any]]:
    """Yield one row for each peer of a task: medians of several runs, which take turns."""
    commands = {"": task.ours, **task.peers}
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(repeats):
        for name, command in commands.items():
            costs[name].append(cost(command))
    for name in task.peers:
        task.agree(costs[""][0].text, costs[name][0].text)
    middle = {
        name: (median(one.cpu_s for one in runs), median(one.peak_mib for one in runs))
        for name, runs in costs.items()
    }
    for name in task.peers or [""]:
        (ours_s, ours_mib), (peer_s, peer_mib) = middle[""], middle[name]
        row = {"what": task.what, "rows": task.rows, "cpu_s": ours_s, "peak_mib": ours_mib}
        if name:
            row |= {"peer": name, "peer_cpu_s": peer_s, "peer_peak_mib": peer_mib}
            row["ratio"] = ours_s / peer_s
        yield {
            key: round(value, 4) if isinstance(value, float) else value
            for key, value in row.items()
        }


def threaded(tasks: Mapping[int, Task], repeats: int) -> dict[str, Any]:
    """Return seconds for 10^6 further rows with one thread and with two, from a task of a smaller
    and of a larger table.
    """
    costs: dict[tuple[int, int], list[Cost]] = {}
    for _ in range(repeats):
        for rows, task in tasks.items():
            for n in (1, 2):
                limits = {
                    key: str(n) if "THREADS" in key else value for key, value in ENVIRONMENT.items()
                }
                costs.setdefault((rows, n), []).append(cost(task.ours, limits))
    few, many = min(tasks), max(tasks)

    def further(name: str, n: int) -> float:
        seconds = [median(getattr(one, name) for one in costs[rows, n]) for rows in (few, many)]
        return round(max((seconds[1] - seconds[0]) / (many - few) * 1e6, 1e-6), 6)

    return {
        "what": tasks[few].what,
        "rows": [few, many],
        "cpu_s": further("cpu_s", 1),
        "one_s": further("wall_s", 1),
        "two_s": further("wall_s", 2),
        "peak_mib": round(median(one.peak_mib for one in costs[many, 1]), 1),
    }


def line(row: Mapping[str, Any]) -> str:
    """Return a row as a line under ``HEADS``."""
    text = f"{row['what']:38} {row['rows']:>11,} {row['cpu_s']:8.2f} {row['peak_mib']:7.0f}"
    if "peer" not in row:
        return text
    return (
        f"{text}   {row['peer']:22} {row['peer_cpu_s']:8.2f} {row['peer_peak_mib']:7.0f}"
        f" {row['ratio']:7.2f}"
    )
