"""Calibrators in MLflow, as calibrant's own file, which executes nothing, or by skops inside a
scikit-learn model; and the model card of a report.

The card has metadata for a hub and tables for readers.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from calibrant.core.domain import Facet
from calibrant.core.extras import import_extra
from calibrant.core.kinds import require_any_calibrator
from calibrant.core.reading import CLASSIFICATION, REGRESSION
from calibrant.core.saving import load
from calibrant.errors import InputError
from calibrant.reporting.report import Report

__all__ = ["MlflowCalibrator", "_load_pyfunc", "model_card", "trusted_types"]


def trusted_types(model: Any) -> list[str]:
    """List calibrant's classes inside a fitted model, which MLflow's skops format requires.

    Parameters
    ----------
    model : a fitted ``CalibratedClassifier``, or any scikit-learn model or pipeline that contains
        one

    Returns
    -------
    Names for ``mlflow.sklearn.log_model(model, skops_trusted_types=...)``. They include no classes
    of other packages: check those yourself.

    Raises
    ------
    MissingDependencyError
        Without skops.

    See Also
    --------
    MlflowCalibrator : serves a calibrator alone, without skops.

    Notes
    -----
    Do not use it for a calibrator alone: its own file stays readable longer than a skops file,
    which only the version that wrote it reads.
    """
    skops = import_extra("skops.io", "trusted_types", "mlflow")
    return [
        name
        for name in skops.get_untrusted_types(data=skops.dumps(model))
        if name.split(".")[0] == "calibrant"
    ]


class MlflowCalibrator:
    """Saved calibrator for MLflow's ``pyfunc`` flavour.

    Parameters
    ----------
    path : a file from ``calibrator.save``

    See Also
    --------
    trusted_types : stores a model with its calibrator.

    Notes
    -----
    MLflow constructs it for a model saved by::

        calibrator.save("calibrator.calibrant")
        mlflow.pyfunc.log_model(
            name="calibrator",
            data_path="calibrator.calibrant",
            loader_module="calibrant.export.mlflow",
            pip_requirements=["calibrant"],
        )

    It does not support calibrators that need features or groups at prediction.
    """

    def __init__(self, path: str | Path) -> None:
        self.calibrator: Any = require_any_calibrator(load(path), "path")
        if self.calibrator.tags.uses_features or self.calibrator.tags.uses_groups:
            raise InputError(
                "path must hold a calibrator of predictions alone;"
                f" {type(self.calibrator).__name__} needs features or groups; log the model that"
                " contains it with trusted_types(model)."
            )

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> np.ndarray:
        """Return calibrated probabilities (n, K), or the calibrated mean and std (n, 2).

        Parameters
        ----------
        model_input : (n, K) or (n, 1) table or array of probabilities or logits; (n, 2), mean and
            std, for a regression calibrator
        params : not used

        Raises
        ------
        InputError
            When the input cannot be read.
        """
        values = np.asarray(model_input, dtype=np.float64)
        return SERVED[self.calibrator.domain](self.calibrator, values)


def _probabilities(calibrator: Any, values: np.ndarray) -> np.ndarray:
    return calibrator.predict_proba(
        values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    )


def _moments(calibrator: Any, values: np.ndarray) -> np.ndarray:
    if values.ndim != 2 or values.shape[1] != 2:
        raise InputError(
            f"model_input must have two columns, mean and std; got shape {values.shape}."
        )
    forecast = calibrator.predict(values[:, 0], values[:, 1])
    return np.column_stack([forecast.mean, forecast.std])


#: Predictions for a table of numbers, by domain.
SERVED: Facet[Callable[[Any, np.ndarray], np.ndarray]] = Facet("tables of numbers")
SERVED.register(CLASSIFICATION, lambda: _probabilities)
SERVED.register(REGRESSION, lambda: _moments)


def _load_pyfunc(path: str) -> MlflowCalibrator:
    """Load the calibrator; MLflow requires this name."""
    return MlflowCalibrator(path)


def model_card(report: Report, *, model: str, dataset: str, task: str | None = None) -> str:
    """Return a model card section of a report: Hugging Face's YAML metadata (``model-index``), then
    the tables as Markdown.

    Parameters
    ----------
    report : result of :func:`calibrant.report`
    model, dataset : display names
    task : str, optional
        The hub's name of the task, such as "text-classification"; default that of a table.

    Returns
    -------
    str
        The text of a README.md, or of a section of one. The metadata has the metrics after
        calibration, or before it without a calibrator; unmeasurable metrics are left out.

    See Also
    --------
    report : makes its input; ``.to_markdown()`` returns the tables alone.

    Notes
    -----
    Use it where a model is published, together with a description of the data, because calibration
    holds only for rows like those measured. Format: Hugging Face's model card specification, key
    ``model-index``.

    Examples
    --------
    >>> from calibrant import report
    >>> found = report([0, 1, 1, 0, 1, 0], [0.2, 0.7, 0.9, 0.4, 0.4, 0.1], n_splits=2)
    >>> model_card(found, model="triage", dataset="ward 7").splitlines()[1:3]
    ['model-index:', '- name: "triage"']
    """
    summary = report.to_dict()
    # A JSON string is valid YAML.
    lines = [
        "---",
        "model-index:",
        f"- name: {json.dumps(model)}",
        "  results:",
        "  - task:",
        f"      type: {json.dumps(task or 'tabular-' + summary['task'])}",
        "    dataset:",
        f"      name: {json.dumps(dataset)}",
        f"      type: {json.dumps(dataset)}",
        "    metrics:",
        *(line for row in summary["metrics"] for line in _metric(row)),
        "---",
    ]
    return "\n".join(lines) + "\n\n" + report.to_markdown()


def _metric(row: dict[str, Any]) -> list[str]:
    measured = row["after"] or row["before"]
    if measured is None or measured["value"] is None:
        return []
    name = f"{row['name']} ({row['output']})" if row.get("output") else row["name"]
    lines = [
        f"    - type: {row['key']}",
        f"      name: {json.dumps(name)}",
        f"      value: {json.dumps(measured['value'])}",
    ]
    if measured["low"] is not None:
        lines.append(
            f"      args: {{low: {json.dumps(measured['low'])}, high:"
            f" {json.dumps(measured['high'])}}}"
        )
    return lines
