"""Latency of one row and throughput of many: checked, compiled, and scikit-learn's and netcal's own.

Run: python benchmarks/speed/serving.py
netcal is timed where it is installed (an environment of its own: pip install netcal calibrant).
"""

import time

import numpy as np
from sklearn.isotonic import IsotonicRegression

import calibrant as cb

CLASSES, ROWS, MANY = 10, 4_000, 100_000
#: Microseconds of one row that the project aims for.
TARGET = {"AutoCalibrator": 60.0}
USUAL_TARGET = 10.0


def outputs(n_classes, rows=ROWS):
    """(P, y) of an overconfident model."""
    rng = np.random.default_rng(0)
    logits = 3.0 * rng.normal(size=(rows, n_classes))
    y = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    P = np.exp(1.7 * (logits - logits.max(axis=1, keepdims=True)))
    return P / P.sum(axis=1, keepdims=True), y


def microseconds(function, repeats=300, turns=7):
    """The least mean CPU time of a call over some turns."""
    best = np.inf
    for _ in range(turns):
        start = time.process_time()
        for _ in range(repeats):
            function()
        best = min(best, (time.process_time() - start) / repeats)
    return 1e6 * best


def table(n_classes):
    P, y = outputs(n_classes)
    parts = [
        cb.TemperatureScaling(), cb.StructuredVectorScaling(), cb.StructuredMatrixScaling(), cb.OneVsRest(cb.Isotonic()),
        cb.OneVsRest(cb.Beta()), cb.IsotonicOneVsRest(), cb.EnsembleMatrixScaling(), cb.AutoCalibrator(),
    ]  # fmt: skip
    print(f"\n{n_classes} classes{'':24} one row: compiled / predict_proba, us   target   {MANY:,} rows compiled, ns an entry")
    for part in parts:
        line(part.fit(P, y), P)


def line(part, P):
    run, one, many = part.compile(), P[:1], np.tile(P, (MANY // ROWS, 1))
    name = f"OneVsRest({type(part.map).__name__})" if isinstance(part, cb.OneVsRest) else type(part).__name__
    fast, checked = microseconds(lambda: run(one)), microseconds(lambda: part.predict_proba(one), 50)
    batch = 1e3 * microseconds(lambda: run(many), 1, 3) / many.size
    print(f"{name:36} {fast:10.1f} / {checked:8.0f} {TARGET.get(name, USUAL_TARGET):18.0f} {batch:20.1f}")


def peers():
    P, y = outputs(2)
    theirs, ours = IsotonicRegression(out_of_bounds="clip").fit(P[:, 1], y), cb.OneVsRest(cb.Isotonic()).fit(P, y).compile()
    beside("isotonic", "scikit-learn", lambda: theirs.predict(P[:1, 1]), lambda: ours(P[:1]))
    try:
        from netcal.scaling import TemperatureScaling
    except ImportError:
        print("netcal is not installed here")
        return
    P, y = outputs(CLASSES)
    scaling, run = TemperatureScaling(), cb.TemperatureScaling().fit(P, y).compile()
    scaling.fit(P, y)
    beside("temperature", "netcal", lambda: scaling.transform(P[:1]), lambda: run(P[:1]))


def beside(what, who, theirs, ours):
    print(f"\n{what}, one row: {who} {microseconds(theirs, 50):.0f} us, ours {microseconds(ours):.1f} us")


if __name__ == "__main__":
    for n_classes in (2, CLASSES):
        table(n_classes)
    peers()
