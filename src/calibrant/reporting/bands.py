"""Bands of the page that all kinds of predictions share: the answer, whether to rely on it, the
groups, the numbers, and what is folded below.
"""

from typing import Any

from calibrant._support.card import Tile
from calibrant.reporting.dots import dots

__all__ = ["Tile", "appendix", "arrow", "bands", "groups_tile", "head"]

#: Templates of a page on one model, from the top.
BANDS = ("answer.html", "rely.html", "do.html", "whom.html", "numbers.html", "appendix.html")
#: How grave a state is, which gives its colour.
TONES = {
    "fine as it is": "good",
    "calibrate before use": "act",
    "better, but still off": "act",
    "too few rows to say": "unknown",
    "off, no remedy shown": "bad",
    "check the data first": "bad",
    "one is better": "good",
    "no clear difference": "unknown",
    "groups are off": "bad",
}
#: How the numbers after calibration were measured.
MEASURED = {
    "none": "Nothing was calibrated: the numbers are of the predictions as they are.",
    "out-of-fold": "“After” is out of fold: every row was calibrated without itself.",
    "held-out": "“After” is measured on rows that the calibrator was not fitted on.",
    "in-sample": "“After” is in-sample: it says nothing about new rows.",
}


def arrow(before: str, after: str | None) -> str:
    """Return "before → after", or the one number."""
    return before if after is None else f"{before} → {after}"


def appendix(
    known: dict[str, Any], sections: tuple[tuple[str | None, str, str, str], ...]
) -> list[tuple[str, str, str]]:
    """Return (id, title, template) of the ``sections`` (key of ``known`` that must hold something
    or None, id, title, template), and of the two that all pages have.
    """
    every = (
        *sections,
        ("candidates", "candidates", "Candidates of the calibrator", "candidates.html"),
        (None, "method", "How this was measured, and how to repeat it", "method.html"),
    )
    candidates = known["choice"] and known["choice"]["candidates"]
    held = {**known, "candidates": candidates}
    return [
        (name, title, template)
        for key, name, title, template in every
        if key is None or held.get(key)
    ]


def bands(summary: dict[str, Any], outputs: list[tuple[str | None, Any]], five: Any) -> Any:
    """Return the context that all pages share.

    Parameters
    ----------
    summary : the dictionary of a report
    outputs : (name or None, part of the summary) of each output
    five : keys of the metrics to show, the rest is folded
    """
    return {
        "bands": BANDS,
        **head(summary),
        "measured": MEASURED[summary["calibrator"]["evaluation"]],
        "groups": [(name, _drawn(part["audit"])) for name, part in outputs if part["audit"]],
        "numbers": [(name, *_split(summary, name, five)) for name, _ in outputs],
    }


def _drawn(audit: dict[str, Any]) -> dict[str, Any]:
    """Return the groups to draw of a report's audit, with their numbers."""
    drawn = audit["drawn"]
    return {
        **drawn,
        **dots(levels=drawn["levels"], crossings=drawn["crossings"]),
        "off": {when: audit[when]["n_off"] for when in ("before", "after") if audit[when]},
        "count": audit["before"]["n_groups"],
    }


def head(summary: dict[str, Any]) -> dict[str, Any]:
    """Return the tone of the page, and the facts of its head."""
    data, about = summary["data"], summary["about"]
    named = [about["model"], about["version"] and f"version {about['version']}", about["period"]]
    rows = f"{data['n']:,.0f} {'weighted rows' if data['weighted'] else 'rows'}"
    clusters = f" in {data['clusters']:,} clusters" if data["clusters"] else ""
    return {
        "tone": TONES[summary["verdict"]["state"]],
        "facts": [
            *(word for word in named if word),
            f"{rows}{clusters}",
            about["made"],
            *([f"data {about['data']}"] if about["data"] else []),
        ],
    }


def _split(summary: dict[str, Any], name: str | None, five: Any) -> tuple[list[Any], list[Any]]:
    rows = [row for row in summary["metrics"] if name is None or row["output"] == name]
    shown = [row for row in rows if row["key"] in five] or rows[:5]
    return shown, [row for row in rows if row not in shown]


def groups_tile(outputs: list[tuple[str | None, Any]]) -> Tile | None:
    """Return the tile on the groups of all outputs; None without groups."""
    audits = [part["audit"] for _, part in outputs if part["audit"]]
    if not audits:
        return None
    before = sum(one["before"]["n_off"] for one in audits)
    after = None
    if audits[0]["after"] is not None:
        after = str(sum(one["after"]["n_off"] for one in audits))
    count = sum(one["before"]["n_groups"] for one in audits)
    return Tile("Groups off", arrow(str(before), after), f"of {count} groups and crossings")
