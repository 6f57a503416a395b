"""Contents of the page on the risk of an event, beside the summary itself."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from calibrant._kernels.thresholds import probability_grid, probability_ticks, scale_ends
from calibrant.displays.axes import scale_axes
from calibrant.displays.event import DecisionCurveDisplay, GainDisplay, IsotonicCurveDisplay
from calibrant.displays.reliability import ReliabilityDisplay
from calibrant.metrics.curves.decision import DecisionCurve, GainCurve
from calibrant.metrics.curves.smooth import CalibrationCurve
from calibrant.reporting.charts import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    Axis,
    chart,
    drift_charts,
    point,
    rows_of,
)
from calibrant.reporting.event.verdict import share
from calibrant.reporting.figures import (
    CORP,
    Kind,
    evidence_figures,
    made,
    overlaid,
    points_along,
    reliability_figure,
    when_words,
)

__all__ = [
    "FILTERS",
    "SECTIONS",
    "answer_figures",
    "context",
    "decision_figures",
    "event_figures",
    "hero",
]


def hero(summary: dict[str, Any]) -> dict[str, Any]:
    """``reliability``, with one state a number of bins and the one to ``start`` with, and
    ``spread``, the risks by outcome.
    """
    name = summary["scale"]
    curves = [part for part in summary["binned"].values() if part is not None]
    said = np.concatenate([part[bins]["curve"]["confidence"] for part in curves for bins in part])
    ends = scale_ends(name, said, summary["quality"]["rate"])
    ticks = tuple(probability_ticks(name, *ends))
    x, y = (Axis(*ends, *span, ticks, name) for span in ((LEFT, RIGHT), (BOTTOM, TOP)))
    states: list[dict[str, Any]] = [
        {
            "bins": int(bins),
            "text": f"{bins} groups of equal size",
            "series": _series(summary, bins, x, y),
        }
        for bins in curves[0]
    ]
    start = next(i for i, state in enumerate(states) if state["bins"] == summary["bins"])
    return {
        "reliability": _reliability(summary, x, y, states, start),
        "spread": _spread(summary, name, x),
    }


def _series(summary: dict[str, Any], bins: str, x: Any, y: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for when in ("before", "after"):
        if summary["binned"][when] is not None:
            curve = summary["binned"][when][bins]["curve"]
            found.append(
                {"when": when, "points": [_point(x, y, when, row) for row in rows_of(curve)]}
            )
    return found


def _point(x: Any, y: Any, when: str, row: Any) -> dict[str, float]:
    share, limits = f"{row['accuracy']:.3g} happened", f"({row['low']:.3g} to {row['high']:.3g})"
    text = f"{when}: {row['confidence']:.3g} said, {share} {limits}, {row['n']:,.0f} rows"
    return point(x, y, (row["confidence"], row["accuracy"]), text, row["low"], row["high"])


def _reliability(
    summary: dict[str, Any], x: Any, y: Any, states: Any, start: Any
) -> dict[str, Any]:
    made = chart(
        "reliability",
        "What was said, and what happened",
        "",
        axes=(x, y),
        labels=("Risk said", "Share that happened"),
        series=(),
        line=((x.low, x.low), (x.high, x.high)),
    )
    names = ("confidence", "accuracy", "low", "high")
    rows = [
        [when, f"{row['n']:,.0f}", *(f"{row[name]:.4g}" for name in names)]
        for when, part in summary["binned"].items()
        if part is not None
        for row in rows_of(part[str(summary["bins"])]["curve"])
    ]
    return {
        **made,
        "states": states,
        "start": start,
        "columns": ["When", "Rows", "Risk said", "Share that happened", "Low", "High"],
        "rows": rows,
    }


def _spread(summary: dict[str, Any], name: str, x: Any) -> dict[str, Any]:
    """Events above the middle, the others below it, each as shares of its own kind: rare events
    are seen as well.
    """
    when = "before" if summary["distribution"]["after"] is None else "after"
    found = {key: np.array(values) for key, values in summary["distribution"][when].items()}
    shares = {kind: found[kind] / max(found[kind].sum(), 1e-300) for kind in ("events", "others")}
    top = max(float(max(values.max() for values in shares.values())), 1e-300)
    y = Axis(-top, top, BOTTOM, TOP, ())
    edges = probability_grid(name, x.low, x.high, len(found["lower"]) + 1)
    bars = [
        _bar(x, y, edges[k], edges[k + 1], share[k], kind)
        for kind, share in shares.items()
        for k in range(len(share))
        if share[k] > 0
    ]
    words = " and ".join(
        f"{_median(found, kind):.3g} for {said}"
        for kind, said in (("events", "events"), ("others", "the others"))
    )
    return chart(
        "spread",
        f"Who gets which risk, {when if summary['distribution']['after'] else 'as predicted'}",
        f"Median risk: {words}.",
        axes=(x, y),
        labels=("Risk said", "Others below, events above"),
        series=(),
        line=((x.low, 0.0), (x.high, 0.0)),
        bars=bars,
        columns=["Risk", "Events", "Others"],
        rows=[
            [f"{low:.3g} to {high:.3g}", f"{events:,.0f}", f"{others:,.0f}"]
            for low, high, events, others in zip(
                *(found[k] for k in ("lower", "upper", "events", "others")), strict=True
            )
            if events + others > 0
        ],
    )


def _bar(x: Any, y: Any, low: Any, high: Any, share: Any, kind: str) -> Any:
    left, right, zero, end = (
        x.at(low),
        x.at(high),
        y.at(0.0),
        y.at(share if kind == "events" else -share),
    )
    return {
        "x": left,
        "y": min(zero, end),
        "width": round(right - left, 1),
        "height": round(abs(end - zero), 1),
        "kind": kind,
    }


def _median(found: dict[str, np.ndarray], kind: str) -> float:
    """The middle of the bin that holds the median."""
    k = int(cast(Any, np.searchsorted(found[kind].cumsum(), 0.5 * found[kind].sum())))
    return 0.5 * (found["lower"][k] + found["upper"][k])


def _increasing(curve: Any) -> Any:
    return (
        (x, y, f"risk {x:.3g}, recalibrated {y:.3g}")
        for x, y in points_along(curve.score, curve.recalibrated)
    )


INCREASING = replace(
    CORP,
    words=(
        "The best increasing recalibration of the risk, and where it would lie by chance if the"
        " risks were honest (shaded). "
    ),
    heads={**CORP.heads, "score": "Risk"},
    points=_increasing,
)


def event_figures(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """The share that happened over the risk: a smooth curve with its band before and after, and
    the best increasing one.
    """
    drawn = [
        _smooth(when, summary) for when in ("before", "after") if summary["loess"][when] is not None
    ]
    return [
        *drawn,
        overlaid(replace(INCREASING, display=partial(_Scaled, summary)), summary),
        *evidence_figures(summary),
    ]


def _smooth(when: str, summary: dict[str, Any]) -> dict[str, str]:
    """The loess curve of clinical papers, with the band that holds all of it; on logit axes it
    would be mostly noise near the ends.
    """
    curve, scale = (
        made(SimpleNamespace, summary["binned"][when][str(summary["bins"])]["curve"]),
        summary["scale"],
    )
    smooth = made(CalibrationCurve, summary["loess"][when])
    display = ReliabilityDisplay(
        curve, target="event", scale="linear" if scale == "logit" else scale, smooth=smooth
    )
    title = f"Smooth, {when_words(when, summary)}"
    bare = SimpleNamespace(plot=partial(display.plot, counts=False))
    drawn = f", and a loess curve with the {100 * summary['level']:g} % band that holds all of it"
    return reliability_figure(
        f"smooth-{when}", title, curve, bare, (3.7, 3.7), "risk", "share that happened", drawn
    )


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
        ax.set(xlabel="Risk said")
        if self.summary["scale"] == "log":
            drawn = np.concatenate(
                [part["score"] for part in self.summary["corp"].values() if part is not None]
            )
            scale_axes(ax, "log", *scale_ends("log", drawn, self.summary["quality"]["rate"]))


def decision_figures(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Net benefit by threshold, and events found by share flagged."""
    return [
        overlaid(kind, summary)
        for kind in (DECISION, GAIN)
        if summary[kind.key]["before"] is not None
    ]


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
        f"The {share(curve.flagged[at])} of rows of the highest risk hold {share(curve.found[at])}"
        " of the events."
    )


DECISION = Kind(
    "decision",
    DecisionCurve,
    DecisionCurveDisplay,
    "Decision curve",
    (3.7, 3.4),
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
    (3.7, 3.4),
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
        (x, y, f"the highest {share(x)}: {share(y)} of events")
        for x, y in points_along(curve.flagged, curve.found)
    ),
    _tenth,
)


def answer_figures(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """The answer's reliability, in bins of equal weight."""
    return [
        reliability_figure(
            f"answer-{when}",
            f"The answer {when_words(when, summary)}",
            curve,
            ReliabilityDisplay(curve, target="answer"),
            (3.7, 4.3),
        )
        for when, data in summary["answer"]["equal_mass"].items()
        if data is not None
        for curve in [made(SimpleNamespace, data)]
    ]


SECTIONS = (
    "header.html",
    "event/trust.html",
    "event/off.html",
    "event/metrics.html",
    "figures.html",
    "event/decide.html",
    "event/promises.html",
    "distance.html",
    "wrong.html",
    "over_time.html",
    "choice.html",
    "event/answer.html",
    "method.html",
)


def _share(value: float | None) -> str:
    return "–" if value is None else share(value)


#: One way of writing a share on a page of risks, rare ones with digits that count.
FILTERS: dict[Any, Any] = {"share": _share, "percent": _share}
NOTES = (
    (
        "The ECE of the event is the mean gap between the risk and the share that happened over"
        " bins of equal width; the figures group rows in equal numbers."
    ),
)


def context(summary: dict[str, Any]) -> dict[str, Any]:
    """Facts of the header, figures and charts, and notes on the method."""
    data, table = summary["data"], summary["thresholds"]
    return {
        "facts": (
            f"risk of {data['event']} ·"
            f" {'logits' if data['inputs'] == 'logit' else 'probabilities'}"
        ),
        "hero": hero(summary),
        "figures": event_figures(summary),
        "decision_figures": decision_figures(summary),
        "answer_figures": answer_figures(summary),
        "threshold_rows": rows_of(table),
        "notes": NOTES,
        "trusted": "Can its risk be trusted?",
        "over": "too high",
        "under": "too low",
        "watched": "risk and outcome",
        "columns": (("Said", "risk"), ("Happened", "rate")),
        "place": "Risk",
        "ends": "%.3g",
        "told": (
            "the mean risk said, the share that happened, the gap between the two and their ratio"
            f" (O/E), with {100.0 * summary['level']:g} % intervals that hold for all rows of a"
            " table together"
        ),
        "drift_charts": drift_charts(summary["drift"]),
        "dated": summary["drift"] is not None,
    }
