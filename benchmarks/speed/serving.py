"""Latency of one row and throughput of many: checked, compiled, and scikit-learn's and netcal's
own.

Run: python -m benchmarks.speed.serving [--peers PYTHON] Each calibrator's rows are also written
into a given array (``out=``), of float64 and of float32; beside it is what copying them costs.
"""

import argparse
import json
import subprocess
from pathlib import Path

import numpy as np
from benchmarks.speed.serving_peers import CLASSES, ROWS, microseconds, outputs
from sklearn.isotonic import IsotonicRegression

import calibrant as cb

MANY = 100_000
#: Microseconds of one row that the project aims for.
TARGET = {"AutoCalibrator": 20.0}
USUAL_TARGET = 10.0


def table(n_classes):
    P, y = outputs(n_classes)
    parts = [
        cb.TemperatureScaling(),
        cb.calibrators.StructuredVectorScaling(),
        cb.calibrators.StructuredMatrixScaling(),
        cb.OneVsRest(cb.Isotonic()),
        cb.OneVsRest(cb.calibrators.Beta()),
        cb.calibrators.IsotonicOneVsRest(),
        cb.calibrators.EnsembleMatrixScaling(),
        cb.AutoCalibrator(),
    ]
    head = f"{n_classes} classes{'':24} one row: compiled / predict_proba, us   target"
    print(f"\n{head}   {MANY:,} rows, ns an entry: new, out=, float32, copied")
    for part in parts:
        line(part.fit(P, y), P)


def line(part, P):
    run, one, many = part.compile(), P[:1], np.tile(P, (MANY // ROWS, 1))
    name = (
        f"OneVsRest({type(part.map).__name__})"
        if isinstance(part, cb.OneVsRest)
        else type(part).__name__
    )
    fast, checked = (
        microseconds(lambda: run(one)),
        microseconds(lambda: part.predict_proba(one), 50),
    )
    single, places = (
        many.astype(np.float32),
        [np.empty_like(many), np.empty(many.shape, dtype=np.float32)],
    )
    batches = [
        lambda: run(many),
        lambda: run(many, out=places[0]),
        lambda: run(single, out=places[1]),
        many.copy,
    ]
    each = "".join(f"{1e3 * microseconds(batch, 1, 3) / many.size:8.1f}" for batch in batches)
    print(f"{name:36} {fast:10.1f} / {checked:8.0f} {TARGET.get(name, USUAL_TARGET):18.0f} {each}")


def peers(python):
    P, y = outputs(2)
    theirs, ours = (
        IsotonicRegression(out_of_bounds="clip").fit(P[:, 1], y),
        cb.OneVsRest(cb.Isotonic()).fit(P, y).compile(),
    )
    beside("isotonic", "scikit-learn", lambda: theirs.predict(P[:1, 1]), lambda: ours(P[:1]))
    if python is None:
        return
    script = Path(__file__).with_name("serving_peers.py")
    found = json.loads(
        subprocess.run(
            [python, str(script)], check=True, capture_output=True, text=True
        ).stdout.splitlines()[-1]
    )
    P, y = outputs(CLASSES)
    run = cb.TemperatureScaling().fit(P, y).compile()
    print(
        f"\ntemperature, one row: netcal {found['one row']:.0f} us, ours"
        f" {microseconds(lambda: run(P[:1])):.1f} us"
    )
    print(
        f"temperature, {ROWS:,} rows: netcal {found['rows']:.0f} us, ours"
        f" {microseconds(lambda: run(P), 20):.0f} us"
    )


def beside(what, who, theirs, ours):
    print(
        f"\n{what}, one row: {who} {microseconds(theirs, 50):.0f} us, ours"
        f" {microseconds(ours):.1f} us"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", help="python of an environment with netcal")
    given = parser.parse_args()
    for n_classes in (2, CLASSES):
        table(n_classes)
    peers(given.peers)


if __name__ == "__main__":
    main()
