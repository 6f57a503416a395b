"""A summary as Markdown: for model cards and pull requests."""

import re
from collections.abc import Sequence
from typing import Any

from calibrant._support.rounded import percent

__all__ = ["as_markdown", "class_rows", "compared", "in_full"]

#: Rows of each list of gaps; the JSON holds all.
WORST = 10
#: Metrics of a comparison, where the question has no columns of its own.
MOST_COMPARED = 5
#: Of an output, where it is looked at: its name, and the key.
REGIONS = (
    ("predicted std", "std_regions"),
    ("predicted value", "value_regions"),
    ("feature", "features"),
    ("group", "groups"),
)
#: Columns of the comparison of calibrators, here and on the page: key, title, and "number",
#: "percent" or "change" (which is not here).
OF_ANSWERS = (
    ("log_loss", "Log loss", "number"),
    ("log_loss", "Change of log loss", "change"),
    ("brier_score", "Brier score", "number"),
    ("ece", "ECE", "number"),
    ("confidence_spread", "Spread", "number"),
    ("accuracy", "Accuracy", "percent"),
)
COMPARED: dict[Any, Any] = {
    "answer": OF_ANSWERS,
    "classes": OF_ANSWERS,
    "event": (
        ("log_loss", "Log loss", "number"),
        ("log_loss", "Change of log loss", "change"),
        ("event_brier_score", "Brier score", "number"),
        ("observed_expected_ratio", "O/E", "number"),
        ("calibration_slope", "Slope", "number"),
        ("event_ece", "ECE", "number"),
    ),
    None: (
        ("crps", "CRPS", "number"),
        ("crps", "Change of CRPS", "change"),
        ("nll", "NLL", "number"),
        ("ence", "ENCE", "number"),
        ("interval_calibration_error", "Interval error", "number"),
        ("coverage", "In 90 % intervals", "percent"),
        ("width", "Their width", "number"),
    ),
}


def in_full(verdict: dict[str, Any]) -> str:
    """Return state, sentence and action of a verdict's dictionary as one line of text.

    Examples
    --------
    >>> in_full({"state": "fine as it is", "sentence": "They match.", "action": "Keep them."})
    'Fine as it is. They match. Keep them.'
    """
    return f"{verdict['state'].capitalize()}. {verdict['sentence']} {verdict['action']}"


def compared(summary: dict[str, Any]) -> Sequence[tuple[str, str, str]]:
    """The columns of the comparison of calibrators: those of the question, or else the score that
    they are chosen by, its change, and the next metrics.
    """
    if summary["target"] in COMPARED:
        return COMPARED[summary["target"]]
    (key, name), *others = [(row["key"], row["name"]) for row in summary["metrics"][:MOST_COMPARED]]
    change = (key, f"Change of {name}", "change")
    return [(key, name, "number"), change, *((*one, "number") for one in others)]


def as_markdown(summary: dict[str, Any]) -> str:
    """Verdict, cautions, metrics, worst regions, groups and classes, change over time, comparison
    and code, as GitHub's Markdown.

    Names from the data are escaped: they start no markup.
    """
    verdict = summary["verdict"]
    parts = [f"# {_text(summary['title'])}", _text(in_full(verdict)), _text(verdict["detail"])]
    if summary["data"]["clusters"] is not None:
        parts += [
            f"{summary['data']['n']:,.0f} rows in {summary['data']['clusters']:,} clusters:"
            " intervals and tests count clusters."
        ]
    parts += [
        "## Can these numbers be trusted?",
        "\n".join(f"- {_text(c)}" for c in summary["cautions"]) or "Nothing speaks against it.",
    ]
    parts += {"event": _of_event, None: _of_outputs}.get(summary["target"], _of_classes)(summary)
    parts += _audited(summary)
    if summary["alternatives"]:
        parts += [
            "## Compared on the same rows",
            _table(*_alternatives(summary["alternatives"], compared(summary))),
        ]
    if summary["by_class"] is not None:
        head, *rows = ([*map(_text, row)] for row in class_rows(summary["by_class"]))
        parts += [
            "## Which method for which class? Log loss by predicted class",
            _text(summary["by_class"]["sentence"]),
            _table(head, rows),
        ]
    if summary["choice"] is not None:
        parts += [
            "## How to apply it",
            "```python\n" + "\n".join(summary["choice"]["code"]).replace("```", "") + "\n```",
        ]
    return "\n\n".join(parts) + "\n"


def _audited(summary: dict[str, Any]) -> Any:
    """Lines on the audit of groups before and after, one list for each output that has one."""
    audits = [one["audit"] for one in summary.get("outputs", [summary]) if one["audit"] is not None]
    said = []
    for audit in audits:
        told = [(when, audit[when]) for when in ("before", "after") if audit[when] is not None]
        rows = [
            [
                _text(row["group"]),
                f"{row['n']:,.0f}",
                *(_audited_gap(row[when]) for when, _ in told),
            ]
            for row in audit["worst"]
        ]
        said.append("\n".join(f"- {when}: {_text(one['sentence'])}" for when, one in told))
        said.append(
            _table(("The worst groups", "Rows", *(f"Gap {when}" for when, _ in told)), rows)
        )
    return ["## Is every group right, and every crossing of two?", *said] if said else []


def _audited_gap(one: dict[str, float]) -> str:
    if one is None or one["low"] is None:
        return "–"
    return f"{one['gap']:+.3f} ({one['low']:+.3f} to {one['high']:+.3f}), {one['outcome']}"


def _of_classes(summary: dict[str, Any]) -> list[str]:
    parts = ["## Metrics", _table(*_metrics(summary["metrics"], summary))]
    for title, key in (
        ("confidence", "regions"),
        ("feature", "features"),
        ("group", "groups"),
        ("class", "classes"),
    ):
        rows = summary.get(key)
        rows = rows["rows"] if rows and key == "classes" else rows
        if rows:
            parts += [
                f"## Where it is wrong, by {title}, the worst first",
                _table(*_gaps(rows[:WORST], title)),
            ]
    return parts + _over_time(summary["drift"]) + _promised(summary["promises"])


def _promised(said: dict[str, Any]) -> list[str]:
    if said is None:
        return []
    rows = [
        [
            percent(row["risk"], 0),
            "–" if row["share"] is None else percent(row["share"]),
            _text(row["note"]),
        ]
        for row in said["accepted"]
    ]
    found = [
        "## What can I promise?",
        _table(("At most wrong", "Can be accepted", "Certificate"), rows),
    ]
    if said["sets"] is not None:
        held = (
            f"Sets of classes that hold the true one for {percent(said['sets']['level'], 0)} of"
            " new rows have"
        )
        found.append(f"{held} {said['sets']['size']:.2f} classes on average.")
    return found


def _of_event(summary: dict[str, Any]) -> list[str]:
    parts = [
        "## Metrics",
        _table(*_metrics(summary["metrics"], summary)),
        "## What acting on it brings",
        _table(*_thresholds(summary)),
    ]
    for title, key in (("risk", "regions"), ("feature", "features"), ("group", "groups")):
        if summary[key]:
            parts += [
                f"## Where it is wrong, by {title}, the worst first",
                _table(*_risks(summary[key][:WORST], title)),
            ]
    return parts + _over_time(summary["drift"]) + _rates(summary["promises"])


def _rates(said: dict[str, Any]) -> list[str]:
    if said is None:
        return []
    sides = {"false alarms": "above", "missed events": "not above"}
    rows = [
        [
            f"{percent(row['rate'], 0)} {row['error']}",
            "–" if row["share"] is None else f"{sides[row['error']]} {_both_scales(row)}",
            _text(row["note"]),
        ]
        for row in said["rates"]
    ]
    return ["## What can I promise?", _table(("At most", "Risk", "Promise"), rows)]


def _both_scales(row: dict[str, Any]) -> str:
    """Return the threshold as calibrated, where it is known, and as predicted."""
    own = f"{row['threshold']:.4g}"
    calibrated = row["calibrated"]
    return own if calibrated is None else f"{calibrated:.4g} (uncalibrated {own})"


def _thresholds(summary: dict[str, Any]) -> tuple[list[str], list[list[Any]]]:
    found, names = (
        summary["thresholds"],
        ("threshold", "alerts_per_1000", "sensitivity", "specificity", "ppv", "net_benefit"),
    )
    lines = [
        [_number(value) for value in row]
        for row in zip(*(found[name] for name in names), strict=True)
    ]
    return [
        "Risk of at least",
        "Alerts in 1,000",
        "Sensitivity",
        "Specificity",
        "PPV",
        "Net benefit",
    ], lines


def _risks(rows: Any, title: str) -> tuple[list[str], list[list[Any]]]:
    lines = [
        [
            _where(row, ".3g"),
            f"{row['rows']:,.0f}",
            *(_number(row[name]) for name in ("risk", "rate", "ratio")),
            (
                "–"
                if row["gap"] is None
                else f"{row['gap']:+.4f} ({row['low']:+.4f} to {row['high']:+.4f})"
            ),
        ]
        for row in rows
    ]
    return [title.capitalize(), "Rows", "Risk said", "Share that happened", "O/E", "Gap"], lines


def _of_outputs(summary: dict[str, Any]) -> list[str]:
    parts = []
    for output in summary["outputs"]:
        of = f": {_text(output['name'])}" if len(summary["outputs"]) > 1 else ""
        rows = [row for row in summary["metrics"] if row["output"] == output["name"]]
        parts += [f"## Metrics{of}", _table(*_metrics(rows, summary))]
        for title, key in REGIONS:
            if output[key]:
                parts += [
                    f"## Where it is wrong{of}, by {title}, the worst first",
                    _table(*_coverages(output[key][:WORST], title)),
                ]
        parts += _over_time(output["drift"], of)
    return parts


def _text(value: str) -> str:
    """Escaped, on one line."""
    return re.sub(r"([\\`*_\[\]<>|#$~])", r"\\\1", " ".join(str(value).split()))


def _table(head: Any, rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _number(value: float) -> str:
    return (
        "–"
        if value is None
        else f"{value:.4f}"
        if abs(value) >= 1e-3 or value == 0.0
        else f"{value:.4g}"
    )


def _range(part: Any) -> str:
    return (
        "–"
        if part is None
        else _number(part["value"])
        + ("" if part["low"] is None else f" ({_number(part['low'])} to {_number(part['high'])})")
    )


def _metrics(
    scores: list[dict[str, Any]], summary: dict[str, Any]
) -> tuple[list[str], list[list[Any]]]:
    rows = [
        [
            _text(row["name"]),
            *(_range(row[when]) for when in ("before", "after", "change")),
            row["reading"] or "–",
        ]
        for row in scores
    ]
    return [
        "Metric",
        "Before",
        f"After {_text(summary['calibrator']['name'])}",
        "Change",
        "Reading",
    ], rows


def _where(row: Any, digits: str) -> str:
    """The group, class, or part of a feature that a row is of, or the region by its ends."""
    said = " ".join(str(row[name]) for name in ("class", "group", "feature", "part") if name in row)
    return _text(said) if said else f"{row['from']:{digits}} to {row['to']:{digits}}"


def _gaps(rows: Any, title: str) -> tuple[list[str], list[list[Any]]]:
    lines = []
    for row in rows:
        gap = "–" if row["gap"] is None else f"{row['gap']:+.4f}"
        count = row["predicted" if "predicted" in row else "rows"]
        lines.append(
            [
                _where(row, ".3f"),
                f"{count:,.0f}",
                _number(row["accuracy"]),
                _number(row["confidence"]),
                gap,
            ]
        )
    return [title.capitalize(), "Rows", "Accuracy", "Mean confidence", "Gap"], lines


def _coverages(rows: Any, title: str) -> tuple[list[str], list[list[Any]]]:
    lines = [
        [
            _where(row, ".4g"),
            f"{row['rows']:,.0f}",
            _number(row["claimed"]),
            _number(row["error"]),
            percent(row["coverage"]),
            f"{100.0 * row['gap']:+.1f} %",
        ]
        for row in rows
    ]
    return [
        title.capitalize(),
        "Rows",
        "Std claimed",
        "Error seen",
        "In 90 % intervals",
        "Gap",
    ], lines


def _over_time(drift: dict[str, Any] | None, of: str = "") -> Any:
    """Lines on the alarm of all rows and of each group with an alarm, and the calibration error of
    each bucket of time.
    """
    if drift is None:
        return []
    rung = [
        (row["group"], row["advice"])
        for row in drift["groups"]
        if row["advice"] is not None and row["advice"]["decision"] != "leave"
    ]
    told = [("All rows", drift["advice"]), *rung] if drift["advice"] is not None else []
    said = [f"- {_text(name)}: {_text(advice['reason'])}." for name, advice in told]
    return [
        f"## Does it stay so over time{of}?",
        *(["\n".join(said)] if said else []),
        _table(*_buckets(drift)),
    ]


def _buckets(drift: dict[str, Any]) -> tuple[list[str], list[list[Any]]]:
    columns = {when: drift[when] for when in ("before", "after") if drift[when] is not None}
    times, counts = (drift["before"][key] for key in ("time", "n"))
    lines = [
        [
            _text(time),
            f"{n:,.0f}",
            *(
                _range({"value": of["error"][i], "low": of["low"][i], "high": of["high"][i]})
                for of in columns.values()
            ),
        ]
        for i, (time, n) in enumerate(zip(times, counts, strict=True))
    ]
    return [
        drift["every"].capitalize(),
        "Rows",
        *(f"Calibration error {when}" for when in columns),
    ], lines


def class_rows(found: dict[str, Any]) -> list[list[str]]:
    """The table of the log loss by predicted class: its head, the mean over classes, and the least
    accurate classes.
    """
    mean = ["Mean", "", "", found["best"], *map(_number, found["macro"].values())]
    lines = [
        [
            row["class"],
            f"{row['rows']:,.0f}",
            f"{percent(row['accuracy'], 0)} ({percent(row['low'], 0)} to"
            f" {percent(row['high'], 0)})",
            row["use"],
            *(_number(one["loss"]) for one in row["methods"].values()),
        ]
        for row in found["rows"][:WORST]
    ]
    return [["Predicted class", "Rows", "Accuracy", "Use", *found["macro"]], mean, *lines]


def _alternatives(rows: Any, columns: Any) -> Any:
    columns = {key: title for key, title, kind in columns if kind != "change"}
    lines = [
        [
            " ".join(_text(v) for v in (row["name"], row["output"]) if v)
            + (" (chosen)" if row["chosen"] else ""),
            *(_number(row["metrics"][key]["value"]) for key in columns),
            (
                "–"
                if row["against"] is None
                else _range({"value": row["against"]["difference"], **row["against"]})
            ),
        ]
        for row in rows
    ]
    return ["Calibrator", *columns.values(), "Against the chosen"], lines
