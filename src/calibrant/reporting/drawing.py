"""Axes and charts as coordinates for the page's own drawings, whose points a reader can visit one by one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logit

__all__ = ["BOTTOM", "LEFT", "RIGHT", "TOP", "Axis", "across", "band", "chart", "linear", "logarithmic", "point", "rows_of", "upward"]

#: Of the drawing area, in the units of its viewBox (320 x 290).
LEFT, RIGHT, TOP, BOTTOM = 48.0, 310.0, 10.0, 250.0
STEPS = (1.0, 2.0, 5.0, 10.0)
SCALES: dict[str, Callable[[float], Any]] = {"linear": float, "log": np.log, "logit": logit}


@dataclass(frozen=True)
class Axis:
    """From values to coordinates: the values at both ends, the coordinates of these, the values with a tick, and the scale's name."""

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
    """An axis of equal steps from ``low`` to ``high`` or a little beyond, so that it ends on a tick."""
    if not high > low:
        high = low + 1.0
    rough = (high - low) / 5.0
    scale = 10.0 ** np.floor(np.log10(rough))
    step = next(s for s in STEPS if s * scale >= rough * (1.0 - 1e-9)) * scale
    first, last = np.floor(low / step + 1e-9), np.ceil(high / step - 1e-9)
    ticks = tuple(float(k * step) for k in np.arange(first, last + 1))
    return Axis(ticks[0], ticks[-1], start, end, ticks)


def logarithmic(low: float, high: float, start: Any, end: Any) -> Axis:
    """An axis of equal factors; its ticks are 1, 2 and 5 times powers of ten, or the powers alone where these are many."""
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


def point(x: Axis, y: Axis, at: tuple[float, float], text: str, low: float | None = None, high: float | None = None) -> dict[str, Any]:
    """One point: ``at`` is its (x, y) value, ``low`` and ``high`` the ends of its bar, ``text`` what it says of itself."""
    height = y.at(at[1])
    ends = (height, height) if low is None else (y.at(low), y.at(high))
    return {"x": x.at(at[0]), "y": height, "low": ends[0], "high": ends[1], "text": text}


def band(x: Axis, y: Axis, at: Sequence[float], low: Sequence[float], high: Sequence[float]) -> str:
    """The path of the area between two curves; around a single point, as wide as it is."""
    across = [x.at(v) for v in at]
    across = [across[0] - 5.0, across[0] + 5.0] if len(across) == 1 else across
    low, high = ([y.at(v) for v in (ends * 2 if len(ends) == 1 else ends)] for ends in (list(low), list(high)))
    corners = [*zip(across, low, strict=True), *reversed(list(zip(across, high, strict=True)))]
    return "M" + "L".join(f"{a:g} {b:g}" for a, b in corners) + "Z"


def rows_of(columns: dict[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """The rows of a table of a summary, which holds it by columns."""
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def chart(
    key: str, title: str, description: str, *, axes: tuple[Axis, Axis], labels: tuple[str, str], series: Sequence[dict[str, Any]],
    area: str | None = None, line: Sequence[tuple[float, float]] | None = None, bars: Sequence[dict[str, Any]] = (),
    columns: Sequence[str] = (), rows: Sequence[list[str]] = (),
) -> dict[str, Any]:  # fmt: skip
    """Everything that the template draws: ticks, an area, a dashed line by its two (x, y) values, bars, series, and the data table."""
    x, y = axes
    return {
        "key": key, "title": title, "description": description, "x": {"label": labels[0], "ticks": x.drawn()},
        "y": {"label": labels[1], "ticks": y.drawn()}, "area": area, "bars": list(bars), "series": series,
        "line": None if line is None else "M" + "L".join(f"{x.at(a):g} {y.at(b):g}" for a, b in line),
        "columns": list(columns), "rows": list(rows),
    }  # fmt: skip
