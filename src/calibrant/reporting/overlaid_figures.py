"""The figures that show before and after in one picture."""

from dataclasses import fields
from typing import Any

import numpy as np

from calibrant.displays.isotonic_curve import IsotonicCurveDisplay
from calibrant.displays.risk_coverage import RiskCoverageDisplay
from calibrant.metrics.curves.isotonic_curve import IsotonicCurve
from calibrant.metrics.curves.risk_coverage_curve import RiskCoverageCurve
from calibrant.reporting.figure import figure, made, points_along, rows_shown

__all__ = ["overlaid"]

KINDS: dict[Any, Any] = {
    "corp": (
        IsotonicCurve, IsotonicCurveDisplay, "Reliability without bins (CORP)", (3.7, 3.7),
        "The best increasing recalibration of the confidence, and where it would lie by chance if the confidences were honest (shaded). ",
    ),
    "risk": (
        RiskCoverageCurve, RiskCoverageDisplay, "Risk and coverage", (3.7, 3.2),
        "How many answers are wrong when only the most confident are kept. ",
    ),
}  # fmt: skip
HEADS: dict[Any, Any] = {
    "score": "Confidence", "n": "Rows", "recalibrated": "Recalibrated", "low": "Low", "high": "High", "confidence": "Confidence",
    "coverage": "Share kept", "risk": "Share wrong",
}  # fmt: skip


def overlaid(kind: Any, summary: dict[str, Any]) -> dict[str, Any]:
    """Before and after in one picture: "corp" or "risk"."""
    record, display, title, size, words = KINDS[kind]
    drawn = [(when, made(record, data)) for when, data in summary[kind].items() if data is not None]
    columns = [f.name for f in fields(record)]
    points = [(*place, f"{when}: {text}") for when, curve in drawn for *place, text in _values(kind, curve)]
    rows = [
        [when, *(f"{getattr(curve, name)[i]:.4g}" for name in columns)]
        for when, curve in drawn
        for i in rows_shown(len(getattr(curve, columns[0])))
    ]
    heads = ["When", *(HEADS[name] for name in columns)]
    return figure(kind, title, words + _end(kind, drawn[-1][1]), _Overlaid(display, drawn), size, points, heads, rows, told=words)


class _Overlaid:
    """Displays of one kind on the same axes, the later in the main colour."""

    def __init__(self, display, drawn):
        self.display, self.drawn = display, drawn

    def plot(self, ax):
        """Draw them on ``ax``."""
        for position, (when, curve) in enumerate(self.drawn):
            colour = "main" if position == len(self.drawn) - 1 else "other"
            self.display(curve).plot(ax, colour=colour, label=f"{when} calibration")
        if len(self.drawn) > 1:
            ax.legend(frameon=False, fontsize="small")


def _values(kind, curve):
    """(x, y, text) of the points of a curve that say their values."""
    if kind == "risk":
        return [(x, y, f"the most confident {x:.1%}: {y:.2%} wrong") for x, y in points_along(curve.coverage, curve.risk)]
    return [(x, y, f"confidence {x:.3f}, recalibrated {y:.3f}") for x, y in points_along(curve.score, curve.recalibrated)]


def _end(kind, curve):
    if kind == "corp":
        outside = (curve.recalibrated < curve.low) | (curve.recalibrated > curve.high)
        return f"{curve.n[outside].sum() / max(curve.n.sum(), 1e-300):.0%} of the points shown lie outside the band."
    half = int(np.abs(curve.coverage - 0.5).argmin())
    return f"Of the most confident {curve.coverage[half]:.0%}, {curve.risk[half]:.2%} are wrong; of all, {curve.risk[-1]:.2%}."
