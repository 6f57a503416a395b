"""Every method by every emitter: the largest difference to predict, and the time of one row.

Run: python benchmarks/speed/export.py
Emitters whose libraries or compilers are missing are left out, with a line that says so: pip install 'calibrant[export]' onnxruntime torch.
"""

import ctypes
import importlib.util
import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

import calibrant as cb
from calibrant import export

CLASSES, ROWS = 4, 2_000
METHODS = [
    cb.TemperatureScaling(), cb.EnsembleTemperature(), cb.CategoryTemperature(), cb.AwardTemperature(), cb.VectorScaling(),
    cb.MatrixScaling(), cb.StructuredVectorScaling(), cb.StructuredMatrixScaling(), cb.DirichletCalibration(), cb.EnsembleMatrixScaling(),
    cb.IntraOrderPreserving(), cb.IsotonicOneVsRest(), cb.IsotonicPreserving(), cb.GaussianProcessCalibration(monotone=True),
    *(cb.OneVsRest(m) for m in (cb.Isotonic(), cb.CenteredIsotonic(), cb.Beta(), cb.Platt(), cb.Spline(), cb.VennAbers())),
    cb.OneVsRest(cb.HistogramBinning()), cb.OneVsRest(cb.QuadraticScaling()), cb.ConfidenceCalibrator(), cb.AutoCalibrator(),
]  # fmt: skip
READER = Path(__file__).parents[2] / "docs" / "reader" / "read_expression.py"


def outputs():
    """(P, y, rows to judge on: new ones, ties and certain ones)."""
    rng = np.random.default_rng(0)
    logits = 3.0 * rng.normal(size=(ROWS, CLASSES))
    y = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    P = np.exp(1.7 * (logits - logits.max(axis=1, keepdims=True)))
    P /= P.sum(axis=1, keepdims=True)
    return P[1000:], y[1000:], np.vstack([P[:300], P[1000:1300], np.eye(CLASSES), np.full((1, CLASSES), 1.0 / CLASSES)])


def compiled(fitted, folder):
    return fitted.compile()


def in_json(fitted, folder):
    spec = importlib.util.spec_from_file_location("read_expression", READER)
    reader = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reader)
    exported = json.loads(export.to_json(fitted))
    return lambda rows: np.array([reader.run(exported, row) for row in rows.tolist()])


def in_c(fitted, folder):
    (folder / "one.c").write_text(export.to_c(fitted))
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", folder / "one.so", folder / "one.c", "-lm"], check=True)
    shutil.move(folder / "one.so", folder / f"{id(fitted)}.so")
    function = ctypes.CDLL(str(folder / f"{id(fitted)}.so")).calibrate

    def run(rows):
        rows, out = np.ascontiguousarray(rows), np.empty((len(rows), CLASSES))
        for a, b in zip(rows, out, strict=True):
            function(a.ctypes.data_as(ctypes.c_void_p), b.ctypes.data_as(ctypes.c_void_p))
        return out

    return run


def in_javascript(fitted, folder):
    (folder / "one.mjs").write_text(export.to_javascript(fitted))
    (folder / "run.mjs").write_text(
        'import { calibrate } from "./one.mjs"; import { readFileSync } from "node:fs";'
        'console.log(JSON.stringify(JSON.parse(readFileSync("rows.json")).map((row) => Array.from(calibrate(row)))));'
    )

    def run(rows):
        (folder / "rows.json").write_text(json.dumps(rows.tolist()))
        return np.array(json.loads(subprocess.run(["node", "run.mjs"], cwd=folder, capture_output=True, check=True).stdout))

    return run


def in_onnx(fitted, folder):
    import onnxruntime

    session = onnxruntime.InferenceSession(export.to_onnx(fitted).SerializeToString(), providers=["CPUExecutionProvider"])
    return lambda rows: session.run(None, {"p": rows.astype(np.float32)})[0]


def in_torch(fitted, folder):
    import torch

    module = export.to_torch(fitted)
    return lambda rows: module(torch.from_numpy(rows)).numpy()


def in_sql(fitted, folder):
    import duckdb
    import pandas as pd

    names = [f"p{k}" for k in range(CLASSES)]
    query = export.to_sql(fitted, columns=names, table="log", keep=["id"])

    def run(rows):
        frame = pd.DataFrame(rows, columns=names).assign(id=np.arange(len(rows)))
        made = duckdb.connect().register("log", frame).execute(query).df()
        return made.sort_values("id").iloc[:, 1:].to_numpy()

    return run


EMITTERS = {
    "compiled": compiled, "json": in_json, "c": in_c, "javascript": in_javascript, "onnx": in_onnx, "torch": in_torch, "sql": in_sql,
}  # fmt: skip


def available(make, folder, fitted):
    try:
        make(fitted, folder)
    except (ImportError, FileNotFoundError, cb.errors.MissingDependencyError) as error:
        print(f"left out: {error}")
        return False
    return True


def microseconds(function, repeats):
    start = time.process_time()
    for _ in range(repeats):
        function()
    return 1e6 * (time.process_time() - start) / repeats


def main():
    P, y, rows = outputs()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        fitted = [m.fit(P, y) for m in METHODS]
        emitters = {name: make for name, make in EMITTERS.items() if available(make, folder, fitted[0])}
        print(f"{CLASSES} classes: largest difference to predict_proba (onnx: of the same float32 rows), and CPU us of one row")
        print(f"{'':34}" + "".join(f"{name:>20}" for name in emitters))
        for part in fitted:
            name = f"OneVsRest({type(part.map).__name__})" if isinstance(part, cb.OneVsRest) else type(part).__name__
            cells = []
            for kind, make in emitters.items():
                run, given = make(part, folder), rows.astype(np.float32) if kind == "onnx" else rows
                off = np.abs(run(given) - part.predict_proba(given)).max()
                # A process or a query for each row is no way to serve: they are not timed.
                slow = kind in ("javascript", "sql")
                cells.append(f"{off:11.1e} {'' if slow else f'{microseconds(lambda r=run: r(rows[:1]), 200):.1f}':>7}")
            print(f"{name:34}" + " ".join(cells))


if __name__ == "__main__":
    main()
