"""Audit of the groups of a report before and after calibration, and the groups to draw."""

from typing import Any

from calibrant.audits.audit import audit_record
from calibrant.reporting.calibrate import Compared
from calibrant.reporting.options import Settings
from calibrant.reporting.report_table import ReportTable

__all__ = ["audited", "drawn_groups", "drawn_row"]

#: Draws of the audit's null, and groups that are off of which the report holds the names.
AUDIT_DRAWS, AUDITED = 400, 12
#: Groups shown before and after: so many that are worst before, and so many that are after.
WORST = 6
#: Most levels, and most crossings that are off, to draw; the audit itself returns all.
LEVELS, CROSSINGS = 20, 12


def audited(table: ReportTable, found: Compared, settings: Settings) -> dict[str, Any] | None:
    """{"before": ..., "after": ..., "worst": the worst groups of either, "drawn": those of the
    picture} of the audit of all columns of groups; None of one group.

    Of an event, the rows are yes or no.
    """
    options = {
        "level": settings.level,
        "n_draws": AUDIT_DRAWS,
        "random_state": settings.random_state,
    }
    both = found.both(
        lambda record: audit_record(*table.audited(record), settings.columns, **options)
    )
    if both["before"] is None:
        return None
    return {
        **{when: None if one is None else _told(one) for when, one in both.items()},
        "worst": _worst(both["before"], both["after"]),
        "drawn": drawn_groups(both["before"], both["after"]),
    }


def drawn_groups(
    before: Any, after: Any = None, most: tuple[int, int] = (LEVELS, CROSSINGS)
) -> dict[str, Any]:
    """Return the groups to draw: ``levels`` of every column, in the columns' order, those that are
    off first where they are too many; ``crossings`` that are off; and the number of ``others``, of
    which ``few`` have too few rows to tell. ``most`` limits levels and crossings.
    """
    then = {} if after is None else {one.name: one for one in after.groups}
    shown = [(one, then.get(one.name)) for one in before.groups]
    order = {column: None for one, _ in shown for column in one.where}
    levels = [pair for pair in shown if len(pair[0].where) == 1]
    levels = sorted(levels, key=lambda pair: not _off(*pair))[: most[0]]
    levels.sort(key=lambda pair: list(order).index(next(iter(pair[0].where))))
    crossings = [pair for pair in shown if len(pair[0].where) > 1 and _off(*pair)][: most[1]]
    chosen = {one.name for one, _ in (*levels, *crossings)}
    rest = [then.get(one.name, one) for one, _ in shown if one.name not in chosen]
    return {
        "levels": [drawn_row(*pair) for pair in levels],
        "crossings": [drawn_row(*pair) for pair in crossings],
        "others": len(rest),
        "few": sum(one.outcome == "not enough data" for one in rest),
    }


def _off(before: Any, after: Any) -> bool:
    """Whether a group is off before or after."""
    return any(one is not None and one.outcome == "off" for one in (before, after))


def drawn_row(before: Any, after: Any = None) -> dict[str, Any]:
    """Return a group's name, its rows, and its gap before and after."""
    return {
        "group": before.name,
        "n": before.n,
        "before": _gap(before),
        "after": _gap(after),
    }


def _worst(before: Any, after: Any) -> list[dict[str, Any]]:
    """Return the worst groups before and after, with the audit's results for each."""
    each = [[] if audit is None else audit.groups for audit in (before, after)]
    known = [{one.name: one for one in groups} for groups in each]
    names = dict.fromkeys(one.name for groups in each for one in groups[:WORST])
    return [drawn_row(known[0][name], known[1].get(name)) for name in names]


def _gap(one: Any) -> dict[str, float] | None:
    return (
        None
        if one is None
        else {
            name: getattr(one, name) for name in ("said", "came", "gap", "low", "high", "outcome")
        }
    )


def _told(audit: Any) -> dict[str, Any]:
    """Summarise an audit; ``calibrant.audit`` returns every group's row."""
    off = [one.name for one in audit.off[:AUDITED]]
    counts = {
        "n_groups": len(audit.groups),
        "n_off": len(audit.off),
        "largest_gap": audit.largest_gap,
    }
    return {"sentence": audit.sentence, **counts, "null": audit.null, "off": off}
