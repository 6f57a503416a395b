"""Every method by every emitter: the largest difference to predict, and the time of one row; by
emitter, which kinds of rows differ.

Run: python benchmarks/speed/export.py Emitters whose libraries or compilers are missing are left
out, with a line that says so: pip install 'calibrant[export]' onnxruntime torch. Differences are in
units of the largest number of the row, or of 1 where that is smaller. A row differs where it is
further off than rounding can explain, 1e-9 (onnx, of the same float32 rows: 1e-5): it fell on
another side of a step, or a number came out as none.
"""

import ctypes
import importlib.util
import json
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

import calibrant as cb
from calibrant import export
from calibrant.core.compiled import Compiled
from calibrant.export.subject import QUANTILES
from calibrant.reporting.calibrate import shown_name

CLASSES, ROWS = 4, 2_000
METHODS = [
    cb.TemperatureScaling(),
    cb.calibrators.EnsembleTemperature(),
    cb.calibrators.CategoryTemperature(),
    cb.calibrators.AwardTemperature(),
    cb.calibrators.VectorScaling(),
    cb.calibrators.MatrixScaling(),
    cb.calibrators.StructuredVectorScaling(),
    cb.calibrators.StructuredMatrixScaling(),
    cb.calibrators.DirichletCalibration(),
    cb.calibrators.EnsembleMatrixScaling(),
    cb.calibrators.IntraOrderPreserving(),
    cb.calibrators.IsotonicOneVsRest(),
    cb.calibrators.IsotonicPreserving(),
    cb.calibrators.GaussianProcessCalibration(monotone=True),
    *(
        cb.OneVsRest(m)
        for m in (
            cb.Isotonic(),
            cb.calibrators.CenteredIsotonic(),
            cb.calibrators.Beta(),
            cb.Platt(),
            cb.calibrators.Spline(),
            cb.calibrators.VennAbers(),
        )
    ),
    cb.OneVsRest(cb.calibrators.HistogramBinning()),
    cb.OneVsRest(cb.calibrators.QuadraticScaling()),
    cb.ConfidenceCalibrator(),
    cb.AutoCalibrator(),
]
ERROR_BARS = [
    cb.StdScaling(),
    cb.regression.IsotonicVariance(),
    cb.regression.VarianceBinning(),
    cb.regression.GaussianProcessScale(),
    cb.regression.QuantileRecalibration(),
    cb.regression.IntervalCalibration(),
    cb.ConformalIntervals(),
    cb.regression.MondrianIntervals(),
    cb.regression.DistributionRecalibration(),
    cb.AutoRegressionCalibrator(),
]
OF_LOGITS = [
    cb.TemperatureScaling(inputs="logit"),
    cb.calibrators.VectorScaling(inputs="logit"),
    cb.calibrators.MatrixScaling(inputs="logit"),
]
#: What a row of each kind is; of forecasts the same of means and errors.
KINDS = {
    "new": "as the fit's, but new",
    "repeat": "a row of the fit",
    "between": "halfway between two neighbouring scores of the fit",
    "zero": "holds exact zeros or ones",
    "extreme": "logits of up to 700, either way",
}
READER = Path(__file__).parents[2] / "docs" / "reader" / "read_expression.py"


@dataclass(frozen=True)
class Case:
    """A fitted part, the rows by kind that it is run on, as what is exported is given them, and
    their groups, as a table has them.
    """

    fitted: object
    by_kind: dict[str, np.ndarray]
    groups: np.ndarray | None = None

    @property
    def rows(self) -> np.ndarray:
        return np.vstack([*self.by_kind.values()])

    @property
    def name(self) -> str:
        return shown_name(self.fitted) + (
            " of logits" if self.fitted.get_params().get("inputs") == "logit" else ""
        )

    def predicted(self, rows: np.ndarray) -> np.ndarray:
        """What it says here of the rows."""
        if isinstance(self.fitted, cb.core.RegressionCalibrator):
            made = self.fitted.predict(*rows.T)
            return np.column_stack([made.mean, made.std, made.quantile(QUANTILES)])
        return self.fitted.predict_proba(rows[:, :CLASSES], groups=self.groups)

    def off(self, run, single: bool) -> np.ndarray:
        """(n,) how far each row is off, infinite where a number comes out as none."""
        rows = self.rows.astype(np.float32) if single else self.rows
        expected = self.predicted(rows)
        off = np.abs(np.asarray(run(rows), dtype=np.float64) - expected).max(axis=1) / np.maximum(
            1.0, np.abs(expected).max(axis=1)
        )
        return np.where(np.isnan(off), np.inf, off)


def cases() -> list[Case]:
    """Every method, fitted."""
    logits, y = outputs()
    P = softmax(logits)
    rows = {kind: softmax(one) for kind, one in new_logits(logits).items()} | {
        "between": halfway(P[1000:]),
        "zero": certain(P),
    }
    rng = np.random.default_rng(1)
    made = [Case(m.fit(P[1000:], y[1000:]), rows) for m in METHODS]
    made += [Case(m.fit(logits[1000:], y[1000:]), new_logits(logits)) for m in OF_LOGITS]
    groups, new = (
        rng.integers(0, 5, (1000, 2)),
        rng.integers(-1, 6, (sum(map(len, rows.values())), 2)),
    )
    by_group = cb.GroupCalibrator(depth=2).fit(
        P[1000:], np.where(rng.random(1000) < 0.3, groups[:, 0] % CLASSES, y[1000:]), groups=groups
    )
    codes = np.split(
        by_group.group_levels().codes(new), np.cumsum([len(one) for one in rows.values()])[:-1]
    )
    made.append(
        Case(
            by_group,
            {k: np.hstack([one, own]) for (k, one), own in zip(rows.items(), codes, strict=True)},
            new,
        )
    )
    mean, std = rng.normal(size=ROWS), rng.uniform(0.3, 3.0, ROWS)
    y = mean + 1.5 * std**1.2 * rng.standard_t(5, ROWS)
    bars, steps = np.column_stack([mean, std]), np.sort(std[1000:])
    forecasts = {
        "new": bars[:300],
        "repeat": bars[1000:1300],
        "between": np.column_stack([mean[:300], (0.5 * (steps[1:] + steps[:-1]))[::3][:300]]),
        "zero": np.column_stack([np.zeros(300), std[1000:1300]]),
        "extreme": np.array([*product((-700.0, 700.0), (1e-6, 1e6))]),
    }
    return made + [
        Case(m.fit(mean[1000:], y[1000:], std=std[1000:]), forecasts) for m in ERROR_BARS
    ]


def outputs() -> tuple[np.ndarray, np.ndarray]:
    """(logits, y): the second half of the rows is for the fit."""
    rng = np.random.default_rng(0)
    logits = 3.0 * rng.normal(size=(ROWS, CLASSES))
    return 1.7 * logits, (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)


def softmax(logits: np.ndarray) -> np.ndarray:
    P = np.exp(logits - logits.max(axis=1, keepdims=True))
    return P / P.sum(axis=1, keepdims=True)


def new_logits(logits: np.ndarray) -> dict[str, np.ndarray]:
    """Rows of logits of the kinds that these have."""
    extreme = np.array(list(product((-700.0, 0.0, 30.0, 700.0), repeat=CLASSES)))
    return {"new": logits[:300], "repeat": logits[1000:1300], "extreme": extreme}


def halfway(P: np.ndarray) -> np.ndarray:
    """Rows of which one class is halfway between two neighbours among the fit's, and the others
    share the rest as they did.
    """
    made = []
    for k in range(CLASSES):
        order = np.sort(P[:, k])
        rows = P[np.argsort(P[:, k])][:-1:10].copy()
        middle = (0.5 * (order[1:] + order[:-1]))[::10]
        rows *= ((1.0 - middle) / (1.0 - rows[:, k]))[:, None]
        rows[:, k] = middle
        made.append(rows)
    return np.vstack(made)


def certain(P: np.ndarray) -> np.ndarray:
    """Rows with one, two or all but one class at exactly 0, and even ones."""
    made = []
    for zero in product((False, True), repeat=CLASSES):
        if not all(zero):
            rows = np.where(zero, 0.0, P[1000:1020])
            made.append(rows / rows.sum(axis=1, keepdims=True))
    return np.vstack([*made, np.full((1, CLASSES), 1.0 / CLASSES)])


def compiled(case, folder):
    return Compiled(case.fitted.expression())


def in_json(case, folder):
    spec = importlib.util.spec_from_file_location("read_expression", READER)
    reader = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reader)
    exported = json.loads(export.to_json(case.fitted))
    return lambda rows: np.array(
        [reader.run(exported, row) for row in rows.tolist()], dtype=np.float64
    )


def in_c(case, folder):
    (folder / "one.c").write_text(export.to_c(case.fitted), encoding="utf-8")
    subprocess.run(
        ["gcc", "-O2", "-shared", "-fPIC", "-o", folder / "one.so", folder / "one.c", "-lm"],
        check=True,
    )
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
        'import { calibrate } from "./one.mjs"; import { readFileSync } from'
        ' "node:fs";console.log(JSON.stringify(JSON.parse(readFileSync("rows.json")).map((row) =>'
        " Array.from(calibrate(row)))));",
        encoding="utf-8",
    )

    def run(rows):
        (folder / "rows.json").write_text(json.dumps(rows.tolist()), encoding="utf-8")
        return np.array(
            json.loads(
                subprocess.run(
                    ["node", "run.mjs"], cwd=folder, capture_output=True, check=True
                ).stdout
            ),
            dtype=np.float64,
        )

    return run


def in_onnx(case, folder):
    import onnxruntime

    session = onnxruntime.InferenceSession(
        export.to_onnx(case.fitted).SerializeToString(), providers=["CPUExecutionProvider"]
    )
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
    "compiled": compiled,
    "json": in_json,
    "c": in_c,
    "javascript": in_javascript,
    "onnx": in_onnx,
    "torch": in_torch,
    "sql": in_sql,
}


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
        emitters = {
            name: make for name, make in EMITTERS.items() if available(make, folder, made[0])
        }
        found = {name: Counter() for name in emitters}
        print(f"{CLASSES} classes: largest difference to predict, and CPU us of one row")
        print(f"{'':62}" + "".join(f"{name:>20}" for name in emitters))
        for case in made:
            cells = []
            for name, make in emitters.items():
                run, single = make(case, folder), name == "onnx"
                off = case.off(run, single)
                count(found[name], case, off, 1e-5 if single else 1e-9)
                row = case.rows[:1].astype(np.float32) if single else case.rows[:1]
                # A process or a query for each row is no way to serve: they are not timed.
                slow = name in ("javascript", "sql")
                cells.append(
                    f"{off.max():11.1e}"
                    f" "
                    f"{'' if slow else f'{microseconds(lambda r=run, row=row: r(row), 200):.1f}':>7}"
                )
            print(f"{case.name:62}" + " ".join(cells), flush=True)
    print(
        "\nrows that differ, of all, and the largest difference; "
        + "; ".join(f"{kind}: {what}" for kind, what in KINDS.items())
    )
    print(f"{'':12}" + "".join(f"{kind:>24}" for kind in KINDS))
    for name, counts in found.items():
        cells = [
            f"{counts[kind, 'differ']:,} of {counts[kind, 'rows']:,} {counts[kind, 'worst']:8.1e}"
            for kind in KINDS
        ]
        print(f"{name:12}" + "".join(f"{cell:>24}" for cell in cells))


def count(found: Counter, case: Case, off: np.ndarray, tolerance: float) -> None:
    """Add the rows of a case that are further off than the tolerance, by kind, and the largest
    difference.
    """
    start = 0
    for kind, rows in case.by_kind.items():
        own = off[start : start + len(rows)]
        start += len(rows)
        found[kind, "rows"] += len(own)
        found[kind, "differ"] += int((own > tolerance).sum())
        found[kind, "worst"] = max(found[kind, "worst"], own.max())


if __name__ == "__main__":
    main()
