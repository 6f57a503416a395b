"""The two drawings that open the page on an event: what was said against what happened, and how the risks are spread."""

from typing import Any, cast

import numpy as np

from calibrant._kernels.thresholds import probability_grid, probability_ticks, scale_ends
from calibrant.reporting.drawing import BOTTOM, LEFT, RIGHT, TOP, Axis, chart, point, rows_of

__all__ = ["hero"]


def hero(summary: dict[str, Any]) -> dict[str, Any]:
    """``reliability``, with one state a number of bins and the one to ``start`` with, and ``spread``, the risks by outcome."""
    name = summary["scale"]
    curves = [part for part in summary["binned"].values() if part is not None]
    said = np.concatenate([part[bins]["curve"]["confidence"] for part in curves for bins in part])
    ends = scale_ends(name, said, summary["quality"]["rate"])
    ticks = tuple(probability_ticks(name, *ends))
    x, y = (Axis(*ends, *span, ticks, name) for span in ((LEFT, RIGHT), (BOTTOM, TOP)))
    states: list[dict[str, Any]] = [
        {"bins": int(bins), "text": f"{bins} groups of equal size", "series": _series(summary, bins, x, y)} for bins in curves[0]
    ]
    start = next(i for i, state in enumerate(states) if state["bins"] == summary["bins"])
    return {"reliability": _reliability(summary, x, y, states, start), "spread": _spread(summary, name, x)}


def _series(summary: dict[str, Any], bins: str, x: Any, y: Any):
    found: list[dict[str, Any]] = []
    for when in ("before", "after"):
        if summary["binned"][when] is not None:
            curve = summary["binned"][when][bins]["curve"]
            found.append({"when": when, "points": [_point(x, y, when, row) for row in rows_of(curve)]})
    return found


def _point(x: Any, y: Any, when: str, row: Any):
    share, limits = f"{row['accuracy']:.3g} happened", f"({row['low']:.3g} to {row['high']:.3g})"
    text = f"{when}: {row['confidence']:.3g} said, {share} {limits}, {row['n']:,.0f} rows"
    return point(x, y, (row["confidence"], row["accuracy"]), text, row["low"], row["high"])


def _reliability(summary: dict[str, Any], x: Any, y: Any, states: Any, start: Any):
    made = chart(
        "reliability", "What was said, and what happened", "", axes=(x, y), labels=("Risk said", "Share that happened"), series=(),
        line=((x.low, x.low), (x.high, x.high)),
    )  # fmt: skip
    names = ("confidence", "accuracy", "low", "high")
    rows = [
        [when, f"{row['n']:,.0f}", *(f"{row[name]:.4g}" for name in names)]
        for when, part in summary["binned"].items() if part is not None for row in rows_of(part[str(summary["bins"])]["curve"])
    ]  # fmt: skip
    return {
        **made,
        "states": states,
        "start": start,
        "columns": ["When", "Rows", "Risk said", "Share that happened", "Low", "High"],
        "rows": rows,
    }


def _spread(summary: dict[str, Any], name: str, x: Any):
    """Events above the middle, the others below it, each as shares of its own kind: rare events are seen as well."""
    when = "before" if summary["distribution"]["after"] is None else "after"
    found = {key: np.array(values) for key, values in summary["distribution"][when].items()}
    shares = {kind: found[kind] / max(found[kind].sum(), 1e-300) for kind in ("events", "others")}
    top = max(float(max(values.max() for values in shares.values())), 1e-300)
    y = Axis(-top, top, BOTTOM, TOP, ())
    edges = probability_grid(name, x.low, x.high, len(found["lower"]) + 1)
    bars = [_bar(x, y, edges[k], edges[k + 1], share[k], kind) for kind, share in shares.items() for k in range(len(share)) if share[k] > 0]
    words = " and ".join(f"{_median(found, kind):.3g} for {said}" for kind, said in (("events", "events"), ("others", "the others")))
    return chart(
        "spread", f"Who gets which risk, {when if summary['distribution']['after'] else 'as predicted'}", f"Median risk: {words}.",
        axes=(x, y), labels=("Risk said", "Others below, events above"), series=(), line=((x.low, 0.0), (x.high, 0.0)), bars=bars,
        columns=["Risk", "Events", "Others"],
        rows=[
            [f"{low:.3g} to {high:.3g}", f"{events:,.0f}", f"{others:,.0f}"]
            for low, high, events, others in zip(*(found[k] for k in ("lower", "upper", "events", "others")), strict=True)
            if events + others > 0
        ],
    )  # fmt: skip


def _bar(x: Any, y: Any, low: Any, high: Any, share: Any, kind: str):
    left, right, zero, end = x.at(low), x.at(high), y.at(0.0), y.at(share if kind == "events" else -share)
    return {"x": left, "y": min(zero, end), "width": round(right - left, 1), "height": round(abs(end - zero), 1), "kind": kind}


def _median(found: dict[str, np.ndarray], kind: str):
    """The middle of the bin that holds the median."""
    k = int(cast(Any, np.searchsorted(found[kind].cumsum(), 0.5 * found[kind].sum())))
    return 0.5 * (found["lower"][k] + found["upper"][k])
