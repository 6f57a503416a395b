"""Charts as coordinates for the page's own drawings: axes, reliability curves, calibration over
time.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logit

__all__ = [
    "BOTTOM",
    "LEFT",
    "RIGHT",
    "TOP",
    "Axis",
    "across",
    "band",
    "bin_charts",
    "chart",
    "class_charts",
    "drift_charts",
    "linear",
    "logarithmic",
    "point",
    "rows_of",
    "upward",
]

#: Of the drawing area, in the units of its viewBox (320 x 290).
LEFT, RIGHT, TOP, BOTTOM = 48.0, 310.0, 10.0, 250.0
STEPS = (1.0, 2.0, 5.0, 10.0)
SCALES: dict[str, Callable[[float], Any]] = {"linear": float, "log": np.log, "logit": logit}


@dataclass(frozen=True)
class Axis:
    """From values to coordinates: the values at both ends, the coordinates of these, the values
    with a tick, and the scale's name.
    """

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[Any, ...]
    scale: str = "linear"

    def at(self, value: float) -> float:
        """The coordinate of a value, kept inside the drawing."""
        value = min(max(value, min(self.low, self.high)), max(self.low, self.high))
        value, low, high = (SCALES[self.scale](v) for v in (value, self.low, self.high))
        share = min(max((value - low) / (high - low), 0.0), 1.0)
        return round(float(self.start + (self.end - self.start) * share), 1)

    def drawn(self) -> list[tuple[float, str]]:
        """(coordinate, text) of each tick."""
        return [(self.at(tick), f"{tick:.6g}") for tick in self.ticks]


def linear(low: float, high: float, start: float, end: float) -> Axis:
    """An axis of equal steps from ``low`` to ``high`` or a little beyond, so that it ends on a
    tick.
    """
    if not high > low:
        high = low + 1.0
    rough = (high - low) / 5.0
    scale = 10.0 ** np.floor(np.log10(rough))
    step = next(s for s in STEPS if s * scale >= rough * (1.0 - 1e-9)) * scale
    first, last = np.floor(low / step + 1e-9), np.ceil(high / step - 1e-9)
    ticks = tuple(float(k * step) for k in np.arange(first, last + 1))
    return Axis(ticks[0], ticks[-1], start, end, ticks)


def logarithmic(low: float, high: float, start: Any, end: Any) -> Axis:
    """An axis of equal factors; its ticks are 1, 2 and 5 times powers of ten, or the powers
    alone where these are many.
    """
    low, high = 0.9 * low, 1.1 * high
    powers = np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    kept = [s * 10.0**p for p in powers for s in ((1.0, 2.0, 5.0) if len(powers) <= 4 else (1.0,))]
    return Axis(low, high, start, end, tuple(float(v) for v in kept if low <= v <= high), "log")


def across(make: Callable[..., Any], low: float, high: float) -> Axis:
    """A horizontal axis, by ``linear`` or ``logarithmic``."""
    return make(low, high, LEFT, RIGHT)


def upward(make: Callable[..., Any], low: float, high: float) -> Axis:
    """A vertical axis, by ``linear`` or ``logarithmic``."""
    return make(low, high, BOTTOM, TOP)


def point(
    x: Axis,
    y: Axis,
    at: tuple[float, float],
    text: str,
    low: float | None = None,
    high: float | None = None,
) -> dict[str, Any]:
    """One point: ``at`` is its (x, y) value, ``low`` and ``high`` the ends of its bar, ``text``
    what it says of itself.
    """
    height = y.at(at[1])
    ends = (height, height) if low is None else (y.at(low), y.at(high))
    return {"x": x.at(at[0]), "y": height, "low": ends[0], "high": ends[1], "text": text}


def band(x: Axis, y: Axis, at: Sequence[float], low: Sequence[float], high: Sequence[float]) -> str:
    """The path of the area between two curves; around a single point, as wide as it is."""
    across = [x.at(v) for v in at]
    across = [across[0] - 5.0, across[0] + 5.0] if len(across) == 1 else across
    low, high = (
        [y.at(v) for v in (ends * 2 if len(ends) == 1 else ends)]
        for ends in (list(low), list(high))
    )
    corners = [*zip(across, low, strict=True), *reversed(list(zip(across, high, strict=True)))]
    return "M" + "L".join(f"{a:g} {b:g}" for a, b in corners) + "Z"


def rows_of(columns: dict[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """The rows of a table of a summary, which holds it by columns."""
    return [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]


def chart(
    key: str,
    title: str,
    description: str,
    *,
    axes: tuple[Axis, Axis],
    labels: tuple[str, str],
    series: Sequence[dict[str, Any]],
    area: str | None = None,
    line: Sequence[tuple[float, float]] | None = None,
    bars: Sequence[dict[str, Any]] = (),
    columns: Sequence[str] = (),
    rows: Sequence[list[str]] = (),
) -> dict[str, Any]:
    """Everything that the template draws: ticks, an area, a dashed line by its two (x, y)
    values, bars, series, and the data table.
    """
    x, y = axes
    return {
        "key": key,
        "title": title,
        "description": description,
        "x": {"label": labels[0], "ticks": x.drawn()},
        "y": {"label": labels[1], "ticks": y.drawn()},
        "area": area,
        "bars": list(bars),
        "series": series,
        "line": (
            None if line is None else "M" + "L".join(f"{x.at(a):g} {y.at(b):g}" for a, b in line)
        ),
        "columns": list(columns),
        "rows": list(rows),
    }


def drift_charts(found: dict[str, Any] | None, key: str = "drift") -> dict[str, Any] | None:
    """``all``, the chart of all rows, and ``groups``, one a group; None without times. ``found``
    is from ``drift``.
    """
    if found is None:
        return None
    both = [(when, found[when]) for when in ("before", "after") if found[when] is not None]
    every = found["every"]
    return {
        "all": _chart(key, f"Calibration error by {every}", both),
        "groups": [
            _chart(f"{key}-{k}", row["group"], [(found["of"], row["curve"])])
            for k, row in enumerate(found["groups"])
        ],
    }


def _chart(key: str, title: str, drawn: list[tuple[str, dict[str, list[Any]]]]) -> dict[str, Any]:
    starts = sorted({start for _, curve in drawn for start in curve["time"]})
    last = max(len(starts) - 1, 1)
    tops = [v for _, curve in drawn for v in (*curve["high"], *curve["ece"]) if v is not None]
    axes = Axis(0.0, last, LEFT, RIGHT, ()), upward(linear, 0.0, max([*tops, 0.02]))
    series = [
        {"when": when, "points": [_point(axes, starts, when, row) for row in rows_of(curve)]}
        for when, curve in drawn
    ]
    made = chart(
        key,
        title,
        _words_of_bucket(drawn[-1][1]),
        axes=axes,
        labels=("Start", "Calibration error"),
        series=series,
        columns=[
            "Start",
            "When",
            "Rows",
            "Confidence",
            "Accuracy",
            "Error seen",
            "Freed of noise",
            "Interval",
            "Alarm",
        ],
        rows=[_cells(when, row) for when, curve in drawn for row in rows_of(curve)],
    )
    made["x"]["ticks"] = [(axes[0].at(k), starts[k]) for k in sorted({0, len(starts) - 1})]
    return made


def _point(
    axes: tuple[Axis, Axis], starts: list[str], when: str, row: dict[str, Any]
) -> dict[str, float]:
    said = "" if row["low"] is None else f" ({row['low']:.4f} to {row['high']:.4f})"
    text = (
        f"{when}, {row['time']}: error {row['ece']:.4f}, freed of noise{said}, {row['n']:,.0f} rows"
    )
    return point(
        axes[0], axes[1], (starts.index(row["time"]), row["ece"]), text, row["low"], row["high"]
    )


def _words_of_bucket(curve: dict[str, list[Any]]) -> str:
    row = max(rows_of(curve), key=lambda row: row["low"] or 0.0)
    low = row["low"] or 0.0
    return (
        f"Surely largest from {row['time']}: {row['ece']:.4f}, at least {low:.4f} freed of noise"
        f" ({row['n']:,.0f} rows)."
    )


def _cells(when: str, row: dict[str, Any]) -> list[str]:
    numbers = [
        "–" if row[name] is None else f"{row[name]:.4f}"
        for name in ("confidence", "accuracy", "ece", "error")
    ]
    interval = "–" if row["low"] is None else f"{row['low']:.4f} to {row['high']:.4f}"
    return [row["time"], when, f"{row['n']:,.0f}", *numbers, interval, "on" if row["alarm"] else ""]


#: The axes that the template draws beside them.
SCORES = (0.1, 0.5, 0.9, 0.99, 0.999)
X, Y = Axis(0.0, 1.0, 38.0, RIGHT, ()), Axis(0.0, 1.0, BOTTOM, TOP, ())


def bin_charts(summary: dict[str, Any]) -> dict[str, Any]:
    """One state a number of bins, and the state to start with, that of the table of metrics:
    bins, text, and the points of each series.
    """
    states = []
    for bins in summary["binned"]["before"]:
        series, words = [], []
        for when in ("before", "after"):
            found = summary["binned"][when]
            if found is not None:
                series.append({"when": when, "points": _points(found[bins]["curve"], when)})
                words.append(
                    f"{when} {found[bins]['ece']:.4f}"
                    if summary["binned"]["after"]
                    else f"{found[bins]['ece']:.4f}"
                )
        states.append(
            {"bins": int(bins), "text": f"{bins} bins: ECE {', '.join(words)}", "series": series}
        )
    start = next(i for i, state in enumerate(states) if state["bins"] == summary["bound"]["n_bins"])
    return {"states": states, "start": start}


def class_charts(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """One chart a class drawn, the worst first: its key, name, words, points, and the columns
    and rows of its table.
    """
    charts = []
    for number, (name, curve) in enumerate(summary["class_curves"].items()):
        charts.append(
            {
                "key": f"class-{number}",
                "name": name,
                "points": _points(curve, "probability"),
                "description": _words(curve),
                "columns": ["Bin", "Rows", "Probability", "Share", "Interval"],
                "rows": _rows(curve),
                "densities": _densities(summary["class_densities"].get(name)),
            }
        )
    return charts


def _densities(found: dict[str, list[float]] | None) -> dict[str, Any] | None:
    """Ticks, and paths of the densities of right and wrong scores, below the chart of a class."""
    if found is None or not (top := max(found["right"] + found["wrong"])) > 0.0:
        return None
    x, y = Axis(0.05, 0.9999, X.start, X.end, SCORES, "logit"), Axis(0.0, top, 340.0, 292.0, ())
    paths = {
        name: "M" + "L".join(f"{x.at(s):g} {y.at(v):g}" for s, v in zip(*ends, strict=True))
        for name in ("right", "wrong")
        if (ends := (found["score"], found[name]))
    }
    return {"ticks": x.drawn(), **paths}


def _points(curve: dict[str, list[Any]], when: str) -> list[dict[str, float]]:
    rows = zip(
        curve["confidence"], curve["accuracy"], curve["low"], curve["high"], curve["n"], strict=True
    )
    said = "{}: {:.3f} predicted, {:.3f} observed ({:.3f} to {:.3f}), {:,.0f} rows"
    return [
        point(X, Y, (c, a), said.format(when, c, a, low, high, n), low, high)
        for c, a, low, high, n in rows
    ]


def _words(curve: dict[str, list[Any]]) -> str:
    gaps = [
        (abs(c - a) * n**0.5, c, a, n)
        for c, a, n in zip(curve["confidence"], curve["accuracy"], curve["n"], strict=True)
    ]
    _, c, a, n = max(gaps)
    return f"The gap that counts most: predicted {c:.3f}, observed {a:.3f} ({n:,.0f} rows)."


def _rows(curve: dict[str, list[Any]]) -> list[list[str]]:
    columns = (curve[k] for k in ("lower", "upper", "n", "confidence", "accuracy", "low", "high"))
    return [
        [
            f"{lower:.2f} to {upper:.2f}",
            f"{n:,.0f}",
            f"{c:.4f}",
            f"{a:.4f}",
            f"{low:.4f} to {high:.4f}",
        ]
        for lower, upper, n, c, a, low, high in zip(*columns, strict=True)
    ]
