"""Figures of a summary, each as SVG, with a text that can stand in for it and its table; groups as
dots with intervals; and figures of calibration over time and of evidence.

Groups are one line each, on one scale. The evidence behind confidences: what a calibrator does,
signals, latent function.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from types import SimpleNamespace
from typing import Any

import numpy as np

from calibrant.calibrators.confidence import SignalAccuracy, SignalBins, SignalFits
from calibrant.calibrators.confidence_curve import ConfidenceBars, ConfidenceCurve, ConfidencePoints
from calibrant.calibrators.gaussian_process import LatentFunction
from calibrant.core.text_table import percent
from calibrant.displays.axes import PALETTE, plain_text
from calibrant.displays.calibration import CalibrationDrawing
from calibrant.displays.classes import LatentFunctionDisplay, RiskCoverageDisplay
from calibrant.displays.confidence import ConfidenceCurveDisplay, SignalAccuracyDisplay
from calibrant.displays.event import DriftDisplay, IsotonicCurveDisplay
from calibrant.displays.svg import as_svg
from calibrant.metrics.curves.distribution import RiskCoverageCurve
from calibrant.metrics.curves.isotonic import IsotonicCurve
from calibrant.monitoring.monitor import DriftCurve

__all__ = [
    "CORP",
    "FLAT",
    "RISK",
    "SQUARE",
    "Kind",
    "Overlaid",
    "at_start",
    "calibration_drawing",
    "calibration_figure",
    "dots",
    "drift_figures",
    "evidence_figures",
    "figure",
    "gap_words",
    "made",
    "named",
    "overlaid",
    "points_along",
    "present",
    "rows_shown",
    "when_words",
]


#: Size of a line's drawing, and its margins at both ends.
WIDTH, MARGIN = 240.0, 8.0
#: Longest interval drawn whole, in largest gaps; a longer one is cut at the edge.
LONGEST = 2.5


def dots(**lists: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the lists of groups to draw, each group with places on one scale (pixels) and what is
    off in words, and ``half``, the gap at the right edge.

    A group is {"group": name, "n", "before", "after"}, with a gap or None at the last two. The
    first two lists set the scale; a longer interval of the others is cut at the edge.
    """
    rows = [row for some in list(lists.values())[:2] for row in some]
    found = [row[when] for row in rows for when in ("before", "after") if row[when] is not None]
    ends = [abs(one[name]) for one in found for name in ("low", "high")]
    gaps = [abs(one["gap"]) for one in found]
    half = min(max(ends, default=1.0), LONGEST * max(gaps, default=1.0)) or 1.0

    def at(value: float) -> float:
        x = WIDTH / 2 + (WIDTH / 2 - MARGIN) * value / half
        return round(min(max(x, 1.0), WIDTH - 1.0), 1)

    def placed(row: dict[str, Any]) -> dict[str, Any]:
        last = row["before"] if row["after"] is None else row["after"]
        return {
            **row,
            "last": last,
            "places": {
                when: {name: at(row[when][name]) for name in ("gap", "low", "high")}
                for when in ("before", "after")
                if row[when] is not None
            },
            "words": gap_words(last),
        }

    return {"half": half, **{name: [*map(placed, some)] for name, some in lists.items()}}


def gap_words(one: dict[str, Any]) -> str:
    """Return what a group's gap says: "too high", "too low", "right" or "too few rows"."""
    if one["outcome"] == "off":
        return "too high" if one["gap"] > 0.0 else "too low"
    return "right" if one["outcome"] == "holds" else "too few rows"


#: Rows of the table of a curve on the page; the report's data holds all points.
TABLE_ROWS = 25
#: Axes of a figure in inches; those with a diagonal are square, curves over time are flat.
SIZE, SQUARE, FLAT = (3.1, 2.6), (3.1, 3.1), (3.1, 2.0)
#: More bins than this have more dots than anyone reads.
MOST_BINS = 20
#: Rows of a bin of which the largest gap may be said: one wrong answer is no gap of a bin.
LEAST_ROWS = 20
DRIFT_HEADS = ("When", "Rows", "Confidence", "Accuracy", "Measured", "Error", "Low", "High")
KEYS = "Arrow keys go from point to point; the table below the figure holds the same numbers."


def figure(
    key: str,
    title: str,
    words: str,
    display: Any,
    points: Any,
    columns: Any,
    rows: Any,
    *,
    size: tuple[float, float] = SIZE,
    states: Any = (),
    start: str | None = None,
) -> dict[str, Any]:
    """Return what the template shows; ``states`` are those of its slider, which has ``start``."""
    svg = as_svg(
        display, key=key, title=title, description=KEYS, size=size, points=points, start=start
    )
    return {
        "key": key,
        "title": title,
        "description": words,
        "svg": svg,
        "columns": columns,
        "rows": rows,
        "states": list(states),
        "start": start,
    }


def made(record: Any, columns: Any) -> Any:
    """A record of arrays from the lists of a summary."""
    return record(**{name: np.array(values, dtype=np.float64) for name, values in columns.items()})


def present(parts: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of {"before": part, "after": part or None} that there are."""
    return {when: part for when, part in parts.items() if part is not None}


def points_along(x: Any, y: Any) -> Any:
    """Some of the points, by place: neighbours at equal distances along x are the easiest to
    hit.
    """
    at = np.unique(
        np.searchsorted(np.sort(x), np.linspace(x.min(), x.max(), TABLE_ROWS)).clip(0, len(x) - 1)
    )
    rows = np.argsort(x, kind="stable")[at]
    return list(zip(x[rows].tolist(), y[rows].tolist(), strict=True))


def rows_shown(count: Any) -> Any:
    """The rows of a curve of so many points that its table shows."""
    return np.unique(np.linspace(0, count - 1, min(count, TABLE_ROWS)).round().astype(int))


def calibration_drawing(
    states: dict[str, dict[str, Any]], start: str, **options: Any
) -> CalibrationDrawing:
    """Return the drawing of {bins: {label: columns}}, without states of too many bins."""
    drawn = {
        bins: {label: made(SimpleNamespace, columns) for label, columns in curves.items()}
        for bins, curves in states.items()
        if bins == start or int(bins) <= MOST_BINS
    }
    return CalibrationDrawing(drawn, start=start, **options)


def at_start(states: dict[str, Any], start: str, **options: Any) -> CalibrationDrawing:
    """Return the drawing of the initial number of bins alone."""
    return calibration_drawing({start: states[start]}, start, **options)


def calibration_figure(
    key: str,
    title: str,
    words: str,
    states: dict[str, dict[str, Any]],
    start: str,
    *,
    texts: Callable[[str], str] = "{} bins".format,
    **options: Any,
) -> dict[str, Any]:
    """Draw the curves of each number of bins, {bins: {label: columns}}, with a slider if there are
    several; options are those of :class:`CalibrationDrawing`.

    The words close with the largest gap of the last curve, if there is one.
    """
    display = calibration_drawing(states, start, **options)
    drawn = display.states
    points = [
        (*np.clip(row[:2], *display.ends), _said(label, *row), *([bins] if len(drawn) > 1 else []))
        for bins, curves in drawn.items()
        for label, curve in curves.items()
        for row in _rows(curve, "confidence", "accuracy", "low", "high", "n")
    ]
    rows = [
        [label, f"{a:.3g} to {b:.3g}", f"{n:,.0f}", *(f"{v:.4g}" for v in values)]
        for label, curve in drawn[start].items()
        for a, b, n, *values in _rows(
            curve, "lower", "upper", "n", "confidence", "accuracy", "low", "high"
        )
    ]
    return figure(
        key,
        title,
        words + _largest_gap(*list(drawn[start].items())[-1]),
        display,
        points,
        ["Curve", "Bin", "Rows", "Predicted", "Observed", "Low", "High"],
        rows,
        size=SQUARE,
        states=[{"bins": bins, "text": texts(bins)} for bins in drawn],
        start=start,
    )


def _rows(curve: Any, *names: str) -> Any:
    return zip(*(getattr(curve, name).tolist() for name in names), strict=True)


def _said(label: str, said: float, seen: float, low: float, high: float, n: float) -> str:
    return (
        f"{label}: predicted {said:.3g}, observed {seen:.3g} ({low:.3g} to {high:.3g}),"
        f" {n:,.0f} rows"
    )


def _largest_gap(label: str, curve: Any) -> str:
    gap = np.where(curve.n < LEAST_ROWS, 0.0, curve.confidence - curve.accuracy)
    worst = int(np.abs(gap * np.sqrt(curve.n)).argmax())
    said, seen = f"{curve.confidence[worst]:.3g}", f"{curve.accuracy[worst]:.3g}"
    if said == seen or gap[worst] == 0.0:
        return ""
    rows = f"{curve.n[worst]:,.0f} rows"
    return f" The largest gap ({label}): predicted {said}, observed {seen} ({rows})."


@dataclass(frozen=True)
class Kind:
    """A curve shown before and after: where the summary has it, its record and display, words,
    heads of its columns and the texts of its points.

    ``points`` makes (x, y, text) of a curve, ``end`` the sentence on the last curve that closes the
    words; ``again`` are options of the display for the second curve on the same axes.
    """

    key: str
    record: type
    display: Callable[..., Any]
    title: str
    words: str
    heads: dict[str, str]
    points: Callable[[Any], Iterable[tuple[float, float, str]]]
    end: Callable[[Any], str]
    again: dict[str, Any] = field(default_factory=dict)
    size: tuple[float, float] = SIZE


def overlaid(kind: Kind, curves: dict[str, Any], key: str | None = None) -> dict[str, Any]:
    """Before and after in one picture; ``curves`` are {"before": columns, "after": columns or
    None}.
    """
    drawn = [(when, made(kind.record, data)) for when, data in present(curves).items()]
    columns = [f.name for f in fields(kind.record) if f.name in kind.heads]
    points = [
        (*place, f"{when}: {text}") for when, curve in drawn for *place, text in kind.points(curve)
    ]
    rows = [
        [when, *(f"{getattr(curve, name)[i]:.4g}" for name in columns)]
        for when, curve in drawn
        for i in rows_shown(len(getattr(curve, columns[0])))
    ]
    displays = named({when: kind.display(curve) for when, curve in drawn})
    return figure(
        key or kind.key,
        kind.title,
        kind.words + kind.end(drawn[-1][1]),
        Overlaid(displays, kind.again),
        points,
        ["When", *(kind.heads[name] for name in columns)],
        rows,
        size=kind.size,
    )


def named(displays: dict[str, Any]) -> dict[str, Any]:
    """Return displays by the names of their legend, from {"before": display, "after": display}."""
    alone = len(displays) == 1
    return {"model" if alone else f"{when} calibration": one for when, one in displays.items()}


class Overlaid:
    """Displays of one kind on the same axes, {label: display}, the last in the main colour."""

    def __init__(self, displays: dict[str, Any], again: dict[str, Any] | None = None) -> None:
        self.displays: dict[str, Any] = displays
        self.again: dict[str, Any] = again or {}
        self.last: Any = list(displays.values())[-1]

    def plot(self, ax: Any) -> None:
        """Draw them on ``ax``."""
        for place, (label, display) in enumerate(self.displays.items()):
            colour = PALETTE[(len(self.displays) - 1 - place) % len(PALETTE)]
            display.plot(ax, colour=colour, label=label, **(self.again if place else {}))
        if len(self.displays) > 1:
            plain_text(*ax.legend(frameon=False, fontsize="small").get_texts())


def _outside(curve: IsotonicCurve) -> str:
    outside = (curve.recalibrated < curve.low) | (curve.recalibrated > curve.high)
    return (
        f"{percent(curve.n[outside].sum() / max(curve.n.sum(), 1e-300), 0)} of the points shown"
        " lie outside the band."
    )


def _half(curve: RiskCoverageCurve) -> str:
    half = int(abs(curve.coverage - 0.5).argmin())
    return (
        f"Of the most confident {percent(curve.coverage[half], 0)}, {percent(curve.risk[half], 2)}"
        f" are wrong; of all, {percent(curve.risk[-1], 2)}."
    )


CORP = Kind(
    "corp",
    IsotonicCurve,
    IsotonicCurveDisplay,
    "Reliability without bins (CORP)",
    "The best increasing recalibration of the confidence, and where it would lie by chance if the"
    " confidences were calibrated (shaded). ",
    {
        "score": "Confidence",
        "n": "Rows",
        "recalibrated": "Recalibrated",
        "low": "Low",
        "high": "High",
    },
    lambda curve: (
        (x, y, f"confidence {x:.3f}, recalibrated {y:.3f}")
        for x, y in points_along(curve.score, curve.recalibrated)
    ),
    _outside,
    size=SQUARE,
)
RISK = Kind(
    "risk",
    RiskCoverageCurve,
    RiskCoverageDisplay,
    "Risk and coverage",
    "The share of wrong answers when only the most confident are kept. ",
    {
        "confidence": "Confidence",
        "coverage": "Share kept",
        "risk": "Share wrong",
        "low": "Low",
        "high": "High",
    },
    lambda curve: (
        (x, y, f"the most confident {percent(x)}: {percent(y, 2)} wrong")
        for x, y in points_along(curve.coverage, curve.risk)
    ),
    _half,
)


def when_words(when: str, summary: dict[str, Any]) -> str:
    """Words for the rows of a figure: as predicted, before calibration, or after it."""
    if when == "before":
        return (
            "as predicted"
            if summary["calibrator"]["evaluation"] == "none"
            else "before calibration"
        )
    note = " (in-sample)" if summary["calibrator"]["evaluation"] == "in-sample" else ""
    return f"after {summary['calibrator']['name']}{note}"


def drift_figures(found: dict[str, Any] | None, key: str = "drift") -> dict[str, Any] | None:
    """``all``, the figure of all rows, and ``groups``, one a group; None without times. ``found``
    is from ``drift``.
    """
    if found is None:
        return None
    both = present({when: found[when] for when in ("before", "after")})
    every = found["every"]
    return {
        "all": _drift(key, f"Calibration error by {every}", both, every),
        "groups": [
            _drift(f"{key}-{k}", row["group"], {found["of"]: row["curve"]}, every)
            for k, row in enumerate(found["groups"])
        ],
    }


class _OverTime(Overlaid):
    """Calibration over time, by hour, day, week, month or year."""

    def __init__(self, displays: dict[str, Any], every: str) -> None:
        super().__init__(displays)
        self.every = every

    def plot(self, ax: Any) -> None:
        """Draw it on ``ax``."""
        super().plot(ax)
        ax.set_xlabel(self.every.capitalize())


def _drift(key: str, title: str, curves: dict[str, Any], every: str) -> dict[str, Any]:
    drawn = [(when, _drift_curve(columns)) for when, columns in curves.items()]
    points = [
        (place, error, _at_time(when, time, error, low, high, n))
        for when, curve in drawn
        for place, (time, error, low, high, n) in enumerate(
            _rows(curve, "time", "error", "low", "high", "n")
        )
    ]
    rows = [
        [time, when, f"{n:,.0f}", *("–" if np.isnan(v) else f"{v:.4f}" for v in values)]
        for when, curve in drawn
        for time, n, *values in _rows(
            curve, "time", "n", "confidence", "accuracy", "ece", "error", "low", "high"
        )
    ]
    last = drawn[-1][1]
    worst = int(np.nan_to_num(last.low, nan=-1.0).argmax())
    displays = named({when: DriftDisplay(curve) for when, curve in drawn})
    return figure(
        key,
        title,
        f"Largest in {last.time[worst]}: {last.error[worst]:.4f} ({last.n[worst]:,.0f} rows).",
        _OverTime(displays, every),
        points,
        [every.capitalize(), *DRIFT_HEADS],
        rows,
        size=FLAT,
    )


def _drift_curve(columns: dict[str, list[Any]]) -> DriftCurve:
    """The curve of a summary, in which an interval that is not known is None."""
    numbers = {
        name: np.array(values, dtype=float) for name, values in columns.items() if name != "time"
    }
    return DriftCurve(time=np.array(columns["time"]), **numbers)


def _at_time(when: str, time: str, error: float, low: float, high: float, n: float) -> str:
    limits = "" if np.isnan(low) else f" ({low:.4f} to {high:.4f})"
    return f"{when}, {time}: error {error:.4f}{limits}, {n:,.0f} rows"


def evidence_figures(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """One dictionary a figure, as :func:`calibrant.reporting.figures.figure` makes them."""
    drawn = [] if summary["confidence"] is None else [_confidence(summary)]
    drawn += [_signal(found) for found in summary["signals"]]
    return (
        drawn
        if summary["latent"] is None
        else [*drawn, _latent(summary["latent"], summary["calibrator"]["name"])]
    )


def _confidence(summary: dict[str, Any]) -> dict[str, str]:
    """The calibrator's confidence over its score, beside the shares observed, with the densities
    of right and wrong scores.
    """
    found = summary["confidence"]
    curve = ConfidenceCurve(
        None,
        made(ConfidencePoints, found["points"]),
        made(ConfidenceBars, found["bars"]),
        *(found[name] for name in ("cloud", "n", "right", "wrong")),
    )
    title, bars = (
        f"What {summary['calibrator']['name']} does{' (in-sample)' if found['in_sample'] else ''}",
        curve.bars,
    )
    words = (
        (
            "Fitted on the very rows shown, so it agrees with them more than it will with new"
            " ones. "
            if found["in_sample"]
            else ""
        )
        + "The confidence it gives over the model's score, beside the share right in bins of"
        f" {found['n']:,.0f} rows, through whose intervals it should pass; above, the densities"
        f" of {found['right']:,.0f} right and {found['wrong']:,.0f} wrong predictions."
    )
    rows = list(zip(bars.lower, bars.upper, bars.n, bars.rate, bars.low, bars.high, strict=True))
    points = [
        (
            0.5 * (a + b),
            rate,
            (
                f"score {a:.3f} to {b:.3f}: share right {rate:.3f} ({low:.3f} to {high:.3f}),"
                f" {n:,.0f} rows"
            ),
        )
        for a, b, n, rate, low, high in rows
    ]
    points += [
        (x, y, f"score {x:.3f}: confidence {y:.3f}")
        for x, y in points_along(curve.points.score, curve.points.confidence)
    ]
    display = ConfidenceCurveDisplay(curve, name=" ")
    rows = [
        [f"{a:.3f} to {b:.3f}", f"{n:,.0f}", f"{r:.4f}", f"{low:.4f} to {high:.4f}"]
        for a, b, n, r, low, high in rows
    ]
    return figure(
        "confidence",
        title,
        words,
        display,
        points,
        ["Score", "Rows", "Share right", "Interval"],
        rows,
    )


def _signal(found: dict[str, Any]) -> dict[str, str]:
    bins, fits = made(SignalBins, found["bins"]), made(SignalFits, found["fits"])
    stability = found["name"] == "LabelStability"
    key, title = (
        ("stability", "Accuracy by label stability")
        if stability
        else ("separation", "Accuracy by separation")
    )
    words = _of_stability(bins) if stability else _of_separation(bins)
    rows = list(
        zip(bins.lower, bins.upper, bins.n, bins.accuracy, bins.low, bins.high, strict=True)
    )
    points = [
        (
            x,
            share,
            f"{a:.4g} to {b:.4g}: {share:.3f} right ({low:.3f} to {high:.3f}), {n:,.0f} rows",
        )
        for x, (a, b, n, share, low, high) in zip(bins.score, rows, strict=True)
    ]
    display = SignalAccuracyDisplay(SignalAccuracy(found["name"], bins, fits))
    rows = [
        [f"{a:.4g} to {b:.4g}", f"{n:,.0f}", f"{s:.4f}", f"{low:.4f} to {high:.4f}"]
        for a, b, n, s, low, high in rows
    ]
    return figure(
        key, title, words, display, points, ["Bin", "Rows", "Share right", "Interval"], rows
    )


def _of_stability(bins: SignalBins) -> str:
    return (
        "How often predictions are right over the probability that their label survives noise on"
        f" the logits, in bins of equal weight. In the least stable bin"
        f" {percent(bins.accuracy[0])} are"
        f" right, in the most stable {percent(bins.accuracy[-1])}."
    )


def _of_separation(bins: SignalBins) -> str:
    words = (
        "How often predictions are right over how much nearer the training points of the predicted"
        " class are than all others, in bins of equal weight: below 0 the row lies among another"
        " class. "
    )
    parts = [
        f"{percent(bins.n[side] @ bins.accuracy[side] / bins.n[side].sum())} are right in the bins"
        f" {where} 0"
        for where, side in (("below", bins.score < 0.0), ("above", bins.score >= 0.0))
        if side.any()
    ]
    return words + ", ".join(parts) + "."


def _latent(found: dict[str, list[Any]], name: str) -> dict[str, str]:
    curve = made(
        LatentFunction, {field.name: found[field.name] for field in fields(LatentFunction)}
    )
    title = f"Latent function of {name}"
    moved = int(np.abs(curve.mean - curve.prior).argmax())
    words = (
        "What the calibrator makes of each score: where the curve lies above the dashed prior mean"
        " a score counts for more than the model said, below it for less; a constant added to the"
        " curve changes nothing. The ticks are scores of the data. Farthest from the prior: at"
        f" {curve.score[moved]:.3g}, {curve.mean[moved]:.3g} instead of {curve.prior[moved]:.3g}."
    )
    some = rows_shown(len(curve.score))
    rows = [
        tuple(getattr(curve, field)[i] for field in ("score", "prior", "mean", "low", "high"))
        for i in some
    ]
    points = [
        (x, mean, f"score {x:.3g}: {mean:.3g} ({low:.3g} to {high:.3g}), prior {prior:.3g}")
        for x, prior, mean, low, high in rows
    ]
    display = LatentFunctionDisplay(curve, scores=np.array(found["ticks"]))
    rows = [
        [f"{x:.4g}", f"{prior:.4g}", f"{mean:.4g}", f"{low:.4g} to {high:.4g}"]
        for x, prior, mean, low, high in rows
    ]
    return figure(
        "latent",
        title,
        words,
        display,
        points,
        ["Score", "Prior mean", "Latent mean", "Band"],
        rows,
    )
