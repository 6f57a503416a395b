"""How long ``import calibrant`` takes beside what it stands on, in CPU seconds:
``python benchmarks/speed/import_time.py``.

Each import runs in fresh processes, turn about; the medians are compared. Exits with 1 if a ratio
is above its limit.
"""

import statistics
import subprocess
import sys

REPEATS = 15
#: What is timed, beside what, and at most how many times as long it may take.
CLAIMS = (
    ("import calibrant", "import sklearn.isotonic, scipy.optimize", 1.15),
    ("import calibrant", "import numpy", 1.05),
    (
        "import calibrant; calibrant.AutoCalibrator()",
        "import sklearn.isotonic, scipy.optimize",
        1.3,
    ),
)
PROBE = "import time; start = time.process_time(); {}; print(time.process_time() - start)"


def cpu_seconds(statement):
    """CPU seconds that ``statement`` takes in a fresh interpreter."""
    out = subprocess.run(
        [sys.executable, "-c", PROBE.format(statement)], capture_output=True, text=True, check=True
    )
    return float(out.stdout)


def measure(repeats=REPEATS):
    """Statement to the median of its CPU seconds over ``repeats`` turns."""
    statements = list(
        dict.fromkeys(statement for ours, base, _ in CLAIMS for statement in (ours, base))
    )
    for statement in statements:
        cpu_seconds(statement)  # fills the caches of byte code
    turns = [
        {statement: cpu_seconds(statement) for statement in statements} for _ in range(repeats)
    ]
    return {
        statement: statistics.median(turn[statement] for turn in turns) for statement in statements
    }


def main():
    """Print the times, their ratios and the limits."""
    seconds = measure()
    for statement, median in seconds.items():
        print(f"{statement:48s} {median:.3f} s CPU")
    broken = 0
    for ours, base, limit in CLAIMS:
        ratio = seconds[ours] / seconds[base]
        broken |= ratio > limit
        print(f"{ours} / {base}: {ratio:.2f} (limit {limit})")
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
