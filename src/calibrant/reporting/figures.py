"""The figures of a summary: each as SVG, with a text that can stand in for it and the table behind it."""

from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from calibrant.displays.confidence import ConfidenceHistogramDisplay
from calibrant.displays.reliability import ReliabilityDisplay
from calibrant.reporting.evidence_figures import evidence_figures
from calibrant.reporting.figure import figure, made
from calibrant.reporting.overlaid_figures import CORP, RISK, overlaid

__all__ = ["figures", "reliability_figure", "when_words"]

KEYS = "Arrow keys go from point to point; the table below the figure holds the same numbers."


def figures(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """One dictionary a figure: key, title, description, svg, columns, rows; before and after side by side."""
    drawn = []
    for kind, make in (("curves", _reliability), ("histograms", _histogram)):
        for when in ("before", "after"):
            data = summary[kind][when]
            if data is not None:
                drawn.append(make(f"{kind}-{when}", when_words(when, summary), made(SimpleNamespace, data)))
    return [*drawn, _logit(summary), overlaid(CORP, summary), overlaid(RISK, summary), *evidence_figures(summary)]


def when_words(when: str, summary: dict[str, Any]) -> str:
    """How a figure says which rows it shows: as predicted, before calibration, or after it."""
    if when == "before":
        return "as predicted" if summary["calibrator"]["evaluation"] == "none" else "before calibration"
    note = " (in-sample)" if summary["calibrator"]["evaluation"] == "in-sample" else ""
    return f"after {summary['calibrator']['name']}{note}"


def _reliability(key, when, curve):
    return reliability_figure(key, f"Reliability {when}", curve, ReliabilityDisplay(curve), (3.7, 4.3))


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
        for c, a, low, high, n in zip(curve.confidence, curve.accuracy, curve.low, curve.high, curve.n, strict=True)
    ]
    words = (
        f"{seen.capitalize()} against {said} in {len(gap)} bins, with intervals{drawn}. The gap that counts most: "
        f"at {said} {curve.confidence[worst]:.3f} the {seen} is {curve.accuracy[worst]:.3f}, {side} the diagonal "
        f"({curve.n[worst]:,.0f} rows)."
    )
    columns = (getattr(curve, name) for name in ("lower", "upper", "n", "confidence", "accuracy", "low", "high"))
    rows = [
        [f"{lo:.3f} to {up:.3f}", f"{n:,.0f}", f"{c:.4f}", f"{a:.4f}", f"{low:.4f} to {high:.4f}"]
        for lo, up, n, c, a, low, high in zip(*columns, strict=True)
    ]
    return figure(
        key, title, words, display, size, points, ["Bin", "Rows", said.capitalize(), seen.capitalize(), "Interval"], rows, told=KEYS
    )


def _logit(summary):
    """The last curve in bins of equal weight, on axes that tell 0.99 from 0.999."""
    when = "before" if summary["equal_mass"]["after"] is None else "after"
    curve, title = made(SimpleNamespace, summary["equal_mass"][when]), f"On the logit scale, {when_words(when, summary)}"
    bare = SimpleNamespace(plot=partial(ReliabilityDisplay(curve).plot, counts=False, scale="logit"))
    return reliability_figure("logit", title, curve, bare, (3.7, 3.7), drawn="")


def _histogram(key, when, histogram):
    sure = histogram.lower >= 0.9 - 1e-9
    points = [point for name, side in (("right", -1.0), ("wrong", 1.0)) for point in _bars(histogram, name, side)]
    words = (
        f"How often each confidence was given, for {histogram.right.sum():,.0f} right and {histogram.wrong.sum():,.0f} wrong predictions. "
        f"At confidence 0.9 and above: {histogram.right[sure].sum():,.0f} right, {histogram.wrong[sure].sum():,.0f} wrong."
    )
    rows = [
        [f"{lo:.2f} to {up:.2f}", f"{right:,.0f}", f"{wrong:,.0f}"]
        for lo, up, right, wrong in zip(histogram.lower, histogram.upper, histogram.right, histogram.wrong, strict=True)
        if right + wrong > 0
    ]
    display = ConfidenceHistogramDisplay(histogram)
    return figure(key, f"Confidence {when}", words, display, (3.7, 3.0), points, ["Bin", "Right", "Wrong"], rows, told=KEYS)


def _bars(histogram, name, side):
    """The tops of the right or of the wrong bars, which stand beside the middle of their bin."""
    for lo, up, count in zip(histogram.lower, histogram.upper, getattr(histogram, name), strict=True):
        if count > 0:
            yield 0.5 * (lo + up) + side * 0.23 * (up - lo), count, f"confidence {lo:.2f} to {up:.2f}: {count:,.0f} {name}"
