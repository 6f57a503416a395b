"""ECE, log loss and Brier score on 10 million rows of 10 classes in float32:
time, memory, error, beside others.

    python benchmarks/speed/metrics.py [--rows 10000000]

Each measurement has a process of its own; memory is the peak above what the data take. Libraries
that are not installed are skipped with a message: to have them, run in an environment with
torch==2.13.0, torchmetrics, netcal and scikit-learn besides calibrant.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

CLASSES = 10


def data(n):
    """(y, P) in float32, made in pieces so that making them takes no more memory than they do;
    labels drawn from P: calibrated.
    """
    rng = np.random.default_rng(0)
    P, y = np.empty((n, CLASSES), dtype=np.float32), np.empty(n, dtype=np.int64)
    for start in range(0, n, 100_000):
        rows = slice(start, min(start + 100_000, n))
        part = rng.random((rows.stop - rows.start, CLASSES)) ** 3
        part /= part.sum(axis=1, keepdims=True)
        P[rows] = part
        y[rows] = (rng.random((len(part), 1)) > np.cumsum(part, axis=1)[:, :-1]).sum(axis=1)
    return y, P


def calibrant_metric(name):
    from calibrant import metrics

    return getattr(
        metrics,
        {"ece": "expected_calibration_error", "log loss": "log_loss", "brier": "brier_score"}[name],
    )


def calibrant_together(name):
    from calibrant import metrics

    chosen = [metrics.expected_calibration_error, metrics.log_loss, metrics.brier_score]
    return lambda y, P: metrics.compute(chosen, y, P)["ece"]


def torchmetrics_metric(name):
    import torch
    from torchmetrics.functional.classification import multiclass_calibration_error

    torch.set_num_threads(1)
    return lambda y, P: float(
        multiclass_calibration_error(
            torch.from_numpy(P), torch.from_numpy(y), num_classes=CLASSES, n_bins=15
        )
    )


def netcal_metric(name):
    from netcal.metrics import ECE

    return lambda y, P: float(ECE(15).measure(P, y))


def sklearn_metric(name):
    from sklearn.metrics import brier_score_loss, log_loss

    labels = np.arange(CLASSES)
    if name == "log loss":
        return lambda y, P: log_loss(y, P, labels=labels)
    return lambda y, P: brier_score_loss(y, P, labels=labels, scale_by_half=False)


def exact(y, P):
    """ECE of whole float64 arrays, in the widest sums that NumPy has; bins as documented (within
    rounding of an edge counts as on it).
    """
    P = P.astype(np.float64)
    P /= P.sum(axis=1, keepdims=True)
    confidence, right = P.max(axis=1), P.argmax(axis=1) == y
    index = np.minimum(((confidence + np.finfo(np.float32).eps) * 15).astype(int), 14)
    gaps = [
        abs((right[index == b] - confidence[index == b]).astype(np.longdouble).sum())
        for b in range(15)
    ]
    return float(sum(gaps) / len(y))


RUNS = [
    ("calibrant", "ece", calibrant_metric),
    ("torchmetrics", "ece", torchmetrics_metric),
    ("netcal", "ece", netcal_metric),
    ("calibrant", "log loss", calibrant_metric),
    ("scikit-learn", "log loss", sklearn_metric),
    ("calibrant", "brier", calibrant_metric),
    ("scikit-learn", "brier", sklearn_metric),
    ("calibrant", "all three", calibrant_together),
]


def one(run, n):
    """In a process of its own: value, CPU seconds, peak memory above the data in MB."""
    library, name, make = RUNS[run]
    try:
        function = make(name)
    except ImportError as error:
        print(json.dumps({"skipped": f"{library} is not installed ({error.name})"}))
        return
    y, P = data(n)
    function(y[:1000], P[:1000])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    value = function(y, P)
    cpu = time.process_time() - start
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    off = abs(value - exact(y, P)) if name in ("ece", "all three") else None
    print(
        json.dumps(
            {
                "library": library,
                "metric": name,
                "value": value,
                "cpu": cpu,
                "extra MB": peak,
                "off by": off,
            }
        )
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--run", type=int)
    given = parser.parse_args()
    if given.run is not None:
        one(given.run, given.rows)
        return
    print(f"{given.rows:,} rows of {CLASSES} classes, float32, one thread")
    print(f"{'library':14} {'metric':12} {'CPU s':>7} {'extra MB':>9} {'value':>16} {'off by':>9}")
    for run, (library, name, _) in enumerate(RUNS):
        command = [sys.executable, __file__, "--rows", str(given.rows), "--run", str(run)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{library:14} {name:12} failed: {done.stderr.strip().splitlines()[-1]}")
            continue
        found = json.loads(done.stdout.strip().splitlines()[-1])
        if "skipped" in found:
            print(f"{library:14} {name:12} skipped: {found['skipped']}")
            continue
        off = "" if found["off by"] is None else f"{found['off by']:.1e}"
        print(
            f"{library:14} {name:12} {found['cpu']:7.2f} {found['extra MB']:9.0f}"
            f" {found['value']:16.12f} {off:>9}",
            flush=True,
        )


if __name__ == "__main__":
    main()
