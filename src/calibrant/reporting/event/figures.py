"""The figures of the page on an event: the risks' reliability without bins, what decisions bring, and the answer's reliability."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from calibrant._kernels.thresholds import scale_ends
from calibrant.displays.axes import scale_axes
from calibrant.displays.event import DecisionCurveDisplay, GainDisplay, IsotonicCurveDisplay
from calibrant.displays.reliability import ReliabilityDisplay
from calibrant.metrics.curves.decision import DecisionCurve, GainCurve
from calibrant.metrics.curves.smooth import CalibrationCurve
from calibrant.reporting.event.verdict import share
from calibrant.reporting.evidence_figures import evidence_figures
from calibrant.reporting.figure import made, points_along
from calibrant.reporting.figures import reliability_figure, when_words
from calibrant.reporting.overlaid_figures import CORP, Kind, overlaid

__all__ = ["answer_figures", "decision_figures", "event_figures"]


def _increasing(curve: Any):
    return ((x, y, f"risk {x:.3g}, recalibrated {y:.3g}") for x, y in points_along(curve.score, curve.recalibrated))


INCREASING = replace(
    CORP, words="The best increasing recalibration of the risk, and where it would lie by chance if the risks were honest (shaded). ",
    heads={**CORP.heads, "score": "Risk"}, points=_increasing,
)  # fmt: skip


def event_figures(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """The share that happened over the risk: a smooth curve with its band before and after, and the best increasing one."""
    drawn = [_smooth(when, summary) for when in ("before", "after") if summary["loess"][when] is not None]
    return [*drawn, overlaid(replace(INCREASING, display=partial(_Scaled, summary)), summary), *evidence_figures(summary)]


def _smooth(when: str, summary: dict[str, Any]):
    """The loess curve of clinical papers, with the band that holds all of it; on logit axes it would be mostly noise near the ends."""
    curve, scale = made(SimpleNamespace, summary["binned"][when][str(summary["bins"])]["curve"]), summary["scale"]
    smooth = made(CalibrationCurve, summary["loess"][when])
    display = ReliabilityDisplay(curve, target="event", scale="linear" if scale == "logit" else scale, smooth=smooth)
    title = f"Smooth, {when_words(when, summary)}"
    bare = SimpleNamespace(plot=partial(display.plot, counts=False))
    drawn = f", and a loess curve with the {100 * summary['level']:g} % band that holds all of it"
    return reliability_figure(f"smooth-{when}", title, curve, bare, (3.7, 3.7), "risk", "share that happened", drawn)


class _Scaled:
    """The best increasing recalibration on the axes of the page: logarithmic ones where the event is rare."""

    def __init__(self, summary: dict[str, Any], curve: Any):
        self.summary, self.curve = summary, curve

    def plot(self, ax: Any, **options: Any) -> None:
        """Draw it on ``ax``."""
        ax.set(xscale="linear", yscale="linear")  # of the curve drawn before: the display's own ends hold 0
        IsotonicCurveDisplay(self.curve).plot(ax, **options)
        ax.set(xlabel="Risk said")
        if self.summary["scale"] == "log":
            drawn = np.concatenate([part["score"] for part in self.summary["corp"].values() if part is not None])
            scale_axes(ax, "log", *scale_ends("log", drawn, self.summary["quality"]["rate"]))


def decision_figures(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Net benefit by threshold, and events found by share flagged."""
    return [overlaid(kind, summary) for kind in (DECISION, GAIN) if summary[kind.key]["before"] is not None]


def _best(curve: Any):
    """How far the model is from acting on all or none, whichever is better, at the threshold where it gains most."""
    gain = curve.net_benefit - np.maximum(curve.treat_all, curve.treat_none)
    k = int(gain.argmax())
    if gain[k] <= 0.0:
        return "At no threshold is it worth more than acting on all or on none."
    return f"It is worth most over acting on all or none at {curve.threshold[k]:.3g}: {1000 * gain[k]:.3g} true positives in 1,000 rows."


def _tenth(curve: Any):
    at = min(int((curve.flagged < 0.1).sum()), len(curve.flagged) - 1)
    return f"The {share(curve.flagged[at])} of rows of the highest risk hold {share(curve.found[at])} of the events."


DECISION = Kind(
    "decision", DecisionCurve, DecisionCurveDisplay, "Decision curve", (3.7, 3.4),
    "Net benefit of acting on risks of at least the threshold, beside acting on all and on none. ",
    {"threshold": "Threshold", "net_benefit": "Net benefit", "low": "Low", "high": "High", "treat_all": "Act on all"},
    lambda curve: ((x, y, f"from {x:.3g}: net benefit {y:.4f}") for x, y in points_along(curve.threshold, curve.net_benefit)), _best,
    {"references": False},
)  # fmt: skip
GAIN = Kind(
    "gain", GainCurve, GainDisplay, "Events found", (3.7, 3.4), "How many of the events are among the rows of the highest risk. ",
    {"threshold": "Risk", "flagged": "Share flagged", "found": "Share found", "low": "Low", "high": "High", "lift": "Lift"},
    lambda curve: ((x, y, f"the highest {share(x)}: {share(y)} of events") for x, y in points_along(curve.flagged, curve.found)), _tenth,
)  # fmt: skip


def answer_figures(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """The answer's reliability, in bins of equal weight."""
    return [
        reliability_figure(
            f"answer-{when}", f"The answer {when_words(when, summary)}", curve, ReliabilityDisplay(curve, target="answer"), (3.7, 4.3)
        )
        for when, data in summary["answer"]["equal_mass"].items() if data is not None for curve in [made(SimpleNamespace, data)]
    ]  # fmt: skip
