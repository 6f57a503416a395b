"""The figures of the page on an event: the risks' reliability without bins, what decisions bring, and the answer's reliability."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from calibrant.displays.reliability import ReliabilityDisplay
from calibrant.reporting.evidence_figures import evidence_figures
from calibrant.reporting.figure import made, points_along
from calibrant.reporting.figures import reliability_figure, when_words
from calibrant.reporting.overlaid_figures import CORP, overlaid

__all__ = ["answer_figures", "decision_figures", "event_figures"]

INCREASING = replace(
    CORP, words="The best increasing recalibration of the risk, and where it would lie by chance if the risks were honest (shaded). ",
    heads={**CORP.heads, "score": "Risk"},
    points=lambda curve: ((x, y, f"risk {x:.3g}, recalibrated {y:.3g}") for x, y in points_along(curve.score, curve.recalibrated)),
)  # fmt: skip


def event_figures(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """The share that happened over the risk, as a smooth curve and as an increasing one, before and after in one picture."""
    return [*(overlaid(kind, summary) for kind in (INCREASING,)), *evidence_figures(summary)]


def decision_figures(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Net benefit by threshold, and events found by share flagged."""
    return []


def answer_figures(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """The answer's reliability, in bins of equal weight."""
    return [
        reliability_figure(
            f"answer-{when}", f"The answer {when_words(when, summary)}", curve, ReliabilityDisplay(curve, target="answer"), (3.7, 4.3)
        )
        for when, data in summary["answer"]["equal_mass"].items() if data is not None for curve in [made(SimpleNamespace, data)]
    ]  # fmt: skip
