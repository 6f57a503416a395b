"""Run ``calibrant demo``: real models on real data, calibrated by every method."""

import json
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import calibrant
from calibrant import metrics
from calibrant.calibrators.auto import default_calibrator
from calibrant.cli.methods import methods
from calibrant.cli.tables import print_table, progress, with_interval
from calibrant.cli.wording import say
from calibrant.datasets.sets import BUNDLED, three_parts
from calibrant.errors import CalibrationWarning, InputError

__all__ = ["demonstrate"]

COMPARED: dict[Any, Any] = {
    "log loss": metrics.log_loss,
    "Brier": metrics.brier_score,
    "ECE": metrics.expected_calibration_error,
}
N_RESAMPLES = 300
#: Commands of a first day, on one's own table.
NEXT = """\
  calibrant report log.csv --risk p --label y
  calibrant fit log.csv --risk p --label y -o model.calibrant
  calibrant apply model.calibrant new.csv --risk p -o calibrated.csv"""


def _models():
    """Three models: underconfident, very overconfident and slightly overconfident."""
    return {
        "random forest": RandomForestClassifier(100, random_state=0),
        "naive Bayes": make_pipeline(StandardScaler(), GaussianNB(var_smoothing=1e-3)),
        "neural network": make_pipeline(
            StandardScaler(), MLPClassifier((32,), alpha=1e-4, max_iter=1000, random_state=0)
        ),
    }


@dataclass(frozen=True)
class _Case:
    """Predictions of one model on one data set, for the fit rows and for the test rows."""

    name: str
    classes: np.ndarray
    fit: tuple[Any, ...]
    test: tuple[Any, ...]


def demonstrate(output: Path, whole: bool, as_json: bool, force: bool) -> None:
    """Train and calibrate the models, compare the methods, print tables and write the page."""
    start = time.perf_counter()
    with progress("training models", 2 * len(_models())) as step:
        cases = [case for make in BUNDLED.values() for case in _train(make(), step)]
    with progress("calibrating", len(cases) * len(methods())) as step:
        results = {case.name: _compare(case, step) for case in cases}
    first = cases[0]
    found = calibrant.report(
        first.fit[1],
        first.fit[0],
        test=first.test[::-1],
        classes=first.classes,
        calibrator=default_calibrator(),
        title=f"Demo: {first.name}",
    )
    found.save(output, overwrite=force)
    where = output.resolve() if isinstance(output, Path) else output
    if as_json:
        click.echo(json.dumps(results, indent=1))
        return
    seconds = time.perf_counter() - start
    say(
        f"Log loss of {len(cases)} models (lower is better), uncalibrated and by the best of"
        f" {len(methods())} methods, on rows that neither has seen ({seconds:.0f} s):"
    )
    print_table("", *_overview(results), whole)
    for case in cases if whole else ():
        title = f"{case.name}: {len(case.fit[1])} rows to fit, {len(case.test[1])} to test"
        print_table(title, *_detail(results[case.name]))
    verdict = found.to_dict()["verdict"]
    say(
        f"\n{first.name}: {verdict['state']}\n{verdict['sentence']}\n→ {verdict['action']}\n\n"
        f"Next, with a table of your own:\n{NEXT}\n\nOpen the report: {where}"
    )


def _train(data, step):
    train, fit, test = three_parts(data)
    for name, model in _models().items():
        model.fit(data.X[train], data.y[train])
        parts = [
            (model.predict_proba(data.X[rows]), data.classes[data.y[rows]]) for rows in (fit, test)
        ]
        yield _Case(f"{name} on {data.name}", data.classes, *parts)
        step()


def _compare(case, step):
    """Map each method to its numbers, or to the reason why it was refused."""
    results = {}
    for name, make in methods().items():
        results[name] = _measure(make(), case)
        step()
    return results


def _measure(calibrator, case):
    with warnings.catch_warnings():
        # On small data methods warn about their fit; the table shows this as their status.
        warnings.simplefilter("ignore", CalibrationWarning)
        try:
            fitted = calibrator.set_params(classes=case.classes).fit(*case.fit)
        except InputError as error:
            return {"refused": str(error)}
        Q = fitted.predict_proba(case.test[0])
    found = {}
    for name, metric in COMPARED.items():
        interval = metric.interval(case.test[1], Q, classes=case.classes, n_resamples=N_RESAMPLES)
        found[name] = {"value": interval.value, "low": interval.low, "high": interval.high}
    return {**found, "status": fitted.status_}


def _overview(results):
    """Return (head, rows) of the log loss of every method in every case: without calibration, then
    by the mean.
    """
    head = ["method", *(" ".join(reversed(name.split(" on "))) for name in results)]
    loss = {
        name: [found[name].get("log loss", {}).get("value", np.inf) for found in results.values()]
        for name in next(iter(results.values()))
    }
    order = sorted(loss, key=lambda name: (name != "identity", float(np.mean(loss[name]))))
    cells = {name: ["–" if v == np.inf else f"{v:.3f}" for v in loss[name]] for name in order}
    return head, [[_shown(name), *cells[name]] for name in order]


def _detail(results):
    """Return (head, rows) of every score of one case, each with its interval."""
    measured = {name: found for name, found in results.items() if "refused" not in found}
    rows = [
        [
            _shown(name),
            *(with_interval(found[key], written=_three_decimals) for key in COMPARED),
            str(found["status"]),
        ]
        for name, found in sorted(measured.items(), key=lambda item: item[1]["log loss"]["value"])
    ]
    refused = [name for name in results if name not in measured]
    rows += [[_shown(name), "–", "–", "–", results[name]["refused"]] for name in refused]
    return ["method", *COMPARED, "fit"], rows


def _three_decimals(value, sign):
    return f"{value:{sign}.3f}"


def _shown(name):
    return "uncalibrated" if name == "identity" else name
