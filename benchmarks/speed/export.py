"""Every method by every emitter: the largest difference to predict, and the time of one row.

Run: python benchmarks/speed/export.py
Emitters whose libraries or compilers are missing are left out, with a line that says so: pip install 'calibrant[export]' onnxruntime torch.
Differences of error bars are in units of the largest number that comes out.
"""

import ctypes
import importlib.util
import json
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import calibrant as cb
from calibrant import export
from calibrant.contracts.compiled import Compiled
from calibrant.export.subject import QUANTILES

CLASSES, ROWS = 4, 2_000
METHODS = [
    cb.TemperatureScaling(), cb.EnsembleTemperature(), cb.CategoryTemperature(), cb.AwardTemperature(), cb.VectorScaling(),
    cb.MatrixScaling(), cb.StructuredVectorScaling(), cb.StructuredMatrixScaling(), cb.DirichletCalibration(), cb.EnsembleMatrixScaling(),
    cb.IntraOrderPreserving(), cb.IsotonicOneVsRest(), cb.IsotonicPreserving(), cb.GaussianProcessCalibration(monotone=True),
    *(cb.OneVsRest(m) for m in (cb.Isotonic(), cb.CenteredIsotonic(), cb.Beta(), cb.Platt(), cb.Spline(), cb.VennAbers())),
    cb.OneVsRest(cb.HistogramBinning()), cb.OneVsRest(cb.QuadraticScaling()), cb.ConfidenceCalibrator(), cb.AutoCalibrator(),
]  # fmt: skip
ERROR_BARS = [
    cb.StdScaling(), cb.IsotonicVariance(), cb.VarianceBinning(), cb.GaussianProcessScale(), cb.QuantileRecalibration(),
    cb.IntervalCalibration(), cb.ConformalIntervals(), cb.MondrianIntervals(), cb.DistributionRecalibration(),
    cb.AutoRegressionCalibrator(),
]  # fmt: skip
READER = Path(__file__).parents[2] / "docs" / "reader" / "read_expression.py"


@dataclass(frozen=True)
class Case:
    """A fitted part, the rows that it is run on, as they are given to what is exported, and the groups among them, as a table has them."""

    fitted: object
    rows: np.ndarray
    groups: np.ndarray | None = None

    @property
    def name(self):
        part = self.fitted
        return f"OneVsRest({type(part.map).__name__})" if isinstance(part, cb.OneVsRest) else type(part).__name__

    def predicted(self, rows):
        """What it says here of the rows."""
        if isinstance(self.fitted, cb.RegressionCalibrator):
            made = self.fitted.predict(*rows.T)
            return np.column_stack([made.mean, made.std, made.quantile(QUANTILES)])
        return self.fitted.predict_proba(rows[:, :CLASSES], groups=self.groups)


def cases():
    """Every method, fitted."""
    P, y, rows = outputs()
    rng = np.random.default_rng(1)
    made = [Case(m.fit(P, y), rows) for m in METHODS]
    groups, new = rng.integers(0, 5, (len(P), 2)), rng.integers(-1, 6, (len(rows), 2))
    by_group = cb.GroupCalibrator(depth=2).fit(P, np.where(rng.random(len(y)) < 0.3, groups[:, 0] % CLASSES, y), groups=groups)
    made.append(Case(by_group, np.hstack([rows, by_group.group_levels().codes(new)]), new))
    mean, std = rng.normal(size=ROWS), rng.uniform(0.3, 3.0, ROWS)
    y = mean + 1.5 * std**1.2 * rng.standard_t(5, ROWS)
    bars = np.column_stack([mean, std])
    return made + [Case(m.fit(mean[1000:], y[1000:], std=std[1000:]), bars[:600]) for m in ERROR_BARS]


def outputs():
    """(P, y, rows to judge on: new ones, ties and certain ones)."""
    rng = np.random.default_rng(0)
    logits = 3.0 * rng.normal(size=(ROWS, CLASSES))
    y = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    P = np.exp(1.7 * (logits - logits.max(axis=1, keepdims=True)))
    P /= P.sum(axis=1, keepdims=True)
    return P[1000:], y[1000:], np.vstack([P[:300], P[1000:1300], np.eye(CLASSES), np.full((1, CLASSES), 1.0 / CLASSES)])


def compiled(case, folder):
    return Compiled(case.fitted.expression())


def in_json(case, folder):
    spec = importlib.util.spec_from_file_location("read_expression", READER)
    reader = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reader)
    exported = json.loads(export.to_json(case.fitted))
    return lambda rows: np.array([reader.run(exported, row) for row in rows.tolist()])


def in_c(case, folder):
    (folder / "one.c").write_text(export.to_c(case.fitted), encoding="utf-8")
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", folder / "one.so", folder / "one.c", "-lm"], check=True)
    shutil.move(folder / "one.so", folder / f"{id(case)}.so")
    width = case.fitted.expression().width
    function = ctypes.CDLL(str(folder / f"{id(case)}.so")).calibrate

    def run(rows):
        rows, out = np.ascontiguousarray(rows), np.empty((len(rows), width))
        for a, b in zip(rows, out, strict=True):
            function(a.ctypes.data_as(ctypes.c_void_p), b.ctypes.data_as(ctypes.c_void_p))
        return out

    return run


def in_javascript(case, folder):
    (folder / "one.mjs").write_text(export.to_javascript(case.fitted), encoding="utf-8")
    (folder / "run.mjs").write_text(
        'import { calibrate } from "./one.mjs"; import { readFileSync } from "node:fs";'
        'console.log(JSON.stringify(JSON.parse(readFileSync("rows.json")).map((row) => Array.from(calibrate(row)))));',
        encoding="utf-8",
    )

    def run(rows):
        (folder / "rows.json").write_text(json.dumps(rows.tolist()), encoding="utf-8")
        return np.array(json.loads(subprocess.run(["node", "run.mjs"], cwd=folder, capture_output=True, check=True).stdout))

    return run


def in_onnx(case, folder):
    import onnxruntime

    session = onnxruntime.InferenceSession(export.to_onnx(case.fitted).SerializeToString(), providers=["CPUExecutionProvider"])
    return lambda rows: session.run(None, {"p": rows.astype(np.float32)})[0]


def in_torch(case, folder):
    import torch

    module = export.to_torch(case.fitted)
    return lambda rows: module(torch.from_numpy(rows)).numpy()


def in_sql(case, folder):
    import duckdb
    import pandas as pd

    groups = [] if case.groups is None else [f"g{j}" for j in range(case.groups.shape[1])]
    names = [f"p{k}" for k in range(case.rows.shape[1] - len(groups))]
    query = export.to_sql(case.fitted, columns=names, table="log", keep=["id"], groups=groups)

    def run(rows):
        frame = pd.DataFrame(rows[:, : len(names)], columns=names).assign(id=np.arange(len(rows)))
        frame[groups] = case.groups
        made = duckdb.connect().register("log", frame).execute(query).df()
        return made.sort_values("id").iloc[:, 1:].to_numpy()

    return run


EMITTERS = {
    "compiled": compiled, "json": in_json, "c": in_c, "javascript": in_javascript, "onnx": in_onnx, "torch": in_torch, "sql": in_sql,
}  # fmt: skip


def available(make, folder, case):
    try:
        make(case, folder)
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
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        made = cases()
        emitters = {name: make for name, make in EMITTERS.items() if available(make, folder, made[0])}
        print(f"{CLASSES} classes: largest difference to predict (onnx: of the same float32 rows), and CPU us of one row")
        print(f"{'':34}" + "".join(f"{name:>20}" for name in emitters))
        for case in made:
            cells = []
            for kind, make in emitters.items():
                run, rows = make(case, folder), case.rows.astype(np.float32) if kind == "onnx" else case.rows
                expected = case.predicted(rows)
                off = np.abs(run(rows) - expected).max() / max(1.0, np.abs(expected).max())
                # A process or a query for each row is no way to serve: they are not timed.
                slow = kind in ("javascript", "sql")
                cells.append(f"{off:11.1e} {'' if slow else f'{microseconds(lambda r=run, row=rows[:1]: r(row), 200):.1f}':>7}")
            print(f"{case.name:34}" + " ".join(cells), flush=True)


if __name__ == "__main__":
    main()
