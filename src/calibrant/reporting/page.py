"""Context of the page on answers and classes, beside the summary itself."""

from typing import Any

from calibrant.reporting.charts import bin_charts, class_charts, drift_charts
from calibrant.reporting.figures import figures
from calibrant.reporting.stability import stability_charts

__all__ = ["FILTERS", "SECTIONS", "context"]

SECTIONS = (
    "header.html",
    "trust.html",
    "bins.html",
    "metrics.html",
    "figures.html",
    "distance.html",
    "stability.html",
    "wrong.html",
    "over_time.html",
    "classes.html",
    "by_class.html",
    "confusion.html",
    "promises.html",
    "choice.html",
    "method.html",
)
NOTES = (
    (
        "The confidence is the probability of the predicted class; ECE is the mean gap between"
        " confidence and accuracy over bins of equal width."
    ),
)
FILTERS: dict[Any, Any] = {}


def context(summary: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of the header, figures and charts, and notes on the method."""
    data = summary["data"]
    inputs = "logits" if data.get("inputs") == "logit" else "probabilities"
    return {
        "facts": f"{data['n_classes']} classes · {inputs}" if "n_classes" in data else inputs,
        "figures": figures(summary),
        "bins": bin_charts(summary),
        "bin_rows": _bin_rows(summary),
        "charts": class_charts(summary) if "class_curves" in summary else [],
        "stability_charts": stability_charts(summary.get("label_stability")),
        "confusion_shares": _shares(summary["confusion"]["counts"])
        if "confusion" in summary
        else None,
        "notes": NOTES,
        "trusted": "Can its confidence be trusted?",
        "over": "too sure",
        "under": "not sure enough",
        "watched": "confidence and accuracy",
        "columns": (("Accuracy", "accuracy"), ("Mean confidence", "confidence")),
        "place": "Confidence",
        "ends": "%.3f",
        "told": (
            "how many predictions were right, how sure they were, and the gap between the two,"
            f" with {100.0 * summary['level']:g} % intervals that hold for all rows of a table"
            " together"
        ),
        "drift_charts": drift_charts(summary["drift"]),
        "dated": summary["drift"] is not None,
    }


def _bin_rows(summary: dict[str, Any]) -> list[list[str]]:
    found = [part for part in summary["binned"].values() if part is not None]
    return [[bins, *(f"{part[bins]['ece']:.4f}" for part in found)] for bins in found[0]]


def _shares(counts: list[list[float]] | None) -> dict[str, list[Any]] | None:
    """Return the confusion matrix as shares of its rows and of its columns."""
    if counts is None:
        return None
    true, predicted = (
        [sum(row) for row in counts],
        [sum(column) for column in zip(*counts, strict=True)],
    )
    return {
        "of_true": [[v / (true[i] or 1.0) for v in row] for i, row in enumerate(counts)],
        "of_predicted": [[v / (predicted[j] or 1.0) for j, v in enumerate(row)] for row in counts],
    }
