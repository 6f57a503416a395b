"""Context of the page on several models of the same rows."""

from typing import Any

from calibrant.core.text_table import rounded
from calibrant.reporting.bands import Tile, head
from calibrant.reporting.figures import calibration_drawing, calibration_figure

__all__ = ["FILTERS", "context", "main_display", "tiles"]

FILTERS: dict[Any, Any] = {}


def context(summary: dict[str, Any]) -> dict[str, Any]:
    """Return the head, each model's main score as a tile, and all curves in one figure."""
    states, target = _curves(summary)
    words = f"Points on the dashed diagonal are calibrated. Bars are {100 * summary['level']:g} %"
    title = "Predicted and observed" if target else "Coverage of intervals"
    return {
        **head(summary),
        "badge": _badge(summary["verdict"]),
        "bands": ("answer.html", "models.html"),
        "tiles": tiles(summary),
        "main": calibration_figure(
            "models", title, f"{words} intervals.", states, "", target=target
        ),
    }


def tiles(summary: dict[str, Any]) -> list[Tile]:
    """Return each model's main score."""
    key, name = next(iter(summary["metrics"].items()))
    found = []
    for one in summary["models"]:
        score = one["scores"][key]
        ends = (
            "" if score["low"] is None else f"{rounded(score['low'])} to {rounded(score['high'])}"
        )
        found.append(Tile(f"{one['name']}: {name}", rounded(score["value"]), ends))
    return found


def main_display(summary: dict[str, Any]) -> Any:
    """Return the calibration curve of every model on the same axes."""
    states, target = _curves(summary)
    return calibration_drawing(states, "", target=target)


def _badge(verdict: dict[str, str]) -> str:
    decided = verdict["state"] == "one is better"
    return f"{verdict['model']} is better" if decided else verdict["state"].capitalize()


def _curves(summary: dict[str, Any]) -> tuple[dict[str, dict[str, Any]], str | None]:
    """Return the curves as states of a drawing and its target; of forecasts, the coverage of their
    intervals.
    """
    curves = {one["name"]: one["curve"] for one in summary["models"]}
    if "coverage" not in next(iter(curves.values())):
        return {"": curves}, "event"
    n = summary["data"]["n"]
    return {"": {name: _as_shares(curve, n) for name, curve in curves.items()}}, None


def _as_shares(curve: dict[str, list[float]], n: float) -> dict[str, list[float]]:
    """Return the coverage of intervals over the level as shares over what is predicted."""
    level, seen = curve["level"], curve["coverage"]
    ends = {name: curve[name] for name in ("low", "high")}
    return {
        "lower": level,
        "upper": level,
        "n": [n] * len(level),
        "confidence": level,
        "accuracy": seen,
        **ends,
    }
