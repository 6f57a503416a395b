"""Context of the page on answers and classes, beside the summary itself."""

from types import SimpleNamespace
from typing import Any

from calibrant.core.text_table import percent
from calibrant.metrics.curves.distribution import RiskDistribution
from calibrant.reporting.evidence import stability_figures
from calibrant.reporting.figures import (
    CORP,
    RISK,
    at_start,
    calibration_figure,
    drift_figures,
    evidence_figures,
    made,
    overlaid,
    present,
)
from calibrant.reporting.markdown import (
    Tile,
    advised,
    appendix,
    arrow,
    as_advised,
    bands,
    by_chance,
    groups_tile,
)
from calibrant.reporting.miscalibration import points

__all__ = [
    "FILTERS",
    "class_figures",
    "context",
    "figures",
    "gap_tile",
    "main_display",
    "main_figure",
    "tiles",
]

#: Metrics of the fourth band; the others are folded.
FIVE = (
    *("accuracy", "log_loss", "brier_score", "ece", "confidence_auroc"),
    *("question_accuracy", "question_log_loss", "question_brier"),
)
#: Classes whose curves are drawn; the summary has some more.
MOST_CLASSES = 6
NOTES = (
    (
        "The confidence is the probability of the predicted class; ECE is the mean gap between"
        " confidence and accuracy over bins of equal width."
    ),
)
FILTERS: dict[Any, Any] = {}
#: Words and templates of this page.
WORDS: dict[str, Any] = {
    "fine": "The data look sound: every class has enough rows, and few rows repeat another",
    "quality": "quality.html",
    "promised": "promises.html",
    "reading": "reading.html",
    "shares": True,
    "notes": NOTES,
    "over": "too sure",
    "under": "not sure enough",
    "watched": "confidence and accuracy",
    "columns": (("Accuracy", "accuracy"), ("Mean confidence", "confidence")),
    "place": "Confidence",
    "ends": "%.3f",
}
#: Key of the summary that a section needs, its id, title and template.
APPENDIX = (
    (None, "figures", "Curves", "figures.html"),
    ("label_stability", "label-stability", "Stability of its answers", "stability.html"),
    ("distance", "distance", "Distance to the training rows", "distance.html"),
    (None, "places", "Where it is off, by confidence and feature", "wrong.html"),
    ("drift", "time", "Over time", "over_time.html"),
    ("classes", "classes", "Class by class, the worst first", "classes.html"),
    ("by_class", "by-class", "Which method for which class?", "by_class.html"),
    ("confusion", "confusion", "Most frequent confusions", "confusion.html"),
)


def context(summary: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of the header, figures and charts, and notes on the method."""
    data, outputs = summary["data"], [(None, summary)]
    inputs = "logits" if data.get("inputs") == "logit" else "probabilities"
    shared = bands(summary, outputs, FIVE)
    classes = f"{data['n_classes']} classes, {inputs}" if "n_classes" in data else inputs
    return {
        **shared,
        **WORDS,
        "facts": [shared["facts"][0], classes, *shared["facts"][1:]],
        "main": main_figure(summary),
        "tiles": tiles(summary),
        "appendix": appendix(summary, APPENDIX),
        "figures": figures(summary),
        "class_figures": class_figures(summary) if "class_curves" in summary else [],
        "stability_figures": stability_figures(summary.get("label_stability")),
        "confusion_shares": _shares(summary["confusion"]["counts"])
        if "confusion" in summary
        else None,
        "told": (
            "how many predictions were right, how sure they were, and the gap between the two,"
            f" with {100.0 * summary['level']:g} % intervals that hold for all rows of a table"
            " together"
        ),
        "drift_figures": drift_figures(summary["drift"]),
    }


def tiles(summary: dict[str, Any]) -> list[Tile]:
    """Return the tiles: sure and right, the gap, the groups, and how it ranks."""
    scores = {row["key"]: row for row in summary["metrics"]}
    found, quality = [], summary["quality"]
    if "confidence" in quality:
        sure, right = percent(quality["confidence"]), percent(quality["accuracy"])
        found.append(Tile("Sure / right", f"{sure} / {right}", "mean confidence, accuracy"))
    if "ece" in scores:
        found.append(gap_tile(scores["ece"], summary))
    groups = groups_tile([(None, summary)], advised(summary))
    if groups is not None:
        found.append(groups)
    if "confidence_auroc" in scores:
        value = scores["confidence_auroc"]["before"]["value"]
        note = "right above wrong answers (AUROC)"
        found.append(Tile("Ranking", "–" if value is None else f"{value:.3f}", note))
    return found


def gap_tile(error: dict[str, Any], summary: dict[str, Any]) -> Tile:
    """Return the tile on the mean gap, beside that by chance alone; before and after where the
    calibrated predictions are advised.
    """
    moved = advised(summary) and error["after"] is not None
    after = points(error["after"]["value"]) if moved else None
    before = points(error["before"]["value"])
    note = by_chance(summary["chance"], summary["chance_after"] if moved else None, points, moved)
    return Tile("Mean gap (ECE)", arrow(before.split()[0] if after else before, after), note)


def _main(summary: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of the main drawing: confidence and accuracy before and after, and the
    distribution of the confidence.
    """
    binned = present(summary["binned"])
    histogram = list(present(summary["histograms"]).values())[-1]
    names = {"lower": "lower", "upper": "upper", "wrong": "events", "right": "others"}
    return {
        "states": {
            bins: {when: part[bins]["curve"] for when, part in binned.items()}
            for bins in binned["before"]
        },
        "start": str(summary["bound"]["n_bins"]),
        "distribution": made(RiskDistribution, {new: histogram[old] for old, new in names.items()}),
    }


def main_display(summary: dict[str, Any]) -> Any:
    """Return the main drawing, with the initial number of bins."""
    return at_start(**_main(summary))


def main_figure(summary: dict[str, Any]) -> dict[str, Any]:
    """Return the main drawing with its words and a slider for the number of bins."""
    summary = as_advised(summary, "binned", "histograms")
    binned = present(summary["binned"])
    errors = {
        bins: ", ".join(
            f"{f'{when} ' if len(binned) > 1 else ''}{part[bins]['ece']:.4f}"
            for when, part in binned.items()
        )
        for bins in binned["before"]
    }
    return calibration_figure(
        "bins",
        "Confidence and accuracy",
        "Points on the dashed diagonal are calibrated; below it the model is overconfident. Bars"
        f" are {100 * summary['level']:g} % intervals; below, the confidences"
        f" {list(binned)[-1]} calibration, as shares of the wrong and of the right predictions."
        " More bins show more and measure more noise.",
        texts=lambda bins: f"{bins} bins: ECE {errors[bins]}",
        **_main(summary),
    )


def figures(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """The curve on a logit scale, the best increasing recalibration, risk and coverage, and the
    evidence of the calibrator.
    """
    return [
        calibration_figure(
            "logit",
            "Confidence and accuracy on a logit scale",
            "The same in bins of equal weight, on axes that tell 0.99 from 0.999.",
            {"": present(summary["equal_mass"])},
            "",
            scale="logit",
        ),
        overlaid(CORP, summary["corp"]),
        overlaid(RISK, summary["risk"]),
        *evidence_figures(summary),
    ]


def class_figures(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """One figure for each class drawn, the worst first."""
    of, densities = summary["classes"]["of"], summary["class_densities"]
    return [
        {
            "name": name,
            **calibration_figure(
                f"class-{number}",
                name,
                "",
                {"": {of: curve}},
                "",
                target=None,
                densities=made(SimpleNamespace, densities[name]) if name in densities else None,
            ),
        }
        for number, (name, curve) in enumerate(list(summary["class_curves"].items())[:MOST_CLASSES])
    ]


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
