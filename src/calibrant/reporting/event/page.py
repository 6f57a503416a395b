"""Contents of the page on the risk of an event, beside the summary itself."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from calibrant.core.text_table import counted, percent
from calibrant.displays.axes import COLOURS, scale_axes
from calibrant.displays.event import DecisionCurveDisplay, GainDisplay, IsotonicCurveDisplay
from calibrant.displays.reliability import ENOUGH_SCORES
from calibrant.metrics.curves.decision import DecisionCurve, GainCurve
from calibrant.metrics.curves.distribution import RiskDistribution
from calibrant.metrics.curves.smooth import CalibrationCurve
from calibrant.reporting.figures import (
    CORP,
    Kind,
    at_start,
    calibration_drawing,
    calibration_figure,
    drift_figures,
    evidence_figures,
    made,
    overlaid,
    points_along,
    present,
)
from calibrant.reporting.markdown import Tile, advised, appendix, as_advised, bands, groups_tile
from calibrant.reporting.page import gap_tile

__all__ = [
    "FILTERS",
    "answer_figures",
    "context",
    "decision_figures",
    "event_figures",
    "main_display",
    "main_figure",
    "tiles",
]


def _main(summary: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of the main drawing: predicted risk and observed share before and after, the
    smooth curve of the last, and the distribution of the risks.
    """
    binned, scale = present(summary["binned"]), summary["scale"]
    when, smooth = list(present(summary["loess"]).items())[-1]
    # Over few risks a smooth curve says more than the rows do; near 0 it is mostly noise.
    few = len(summary["corp"][when]["score"]) < ENOUGH_SCORES or scale != "linear"
    return {
        "states": {
            bins: {when: part[bins]["curve"] for when, part in binned.items()}
            for bins in binned["before"]
        },
        "start": str(summary["bins"]),
        "target": "event",
        "scale": scale,
        "smooth": None if few else made(CalibrationCurve, smooth),
        "distribution": made(RiskDistribution, present(summary["distribution"])[when]),
        "rate": summary["quality"]["rate"],
    }


def main_display(summary: dict[str, Any]) -> Any:
    """Return the main drawing, with the initial number of bins."""
    return at_start(**_main(summary))


def main_figure(summary: dict[str, Any]) -> dict[str, Any]:
    """Return the main drawing with its words and a slider for the number of bins."""
    summary = as_advised(summary, "binned", "distribution", "loess", "corp")
    parts = _main(summary)
    return calibration_figure(
        "bins",
        "Predicted risk and observed share",
        _main_words(summary, parts["smooth"] is not None),
        texts=lambda bins: f"{bins} bins of equal weight",
        **parts,
    )


def _main_words(summary: dict[str, Any], smooth: bool) -> str:
    when = list(present(summary["binned"]))[-1]
    curve = ", the curve is a loess with its band" if smooth else ""
    return (
        "On the dashed line the risks are right; below it they are too high, above it too low. Bars"
        f" are {100 * summary['level']:g} % intervals{curve}; below are the risks {when}"
        f" calibration, by outcome.{AXES[summary['scale']]}"
    )


#: Sentences on axes.
AXES = {"linear": "", "log": " Both axes are logarithmic, because the event is rare."}


def _increasing(curve: Any) -> Any:
    return (
        (x, y, f"risk {x:.3g}, recalibrated {y:.3g}")
        for x, y in points_along(curve.score, curve.recalibrated)
    )


INCREASING = replace(
    CORP,
    words=(
        "The best increasing recalibration of the risk, and where it would lie by chance if the"
        " risks were calibrated (shaded). "
    ),
    heads={**CORP.heads, "score": "Risk"},
    points=_increasing,
)


def event_figures(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """The best increasing recalibration of the risk, and the evidence of the calibrator."""
    corp = replace(INCREASING, display=partial(_Scaled, summary))
    return [overlaid(corp, summary["corp"]), *evidence_figures(summary)]


class _Scaled:
    """The best increasing recalibration on the axes of the page: logarithmic ones where the
    event is rare.
    """

    def __init__(self, summary: dict[str, Any], curve: Any) -> None:
        self.summary, self.curve = summary, curve

    def plot(self, ax: Any, **options: Any) -> None:
        """Draw it on ``ax``."""
        ax.set(
            xscale="linear", yscale="linear"
        )  # of the curve drawn before: the display's own ends hold 0
        IsotonicCurveDisplay(self.curve).plot(ax, **options)
        ax.set(xlabel="Predicted risk")
        if self.summary["scale"] == "log":
            scale_axes(ax, "log", *calibration_drawing(**_main(self.summary)).ends)


def decision_figures(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Net benefit by threshold, with a mark where the costs say to act, and events found by share
    flagged.
    """
    acting = next(iter(summary["acting"]), None)
    decision = DECISION
    if acting is not None:
        at = acting["threshold"]
        words = f"{DECISION.words}The vertical line is where the costs say to act: {percent(at)}. "
        decision = replace(DECISION, display=partial(_Acting, at), words=words)
    return [
        overlaid(kind, summary[kind.key])
        for kind in (decision, GAIN)
        if summary[kind.key]["before"] is not None
    ]


class _Acting:
    """The decision curve with a line at the threshold of the costs."""

    def __init__(self, threshold: float, curve: Any) -> None:
        self.threshold, self.curve = threshold, curve

    def plot(self, ax: Any, **options: Any) -> None:
        """Draw it on ``ax``."""
        DecisionCurveDisplay(self.curve).plot(ax, **options)
        ax.axvline(self.threshold, color=COLOURS["text"], linewidth=1, linestyle=":")


def _best(curve: Any) -> str:
    """Return the gain over acting on all or none, whichever is better, at the threshold where the
    model gains most.
    """
    gain = curve.net_benefit - np.maximum(curve.treat_all, curve.treat_none)
    k = int(gain.argmax())
    if gain[k] <= 0.0:
        return "At no threshold is it worth more than acting on all or on none."
    return (
        f"It is worth most over acting on all or none at {curve.threshold[k]:.3g}:"
        f" {1000 * gain[k]:.3g} true positives in 1,000 rows."
    )


def _tenth(curve: Any) -> str:
    at = min(int((curve.flagged < 0.1).sum()), len(curve.flagged) - 1)
    return (
        f"The {percent(curve.flagged[at])} of rows of the highest risk hold"
        f" {percent(curve.found[at])} of the events."
    )


DECISION = Kind(
    "decision",
    DecisionCurve,
    DecisionCurveDisplay,
    "Decision curve",
    "Net benefit of acting on risks of at least the threshold, beside acting on all and on none. ",
    {
        "threshold": "Threshold",
        "net_benefit": "Net benefit",
        "low": "Low",
        "high": "High",
        "treat_all": "Act on all",
    },
    lambda curve: (
        (x, y, f"from {x:.3g}: net benefit {y:.4f}")
        for x, y in points_along(curve.threshold, curve.net_benefit)
    ),
    _best,
    {"references": False},
)
GAIN = Kind(
    "gain",
    GainCurve,
    GainDisplay,
    "Events found",
    "How many of the events are among the rows of the highest risk. ",
    {
        "threshold": "Risk",
        "flagged": "Share flagged",
        "found": "Share found",
        "low": "Low",
        "high": "High",
        "lift": "Lift",
    },
    lambda curve: (
        (x, y, f"the highest {percent(x)}: {percent(y)} of events")
        for x, y in points_along(curve.flagged, curve.found)
    ),
    _tenth,
)


def answer_figures(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """The answer's confidence and accuracy, in bins of equal weight."""
    curves = {"": present(summary["answer"]["equal_mass"])}
    return [calibration_figure("answer", "Confidence and accuracy of the answer", "", curves, "")]


#: Metrics of the fourth band; the others are folded.
FIVE = (
    "log_loss",
    "event_brier_score",
    "observed_expected_ratio",
    "calibration_slope",
    "event_ece",
)
#: Shares on a page of risks: rare ones have digits that count.
FILTERS: dict[Any, Any] = {}
NOTES = (
    (
        "The ECE of the event is the mean gap between the risk and the share that happened over"
        " bins of equal width; the figures group rows in equal numbers."
    ),
)

#: Words and templates of this page.
WORDS: dict[str, Any] = {
    "fine": "The data look sound: few rows repeat another, and no risk of exactly 0 or 1 is wrong",
    "quality": "event/quality.html",
    "promised": "event/promises.html",
    "reading": "event/reading.html",
    "shares": True,
    "notes": NOTES,
    "over": "too high",
    "under": "too low",
    "watched": "risk and outcome",
    "columns": (("Predicted", "risk"), ("Observed", "rate")),
    "place": "Risk",
    "ends": "%.3g",
}
#: Key of the summary that a section needs, its id, title and template.
APPENDIX = (
    (None, "figures", "More curves", "event/curves.html"),
    (None, "decide", "Decisions by threshold", "event/decide.html"),
    ("distance", "distance", "Distance to the training rows", "distance.html"),
    (None, "places", "Where it is off, by risk and feature", "wrong.html"),
    ("drift", "time", "Over time", "over_time.html"),
    (None, "answer", "The other question: is its answer right?", "event/answer.html"),
)


def context(summary: dict[str, Any]) -> dict[str, Any]:
    """Facts of the header, figures and charts, and notes on the method."""
    data, table = summary["data"], summary["thresholds"]
    shared = bands(summary, [(None, summary)], FIVE)
    event = summary["about"]["event"] or data["event"]
    named = [] if event in ("0", "1", "True") else [f"event: {event}"]
    quality = summary["quality"]
    rate = f"{counted(quality['events'], 'event')} ({percent(quality['rate'])})"
    return {
        **shared,
        **WORDS,
        "facts": [*named, *shared["facts"][:-2], rate, *shared["facts"][-2:]],
        "main": main_figure(summary),
        "tiles": tiles(summary),
        "appendix": appendix(summary, APPENDIX),
        "figures": event_figures(summary),
        "decision_figures": decision_figures(summary),
        "answer_figures": answer_figures(summary),
        "threshold_rows": [
            dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)
        ],
        "told": (
            "the mean risk predicted, the share observed, the gap between the two and their ratio"
            f" (O/E), with {100.0 * summary['level']:g} % intervals that hold for all rows of a"
            " table together"
        ),
        "drift_figures": drift_figures(summary["drift"]),
    }


def tiles(summary: dict[str, Any]) -> list[Tile]:
    """Return the tiles: predicted and observed, the gap, the groups or the ranking, and from which
    risk to act.
    """
    scores, quality = {row["key"]: row for row in summary["metrics"]}, summary["quality"]
    ratio = scores["observed_expected_ratio"]["after"]
    moved = advised(summary) and ratio and ratio["value"]
    then = percent(quality["rate"] / ratio["value"]) if moved else None
    pair = f"{percent(quality['risk'])} / {percent(quality['rate'])}"
    note = "over all rows" if summary["drift"] else ""
    note = note if then is None else f"calibrated: {then} predicted"
    auroc = scores["event_auroc"]["before"]["value"]
    ranking = Tile(
        "Ranking (AUROC)", "–" if auroc is None else f"{auroc:.3f}", "1 is perfect, 0.5 is chance"
    )
    return [
        Tile("Predicted / observed", pair, note),
        gap_tile(scores["event_ece"], summary),
        groups_tile([(None, summary)], advised(summary)) or ranking,
        *_acting(summary["acting"], advised(summary)),
    ]


def _acting(acting: list[dict[str, Any]], calibrated: bool) -> list[Tile]:
    if not acting:
        return []
    one = acting[0]
    cost = one["after"] if calibrated and one["after"] is not None else one["before"]
    best = min(one["all"], one["none"])
    cheaper = round(cost) < round(best)
    least = "all" if best == one["all"] else "none"
    note = f"10,000 rows cost {cost:,.0f}; acting on {least} {best:,.0f}"
    if not cheaper:
        note = f"no cheaper than acting on {least}"
    return [Tile("Act from", percent(one["threshold"]), note)]
