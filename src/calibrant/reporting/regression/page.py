"""Context of the page on error bars, beside the summary itself."""

from dataclasses import fields
from typing import Any

import numpy as np

from calibrant.core.text_table import percent
from calibrant.displays.forecasts import (
    IntervalCalibrationDisplay,
    IntervalWidthDisplay,
    OrderedIntervalsDisplay,
    PitHistogramDisplay,
    RealStdDisplay,
    RmseRmvDisplay,
)
from calibrant.metrics.curves.forecasts import (
    IntervalCurve,
    IntervalWidthCurve,
    OrderedIntervals,
    RealStdCurve,
    RmseRmvCurve,
)
from calibrant.metrics.forecast_pit import PitHistogram
from calibrant.reporting.figures import (
    SQUARE,
    Kind,
    Overlaid,
    drift_figures,
    figure,
    made,
    named,
    overlaid,
    present,
    rows_shown,
)
from calibrant.reporting.judge import STATES
from calibrant.reporting.markdown import (
    Tile,
    advised,
    appendix,
    arrow,
    bands,
    by_chance,
    groups_tile,
)

__all__ = ["FILTERS", "context", "main_display", "output_figures", "tiles"]


def _farthest(curve: Any) -> str:
    ratio = np.log(np.maximum(curve.rmse, 1e-300) / curve.rmv)
    worst = int(np.abs(ratio).argmax())
    return (
        f"Farthest from the diagonal: {curve.rmse[worst]:.4g} observed, {curve.rmv[worst]:.4g}"
        f" predicted ({curve.n[worst]:,.0f} rows)."
    )


def _largest_miss(curve: Any) -> str:
    worst = int(np.abs(curve.coverage - curve.level).argmax())
    level, coverage = percent(curve.level[worst], 0), percent(curve.coverage[worst])
    outside = int(((curve.level < curve.low) | (curve.level > curve.high)).sum())
    gap = f" The largest gap: {level} intervals hold {coverage}." if outside else ""
    return f"{outside} of {len(curve.level)} levels lie outside the band.{gap}"


def _inside(curve: Any) -> str:
    inside = np.mean((curve.low <= curve.density) & (curve.density <= curve.high))
    return f"{percent(inside, 0)} of the bins lie in the band."


RELIABILITY = Kind(
    "reliability",
    RmseRmvCurve,
    RmseRmvDisplay,
    "Error against predicted std",
    "Root mean squared error over root mean predicted variance, in bins of equal weight by the"
    " predicted std; shaded, where calibrated error bars would lie by chance. ",
    {"n": "Rows", "rmv": "Predicted std", "rmse": "Observed error", "low": "Low", "high": "High"},
    lambda curve: (
        (rmv, rmse, f"{rmse:.4g} observed, {rmv:.4g} predicted, {n:,.0f} rows")
        for rmv, rmse, n in zip(curve.rmv, curve.rmse, curve.n, strict=True)
    ),
    _farthest,
    size=SQUARE,
)
INTERVALS = Kind(
    "intervals",
    IntervalCurve,
    IntervalCalibrationDisplay,
    "Coverage of intervals",
    "Share of the outcomes inside central intervals over their nominal coverage: above the dashed"
    " line they are too wide, below it too narrow. Each band holds its whole curve. ",
    {"level": "Nominal", "coverage": "Observed", "low": "Low", "high": "High"},
    lambda curve: (
        (level, seen, f"{100.0 * level:g} % intervals hold {percent(seen)}")
        for level, seen in zip(curve.level, curve.coverage, strict=True)
    ),
    _largest_miss,
    size=SQUARE,
)
PIT = Kind(
    "pit",
    PitHistogram,
    PitHistogramDisplay,
    "Where outcomes fall (PIT)",
    "How often outcomes fall at each probability of their forecast: flat at 1 if calibrated, a"
    " bowl if too narrow, a hump if too wide, a slope if biased. Shaded, where it would lie by"
    " chance. ",
    {"lower": "From", "upper": "To", "n": "Rows", "density": "Density"},
    lambda curve: (
        (0.5 * (a + b), density, f"{density:.2f} between {a:.2f} and {b:.2f}, {n:,.0f} rows")
        for a, b, n, density in zip(curve.lower, curve.upper, curve.n, curve.density, strict=True)
    ),
    _inside,
)


HEADS = {
    "n": "Rows",
    "std": "Predicted std",
    "real": "Error seen",
    "low": "Low",
    "high": "High",
    "reach": "90 % of errors up to",
    "reach_claimed": "Claimed",
}


def main_display(summary: dict[str, Any]) -> Any:
    """Return the errors over the predicted std of the first output, before and after."""
    curves = present(summary["outputs"][0]["curves"])
    return Overlaid(
        named(
            {
                when: RmseRmvDisplay(made(RmseRmvCurve, columns["reliability"]))
                for when, columns in curves.items()
            }
        )
    )


def output_figures(part: dict[str, Any], number: int, after_name: str) -> list[dict[str, Any]]:
    """Return the figures of the ``number``-th output: before and after in the first three, after
    calibration in the others where there is any.
    """
    when = "before" if part["curves"]["after"] is None else "after"
    words = "as predicted" if when == "before" else f"after {after_name}"
    both = [
        overlaid(
            kind,
            {when: columns[kind.key] for when, columns in present(part["curves"]).items()},
            f"{kind.key}-{number}",
        )
        for kind in (RELIABILITY, INTERVALS, PIT)
    ]
    shown = part["curves"][when]
    return [*both, *(make(shown, number, words) for make in (_errors, _widths, _ordered))]


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
    return figure(key, title, words, RealStdDisplay(curve), points, list(HEADS.values()), rows)


def _widths(curves: dict[str, dict[str, list[Any]]], number: int, when: str) -> dict[str, str]:
    """Width and coverage of 90 % intervals over the outcome."""
    curve = _made(IntervalWidthCurve, curves["widths"])
    least = int(curve.coverage.argmin())
    words = (
        f"Mean width of 90 % intervals in {len(curve.n)} bins of equal weight by the outcome, and,"
        " dotted, the share of the outcomes that they hold. Both ends are harder to foresee, and"
        f" even right intervals hold less there. Least: {percent(curve.coverage[least])} of the"
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
                f"outcomes near {value:.4g}: {width:.4g} wide, hold {percent(held)}"
                f" ({percent(low)} to"
                f" {percent(high)}), {n:,.0f} rows"
            ),
        )
        for value, width, n, held, low, high in each
    ]
    rows = [
        [f"{value:.4g}", f"{n:,.0f}", f"{width:.4g}", *map(percent, ends)]
        for value, width, n, *ends in each
    ]
    heads = ["Mean outcome", "Rows", "Mean width", "Held", "Low", "High"]
    return figure(
        f"widths-{number}",
        f"Width by outcome, {when}",
        words,
        IntervalWidthDisplay(curve),
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
        f" true; {missed} are missed (crosses). Those of right intervals lie scattered, above and"
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
        (place, y, f"row at {percent(place, 0)}: {y:.4g} came, {low:.4g} to {high:.4g} said, {was}")
        for place, y, low, high, was in each
    ]
    rows = [
        [percent(place), f"{y:.4g}", f"{low:.4g}", f"{high:.4g}", was]
        for place, y, low, high, was in each
    ]
    heads = ["Place", "Outcome", "Low", "High", "Outcome is"]
    return figure(
        f"ordered-{number}",
        f"Intervals in order, {when}",
        words,
        OrderedIntervalsDisplay(curve),
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


#: Metrics of the fourth band; the others are folded.
FIVE = ("nll", "crps", "ence", "coverage", "width")
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
        " every model is too low."
    ),
)


#: Words and templates of this page.
WORDS: dict[str, Any] = {
    "fine": (
        "The data look sound: rows of every size of error bar, few that repeat another, no tiny std"
        " and no outlier"
    ),
    "quality": "regression/quality.html",
    "promised": None,
    "reading": "regression/reading.html",
    "shares": False,
    "notes": NOTES,
}
#: Key of the summary that a section needs, its id, title and template.
APPENDIX = (
    ("several", "outputs", "Output by output", "regression/outputs.html"),
    (None, "figures", "Curves, and what the intervals hold", "regression/curves.html"),
    (None, "places", "Where it is off, by std and value", "regression/wrong.html"),
    ("drift", "time", "Over time", "regression/over_time.html"),
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
    outputs = [(part["name"], part) for part in summary["outputs"]]
    several = len(outputs) > 1
    figures = [output_figures(part, number, name) for number, (_, part) in enumerate(outputs)]
    drifts = [
        drift_figures(part["drift"], f"drift-{number}") for number, (_, part) in enumerate(outputs)
    ]
    if several:
        _name(data["outputs"], figures, drifts)
    shared, gravest = bands(summary, outputs, FIVE), _gravest(summary)
    form = f"forecasts as {FORMS.get(data['form'], 'distributions')}"
    numbers = [(name if several else None, *rest) for name, *rest in shared["numbers"]]
    return {
        **shared,
        **WORDS,
        "numbers": numbers,
        "groups": [(name if several else None, found) for name, found in shared["groups"]],
        "facts": [form, *([f"{len(outputs)} outputs"] if several else []), *shared["facts"]],
        "main": _covered(figures[gravest]),
        "gravest": gravest,
        "tiles": tiles(summary),
        "appendix": appendix(
            {**summary, "several": several, "drift": outputs[0][1]["drift"]}, APPENDIX
        ),
        "drift_figures": drifts,
        "figures": figures,
        "by_key": {
            name: {row["key"]: row for row in summary["metrics"] if row["output"] == name}
            for name, _ in outputs
        },
        "several": several,
    }


def _covered(figures: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the figure on the coverage of intervals, the main one."""
    return next(one for one in figures if one["key"].startswith("intervals"))


def _gravest(summary: dict[str, Any]) -> int:
    """Return the number of the output whose state is the gravest."""
    states = [STATES.index(part["verdict"]["state"]) for part in summary["outputs"]]
    return states.index(min(states))


def tiles(summary: dict[str, Any]) -> list[Tile]:
    """Return the tiles of the gravest output: coverage, the errors, their width, and the groups."""
    part = summary["outputs"][_gravest(summary)]
    moves = advised(summary)
    of = f" of {part['name']}" if len(summary["outputs"]) > 1 else ""
    scores = {row["key"]: row for row in summary["metrics"] if row["output"] == part["name"]}

    def moved(key: str, form: Any) -> str:
        both = (scores[key]["before"], scores[key]["after"] if moves else None)
        values = [one["value"] for one in both if one is not None]
        before, *after = ["–" if value is None else form(value) for value in values]
        return arrow(before, after[0] if after else None)

    after = moves and part["chance_after"] and part["chance_after"]["ence"]
    calibrated = moves and scores["ence"]["after"] is not None
    chance = by_chance(part["chance"]["ence"], after or None, "{:.3f}".format, calibrated)
    found = [
        Tile(f"90 % intervals{of} hold", moved("coverage", percent), "90 % if they are right"),
        Tile("ENCE", moved("ence", "{:.3f}".format), chance),
        Tile("Mean width", moved("width", "{:.3g}".format), "of 90 % intervals, in units of y"),
    ]
    groups = groups_tile([(None, one) for one in summary["outputs"]], moves)
    return found if groups is None else [*found, groups]


def _name(
    names: list[str],
    figures: list[list[dict[str, Any]]],
    drifts: Any,
) -> None:
    """Say of which output each drawing is: their tables must not bear the same names."""
    for name, pictures, drift in zip(names, figures, drifts, strict=True):
        over_time = [] if drift is None else [drift["all"], *drift["groups"]]
        for one in (*pictures, *over_time):
            one["of"] = f": {name}"
