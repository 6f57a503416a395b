"""Calibration over time as drawings: the error of each bucket with its interval."""

from typing import Any

from calibrant.reporting.drawing import LEFT, RIGHT, Axis, chart, linear, point, rows_of, upward

__all__ = ["drift_charts"]


def drift_charts(found: dict[str, Any] | None, key: str = "drift") -> dict[str, Any] | None:
    """``all``, the chart of all rows, and ``groups``, one a group; None without times. ``found`` is from ``drift``."""
    if found is None:
        return None
    both = [(when, found[when]) for when in ("before", "after") if found[when] is not None]
    every = found["every"]
    return {
        "all": _chart(key, f"Calibration error by {every}", both),
        "groups": [_chart(f"{key}-{k}", row["group"], [(found["of"], row["curve"])]) for k, row in enumerate(found["groups"])],
    }  # fmt: skip


def _chart(key, title, drawn):
    starts = sorted({start for _, curve in drawn for start in curve["time"]})
    last = max(len(starts) - 1, 1)
    tops = [v for _, curve in drawn for v in (*curve["high"], *curve["ece"]) if v is not None]
    axes = Axis(0.0, last, LEFT, RIGHT, ()), upward(linear, 0.0, max([*tops, 0.02]))
    series = [{"when": when, "points": [_point(axes, starts, when, row) for row in rows_of(curve)]} for when, curve in drawn]
    made = chart(
        key, title, _words(drawn[-1][1]), axes=axes, labels=("Start", "Calibration error"), series=series,
        columns=["Start", "When", "Rows", "Confidence", "Accuracy", "Error seen", "Freed of noise", "Interval", "Alarm"],
        rows=[_cells(when, row) for when, curve in drawn for row in rows_of(curve)],
    )  # fmt: skip
    made["x"]["ticks"] = [(axes[0].at(k), starts[k]) for k in sorted({0, len(starts) - 1})]
    return made


def _point(axes, starts, when, row):
    said = "" if row["low"] is None else f" ({row['low']:.4f} to {row['high']:.4f})"
    text = f"{when}, {row['time']}: error {row['ece']:.4f}, freed of noise{said}, {row['n']:,.0f} rows"
    return point(axes[0], axes[1], (starts.index(row["time"]), row["ece"]), text, row["low"], row["high"])


def _words(curve):
    row = max(rows_of(curve), key=lambda row: row["low"] or 0.0)
    low = row["low"] or 0.0
    return f"Surely largest from {row['time']}: {row['ece']:.4f}, at least {low:.4f} freed of noise ({row['n']:,.0f} rows)."


def _cells(when, row):
    numbers = ["–" if row[name] is None else f"{row[name]:.4f}" for name in ("confidence", "accuracy", "ece", "error")]
    interval = "–" if row["low"] is None else f"{row['low']:.4f} to {row['high']:.4f}"
    return [row["time"], when, f"{row['n']:,.0f}", *numbers, interval, "on" if row["alarm"] else ""]
