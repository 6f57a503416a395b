"""Context of the page on several models of the same rows."""

from typing import Any

from calibrant.reporting.bands import Tile, head
from calibrant.reporting.figures import calibration_figure
from calibrant.reporting.rounded import rounded

__all__ = ["FILTERS", "context"]

FILTERS: dict[Any, Any] = {}


def context(summary: dict[str, Any]) -> dict[str, Any]:
    """Return the head, each model's main score as a tile, and all curves in one figure."""
    key, name = next(iter(summary["metrics"].items()))
    tiles = []
    for one in summary["models"]:
        found = one["scores"][key]
        ends = (
            "" if found["low"] is None else f"{rounded(found['low'])} to {rounded(found['high'])}"
        )
        tiles.append(Tile(f"{one['name']}: {name}", rounded(found["value"]), ends))
    return {
        **head(summary),
        "bands": ("answer.html", "models.html"),
        "tiles": tiles,
        "main": _curves(summary),
    }


def _curves(summary: dict[str, Any]) -> dict[str, Any]:
    """Draw the calibration curve of every model; of forecasts, the coverage of their intervals."""
    curves = {one["name"]: one["curve"] for one in summary["models"]}
    words = f"Points on the dashed diagonal are calibrated. Bars are {100 * summary['level']:g} %"
    forecasts = "coverage" in next(iter(curves.values()))
    if forecasts:
        curves = {name: _as_shares(curve, summary["data"]["n"]) for name, curve in curves.items()}
    return calibration_figure(
        "models",
        "Coverage of intervals" if forecasts else "Predicted and observed",
        f"{words} intervals.",
        {"": curves},
        "",
        target=None if forecasts else "event",
    )


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
