"""The figures that show before and after in one picture."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from typing import Any

from calibrant.displays.coverage import RiskCoverageDisplay
from calibrant.displays.event import IsotonicCurveDisplay
from calibrant.metrics.curves.isotonic import IsotonicCurve
from calibrant.metrics.curves.risk_coverage_curve import RiskCoverageCurve
from calibrant.reporting.figure import figure, made, points_along, rows_shown

__all__ = ["CORP", "RISK", "Kind", "overlaid"]


@dataclass(frozen=True)
class Kind:
    """A curve shown before and after: where the summary has it, its record and display, words, heads of its columns and what points say.

    ``points`` makes (x, y, text) of a curve, ``end`` the sentence on the last curve that closes the words; ``again`` are options of the
    display for the second curve on the same axes.
    """

    key: str
    record: type
    display: Callable[..., Any]
    title: str
    size: tuple[float, float]
    words: str
    heads: dict[str, str]
    points: Callable[[Any], Iterable[tuple[float, float, str]]]
    end: Callable[[Any], str]
    again: dict[str, Any] = field(default_factory=dict)


def overlaid(kind: Kind, summary: dict[str, Any]) -> dict[str, Any]:
    """Before and after in one picture."""
    drawn = [(when, made(kind.record, data)) for when, data in summary[kind.key].items() if data is not None]
    columns = [f.name for f in fields(kind.record) if f.name in kind.heads]
    points = [(*place, f"{when}: {text}") for when, curve in drawn for *place, text in kind.points(curve)]
    rows = [
        [when, *(f"{getattr(curve, name)[i]:.4g}" for name in columns)]
        for when, curve in drawn
        for i in rows_shown(len(getattr(curve, columns[0])))
    ]
    heads = ["When", *(kind.heads[name] for name in columns)]
    words = kind.words + kind.end(drawn[-1][1])
    return figure(kind.key, kind.title, words, _Overlaid(kind, drawn), kind.size, points, heads, rows, told=kind.words)


class _Overlaid:
    """Displays of one kind on the same axes, the later in the main colour."""

    def __init__(self, kind, drawn):
        self.kind, self.drawn = kind, drawn

    def plot(self, ax):
        """Draw them on ``ax``."""
        for position, (when, curve) in enumerate(self.drawn):
            colour = "main" if position == len(self.drawn) - 1 else "other"
            options = self.kind.again if position else {}
            self.kind.display(curve).plot(ax, colour=colour, label=f"{when} calibration", **options)
        if len(self.drawn) > 1:
            ax.legend(frameon=False, fontsize="small")


def _outside(curve):
    outside = (curve.recalibrated < curve.low) | (curve.recalibrated > curve.high)
    return f"{curve.n[outside].sum() / max(curve.n.sum(), 1e-300):.0%} of the points shown lie outside the band."


def _half(curve):
    half = int(abs(curve.coverage - 0.5).argmin())
    return f"Of the most confident {curve.coverage[half]:.0%}, {curve.risk[half]:.2%} are wrong; of all, {curve.risk[-1]:.2%}."


CORP = Kind(
    "corp", IsotonicCurve, IsotonicCurveDisplay, "Reliability without bins (CORP)", (3.7, 3.7),
    "The best increasing recalibration of the confidence, and where it would lie by chance if the confidences were honest (shaded). ",
    {"score": "Confidence", "n": "Rows", "recalibrated": "Recalibrated", "low": "Low", "high": "High"},
    lambda curve: ((x, y, f"confidence {x:.3f}, recalibrated {y:.3f}") for x, y in points_along(curve.score, curve.recalibrated)), _outside,
)  # fmt: skip
RISK = Kind(
    "risk", RiskCoverageCurve, RiskCoverageDisplay, "Risk and coverage", (3.7, 3.2),
    "How many answers are wrong when only the most confident are kept. ",
    {"confidence": "Confidence", "coverage": "Share kept", "risk": "Share wrong", "low": "Low", "high": "High"},
    lambda curve: ((x, y, f"the most confident {x:.1%}: {y:.2%} wrong") for x, y in points_along(curve.coverage, curve.risk)), _half,
)  # fmt: skip
