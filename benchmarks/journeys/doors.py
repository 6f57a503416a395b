"""One fitted calibrator, asked in Python, by the command and in all that it is exported to."""

import ctypes
import importlib.util
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.journeys.outcomes import Outcome
from benchmarks.journeys.product import calibrant, columns_of, read_csv, write_csv
from benchmarks.journeys.worlds import Rows, World

import calibrant as cb

__all__ = ["apply_and_export"]

NEW = 400
#: How far each door may be from ``predict_proba``: 4 ulp, or what the page on export says.
TOLERANCE = {
    "the command's apply": 9e-16,
    "one row at a time": 9e-16,
    "columns in memory order": 9e-16,
    "compile": 1e-12,
    "JSON": 1e-12,
    "C": 1e-12,
    "JavaScript": 1e-12,
    "SQL": 1e-9,
    "ONNX": 2e-7,
}
#: A world -> the methods that are fitted there; None is the default one.
METHODS: dict[str, tuple[str | None, ...]] = {
    "ordinary": ("isotonic", None, "beta"),
    "rare": ("scaling-binning", "temperature"),
    "bent": ("histogram-binning", "spline"),
    "groups that differ": ("group",),
    "many classes": ("temperature", "isotonic", None),
    "votes": ("isotonic", "histogram-binning", "vector"),
}
#: The numbers that a table's evaluation should name as the command does.
KEYS = {
    "log_loss",
    "brier_score",
    "ece",
    "accuracy",
    "event_brier_score",
    "event_ece",
    "observed_expected_ratio",
}
READER = Path(cb.__file__).parents[2] / "docs" / "reader" / "read_expression.py"
RUN = """
import { readFileSync } from "node:fs";
import { calibrate } from "./exported.mjs";
const rows = JSON.parse(readFileSync("rows.json"));
console.log(JSON.stringify(rows.map((row) => Array.from(calibrate(row)))));
"""


def apply_and_export(world: World, seed: int, quick: bool) -> Iterator[Outcome]:
    """The command fits a log; then every door is asked for the same new rows."""
    if world.name not in METHODS:
        return
    rows, new = world.rows(seed), world.draw(NEW, seed + 5)
    for method in METHODS[world.name][:1] if quick else METHODS[world.name]:
        with tempfile.TemporaryDirectory() as folder:
            here = Path(folder)
            named = () if method is None else ("--method", method)
            grouped = method == "group"
            more = {"site": rows.groups} if grouped else {}
            log = write_csv(here / "log.csv", columns_of(rows, **more))
            named += ("--groups", "site") if grouped else ()
            calibrant("fit", log, *named, "-o", here / "model.calibrant")
            yield from _asked(here, cb.load(here / "model.calibrant"), new, method, grouped)
    yield from _evaluated(rows)


def _asked(
    here: Path,
    fitted: Any,
    new: Rows,
    method: str | None,
    grouped: bool,
) -> Iterator[Outcome]:
    """Each door's answers beside ``predict_proba``; a door that is not installed is left out."""
    said = new.said if new.said.ndim == 2 else np.column_stack([1.0 - new.said, new.said])
    groups = {"groups": new.groups} if grouped else {}
    expected = fitted.predict_proba(new.said, **groups)
    kept = {"p0": np.full(len(said), 7), "v2": np.arange(len(said))}
    if grouped:
        kept["site"] = new.groups
        said = np.hstack([said, fitted.group_levels().codes(new.groups)])
    write_csv(here / "new.csv", columns_of(new, **kept))
    doors = _doors(here, fitted, new, said, expected, groups)
    for name, door in doors.items():
        try:
            got, wanted = door()
        except (ImportError, FileNotFoundError):
            continue
        except Exception as error:  # what the person would see instead of numbers
            said_so = f"{method or 'default'}: {type(error).__name__}: {str(error)[:200]}"
            yield Outcome(name, "doors disagree", True, 0.0, said_so)
            continue
        gap = np.abs(got - wanted[:, -got.shape[1] :])
        many = int((gap > TOLERANCE[name]).any(axis=1).sum())
        detail = f"{method or 'default'}: {many} rows, by {gap.max():.3g}"
        yield Outcome(name, "doors disagree", many > 0 or bool(np.isnan(gap).any()), 0.0, detail)


def _doors(
    here: Path,
    fitted: Any,
    new: Rows,
    said: np.ndarray,
    expected: np.ndarray,
    groups: dict[str, Any],
) -> dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]]:
    """{door: its answers, and those that are wanted of it}."""

    def row(j: int) -> np.ndarray:
        one = {name: values[j : j + 1] for name, values in groups.items()}
        return fitted.predict_proba(new.said[j : j + 1], **one)

    def in_columns() -> np.ndarray:
        return fitted.predict_proba(np.asfortranarray(new.said), **groups)

    given, wanted = said, expected
    if getattr(fitted, "risk_column_", None) is not None:
        # One number in, one number out, as the log has it.
        given, wanted = said[:, 1:], expected[:, 1:]
    plain: dict[str, Callable[[], np.ndarray]] = {
        "the command's apply": lambda: _applied(here),
        "one row at a time": lambda: np.vstack([row(j) for j in range(len(said))]),
        "columns in memory order": in_columns,
        "compile": lambda: fitted.compile()(said),
    }
    exported: dict[str, Callable[[], np.ndarray]] = {
        "JSON": lambda: _by_json(here, given),
        "C": lambda: _by_c(here, given, wanted.shape[1]),
        "JavaScript": lambda: _by_node(here, given),
        "SQL": lambda: _by_sql(here),
    }
    doors = {name: lambda door=door: (door(), expected) for name, door in plain.items()}
    doors |= {name: lambda door=door: (door(), wanted) for name, door in exported.items()}
    return doors | {"ONNX": lambda: _by_onnx(here, given, wanted, said, fitted)}


def _applied(here: Path) -> np.ndarray:
    calibrant("apply", here / "model.calibrant", here / "new.csv", "-o", here / "out.csv")
    columns = read_csv(here / "out.csv")
    names = ["risk"] if "risk" in columns else [name for name in columns if name.startswith("p_")]
    return np.array([columns[name] for name in names], float).T


def _exported(here: Path, name: str, *options: Any) -> Path:
    calibrant("export", here / "model.calibrant", "-o", here / name, *options)
    return here / name


def _by_json(here: Path, said: np.ndarray) -> np.ndarray:
    spec = importlib.util.spec_from_file_location("read_expression", READER)
    if spec is None or spec.loader is None:
        raise ImportError(READER)
    reader = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reader)
    exported = json.loads(_exported(here, "exported.json").read_text(encoding="utf-8"))
    return np.array([reader.run(exported, row) for row in said.tolist()])


def _by_c(here: Path, said: np.ndarray, width: int) -> np.ndarray:
    source, library = _exported(here, "exported.c"), here / "exported.so"
    command = ["gcc", "-std=c99", "-O0", "-shared", "-fPIC", "-o", library, source, "-lm"]
    subprocess.run(command, check=True, capture_output=True)
    function = ctypes.CDLL(str(library)).calibrate
    function.restype = None
    out = np.empty((len(said), width))
    for j, row in enumerate(np.ascontiguousarray(said)):
        function(*[a.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for a in (row, out[j])])
    return out


def _by_node(here: Path, said: np.ndarray) -> np.ndarray:
    if shutil.which("node") is None:
        raise FileNotFoundError("node")
    _exported(here, "exported.mjs")
    (here / "rows.json").write_text(json.dumps(said.tolist()), encoding="utf-8")
    (here / "run.mjs").write_text(RUN, encoding="utf-8")
    command = ["node", "run.mjs"]
    done = subprocess.run(command, cwd=here, check=True, capture_output=True, text=True)
    return np.array(json.loads(done.stdout))


def _by_sql(here: Path) -> np.ndarray:
    """The query runs on the person's own table, and carries columns that it might clash with."""
    import duckdb

    query = _exported(here, "exported.sql", "--table", "log", "--keep", "p0,v2")
    with duckdb.connect() as base:
        base.execute(f"CREATE TABLE log AS SELECT * FROM '{os.fspath(here / 'new.csv')}'")
        found = base.execute(query.read_text(encoding="utf-8")).fetchnumpy()
    if not (np.asarray(found["p0"]) == 7).all():
        raise ValueError("the kept column p0 has other values")
    order = np.argsort(np.asarray(found["v2"]))
    names = [name for name in found if name not in ("p0", "v2")]
    return np.column_stack([np.asarray(found[name], float)[order] for name in names])


def _by_onnx(
    here: Path,
    given: np.ndarray,
    wanted: np.ndarray,
    said: np.ndarray,
    fitted: Any,
) -> tuple[np.ndarray, np.ndarray]:
    """The graph's answers, and those of ``compile`` for inputs of the graph's own precision."""
    import onnxruntime

    session = onnxruntime.InferenceSession(os.fspath(_exported(here, "exported.onnx")))
    taken = session.get_inputs()[0]
    kind = np.float32 if taken.type == "tensor(float)" else np.float64
    rounded = given.astype(kind).astype(np.float64)
    if given.shape != said.shape:
        # Of one risk the other class has the rest.
        rounded = np.column_stack([1.0 - rounded[:, 0], rounded])
    found = np.asarray(session.run(None, {taken.name: given.astype(kind)})[0])
    return found, fitted.compile()(rounded)[:, -wanted.shape[1] :]


def _evaluated(rows: Rows) -> Iterator[Outcome]:
    """The numbers of ``cb.evaluate`` beside those of ``calibrant evaluate``, name by name."""
    try:
        import polars
    except ImportError:
        return
    columns = columns_of(rows)
    given = "risk" if "risk" in columns else "p_*"
    found = cb.evaluate(polars.DataFrame(columns), probabilities=given).columns()
    with tempfile.TemporaryDirectory() as folder:
        log = write_csv(Path(folder) / "log.csv", columns)
        said = json.loads(calibrant("evaluate", log, "--json"))
    ours = {name: float(np.ravel(values)[0]) for name, values in found.items() if name in KEYS}
    theirs = {m["key"]: m["before"]["value"] for m in said["metrics"] if m["key"] in KEYS}
    missing = sorted(set(theirs) - set(ours))
    gaps = {name: abs(ours[name] - theirs[name]) for name in set(ours) & set(theirs)}
    detail = f"Python lacks {missing}; differences {gaps}"
    fault = bool(missing) or max(gaps.values(), default=1.0) > 1e-9
    yield Outcome("evaluate", "doors disagree", fault, 0.0, detail)
