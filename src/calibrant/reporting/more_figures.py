"""The figures that show before and after in one picture, and that of the calibrator itself."""

from dataclasses import fields

import numpy as np

from calibrant.confidence.confidence_curve import ConfidenceBars, ConfidenceCurve, ConfidencePoints
from calibrant.displays.confidence_curve import ConfidenceCurveDisplay
from calibrant.displays.isotonic_curve import IsotonicCurveDisplay
from calibrant.displays.risk_coverage import RiskCoverageDisplay
from calibrant.displays.svg import as_svg
from calibrant.metrics.curves.isotonic_curve import IsotonicCurve
from calibrant.metrics.curves.risk_coverage_curve import RiskCoverageCurve

__all__ = ["confidence_figure", "overlaid"]

#: Rows of the table of a curve on the page; the report's data holds all points.
TABLE_ROWS = 25
KINDS = {
    "corp": (
        IsotonicCurve, IsotonicCurveDisplay, "Reliability without bins (CORP)", (3.7, 3.7), "Confidence",
        "The best increasing recalibration of the confidence, and where it would lie by chance if the confidences were honest (shaded). ",
    ),
    "risk": (
        RiskCoverageCurve, RiskCoverageDisplay, "Risk and coverage", (3.7, 3.2), "Share kept",
        "How many answers are wrong when only the most confident are kept. ",
    ),
}  # fmt: skip
HEADS = {
    "score": "Confidence", "n": "Rows", "recalibrated": "Recalibrated", "low": "Low", "high": "High", "confidence": "Confidence",
    "coverage": "Share kept", "risk": "Share wrong",
}  # fmt: skip


def overlaid(kind, summary) -> dict:
    """Before and after in one picture: "corp" or "risk"."""
    record, display, title, size, _, words = KINDS[kind]
    drawn = [(when, _made(record, data)) for when, data in summary[kind].items() if data is not None]
    columns = [f.name for f in fields(record)]
    points = [(*place, f"{when}: {text}") for when, curve in drawn for *place, text in _values(kind, curve)]
    svg = as_svg(_Overlaid(display, drawn), key=kind, title=title, description=words, size=size, points=points)
    rows = [
        [when, *(f"{getattr(curve, name)[i]:.4g}" for name in columns)]
        for when, curve in drawn
        for i in _some(len(getattr(curve, columns[0])))
    ]
    return {
        "key": kind, "title": title, "description": words + _end(kind, drawn[-1][1]), "svg": svg,
        "columns": ["When", *(HEADS[name] for name in columns)], "rows": rows,
    }  # fmt: skip


def confidence_figure(summary) -> dict:
    """The calibrator's confidence over its score, beside the shares observed, with the densities of right and wrong scores."""
    found = summary["confidence"]
    curve = ConfidenceCurve(
        None, _made(ConfidencePoints, found["points"]), _made(ConfidenceBars, found["bars"]),
        *(found[name] for name in ("cloud", "n", "right", "wrong")),
    )  # fmt: skip
    title, bars = f"What {summary['calibrator']['name']} does{' (in-sample)' if found['in_sample'] else ''}", curve.bars
    words = ("Fitted on the very rows shown, so it agrees with them more than it will with new ones. " if found["in_sample"] else "") + (
        f"The confidence it gives over the model's score, beside the share right in bins of {found['n']:,.0f} rows, through whose "
        f"intervals it should pass; above, the densities of {found['right']:,.0f} right and {found['wrong']:,.0f} wrong predictions."
    )
    rows = list(zip(bars.lower, bars.upper, bars.n, bars.rate, bars.low, bars.high, strict=True))
    points = [
        (0.5 * (a + b), rate, f"score {a:.3f} to {b:.3f}: share right {rate:.3f} ({low:.3f} to {high:.3f}), {n:,.0f} rows")
        for a, b, n, rate, low, high in rows
    ]
    points += [(x, y, f"score {x:.3f}: confidence {y:.3f}") for x, y in _places(curve.points.score, curve.points.confidence)]
    display = ConfidenceCurveDisplay(curve, name=" ")
    return {
        "key": "confidence", "title": title, "description": words,
        "svg": as_svg(display, key="confidence", title=title, description=words, size=(3.7, 3.9), points=points),
        "columns": ["Score", "Rows", "Share right", "Interval"],
        "rows": [[f"{a:.3f} to {b:.3f}", f"{n:,.0f}", f"{r:.4f}", f"{low:.4f} to {high:.4f}"] for a, b, n, r, low, high in rows],
    }  # fmt: skip


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
        return [(x, y, f"the most confident {x:.1%}: {y:.2%} wrong") for x, y in _places(curve.coverage, curve.risk)]
    return [(x, y, f"confidence {x:.3f}, recalibrated {y:.3f}") for x, y in _places(curve.score, curve.recalibrated)]


def _places(x, y):
    """Some of the points, by place: neighbours at equal distances along x are the easiest to hit."""
    at = np.unique(np.searchsorted(np.sort(x), np.linspace(x.min(), x.max(), TABLE_ROWS)).clip(0, len(x) - 1))
    rows = np.argsort(x, kind="stable")[at]
    return list(zip(x[rows].tolist(), y[rows].tolist(), strict=True))


def _made(record, columns):
    return record(**{name: np.array(values, dtype=np.float64) for name, values in columns.items()})


def _some(count):
    return np.unique(np.linspace(0, count - 1, min(count, TABLE_ROWS)).round().astype(int))


def _end(kind, curve):
    if kind == "corp":
        outside = (curve.recalibrated < curve.low) | (curve.recalibrated > curve.high)
        return f"{curve.n[outside].sum() / max(curve.n.sum(), 1e-300):.0%} of the points shown lie outside the band."
    half = int(np.abs(curve.coverage - 0.5).argmin())
    return f"Of the most confident {curve.coverage[half]:.0%}, {curve.risk[half]:.2%} are wrong; of all, {curve.risk[-1]:.2%}."
