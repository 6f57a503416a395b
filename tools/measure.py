"""Measure the code: its size, private reaches, validations per report, known types, import cost.

``python tools/measure.py [--against REV] [--quick]``: a table of this checkout, beside that of REV
where one is named (read from git into a temporary folder). ``--quick`` leaves out what runs
programs: the import ratio and ``pyright --verifytypes``.
"""

import argparse
import ast
import io
import json
import os
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.sparse.csgraph import connected_components

__all__ = [
    "checkout",
    "circles",
    "lines_by_kind",
    "measure",
    "places_that_ask_for_the_kind",
    "reaches",
    "statements",
]

ROOT = Path(__file__).resolve().parent.parent
#: The kinds of prediction, the classes of one kind, and the calls that look at an input for it.
KINDS = ("classification", "regression")
OF_DOMAINS = {"CLASSIFICATION", "REGRESSION", "TASKS", "CLASSES", "NUMBERS"}
SNIFFING = ("is_forecast", "of_forecasts", "takes_forecasts", "domain_meant", "domain_of_input")
OF_ONE_KIND = {
    "Calibrator",
    "RegressionCalibrator",
    "Predictions",
    "Forecast",
    "ForecastRecord",
    "RegressionMetric",
    "RegressionSumMetric",
    "RegressionMeanMetric",
    "QuestionRules",
    "Questions",
}
#: Functions that open the door.
DOORS = {
    *(("predictions.py", "read"), ("read.py", "read"), ("read.py", "read_forecast")),
    ("forecast_record.py", "read_forecast"),
}
CROSSINGS = """
import json, sys, warnings
import numpy as np
import calibrant as cb
warnings.simplefilter("ignore")
doors, count = {doors!r}, {{"n": 0}}
def seen(frame, event, _):
    code = frame.f_code
    if event == "call" and (code.co_filename.rsplit("/", 1)[-1], code.co_name) in doors:
        count["n"] += 1
rng = np.random.default_rng(0)
p = rng.uniform(0.02, 0.98, 300)
P, y = np.column_stack([1 - p, p]), (rng.random(300) < p**1.5).astype(int)
out = {{}}
for name, arguments in (("classes", (y, P)), ("numbers", (rng.normal(size=300), np.zeros(300), np.full(300, 0.8)))):
    # An older house has scalings instead of calibrators.
    first = getattr(cb, "calibrators", None) or cb.scalings
    identity = first.Identity() if name == "classes" else cb.regression.ForecastIdentity()
    cb.report(*arguments, calibrator=identity, n_resamples=2)
    count["n"] = 0
    sys.setprofile(seen)
    cb.report(*arguments, calibrator=identity, n_resamples=2)
    sys.setprofile(None)
    out[name] = count["n"]
print(json.dumps(out))
"""


NAMES = "import json, calibrant; print(json.dumps(calibrant.__all__))"


def _trees(package: Path) -> Iterator[tuple[Path, str, ast.Module]]:
    for path in sorted(package.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        yield path.relative_to(package), text, ast.parse(text)


def lines_by_kind(text: str, tree: ast.Module) -> Counter:
    """Lines of one file: code, docstring, comment, blank."""
    lines = text.splitlines()
    kinds = [
        "blank" if not line.strip() else "comment" if line.strip().startswith("#") else "code"
        for line in lines
    ]
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and ast.get_docstring(node) is not None
        ):
            for i in range(node.body[0].lineno - 1, node.body[0].end_lineno):
                kinds[i] = "docstring"
    return Counter(kinds)


def reaches(tree: ast.Module) -> list[str]:
    """Private attributes that are read from anything but ``self``, ``cls`` and ``super()``."""
    found = []
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Attribute)
            and node.attr.startswith("_")
            and not node.attr.startswith("__")
        ):
            own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            if not own and "super()" not in ast.unparse(node.value):
                found.append(ast.unparse(node))
    return found


def places_that_ask_for_the_kind(tree: ast.Module) -> int:
    """Count the places where code tests whether it works on classes or on numbers.

    They are literals of the two kinds, ``.task``, ``isinstance`` of a class of one kind, ``std is
    None``, comparisons with one domain, and calls that inspect the input. If such a test moves
    behind another name, that name is added here; none is ever removed.
    """
    return sum(map(_asks_for_the_kind, ast.walk(tree)))


def _asks_for_the_kind(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return node.value in KINDS
    if isinstance(node, ast.Attribute):
        return node.attr == "task"
    if isinstance(node, ast.Compare):
        other = node.comparators[0]
        nothing = isinstance(other, ast.Constant) and other.value is None
        names = {_called(one) for one in ast.walk(node)}
        return bool(OF_DOMAINS & names) or (nothing and _called(node.left) == "std")
    if not isinstance(node, ast.Call):
        return False
    if _called(node.func) in ("isinstance", "issubclass"):
        return bool(OF_ONE_KIND & {_called(one) for one in ast.walk(node.args[1])})
    return _called(node.func) in SNIFFING


def _called(node: ast.AST) -> str:
    """The name of a name or attribute, else an empty one."""
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def circles(package: Path) -> list[list[str]]:
    """Modules of one folder that import each other in a circle, function by function too."""
    names = {_module(path): i for i, (path, _, _) in enumerate(_trees(package))}
    edges = np.zeros((len(names), len(names)), dtype=bool)
    for path, _, tree in _trees(package):
        own = names[_module(path)]
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module in names:
                other = names[node.module]
                folder = node.module.rpartition(".")[0]
                edges[own, other] = own != other and folder == _module(path).rpartition(".")[0]
    _, part = connected_components(edges, connection="strong")
    listed = list(names)
    rings = (np.flatnonzero(part == k) for k in np.flatnonzero(np.bincount(part) > 1))
    return [[listed[i] for i in ring] for ring in rings]


def _module(path: Path) -> str:
    return ".".join(("calibrant", *path.with_suffix("").parts)).removesuffix(".__init__")


def statements(tree: ast.Module) -> int:
    """Count the statements of a file; an expression that is a string alone, as a docstring, is
    none.
    """
    texts = (
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
    return sum(isinstance(node, ast.stmt) for node in ast.walk(tree)) - sum(1 for _ in texts)


def measure(root: Path, *, quick: bool = False) -> dict[str, object]:
    """Everything about the checkout at ``root``, by name."""
    package = root / "src" / "calibrant"
    kinds, sizes, functions, by_folder, asked, count, text_of = (
        Counter(),
        [],
        [],
        Counter(),
        [],
        0,
        [],
    )
    for path, text, tree in _trees(package):
        found = lines_by_kind(text, tree)
        kinds += found
        sizes.append(text.count("\n"))
        by_folder[path.parts[0]] += len(reaches(tree))
        asked.append(places_that_ask_for_the_kind(tree))
        text_of.append(text)
        count += statements(tree)
        functions += [
            _length(node)
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ]
    out: dict[str, object] = {
        "lines of src (wc)": sum(sizes),
        **{f"  {kind}": kinds[kind] for kind in ("code", "docstring", "comment", "blank")},
        "statements": count,
        "files": len(sizes),
        "median file": statistics.median(sizes),
        "longest file": max(sizes),
        "function p95": statistics.quantiles(functions, n=20)[-1],
        "reaches for another's underscore": sum(by_folder.values()),
        **{f"  {folder}": n for folder, n in by_folder.most_common() if n},
        "places that ask for the kind": sum(asked),
        "  in files": sum(map(bool, asked)),
        "circles inside folders": len(circles(package)),
        **_dialect("\n".join(text_of)),
        "names at the top": len(json.loads(_run(root, NAMES))),
    }
    for task, n in json.loads(_run(root, CROSSINGS.format(doors=DOORS))).items():
        out[f"door crossings of one report, {task}"] = n
    return out if quick else {**out, "verifytypes": _known_types(root), **_import_ratios(root)}


def _dialect(text: str) -> dict[str, object]:
    """What only our own code looks like, and what speaks of a past that no user has."""
    return {
        "fmt: skip": text.count("fmt: skip"),
        "lines over 100 columns": sum(len(line) > 100 for line in text.split("\n")),
        "deprecations and version notes": len(
            re.findall(r"versionadded|versionchanged|[Dd]eprecat", text)
        ),
    }


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    docstring = (
        node.body[0].end_lineno - node.body[0].lineno + 1
        if ast.get_docstring(node) is not None
        else 0
    )
    return node.end_lineno - node.lineno + 1 - docstring


def _environment(root: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(root / "src"), "OMP_NUM_THREADS": "1"}


def _run(root: Path, program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=_environment(root),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{root}: {done.stderr[-2000:]}")
    return done.stdout


def _known_types(root: Path) -> str:
    """The share of public names whose types are known, by pyright."""
    pyright = Path(sys.executable).with_name("pyright")
    command = [
        str(pyright),
        "--pythonpath",
        sys.executable,
        "--verifytypes",
        "calibrant",
        "--ignoreexternal",
    ]
    done = subprocess.run(
        command, env=_environment(root), capture_output=True, text=True, check=False, cwd=root
    )
    return next(
        (
            line.split(":")[1].strip()
            for line in done.stdout.splitlines()
            if "completeness score" in line
        ),
        "not found",
    )


def _import_ratios(root: Path) -> dict[str, str]:
    """The result of ``benchmarks/speed/import_time.py`` for the sources at ``root``."""
    script = ROOT / "benchmarks" / "speed" / "import_time.py"
    done = subprocess.run(
        [sys.executable, str(script)],
        env=_environment(root),
        capture_output=True,
        text=True,
        check=False,
    )
    found = re.findall(r"^(.+) / (.+): ([\d.]+) \(limit", done.stdout, re.MULTILINE)
    return {f"time of `{ours}` / `{base}`": ratio for ours, base, ratio in found}


def checkout(revision: str, folder: Path) -> Path:
    """The files of a commit, written to the folder."""
    data = subprocess.run(
        ["git", "archive", revision], cwd=ROOT, capture_output=True, check=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def main(arguments: list[str]) -> int:
    """Print the table; always 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", metavar="REV", help="a commit to put beside this checkout")
    parser.add_argument(
        "--quick", action="store_true", help="leave out the types and the import times"
    )
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        columns = {"now": measure(ROOT, quick=options.quick)}
        if options.against:
            columns = {
                options.against: measure(
                    checkout(options.against, Path(folder)), quick=options.quick
                ),
                **columns,
            }
    names = list(dict.fromkeys(name for column in columns.values() for name in column))
    print(" ".join([f"{'':100s}", *(f"{title[:12]:>12s}" for title in columns)]))
    for name in names:
        print(
            " ".join(
                [
                    f"{name[:100]:100s}",
                    *(f"{column.get(name, 0)!s:>12s}" for column in columns.values()),
                ]
            )
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
