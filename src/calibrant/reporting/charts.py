"""Reliability curves as coordinates for the page's own drawings: many small ones, whose points a reader can visit one by one."""

from typing import Any

from calibrant.reporting.drawing import BOTTOM, RIGHT, TOP, Axis, point

__all__ = ["bin_charts", "class_charts"]

#: The axes that the template draws beside them.
X, Y = Axis(0.0, 1.0, 38.0, RIGHT, ()), Axis(0.0, 1.0, BOTTOM, TOP, ())


def bin_charts(summary: dict[str, Any]) -> dict[str, Any]:
    """One state a number of bins, and the state to start with, that of the table of metrics: bins, text, and the points of each series."""
    states = []
    for bins in summary["binned"]["before"]:
        series, words = [], []
        for when in ("before", "after"):
            found = summary["binned"][when]
            if found is not None:
                series.append({"when": when, "points": _points(found[bins]["curve"], when)})
                words.append(f"{when} {found[bins]['ece']:.4f}" if summary["binned"]["after"] else f"{found[bins]['ece']:.4f}")
        states.append({"bins": int(bins), "text": f"{bins} bins: ECE {', '.join(words)}", "series": series})
    start = next(i for i, state in enumerate(states) if state["bins"] == summary["bound"]["n_bins"])
    return {"states": states, "start": start}


def class_charts(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """One chart a class drawn, the worst first: its key, name, words, points, and the columns and rows of its table."""
    charts = []
    for number, (name, curve) in enumerate(summary["class_curves"].items()):
        charts.append({
            "key": f"class-{number}", "name": name, "points": _points(curve, "probability"), "description": _words(curve),
            "columns": ["Bin", "Rows", "Probability", "Share", "Interval"], "rows": _rows(curve),
        })  # fmt: skip
    return charts


def _points(curve, when):
    rows = zip(curve["confidence"], curve["accuracy"], curve["low"], curve["high"], curve["n"], strict=True)
    said = "{}: {:.3f} predicted, {:.3f} observed ({:.3f} to {:.3f}), {:,.0f} rows"
    return [point(X, Y, (c, a), said.format(when, c, a, low, high, n), low, high) for c, a, low, high, n in rows]


def _words(curve):
    gaps = [(abs(c - a) * n**0.5, c, a, n) for c, a, n in zip(curve["confidence"], curve["accuracy"], curve["n"], strict=True)]
    _, c, a, n = max(gaps)
    return f"The gap that counts most: predicted {c:.3f}, observed {a:.3f} ({n:,.0f} rows)."


def _rows(curve):
    columns = (curve[k] for k in ("lower", "upper", "n", "confidence", "accuracy", "low", "high"))
    return [
        [f"{lower:.2f} to {upper:.2f}", f"{n:,.0f}", f"{c:.4f}", f"{a:.4f}", f"{low:.4f} to {high:.4f}"]
        for lower, upper, n, c, a, low, high in zip(*columns, strict=True)
    ]
