"""Model card of a report, with metadata for a hub and tables for readers."""

import json
from typing import Any

from calibrant.reporting.report import Report

__all__ = ["model_card"]


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
    said = [
        f"    - type: {row['key']}",
        f"      name: {json.dumps(name)}",
        f"      value: {json.dumps(measured['value'])}",
    ]
    if measured["low"] is not None:
        said.append(
            f"      args: {{low: {json.dumps(measured['low'])}, high:"
            f" {json.dumps(measured['high'])}}}"
        )
    return said
