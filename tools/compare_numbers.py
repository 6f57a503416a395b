"""Compare every number of this checkout with another commit's: ``python tools/compare_numbers.py REV``.

The same program runs on both trees, in a process of its own: the reports of the demo's data and of a regression set, all metrics with their
intervals, the predictions of all calibrators. Numbers are compared bit by bit; differences and missing names are listed, and the exit code
is 1 if there are any. ``--only PREFIX`` looks at a part.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.measure import ROOT, checkout

__all__ = ["compare", "numbers_of"]

PROGRAM = """
import json, sys, warnings
import numpy as np
import calibrant as cb
from calibrant import metrics
from calibrant.testing import all_calibrators, all_metrics, all_regression_calibrators
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.naive_bayes import GaussianNB

warnings.simplefilter("ignore")
out = {}


def keep(name, value):
    if isinstance(value, dict):
        for key, each in value.items():
            keep(f"{name}/{key}", each)
    elif isinstance(value, (list, tuple)):
        for i, each in enumerate(value):
            keep(f"{name}/{i}", each)
    elif isinstance(value, np.ndarray):
        out[name] = [float(v).hex() for v in np.asarray(value, dtype=np.float64).ravel()]
    elif isinstance(value, (float, np.floating)):
        out[name] = float(value).hex()
    elif value is None or isinstance(value, (bool, int, str, np.integer, np.bool_)):
        out[name] = str(value)
    else:
        out[name] = "of another kind"


def tried(name, make):
    try:
        keep(name, make())
    except Exception as error:
        out[name] = type(error).__name__


def interval(found):
    found = found if isinstance(found, list) else [found]
    return [[one.value, one.low, one.high, one.plain] for one in found]


def rest(P):
    return np.clip(P, 1e-6, 1.0) / np.clip(P, 1e-6, 1.0).sum(axis=1, keepdims=True)


predictions = {}
for name, load in (("digits", load_digits), ("breast cancer", load_breast_cancer)):
    X, y = load(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    train, later = order[: len(y) // 2], order[len(y) // 2 :]
    for title, model in (("forest", RandomForestClassifier(50, random_state=0)), ("naive Bayes", GaussianNB(var_smoothing=1e-3))):
        P = rest(model.fit(X[train], y[train]).predict_proba(X[later]))
        predictions[f"{title} on {name}"] = (y[later], P)
for name, (y, P) in predictions.items():
    keep(f"report/{name}", cb.report(y, P, n_resamples=200).to_dict())
    keep(f"report of temperature/{name}", cb.report(y, P, calibrator=cb.TemperatureScaling(), n_resamples=200).to_dict())
    half = len(y) // 2
    for calibrator in all_calibrators():
        if not (calibrator.tags.uses_features or calibrator.tags.needs_reference):
            if "random_state" in calibrator.get_params():
                calibrator.set_params(random_state=0)
            label = f"calibrator/{name}/{' '.join(repr(calibrator).split())}"
            if calibrator.inputs == "probability":
                tried(label, lambda: calibrator.fit(P[:half], y[:half]).predict_proba(P[half:])[:50])
X, y = load_diabetes(return_X_y=True)
model = GaussianProcessRegressor(RBF() + WhiteKernel(), normalize_y=True).fit(X[:200], y[:200])
mean, std = model.predict(X[200:], return_std=True)
y = y[200:]
keep("report/diabetes", cb.report(y, mean, std, n_resamples=200).to_dict())
keep("report of std scaling/diabetes", cb.report(y, mean, std, calibrator=cb.StdScaling(), n_resamples=200).to_dict())
for calibrator in all_regression_calibrators():
    if "random_state" in calibrator.get_params():
        calibrator.set_params(random_state=0)
    label = f"regression calibrator/{' '.join(repr(calibrator).split())}"
    tried(label, lambda: calibrator.fit((mean[:120], std[:120]), y[:120]).predict(mean[120:], std[120:]).interval(0.9))
for metric in all_metrics():
    if metric.task == "regression":
        tried(f"metric/{metric!r}", lambda: metric(y, mean, std))
        tried(f"interval/{metric!r}", lambda: interval(metric.interval(y, mean, std, n_resamples=100)))
    else:
        for name, (labels, P) in predictions.items():
            tried(f"metric/{name}/{metric!r}", lambda: metric(labels, P))
            tried(f"interval/{name}/{metric!r}", lambda: interval(metric.interval(labels, P, n_resamples=100)))
json.dump(out, open(sys.argv[1], "w"))
"""


def numbers_of(root: Path) -> dict[str, str | list[str]]:
    """Everything that the program finds with the sources at ``root``, by name."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "numbers.json"
        environment = {**os.environ, "PYTHONPATH": str(root / "src"), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        subprocess.run([sys.executable, "-c", PROGRAM, str(file)], env=environment, check=True, cwd=folder)
        return json.loads(file.read_text(encoding="utf-8"))


def compare(before: dict, now: dict) -> list[str]:
    """One line for each name whose numbers differ, or that only one of them has."""
    lines = []
    for name in sorted(before.keys() | now.keys()):
        if name not in now or name not in before:
            lines.append(f"{'gone' if name not in now else 'new '} {name}")
        elif before[name] != now[name]:
            lines.append(f"differs {name}: {_shown(before[name])} -> {_shown(now[name])}")
    return lines


def _shown(value):
    if isinstance(value, list):
        return f"{len(value)} numbers"
    try:
        return repr(float.fromhex(value))
    except ValueError:
        return value


def main(arguments: list[str]) -> int:
    """Print the differences and their number; 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("revision", metavar="REV")
    parser.add_argument("--only", default="", metavar="PREFIX")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        before = numbers_of(checkout(options.revision, Path(folder)))
    now = numbers_of(ROOT)
    found = [line for line in compare(before, now) if line.split(" ", 1)[1].lstrip().startswith(options.only)]
    print("\n".join(found))
    values = sum(len(v) if isinstance(v, list) else 1 for v in now.values())
    print(f"{values:,} values under {len(now):,} names; {len(found):,} names differ")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
