"""Short audit of a report's groups, before and after calibration."""

from typing import Any

from calibrant.audits.audit import audit_record
from calibrant.comparison.before_after import Compared
from calibrant.reporting.report_table import Asked, ReportTable

__all__ = ["audited"]

#: Draws of the audit's null, and groups that are off of which the report holds the names.
AUDIT_DRAWS, AUDITED = 400, 12
#: Groups shown before and after: so many that are worst before, and so many that are after.
WORST = 6


def audited(table: ReportTable, found: Compared, asked: Asked) -> dict[str, Any] | None:
    """{"before": ..., "after": ..., "worst": the worst groups of either} of the audit of all
    columns of groups; None of one group.

    Of an event, the rows are yes or no.
    """
    options = {"level": asked.level, "n_draws": AUDIT_DRAWS, "random_state": asked.random_state}
    both = found.both(lambda record: audit_record(*table.audited(record), asked.columns, **options))
    if both["before"] is None:
        return None
    return {
        **{when: None if one is None else _told(one) for when, one in both.items()},
        "worst": _worst(both["before"], both["after"]),
    }


def _worst(before: Any, after: Any) -> list[dict[str, Any]]:
    """Return the worst groups before and after, with the audit's results for each."""
    each = [[] if audit is None else audit.groups for audit in (before, after)]
    known = [{one.name: one for one in groups} for groups in each]
    names = dict.fromkeys(one.name for groups in each for one in groups[:WORST])
    return [
        {
            "group": name,
            "n": known[0][name].n,
            "before": _gap(known[0][name]),
            "after": _gap(known[1].get(name)),
        }
        for name in names
    ]


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
