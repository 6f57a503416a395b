"""Time and memory to read and calibrate a log of JSON lines."""

import resource
import tempfile
import time
from pathlib import Path

import numpy as np
from benchmarks.questions.table import goal, line

import calibrant as cb

__all__ = ["speed"]

#: Rows that are written together.
BLOCK = 20_000


def _write(path: Path, rows: int) -> None:
    """Write answers to 40 questions of 2 to 5 options, rounded to four decimals."""
    rng = np.random.default_rng(0)
    with path.open("w", encoding="utf-8") as file:
        for first in range(0, rows, BLOCK):
            n = min(BLOCK, rows - first)
            size = rng.integers(2, 6, n)
            share = rng.exponential(size=(n, 5)) * (np.arange(5) < size[:, None])
            share = (share / share.sum(axis=1, keepdims=True)).round(4)
            right = (share.cumsum(axis=1) < rng.random((n, 1)) * share.sum(axis=1)[:, None]).sum(1)
            for i, (k, p, y) in enumerate(zip(size, share.tolist(), right, strict=True), first):
                probs = ", ".join(f'"o{j}": {p[j]}' for j in range(k))
                file.write(
                    f'{{"id": {i // 4}, "question": "q{i % 40}", "probs": {{{probs}}},'
                    f' "label": "o{min(y, k - 1)}"}}\n'
                )


def speed(rows: int) -> None:
    """Print seconds of a log of so many rows, and the most memory of this process."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.jsonl"
        _write(path, rows)
        t = [time.process_time()]
        record = cb.read_questions(path)
        t.append(time.process_time())
        calibrator = cb.QuestionCalibrator().fit(record)
        t.append(time.process_time())
        calibrator.predict(record)
        t.append(time.process_time())
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    line("rows", ("read, s", "fit, s", "apply, s", "all, s", "GB"))
    line(f"{rows:,}", [*np.diff(t).tolist(), t[-1] - t[0], memory])
    goal("at most 20 s of CPU for 10^6 rows", f"{t[-1] - t[0]:.1f} s", t[-1] - t[0] <= 20.0)
    goal("at most 1.5 GB", f"{memory:.2f} GB", memory <= 1.5)
