"""The figures of a summary: each as SVG, with a text that can stand in for it and the table
behind it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from calibrant.confidence.confidence_curve import ConfidenceBars, ConfidenceCurve, ConfidencePoints
from calibrant.confidence.signal_accuracy import SignalAccuracy, SignalBins, SignalFits
from calibrant.displays.classes import LatentFunctionDisplay
from calibrant.displays.confidence import (
    ConfidenceCurveDisplay,
    ConfidenceHistogramDisplay,
    SignalAccuracyDisplay,
)
from calibrant.displays.coverage import RiskCoverageDisplay
from calibrant.displays.event import IsotonicCurveDisplay
from calibrant.displays.reliability import ReliabilityDisplay
from calibrant.displays.svg import as_svg
from calibrant.metrics.curves.isotonic import IsotonicCurve
from calibrant.metrics.curves.risk_coverage_curve import RiskCoverageCurve
from calibrant.scalings.gaussian_process import LatentFunction

__all__ = [
    "CORP",
    "RISK",
    "Kind",
    "evidence_figures",
    "figure",
    "figures",
    "made",
    "overlaid",
    "points_along",
    "reliability_figure",
    "rows_shown",
    "when_words",
]

#: Rows of the table of a curve on the page; the report's data holds all points.
TABLE_ROWS = 25


def figure(
    key: Any,
    title: str,
    words: str,
    display: Any,
    size: Any,
    points: np.ndarray,
    columns: Any,
    rows: Any,
    told: Any = None,
) -> dict[str, Any]:
    """Return what the template shows; ``told`` describes the drawing where the ``words`` under it
    do not.
    """
    svg = as_svg(
        display,
        key=key,
        title=title,
        description=words if told is None else told,
        size=size,
        points=points,
    )
    return {
        "key": key,
        "title": title,
        "description": words,
        "svg": svg,
        "columns": columns,
        "rows": rows,
    }


def made(record: Any, columns: Any) -> Any:
    """A record of arrays from the lists of a summary."""
    return record(**{name: np.array(values, dtype=np.float64) for name, values in columns.items()})


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


@dataclass(frozen=True)
class Kind:
    """A curve shown before and after: where the summary has it, its record and display, words,
    heads of its columns and what points say.

    ``points`` makes (x, y, text) of a curve, ``end`` the sentence on the last curve that closes the
    words; ``again`` are options of the display for the second curve on the same axes.
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
    drawn = [
        (when, made(kind.record, data))
        for when, data in summary[kind.key].items()
        if data is not None
    ]
    columns = [f.name for f in fields(kind.record) if f.name in kind.heads]
    points = [
        (*place, f"{when}: {text}") for when, curve in drawn for *place, text in kind.points(curve)
    ]
    rows = [
        [when, *(f"{getattr(curve, name)[i]:.4g}" for name in columns)]
        for when, curve in drawn
        for i in rows_shown(len(getattr(curve, columns[0])))
    ]
    heads = ["When", *(kind.heads[name] for name in columns)]
    words = kind.words + kind.end(drawn[-1][1])
    return figure(
        kind.key,
        kind.title,
        words,
        _Overlaid(kind, drawn),
        kind.size,
        points,
        heads,
        rows,
        told=kind.words,
    )


class _Overlaid:
    """Displays of one kind on the same axes, the later in the main colour."""

    def __init__(self, kind: Kind, drawn: Any) -> None:
        self.kind, self.drawn = kind, drawn

    def plot(self, ax: Any) -> None:
        """Draw them on ``ax``."""
        for position, (when, curve) in enumerate(self.drawn):
            colour = "main" if position == len(self.drawn) - 1 else "other"
            options = self.kind.again if position else {}
            self.kind.display(curve).plot(ax, colour=colour, label=f"{when} calibration", **options)
        if len(self.drawn) > 1:
            ax.legend(frameon=False, fontsize="small")


def _outside(curve: IsotonicCurve) -> str:
    outside = (curve.recalibrated < curve.low) | (curve.recalibrated > curve.high)
    return (
        f"{curve.n[outside].sum() / max(curve.n.sum(), 1e-300):.0%} of the points shown lie outside"
        " the band."
    )


def _half(curve: RiskCoverageCurve) -> str:
    half = int(abs(curve.coverage - 0.5).argmin())
    return (
        f"Of the most confident {curve.coverage[half]:.0%}, {curve.risk[half]:.2%} are wrong; of"
        f" all, {curve.risk[-1]:.2%}."
    )


CORP = Kind(
    "corp",
    IsotonicCurve,
    IsotonicCurveDisplay,
    "Reliability without bins (CORP)",
    (3.7, 3.7),
    "The best increasing recalibration of the confidence, and where it would lie by chance if the"
    " confidences were honest (shaded). ",
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
)
RISK = Kind(
    "risk",
    RiskCoverageCurve,
    RiskCoverageDisplay,
    "Risk and coverage",
    (3.7, 3.2),
    "How many answers are wrong when only the most confident are kept. ",
    {
        "confidence": "Confidence",
        "coverage": "Share kept",
        "risk": "Share wrong",
        "low": "Low",
        "high": "High",
    },
    lambda curve: (
        (x, y, f"the most confident {x:.1%}: {y:.2%} wrong")
        for x, y in points_along(curve.coverage, curve.risk)
    ),
    _half,
)


SIZE = (3.7, 3.4)


def evidence_figures(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """One dictionary a figure, as :func:`calibrant.reporting.figures.figures` makes them."""
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
        (3.7, 3.9),
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
        key, title, words, display, SIZE, points, ["Bin", "Rows", "Share right", "Interval"], rows
    )


def _of_stability(bins: SignalBins) -> str:
    return (
        "How often predictions are right over the probability that their label survives noise on"
        f" the logits, in bins of equal weight. In the least stable bin {bins.accuracy[0]:.1%} are"
        f" right, in the most stable {bins.accuracy[-1]:.1%}."
    )


def _of_separation(bins: SignalBins) -> str:
    words = (
        "How often predictions are right over how much nearer the training points of the predicted"
        " class are than all others, in bins of equal weight: below 0 the row lies among another"
        " class. "
    )
    parts = [
        f"{bins.n[side] @ bins.accuracy[side] / bins.n[side].sum():.1%} are right in the bins"
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
        SIZE,
        points,
        ["Score", "Prior mean", "Latent mean", "Band"],
        rows,
    )


KEYS = "Arrow keys go from point to point; the table below the figure holds the same numbers."


def figures(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """One dictionary a figure: key, title, description, svg, columns, rows; before and after
    side by side.
    """
    drawn = []
    for kind, make in (("curves", _reliability), ("histograms", _histogram)):
        for when in ("before", "after"):
            data = summary[kind][when]
            if data is not None:
                drawn.append(
                    make(f"{kind}-{when}", when_words(when, summary), made(SimpleNamespace, data))
                )
    return [
        *drawn,
        _logit(summary),
        overlaid(CORP, summary),
        overlaid(RISK, summary),
        *evidence_figures(summary),
    ]


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


def _reliability(key: str, when: str, curve: Any) -> dict[str, str]:
    return reliability_figure(
        key, f"Reliability {when}", curve, ReliabilityDisplay(curve), (3.7, 4.3)
    )


def reliability_figure(
    key: str,
    title: str,
    curve: Any,
    display: Any,
    size: tuple[float, float],
    said: str = "confidence",
    seen: str = "accuracy",
    drawn: str = ", and the number of rows in each",
) -> dict[str, Any]:
    """A reliability curve as a figure of the page, with the gap that counts most in words.

    ``said`` and ``seen`` name what it compares, ``drawn`` what is seen beside the bins.
    """
    gap = curve.confidence - curve.accuracy
    worst = int(np.abs(gap * np.sqrt(curve.n)).argmax())
    side = "below" if gap[worst] > 0 else "above"
    points = [
        (c, a, f"{said} {c:.3f}: {seen} {a:.3f} ({low:.3f} to {high:.3f}), {n:,.0f} rows")
        for c, a, low, high, n in zip(
            curve.confidence, curve.accuracy, curve.low, curve.high, curve.n, strict=True
        )
    ]
    words = (
        f"{seen.capitalize()} against {said} in {len(gap)} bins, with intervals{drawn}. The gap"
        f" that counts most: at {said} {curve.confidence[worst]:.3f} the {seen} is"
        f" {curve.accuracy[worst]:.3f}, {side} the diagonal ({curve.n[worst]:,.0f} rows)."
    )
    columns = (
        getattr(curve, name)
        for name in ("lower", "upper", "n", "confidence", "accuracy", "low", "high")
    )
    rows = [
        [f"{lo:.3f} to {up:.3f}", f"{n:,.0f}", f"{c:.4f}", f"{a:.4f}", f"{low:.4f} to {high:.4f}"]
        for lo, up, n, c, a, low, high in zip(*columns, strict=True)
    ]
    return figure(
        key,
        title,
        words,
        display,
        size,
        points,
        ["Bin", "Rows", said.capitalize(), seen.capitalize(), "Interval"],
        rows,
        told=KEYS,
    )


def _logit(summary: dict[str, Any]) -> dict[str, str]:
    """The last curve in bins of equal weight, on axes that tell 0.99 from 0.999."""
    when = "before" if summary["equal_mass"]["after"] is None else "after"
    curve, title = (
        made(SimpleNamespace, summary["equal_mass"][when]),
        f"On the logit scale, {when_words(when, summary)}",
    )
    bare = SimpleNamespace(
        plot=partial(ReliabilityDisplay(curve).plot, counts=False, scale="logit")
    )
    return reliability_figure("logit", title, curve, bare, (3.7, 3.7), drawn="")


def _histogram(key: str, when: str, histogram: Any) -> dict[str, str]:
    sure = histogram.lower >= 0.9 - 1e-9
    points = [
        point
        for name, side in (("right", -1.0), ("wrong", 1.0))
        for point in _bars(histogram, name, side)
    ]
    words = (
        f"How often each confidence was given, for {histogram.right.sum():,.0f} right and"
        f" {histogram.wrong.sum():,.0f} wrong predictions. At confidence 0.9 and above:"
        f" {histogram.right[sure].sum():,.0f} right, {histogram.wrong[sure].sum():,.0f} wrong."
    )
    rows = [
        [f"{lo:.2f} to {up:.2f}", f"{right:,.0f}", f"{wrong:,.0f}"]
        for lo, up, right, wrong in zip(
            histogram.lower, histogram.upper, histogram.right, histogram.wrong, strict=True
        )
        if right + wrong > 0
    ]
    display = ConfidenceHistogramDisplay(histogram)
    return figure(
        key,
        f"Confidence {when}",
        words,
        display,
        (3.7, 3.0),
        points,
        ["Bin", "Right", "Wrong"],
        rows,
        told=KEYS,
    )


def _bars(histogram: Any, name: Any, side: Any) -> Any:
    """The tops of the right or of the wrong bars, which stand beside the middle of their bin."""
    for lo, up, count in zip(
        histogram.lower, histogram.upper, getattr(histogram, name), strict=True
    ):
        if count > 0:
            yield (
                0.5 * (lo + up) + side * 0.23 * (up - lo),
                count,
                f"confidence {lo:.2f} to {up:.2f}: {count:,.0f} {name}",
            )
