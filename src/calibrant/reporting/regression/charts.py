"""The curves of one output as coordinates: error against predicted std, coverage of intervals, PIT; before and after in one drawing."""

from typing import Any

import numpy as np

from calibrant.reporting.drawing import across, band, chart, linear, logarithmic, point, upward

__all__ = ["output_charts"]

#: Std that differ by more than this factor are drawn on logarithmic axes.
WIDE = 15.0


def output_charts(part: dict[str, Any], number: int, after_name: str) -> list[dict[str, Any]]:
    """The charts of the ``number``-th output: keys ``reliability-0``, ``intervals-0`` and ``pit-0``."""
    found = [(when, curves) for when, curves in part["curves"].items() if curves is not None]
    named = {"before": "before", "after": f"after {after_name}"} if len(found) > 1 else {"before": "as predicted"}
    return [make([(when, named[when], curves[kind]) for when, curves in found], f"{kind}-{number}") for kind, make in KINDS.items()]


def _reliability(found, key):
    values = [v for _, _, c in found for name in ("rmv", "rmse", "low", "high") for v in c[name]]
    low, high = min(v for v in values if v > 0.0), max(values)
    scale = logarithmic if high > WIDE * low else linear
    start = low if scale is logarithmic else 0.0
    axes = across(scale, start, high), upward(scale, start, high)
    last = found[-1][2]
    series = [
        _series(when, [
            point(*axes, (rmv, rmse), f"{words}: {rmse:.4g} seen, {rmv:.4g} predicted ({low:.4g} to {high:.4g} by chance), {n:,.0f} rows")
            for n, rmv, rmse, low, high in _rows(c)
        ])
        for when, words, c in found
    ]  # fmt: skip
    n, rmv, rmse, *_ = max(_rows(last), key=lambda row: abs(np.log(max(row[2], 1e-300) / row[1])))
    return chart(
        key, "Error against predicted std",
        f"Root mean squared error over root mean predicted variance in {len(last['n'])} bins of equal weight by predicted std; shaded, "
        f"where honest error bars would lie by chance. Farthest from the diagonal: {rmse:.4g} seen, {rmv:.4g} predicted ({n:,.0f} rows).",
        axes=axes, labels=("Predicted std (units of y)", "Error seen (units of y)"), series=series,
        area=band(*axes, last["rmv"], last["low"], last["high"]), line=[(max(a.low for a in axes),) * 2, (min(a.high for a in axes),) * 2],
        columns=["When", "Rows", "Predicted std", "Error seen", "By chance"],
        rows=[[w, f"{n:,.0f}", f"{a:.4g}", f"{b:.4g}", f"{low:.4g} to {high:.4g}"] for w, _, c in found for n, a, b, low, high in _rows(c)],
    )  # fmt: skip


def _intervals(found, key):
    axes = across(linear, 0.0, 1.0), upward(linear, 0.0, 1.0)
    of = {when: _around_diagonal(curve) for when, _, curve in found}
    series = [
        _series(when, [
            point(*axes, (level, seen), f"{words}: {level:.0%} intervals hold {seen:.1%} ({low:.1%} to {high:.1%} by chance)")
            for level, seen, low, high in of[when]
        ])
        for when, words, _ in found
    ]  # fmt: skip
    last = of[found[-1][0]]
    level, seen, *_ = max(last, key=lambda row: abs(row[1] - row[0]))
    outside = sum(not low <= seen <= high for _, seen, low, high in last)
    return chart(
        key, "Coverage of intervals",
        "Share of the outcomes inside central intervals over the share they claim; below the diagonal they are too narrow. The whole curve "
        f"of honest intervals lies in the shaded band; of this one {outside} of {len(last)} levels do not. The largest gap: {level:.0%} "
        f"intervals hold {seen:.1%}.",
        axes=axes, labels=("Coverage claimed", "Coverage seen"), series=series, line=[(0.0, 0.0), (1.0, 1.0)],
        area=band(*axes, *([row[k] for row in last] for k in (0, 2, 3))), columns=["When", "Claimed", "Seen", "By chance"],
        rows=[[w, f"{a:.0%}", f"{b:.2%}", f"{low:.2%} to {high:.2%}"] for w, rows in of.items() for a, b, low, high in rows],
    )  # fmt: skip


def _around_diagonal(curve):
    """(level, coverage, low, high) of each level, low and high the band of the curve moved to the diagonal."""
    half = float(np.max(np.subtract(curve["high"], curve["coverage"])))
    return [
        (level, seen, max(level - half, 0.0), min(level + half, 1.0)) for level, seen in zip(curve["level"], curve["coverage"], strict=True)
    ]


def _pit(found, key):
    last = found[-1][2]
    top = max(v for _, _, c in found for v in (*c["density"], *c["high"]))
    axes = across(linear, 0.0, 1.0), upward(linear, 0.0, top)
    series = [
        _series(when, [
            point(*axes, (0.5 * (lower + upper), density), f"{words}: {density:.2f} between {lower:.2f} and {upper:.2f}, {n:,.0f} rows")
            for lower, upper, n, density, _, _ in _rows(c)
        ])
        for when, words, c in found
    ]  # fmt: skip
    inside = np.mean([low <= density <= high for _, _, _, density, low, high in _rows(last)])
    return chart(
        key, "Where outcomes fall (PIT)",
        "How often outcomes fall at each probability of their forecast; flat at 1 if honest, a bowl if too narrow, a hump if too wide, a "
        f"slope if shifted. {inside:.0%} of the bins lie in the shaded band of chance.",
        axes=axes, labels=("Predicted probability of a lower value", "Density"), series=series,
        area=band(*axes, [0.0, 1.0], [last["low"][0]] * 2, [last["high"][0]] * 2), line=[(0.0, 1.0), (1.0, 1.0)],
        bars=[_bar(axes, lower, upper, density) for lower, upper, _, density, _, _ in _rows(last)],
        columns=["When", "Bin", "Rows", "Density", "By chance"],
        rows=[
            [w, f"{a:.2f} to {b:.2f}", f"{n:,.0f}", f"{density:.3f}", f"{low:.3f} to {high:.3f}"]
            for w, _, c in found for a, b, n, density, low, high in _rows(c)
        ],
    )  # fmt: skip


def _series(when, points):
    return {"when": when, "points": points}


def _bar(axes, lower, upper, density):
    x, y = axes
    top = y.at(density)
    return {"x": x.at(lower), "y": top, "width": round(x.at(upper) - x.at(lower), 1), "height": round(y.at(0.0) - top, 1)}


def _rows(columns):
    return list(zip(*columns.values(), strict=True))


KINDS: dict[Any, Any] = {"reliability": _reliability, "intervals": _intervals, "pit": _pit}
