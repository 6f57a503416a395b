"""Bands of the page that all kinds of predictions share: the answer, whether to rely on it, the
groups, the numbers, and what is folded below.
"""

from typing import Any

from calibrant.core.cards import PROMISED, Tile
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
    **{badge.lower(): "good" for badge in PROMISED.values()},
}
#: Groups named in the first band.
NAMED = 3
#: States that are said otherwise on the badge.
BADGES = {"off, no remedy shown": "off, and no remedy found"}
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
        ("since", "since", "Since then: later rows without labels", "since.html"),
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
        "whom": _whom([part["audit"] for _, part in outputs if part["audit"]]),
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
    data, about, state = summary["data"], summary["about"], summary["verdict"]["state"]
    named = [about["model"], about["version"] and f"version {about['version']}", about["period"]]
    rows = f"{data['n']:,.0f} {'weighted rows' if data['weighted'] else 'rows'}"
    clusters = f" in {data['clusters']:,} clusters" if data["clusters"] else ""
    return {
        "tone": TONES[state],
        "badge": BADGES.get(state, state).capitalize(),
        "facts": [
            *(word for word in named if word),
            f"{rows}{clusters}",
            f"report of {about['made']}",
            *([f"checksum {about['data']}"] if about["data"] else []),
        ],
    }


def _whom(audits: list[dict[str, Any]]) -> str:
    """Return for which groups the predictions are off, the worst by name."""
    if not audits:
        return "not checked, because no groups were given."
    last = [one["before"] if one["after"] is None else one["after"] for one in audits]
    off, count = (sum(one[key] for one in last) for key in ("n_off", "n_groups"))
    if not off:
        return f"none of {count} groups is off by more than chance."
    names = [name for one in last for name in one["off"]]
    more = f" and {off - NAMED} more" if off > NAMED else ""
    return f"{off} of {count} groups are off: {', '.join(names[:NAMED])}{more}."


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
