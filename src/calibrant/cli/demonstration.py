"""Run ``calibrant demo``: real models on real data, calibrated by every method."""

import json
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.table import Table
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import calibrant
from calibrant import metrics
from calibrant.cli.methods import methods
from calibrant.cli.tables import console, progress
from calibrant.datasets.bundled import BUNDLED, three_parts
from calibrant.errors import CalibrationWarning, InputError
from calibrant.select.default import default_calibrator

__all__ = ["demonstrate"]

COMPARED: dict[Any, Any] = {
    "log loss": metrics.log_loss,
    "Brier": metrics.brier_score,
    "ECE": metrics.expected_calibration_error,
}
N_RESAMPLES = 300


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


def demonstrate(output: Path, full: bool, as_json: bool, force: bool) -> None:
    """Train and calibrate the models, compare the methods, print tables and write the page."""
    start = time.perf_counter()
    with progress("training models", 2 * len(_models())) as step:
        cases = [case for make in BUNDLED.values() for case in _train(make(), step)]
    with progress("calibrating", len(cases) * len(methods())) as step:
        results = {case.name: _compare(case, step) for case in cases}
    calibrator = default_calibrator()
    first = cases[0]
    found = calibrant.report(
        first.fit[1],
        first.fit[0],
        test=first.test[::-1],
        classes=first.classes,
        calibrator=calibrator,
        title=f"Demo: {first.name}",
    )
    found.save(output, overwrite=force)
    if as_json:
        click.echo(json.dumps(results, indent=1))
        return
    out = console()
    out.print(_overview(results))
    for case in cases if full else cases[:1]:
        out.print(_detail(case, results[case.name]))
    out.print(f"{first.name}: {found.to_dict()['verdict']['sentence']}", soft_wrap=True)
    out.print(
        f"{len(cases)} cases, {len(methods())} methods, {time.perf_counter() - start:.0f} s. Open"
        f" the report: {output}",
        soft_wrap=True,
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
    """Table of the log loss of every method in every case, sorted by the mean."""
    table = Table(
        title="Log loss on the test rows (lower is better; the best of each column in bold)",
        title_justify="left",
    )
    table.add_column("method", no_wrap=True)
    for name in results:
        model, _, data = name.partition(" on ")
        table.add_column(f"{data}\n{model}", justify="right")
    names = list(next(iter(results.values())))
    loss = np.array(
        [
            [results[case][name].get("log loss", {}).get("value", np.nan) for case in results]
            for name in names
        ]
    )
    order = np.argsort(
        np.where(np.isnan(loss).any(axis=1), np.inf, loss.mean(axis=1)), kind="stable"
    )
    best = np.nanmin(loss, axis=0)
    for i in order:
        cells = [
            "–" if np.isnan(v) else f"[bold]{v:.3f}[/bold]" if v == b else f"{v:.3f}"
            for v, b in zip(loss[i], best, strict=True)
        ]
        table.add_row(_shown(names[i]), *cells)
    return table


def _detail(case, results):
    table = Table(
        title=f"{case.name}: {len(case.fit[1])} rows to fit, {len(case.test[1])} to test",
        title_justify="left",
    )
    table.add_column("method")
    for name in COMPARED:
        table.add_column(name, justify="right")
    table.add_column("fit")
    measured = {name: found for name, found in results.items() if "refused" not in found}
    for name, found in sorted(measured.items(), key=lambda item: item[1]["log loss"]["value"]):
        cells = [
            f"{found[m]['value']:.3f} \\[{found[m]['low']:.3f}, {found[m]['high']:.3f}]"
            for m in COMPARED
        ]
        table.add_row(_shown(name), *cells, str(found["status"]))
    for name in results.keys() - measured.keys():
        table.add_row(_shown(name), "–", "–", "–", results[name]["refused"][:40])
    return table


def _shown(name):
    return "[italic]uncalibrated[/italic]" if name == "identity" else name
