"""Context of the page on error bars, beside the summary itself."""

from dataclasses import fields
from typing import Any

import numpy as np

from calibrant.displays.forecasts import (
    IntervalWidthDisplay,
    OrderedIntervalsDisplay,
    RealStdDisplay,
)
from calibrant.metrics.curves.intervals import IntervalWidthCurve, OrderedIntervals
from calibrant.metrics.curves.spread import RealStdCurve
from calibrant.reporting.charts import (
    across,
    band,
    chart,
    drift_charts,
    linear,
    logarithmic,
    point,
    upward,
)
from calibrant.reporting.figures import figure, rows_shown

__all__ = ["FILTERS", "SECTIONS", "context", "output_charts", "output_figures"]

#: Std that differ by more than this factor are drawn on logarithmic axes.
WIDE = 15.0


def output_charts(part: dict[str, Any], number: int, after_name: str) -> list[dict[str, Any]]:
    """The charts of the ``number``-th output: keys ``reliability-0``, ``intervals-0`` and
    ``pit-0``.
    """
    found = [(when, curves) for when, curves in part["curves"].items() if curves is not None]
    named = (
        {"before": "before", "after": f"after {after_name}"}
        if len(found) > 1
        else {"before": "as predicted"}
    )
    return [
        make([(when, named[when], curves[kind]) for when, curves in found], f"{kind}-{number}")
        for kind, make in KINDS.items()
    ]


def _reliability(found: list[tuple[str, str, dict[str, list[Any]]]], key: str) -> dict[str, Any]:
    values = [v for _, _, c in found for name in ("rmv", "rmse", "low", "high") for v in c[name]]
    low, high = min(v for v in values if v > 0.0), max(values)
    scale = logarithmic if high > WIDE * low else linear
    start = low if scale is logarithmic else 0.0
    axes = across(scale, start, high), upward(scale, start, high)
    last = found[-1][2]
    series = [
        _series(
            when,
            [
                point(
                    *axes,
                    (rmv, rmse),
                    f"{words}: {rmse:.4g} seen, {rmv:.4g} predicted ({low:.4g} to {high:.4g} by"
                    f" chance), {n:,.0f} rows",
                )
                for n, rmv, rmse, low, high in _rows(c)
            ],
        )
        for when, words, c in found
    ]
    n, rmv, rmse, *_ = max(_rows(last), key=lambda row: abs(np.log(max(row[2], 1e-300) / row[1])))
    return chart(
        key,
        "Error against predicted std",
        f"Root mean squared error over root mean predicted variance in {len(last['n'])} bins of"
        " equal weight by predicted std; shaded, where honest error bars would lie by chance."
        f" Farthest from the diagonal: {rmse:.4g} seen, {rmv:.4g} predicted ({n:,.0f} rows).",
        axes=axes,
        labels=("Predicted std (units of y)", "Error seen (units of y)"),
        series=series,
        area=band(*axes, last["rmv"], last["low"], last["high"]),
        line=[(max(a.low for a in axes),) * 2, (min(a.high for a in axes),) * 2],
        columns=["When", "Rows", "Predicted std", "Error seen", "By chance"],
        rows=[
            [w, f"{n:,.0f}", f"{a:.4g}", f"{b:.4g}", f"{low:.4g} to {high:.4g}"]
            for w, _, c in found
            for n, a, b, low, high in _rows(c)
        ],
    )


def _intervals(found: list[tuple[str, str, dict[str, list[Any]]]], key: str) -> dict[str, Any]:
    axes = across(linear, 0.0, 1.0), upward(linear, 0.0, 1.0)
    of = {when: _around_diagonal(curve) for when, _, curve in found}
    series = [
        _series(
            when,
            [
                point(
                    *axes,
                    (level, seen),
                    f"{words}: {level:.0%} intervals hold {seen:.1%} ({low:.1%} to {high:.1%} by"
                    " chance)",
                )
                for level, seen, low, high in of[when]
            ],
        )
        for when, words, _ in found
    ]
    last = of[found[-1][0]]
    level, seen, *_ = max(last, key=lambda row: abs(row[1] - row[0]))
    outside = sum(not low <= seen <= high for _, seen, low, high in last)
    return chart(
        key,
        "Coverage of intervals",
        "Share of the outcomes inside central intervals over the share they claim; below the"
        " diagonal they are too narrow. The whole curve of honest intervals lies in the shaded"
        f" band; of this one {outside} of {len(last)} levels do not. The largest gap: {level:.0%}"
        f" intervals hold {seen:.1%}.",
        axes=axes,
        labels=("Coverage claimed", "Coverage seen"),
        series=series,
        line=[(0.0, 0.0), (1.0, 1.0)],
        area=band(*axes, *([row[k] for row in last] for k in (0, 2, 3))),
        columns=["When", "Claimed", "Seen", "By chance"],
        rows=[
            [w, f"{a:.0%}", f"{b:.2%}", f"{low:.2%} to {high:.2%}"]
            for w, rows in of.items()
            for a, b, low, high in rows
        ],
    )


def _around_diagonal(curve: dict[str, list[Any]]) -> list[tuple[float, float, float, float]]:
    """(level, coverage, low, high) of each level, low and high the band of the curve moved to
    the diagonal.
    """
    half = float(np.max(np.subtract(curve["high"], curve["coverage"])))
    return [
        (level, seen, max(level - half, 0.0), min(level + half, 1.0))
        for level, seen in zip(curve["level"], curve["coverage"], strict=True)
    ]


def _pit(found: list[tuple[str, str, dict[str, list[Any]]]], key: str) -> dict[str, Any]:
    last = found[-1][2]
    top = max(v for _, _, c in found for v in (*c["density"], *c["high"]))
    axes = across(linear, 0.0, 1.0), upward(linear, 0.0, top)
    series = [
        _series(
            when,
            [
                point(
                    *axes,
                    (0.5 * (lower + upper), density),
                    f"{words}: {density:.2f} between {lower:.2f} and {upper:.2f}, {n:,.0f} rows",
                )
                for lower, upper, n, density, _, _ in _rows(c)
            ],
        )
        for when, words, c in found
    ]
    inside = np.mean([low <= density <= high for _, _, _, density, low, high in _rows(last)])
    return chart(
        key,
        "Where outcomes fall (PIT)",
        "How often outcomes fall at each probability of their forecast; flat at 1 if honest, a"
        f" bowl if too narrow, a hump if too wide, a slope if shifted. {inside:.0%} of the bins lie"
        " in the shaded band of chance.",
        axes=axes,
        labels=("Predicted probability of a lower value", "Density"),
        series=series,
        area=band(*axes, [0.0, 1.0], [last["low"][0]] * 2, [last["high"][0]] * 2),
        line=[(0.0, 1.0), (1.0, 1.0)],
        bars=[_bar(axes, lower, upper, density) for lower, upper, _, density, _, _ in _rows(last)],
        columns=["When", "Bin", "Rows", "Density", "By chance"],
        rows=[
            [w, f"{a:.2f} to {b:.2f}", f"{n:,.0f}", f"{density:.3f}", f"{low:.3f} to {high:.3f}"]
            for w, _, c in found
            for a, b, n, density, low, high in _rows(c)
        ],
    )


def _series(when: str, points: list[dict[str, float]]) -> dict[str, Any]:
    return {"when": when, "points": points}


def _bar(axes: tuple[Any, Any], lower: float, upper: float, density: float) -> dict[str, float]:
    x, y = axes
    top = y.at(density)
    return {
        "x": x.at(lower),
        "y": top,
        "width": round(x.at(upper) - x.at(lower), 1),
        "height": round(y.at(0.0) - top, 1),
    }


def _rows(columns: dict[str, list[Any]]) -> Any:
    return list(zip(*columns.values(), strict=True))


KINDS: dict[Any, Any] = {"reliability": _reliability, "intervals": _intervals, "pit": _pit}


HEADS = {
    "n": "Rows",
    "std": "Predicted std",
    "real": "Error seen",
    "low": "Low",
    "high": "High",
    "reach": "90 % of errors up to",
    "reach_claimed": "Claimed",
}
SIZE = (3.7, 3.4)


def output_figures(part: dict[str, Any], number: int, after_name: str) -> list[dict[str, Any]]:
    """Those of the ``number``-th output, after calibration where there is any: key, title,
    description, svg, columns, rows of each.
    """
    when = "before" if part["curves"]["after"] is None else "after"
    words = "as predicted" if when == "before" else f"after {after_name}"
    return [make(part["curves"][when], number, words) for make in (_errors, _widths, _ordered)]


def _errors(curves: dict[str, dict[str, list[Any]]], number: int, when: str) -> dict[str, str]:
    """Return the ratio of the errors' reach to that of the predicted std."""
    curve = _made(RealStdCurve, curves["real_std"])
    ratio = curve.reach / curve.reach_claimed
    worst = int(np.abs(np.log(np.maximum(ratio, 1e-300))).argmax())
    words = (
        "Errors over the predicted std: the real std with its interval, and, dotted, how far half"
        " and 90 % of the errors reach, beside what is claimed (shaded). Farthest off: 90 % of the"
        f" errors reach {curve.reach[worst]:.4g} where {curve.reach_claimed[worst]:.4g} is claimed"
        f" ({curve.n[worst]:,.0f} rows)."
    )
    points = [
        (
            std,
            real,
            f"predicted std {std:.4g}: real {real:.4g} ({low:.4g} to {high:.4g}), {n:,.0f} rows",
        )
        for std, real, low, high, n in zip(
            curve.std, curve.real, curve.low, curve.high, curve.n, strict=True
        )
    ]
    rows = [
        [f"{row[0]:,.0f}", *(f"{v:.4g}" for v in row[1:])]
        for row in zip(*(getattr(curve, n) for n in HEADS), strict=True)
    ]
    key, title = f"errors-{number}", f"How far errors reach, {when}"
    return figure(
        key, title, words, RealStdDisplay(curve), SIZE, points, list(HEADS.values()), rows
    )


def _widths(curves: dict[str, dict[str, list[Any]]], number: int, when: str) -> dict[str, str]:
    """Width and coverage of 90 % intervals over the outcome."""
    curve = _made(IntervalWidthCurve, curves["widths"])
    least = int(curve.coverage.argmin())
    words = (
        f"Mean width of 90 % intervals in {len(curve.n)} bins of equal weight by the outcome, and,"
        " dotted, the share of the outcomes that they hold. Both ends are harder to foresee, and"
        f" even honest intervals hold less there. Least: {curve.coverage[least]:.1%} of the"
        f" outcomes near {curve.value[least]:.4g}."
    )
    each = list(
        zip(curve.value, curve.width, curve.n, curve.coverage, curve.low, curve.high, strict=True)
    )
    points = [
        (
            value,
            width,
            (
                f"outcomes near {value:.4g}: {width:.4g} wide, hold {held:.1%} ({low:.1%} to"
                f" {high:.1%}), {n:,.0f} rows"
            ),
        )
        for value, width, n, held, low, high in each
    ]
    rows = [
        [f"{value:.4g}", f"{n:,.0f}", f"{width:.4g}", f"{held:.1%}", f"{low:.1%} to {high:.1%}"]
        for value, width, n, held, low, high in each
    ]
    heads = ["Mean outcome", "Rows", "Mean width", "Held", "Interval"]
    return figure(
        f"widths-{number}",
        f"Width by outcome, {when}",
        words,
        IntervalWidthDisplay(curve),
        SIZE,
        points,
        heads,
        rows,
    )


def _ordered(curves: dict[str, dict[str, list[Any]]], number: int, when: str) -> dict[str, str]:
    """90 % intervals of some rows in the order of the predicted value."""
    curve = _made(
        OrderedIntervals, curves["ordered"], held=np.array(curves["ordered"]["held"], dtype=bool)
    )
    missed = int((~curve.held).sum())
    words = (
        f"90 % intervals of {len(curve.y)} rows in the order of the predicted value, with what came"
        f" true; {missed} are missed (crosses). Those of honest intervals lie scattered, above and"
        " below alike."
    )
    each = [
        (place, y, low, high, "held" if held else "missed")
        for place, y, low, high, held in zip(
            curve.place, curve.y, curve.low, curve.high, curve.held, strict=True
        )
    ]
    each = [each[i] for i in rows_shown(len(each))]
    points = [
        (place, y, f"row at {place:.0%}: {y:.4g} came, {low:.4g} to {high:.4g} said, {was}")
        for place, y, low, high, was in each
    ]
    rows = [
        [f"{place:.1%}", f"{y:.4g}", f"{low:.4g}", f"{high:.4g}", was]
        for place, y, low, high, was in each
    ]
    heads = ["Place", "Outcome", "Low", "High", "Outcome is"]
    return figure(
        f"ordered-{number}",
        f"Intervals in order, {when}",
        words,
        OrderedIntervalsDisplay(curve),
        SIZE,
        points,
        heads,
        rows,
    )


def _made(record: type[Any], columns: dict[str, list[Any]], **others: Any) -> Any:
    """A record of arrays from the lists of a summary, in which an end that is not finite is
    None.
    """
    ends = {"low": -np.inf}
    found = {
        field.name: np.array(
            [ends.get(field.name, np.inf) if v is None else v for v in columns[field.name]],
            dtype=np.float64,
        )
        for field in fields(record)
        if field.name not in others
    }
    return record(**found, **others)


SECTIONS = (
    "header.html",
    "regression/outputs.html",
    "regression/trust.html",
    "regression/off.html",
    "regression/metrics.html",
    "regression/wrong.html",
    "regression/over_time.html",
    "choice.html",
    "method.html",
)
FORMS: dict[Any, Any] = {
    "NormalForecast": "mean and std",
    "QuantileForecast": "quantiles",
    "SampleForecast": "samples",
    "FrozenForecast": "distributions",
}
NOTES = (
    (
        "ENCE is the mean over bins of predicted std of the relative gap between the std and the"
        " error seen there; the interval calibration error the mean gap between the coverage that"
        " intervals claim and what they hold, over all levels."
    ),
    (
        "Regions are cut by what was predicted, never by the outcome: among the largest outcomes"
        " every honest model is too low."
    ),
)


def _number(value: float) -> str:
    return "–" if value is None else f"{value:.4g}"


def _signed(value: float) -> str:
    return "–" if value is None else f"{value:+.3g}".replace("-", "−")


#: For numbers in units of y, of any size.
FILTERS: dict[Any, Any] = {"number": _number, "signed": _signed}


def context(summary: dict[str, Any]) -> dict[str, Any]:
    """Facts of the header, charts by output, notes on the method, and filters for numbers of any
    size.
    """
    data, name = summary["data"], summary["calibrator"]["name"]
    outputs = f" · {len(data['outputs'])} outputs" if len(data["outputs"]) > 1 else ""
    charts = [output_charts(part, number, name) for number, part in enumerate(summary["outputs"])]
    figures = [output_figures(part, number, name) for number, part in enumerate(summary["outputs"])]
    rows = {
        name: [row for row in summary["metrics"] if row["output"] == name]
        for name in data["outputs"]
    }
    by_key = {name: {row["key"]: row for row in of} for name, of in rows.items()}
    drifts = [
        drift_charts(part["drift"], f"drift-{number}")
        for number, part in enumerate(summary["outputs"])
    ]
    if outputs:
        _name(data["outputs"], charts, figures, drifts)
    return {
        "drift_charts": drifts,
        "dated": drifts[0] is not None,
        "facts": f"forecasts as {FORMS.get(data['form'], 'distributions')}{outputs}",
        "charts": charts,
        "figures": figures,
        "notes": NOTES,
        "rows_of": rows,
        "by_key": by_key,
        "several": len(data["outputs"]) > 1,
    }


def _name(
    names: list[str],
    charts: list[list[dict[str, Any]]],
    figures: list[list[dict[str, str]]],
    drifts: Any,
) -> None:
    """Say of which output each drawing is: their tables must not bear the same names."""
    for name, drawn, pictures, drift in zip(names, charts, figures, drifts, strict=True):
        over_time = [] if drift is None else [drift["all"], *drift["groups"]]
        for one in (*drawn, *pictures, *over_time):
            one["of"] = f": {name}"
