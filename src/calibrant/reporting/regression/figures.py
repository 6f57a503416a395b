"""The figures of one output row by row and by outcome: as SVG, with a text that can stand in for it and the table behind it."""

from dataclasses import fields
from typing import Any

import numpy as np

from calibrant.displays.forecasts import IntervalWidthDisplay, OrderedIntervalsDisplay, RealStdDisplay
from calibrant.metrics.curves.intervals import IntervalWidthCurve, OrderedIntervals
from calibrant.metrics.curves.spread import RealStdCurve
from calibrant.reporting.figure import figure, rows_shown

__all__ = ["output_figures"]

HEADS = {"n": "Rows", "std": "Predicted std", "real": "Error seen", "low": "Low", "high": "High", "reach": "90 % of errors up to",
         "reach_claimed": "Claimed"}  # fmt: skip
SIZE = (3.7, 3.4)


def output_figures(part: dict[str, Any], number: int, after_name: str) -> list[dict[str, Any]]:
    """Those of the ``number``-th output, after calibration where there is any: key, title, description, svg, columns, rows of each."""
    when = "before" if part["curves"]["after"] is None else "after"
    words = "as predicted" if when == "before" else f"after {after_name}"
    return [make(part["curves"][when], number, words) for make in (_errors, _widths, _ordered)]


def _errors(curves, number, when):
    """How far errors reach over the predicted std."""
    curve = _made(RealStdCurve, curves["real_std"])
    ratio = curve.reach / curve.reach_claimed
    worst = int(np.abs(np.log(np.maximum(ratio, 1e-300))).argmax())
    words = (
        "Errors over the predicted std: the real std with its interval, and, dotted, how far half and 90 % of the errors reach, beside "
        f"what is claimed (shaded). Farthest off: 90 % of the errors reach {curve.reach[worst]:.4g} where {curve.reach_claimed[worst]:.4g} "
        f"is claimed ({curve.n[worst]:,.0f} rows)."
    )
    points = [
        (std, real, f"predicted std {std:.4g}: real {real:.4g} ({low:.4g} to {high:.4g}), {n:,.0f} rows")
        for std, real, low, high, n in zip(curve.std, curve.real, curve.low, curve.high, curve.n, strict=True)
    ]
    rows = [[f"{row[0]:,.0f}", *(f"{v:.4g}" for v in row[1:])] for row in zip(*(getattr(curve, n) for n in HEADS), strict=True)]
    key, title = f"errors-{number}", f"How far errors reach, {when}"
    return figure(key, title, words, RealStdDisplay(curve), SIZE, points, list(HEADS.values()), rows)


def _widths(curves, number, when):
    """Width and coverage of 90 % intervals over the outcome."""
    curve = _made(IntervalWidthCurve, curves["widths"])
    least = int(curve.coverage.argmin())
    words = (
        f"Mean width of 90 % intervals in {len(curve.n)} bins of equal weight by the outcome, and, dotted, the share of the outcomes that "
        f"they hold. Both ends are harder to foresee, and even honest intervals hold less there. Least: {curve.coverage[least]:.1%} of the "
        f"outcomes near {curve.value[least]:.4g}."
    )
    each = list(zip(curve.value, curve.width, curve.n, curve.coverage, curve.low, curve.high, strict=True))
    points = [
        (value, width, f"outcomes near {value:.4g}: {width:.4g} wide, hold {held:.1%} ({low:.1%} to {high:.1%}), {n:,.0f} rows")
        for value, width, n, held, low, high in each
    ]
    rows = [
        [f"{value:.4g}", f"{n:,.0f}", f"{width:.4g}", f"{held:.1%}", f"{low:.1%} to {high:.1%}"]
        for value, width, n, held, low, high in each
    ]
    heads = ["Mean outcome", "Rows", "Mean width", "Held", "Interval"]
    return figure(f"widths-{number}", f"Width by outcome, {when}", words, IntervalWidthDisplay(curve), SIZE, points, heads, rows)


def _ordered(curves, number, when):
    """90 % intervals of some rows in the order of the predicted value."""
    curve = _made(OrderedIntervals, curves["ordered"], held=np.array(curves["ordered"]["held"], dtype=bool))
    missed = int((~curve.held).sum())
    words = (
        f"90 % intervals of {len(curve.y)} rows in the order of the predicted value, with what came true; {missed} are missed (crosses). "
        "Those of honest intervals lie scattered, above and below alike."
    )
    each = [
        (place, y, low, high, "held" if held else "missed")
        for place, y, low, high, held in zip(curve.place, curve.y, curve.low, curve.high, curve.held, strict=True)
    ]
    each = [each[i] for i in rows_shown(len(each))]
    points = [(place, y, f"row at {place:.0%}: {y:.4g} came, {low:.4g} to {high:.4g} said, {was}") for place, y, low, high, was in each]
    rows = [[f"{place:.1%}", f"{y:.4g}", f"{low:.4g}", f"{high:.4g}", was] for place, y, low, high, was in each]
    heads = ["Place", "Outcome", "Low", "High", "Outcome is"]
    return figure(f"ordered-{number}", f"Intervals in order, {when}", words, OrderedIntervalsDisplay(curve), SIZE, points, heads, rows)


def _made(record, columns, **others):
    """A record of arrays from the lists of a summary, in which an end that is not finite is None."""
    ends = {"low": -np.inf}
    found = {
        field.name: np.array([ends.get(field.name, np.inf) if v is None else v for v in columns[field.name]], dtype=np.float64)
        for field in fields(record)
        if field.name not in others
    }
    return record(**found, **others)
