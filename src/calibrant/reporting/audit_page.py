"""Summary and page of an audit: every group, and what the test promises."""

from typing import Any

from calibrant.audits.result import Audit
from calibrant.core.cards import Tile
from calibrant.core.guarantee import plain
from calibrant.core.text_table import p_text, percent, rounded
from calibrant.reporting.figures import dots
from calibrant.reporting.groups import drawn_groups, drawn_row
from calibrant.reporting.markdown import head
from calibrant.reporting.summary import SCHEMA, About, Verdict

__all__ = ["FILTERS", "context", "summarise_audit", "tiles"]

#: Most levels, crossings that are off, and other crossings on a page; the JSON holds all.
LEVELS, CROSSINGS, OTHERS = 100, 60, 60
FILTERS: dict[Any, Any] = {}
#: What the audit tested, by its null, and what its tests bound, by its control.
NULLS = {
    "strong": "The test asks whether the probability of every row is right; it assumes that rows"
    " are independent.",
    "weak": "The test asks whether the predictions of each group are right on average.",
}
CONTROLS = {
    "any": "If all groups were calibrated, the chance to find any of them off would be at most {},"
    " whatever their number.",
    "share": "At most {} of the groups found off are expected to be calibrated.",
}


def summarise_audit(
    found: Audit,
    *,
    title: str = "Are the predictions right for every group?",
    **named: str | None,
) -> dict[str, Any]:
    """Return the content of an audit's page as a dictionary.

    Parameters
    ----------
    found : Audit
    title : str
    **named
        ``model``, ``event``, ``period`` and ``version``, as for :func:`calibrant.report`.

    Examples
    --------
    >>> import calibrant as cb
    >>> found = cb.audit([0, 1] * 500, [0.5] * 1000, ["a", "b"] * 500)
    >>> summarise_audit(found)["verdict"]["state"]
    'groups are off'
    """
    drawn = drawn_groups(found, most=(LEVELS, CROSSINGS))
    chosen = {row["group"] for row in (*drawn["levels"], *drawn["crossings"])}
    rest = [drawn_row(one) for one in found.groups if one.name not in chosen]
    return plain(
        {
            "schema": SCHEMA,
            "task": "audit",
            "target": "groups",
            "title": title,
            "level": found.level,
            "about": About.of(None, named),
            "data": {"n": found.overall[0].n, "clusters": None, "weighted": False},
            "verdict": Verdict(found.state, found.sentence, found.action, "", "none"),
            "cautions": [],
            "audit": found,
            "worst": None if found.worst is None else drawn_row(found.worst),
            "drawn": {**drawn, "rest": rest[:OTHERS], "others": len(rest[OTHERS:])},
            "promises": _promises(found),
            "call": ["found = cb.audit(y, P, groups)", 'cb.report(found).save("audit.html")'],
        }
    )


def _promises(found: Audit) -> list[str]:
    near = (
        f"{found.tolerance:g}"
        if _of_forecasts(found.target)
        else f"{100.0 * found.tolerance:g} points"
    )
    told = [
        CONTROLS[found.control].format(percent(1.0 - found.level, 0)),
        NULLS[found.null],
        f"A group is right if the whole interval of its gap lies within {near} of 0; a group that"
        " is neither off nor right has too few rows.",
    ]
    error = found.multicalibration
    if error is not None:
        told.append(
            f"The largest error of any group at any cut of the predictions is {error.value:.3g}"
            f" standard deviations; {error.expected:.3g} is expected if all are right (p"
            f" {p_text(error.p_value, '= ')})."
        )
    return [*told, "The answer holds for data like these rows; audit again when the data change."]


def _of_forecasts(target: str) -> bool:
    """Whether gaps are of normal scores, not of shares."""
    return target == "forecast"


def context(summary: dict[str, Any]) -> dict[str, Any]:
    """Return the head, the tiles, and all groups on one scale."""
    drawn, groups = summary["drawn"], summary["audit"]["groups"]
    lists = {name: drawn[name] for name in ("levels", "crossings", "rest")}
    few = sum(one["outcome"] == "not enough data" for one in groups)
    counts = {"off": {"before": summary["audit"]["n_off"]}, "count": len(groups), "few": few}
    return {
        **head(summary),
        "bands": ("answer.html", "whom.html", "promised.html"),
        "main": None,
        "tiles": tiles(summary),
        "shares": not _of_forecasts(summary["audit"]["target"]),
        "groups": [(None, {**drawn, **dots(**lists), **counts})],
    }


def tiles(summary: dict[str, Any]) -> list[Tile]:
    """Return the tiles: groups off, the worst gap, groups with too few rows, and the rows."""
    audit, worst = summary["audit"], summary["worst"]
    few = sum(one["outcome"] == "not enough data" for one in audit["groups"])
    found = [Tile("Groups off", f"{audit['n_off']:,}", f"of {audit['n_groups']:,}, with crossings")]
    if worst is not None:
        gap = worst["before"]
        points = f"{100.0 * gap['gap']:+.1f} points".replace("-", "−")
        size = rounded(gap["gap"], "+") if _of_forecasts(audit["target"]) else points
        note = worst["group"] + ("" if gap["outcome"] == "off" else ", not beyond chance")
        found.append(Tile("Worst gap", size, note))
    return [
        *found,
        Tile("Too few rows", f"{few:,}", "groups about which nothing can be said"),
        Tile("Rows", f"{summary['data']['n']:,.0f}"),
    ]
