"""Reliability curves as coordinates for the page's own drawings: many small ones, whose points a reader can visit one by one."""

from typing import Any

__all__ = ["bin_charts", "class_charts"]

#: Of the drawing area, in the units of its viewBox (320 x 290).
LEFT, RIGHT, TOP, BOTTOM = 38.0, 310.0, 10.0, 250.0


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
    return [
        {
            "x": round(_x(c), 1), "y": round(_y(a), 1), "low": round(_y(low), 1), "high": round(_y(high), 1),
            "text": f"{when}: {c:.3f} predicted, {a:.3f} observed ({low:.3f} to {high:.3f}), {n:,.0f} rows",
        }
        for c, a, low, high, n in rows
    ]  # fmt: skip


def _x(value):
    return LEFT + (RIGHT - LEFT) * value


def _y(value):
    return BOTTOM - (BOTTOM - TOP) * value


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
