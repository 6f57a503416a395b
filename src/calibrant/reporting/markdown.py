"""Markdown of a summary, for model cards and pull requests; and the bands of the page that all
kinds of predictions share.

The bands are the answer, whether to rely on it, the groups, the numbers, and what is folded below.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

from calibrant.core.cards import PROMISED, Tile
from calibrant.core.text_table import counted, p_text, percent, rounded
from calibrant.reporting.figures import dots, gap_words
from calibrant.reporting.judge import CALIBRATED

__all__ = [
    "Tile",
    "advised",
    "appendix",
    "arrow",
    "as_advised",
    "as_markdown",
    "bands",
    "by_chance",
    "class_rows",
    "compared",
    "groups_tile",
    "head",
    "in_full",
]


#: Templates of a page on one model, from the top.
BANDS = ("answer.html", "rely.html", "do.html", "whom.html", "numbers.html", "appendix.html")
#: How grave a state is, which gives its colour.
TONES = {
    "use as they are": "good",
    "calibrate": "act",
    "calibrate by group": "act",
    "too few rows": "unknown",
    "it has changed": "bad",
    "off, and nothing tried helps": "bad",
    "off, and no calibrator was tried": "bad",
    "check the data first": "bad",
    "one is better": "good",
    "no clear difference": "unknown",
    "groups are off": "bad",
    **{badge.lower(): "good" for badge in PROMISED.values()},
}
#: Groups named in the first band.
NAMED = 3
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


def by_chance(
    before: dict[str, Any], after: dict[str, Any] | None, form: Callable[[float], str], moved: bool
) -> str:
    """Return how large an error chance alone explains, before and after calibration; ``moved`` says
    whether there is any.
    """
    then, first = None if after is None else form(after["high"]), form(before["high"])
    if moved and then is None:
        return f"chance alone: up to {first} before"
    return f"chance alone: up to {arrow(first.split()[0] if then else first, then)}"


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
        "advised": advised(summary),
        "measured": MEASURED[summary["calibrator"]["evaluation"]],
        "whom": _whom([part["audit"] for _, part in outputs if part["audit"]], advised(summary)),
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
    rows = counted(data["n"], "weighted row" if data["weighted"] else "row")
    clusters = f" in {data['clusters']:,} clusters" if data["clusters"] else ""
    return {
        "tone": TONES[state],
        "badge": state.capitalize(),
        "facts": [
            *(word for word in named if word),
            f"{rows}{clusters}",
            f"report of {about['made']}",
            *([f"checksum {about['data']}"] if about["data"] else []),
        ],
    }


def advised(summary: dict[str, Any]) -> bool:
    """Return whether the verdict advises to use what was calibrated."""
    return summary["verdict"]["state"] in CALIBRATED


def as_advised(summary: dict[str, Any], *keys: str) -> dict[str, Any]:
    """Return the summary whose parts at ``keys`` are before calibration only, unless the calibrated
    predictions are advised.
    """
    if advised(summary):
        return summary
    return {**summary, **{key: {**summary[key], "after": None} for key in keys}}


def _whom(audits: list[dict[str, Any]], calibrated: bool) -> str:
    """Return for which groups the predictions are off, the worst by name; and where the
    ``calibrated`` ones are advised, for which they are off then.
    """
    if not audits:
        return "not checked, because there are no groups."
    sides = [[one[when] for one in audits if one[when]] for when in ("before", "after")]
    first, *then = [_off(side) for side in sides if side]
    return f"{first}; after calibration {then[0]}." if calibrated and then else f"{first}."


def _off(audits: list[dict[str, Any]]) -> str:
    off, count = (sum(one[key] for one in audits) for key in ("n_off", "n_groups"))
    if not off:
        return f"none of {count} groups is off by more than chance"
    names = [name for one in audits for name in one["off"]]
    more = f" and {off - NAMED} more" if off > NAMED else ""
    which = f"{', '.join(names[:NAMED])}{more}"
    return f"{off} of {count} groups {'is' if off == 1 else 'are'} off: {which}"


def _split(summary: dict[str, Any], name: str | None, five: Any) -> tuple[list[Any], list[Any]]:
    rows = [row for row in summary["metrics"] if name is None or row["output"] == name]
    shown = [row for row in rows if row["key"] in five] or rows[:5]
    return shown, [row for row in rows if row not in shown]


def groups_tile(outputs: list[tuple[str | None, Any]], calibrated: bool) -> Tile | None:
    """Return the tile on the groups of all outputs; None without groups."""
    audits = [part["audit"] for _, part in outputs if part["audit"]]
    if not audits:
        return None
    before = sum(one["before"]["n_off"] for one in audits)
    after = None
    if calibrated and audits[0]["after"] is not None:
        after = str(sum(one["after"]["n_off"] for one in audits))
    count = sum(one["before"]["n_groups"] for one in audits)
    return Tile("Groups off", arrow(str(before), after), f"of {count} groups and crossings")


#: Rows of each list of gaps; the JSON holds all.
WORST = 10
#: Metrics of a comparison, where the question has no columns of its own.
MOST_COMPARED = 5
#: Where a report looks for errors (what it is cut by, its key), and the columns there (title, key,
#: how a value is written), by target. All tables have the rows and the gap as well.
BY_ROWS = (("feature", "features"), ("group", "groups"))
ANSWERS = (
    (("confidence", "regions"), *BY_ROWS, ("class", "classes")),
    (("Accuracy", "accuracy", percent), ("Mean confidence", "confidence", percent)),
)
PLACES: dict[Any, Any] = {
    "event": (
        (("risk", "regions"), *BY_ROWS),
        (("Predicted", "risk", percent), ("Observed", "rate", percent), ("O/E", "ratio", rounded)),
    ),
    None: (
        (("predicted std", "std_regions"), ("predicted value", "value_regions"), *BY_ROWS),
        (
            ("Std claimed", "claimed", rounded),
            ("Error seen", "error", rounded),
            ("In 90 % intervals", "coverage", percent),
        ),
    ),
}
#: Columns of the table of thresholds.
THRESHOLDS = (
    ("Risk of at least", "threshold", percent),
    ("Alerts in 1,000", "alerts_per_1000", rounded),
    ("Sensitivity", "sensitivity", percent),
    ("Specificity", "specificity", percent),
    ("PPV", "ppv", percent),
    ("Net benefit", "net_benefit", rounded),
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
    >>> in_full({"state": "use as they are", "sentence": "They match.", "action": "Keep them."})
    'Use as they are. They match. Keep them.'
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
    """Return the page's bands as GitHub's Markdown, in its order: the answer, whether to rely on
    it, what to do, the groups, the numbers, and tables that the page folds.

    Names from the data are escaped: they start no markup.
    """
    verdict, of = summary["verdict"], {"models": _of_models, "groups": _of_audit, "rule": _of_rule}
    parts = [
        f"# {_text(summary['title'])}",
        _text(" · ".join(head(summary)["facts"])),
        f"**{verdict['state'].capitalize()}.** {_text(verdict['sentence'])}",
        f"→ {_text(verdict['action'])}",
        *of.get(summary["target"], _of_one)(summary),
    ]
    return "\n\n".join(parts) + "\n"


def _of_one(summary: dict[str, Any]) -> list[str]:
    """Return what follows the answer in a report on one model."""
    several = len(summary.get("outputs", ())) > 1
    outputs = [
        (f": {_text(one['name'])}" if several else "", one)
        for one in summary.get("outputs", [summary])
    ]
    parts = ["## Can I rely on this?", *_listed(summary["cautions"])]
    parts += [MEASURED[summary["calibrator"]["evaluation"]], *_to_do(summary)]
    audited = [part for of, one in outputs for part in _audited(one["audit"], of)]
    parts += ["## For whom is it wrong?", *audited] if audited else []
    parts += ["## Numbers"]
    for of, one in outputs:
        rows = [row for row in summary["metrics"] if row.get("output") == one.get("name")]
        parts += [f"### Metrics{of}", _metrics(rows, summary), _chance(one, summary)]
        parts += _places(one, summary["target"], of)
        parts += _over_time(one["drift"], of)
    if summary["since"] is not None:
        said = (summary["since"]["sentence"], summary["since"]["note"])
        parts += ["### Since then", *map(_text, said)]
    if "thresholds" in summary:
        parts += ["### Decisions by threshold", _thresholds(summary["thresholds"])]
    if summary["by_class"] is not None:
        first, *rows = ([*map(_text, row)] for row in class_rows(summary["by_class"]))
        parts += ["### Which method for which class? Log loss by predicted class"]
        parts += [_text(summary["by_class"]["sentence"]), _table(first, rows)]
    return parts


def _of_rule(summary: dict[str, Any]) -> list[str]:
    """Return what follows the answer in a report on a rule."""
    return ["## What is promised, and under which conditions", *_listed(summary["promises"])]


def _to_do(summary: dict[str, Any]) -> list[str]:
    """Return the code that applies the calibrator, the others, and the promises."""
    parts = []
    if summary["choice"] is not None:
        code = "\n".join(summary["choice"]["code"]).replace("```", "")
        would = f"The code that would apply {_text(summary['calibrator']['name'])}:"
        parts = [*([] if advised(summary) else [would]), f"```python\n{code}\n```"]
    if summary["alternatives"]:
        shown = _alternatives(summary["alternatives"], compared(summary))
        parts += ["### Compared on the same rows", shown]
    promises = summary.get("promises")
    if promises is not None:
        parts += _rates(promises, advised(summary)) if "rates" in promises else _promised(promises)
    return ["## What should I do?", *parts] if parts else []


def _of_models(summary: dict[str, Any]) -> list[str]:
    names = summary["metrics"]
    scores = [
        [_text(one["name"]), *(_range(one["scores"][key]) for key in names)]
        for one in summary["models"]
    ]
    pairs = [
        [
            names[row["metric"]],
            f"{_text(row['first'])}, {_text(row['second'])}",
            _range({**row, "value": row["difference"]}, "+"),
            "–" if row["p_value"] is None else p_text(row["p_value"]),
            " ".join(filter(None, (row["meaning"], row["note"]))),
        ]
        for row in summary["pairs"]
    ]
    return [
        "## Each model’s own scores",
        _table(("Model", *names.values()), scores),
        "## The difference, row by row",
        _table(("Metric", "Models", "Difference", "p", "The second is"), pairs),
        f"Intervals and tests are paired, at {100.0 * summary['level']:g} %, and corrected for the"
        f" number of pairs in each metric ({summary['correction'].capitalize()}).",
        *(["## Since then: later rows without labels"] if summary["since"] else []),
        *(f"{_text(name)}: {one['sentence']}" for name, one in summary["since"].items()),
    ]


def _of_audit(summary: dict[str, Any]) -> list[str]:
    rows = [*summary["drawn"]["levels"], *summary["drawn"]["crossings"]]
    return [
        "## For whom is it wrong?",
        _groups(rows, ["before"], ["Gap"]),
        "## What is promised, and under which conditions",
        *_listed(summary["promises"]),
    ]


def _listed(lines: Sequence[str]) -> list[str]:
    return ["\n".join(f"- {_text(line)}" for line in lines) or "Nothing speaks against it."]


def _audited(audit: dict[str, Any] | None, of: str) -> list[str]:
    """Return what an audit of groups says before and after, and its worst groups."""
    if audit is None:
        return []
    when = [one for one in ("before", "after") if audit[one] is not None]
    said = _listed([f"{one}: {audit[one]['sentence']}" for one in when])
    return [
        *([f"### Groups{of}"] if of else []),
        *said,
        _groups(audit["worst"], when, [f"Gap {one}" for one in when]),
    ]


def _groups(rows: Any, when: Sequence[str], heads: Sequence[str]) -> str:
    lines = [
        [_text(row["group"]), f"{row['n']:,.0f}", *(_group_gap(row[one]) for one in when)]
        for row in rows
    ]
    return _table(("Group", "Rows", *heads), lines)


def _group_gap(one: dict[str, Any] | None) -> str:
    if one is None or one["low"] is None:
        return "–"
    return f"{_range({**one, 'value': one['gap']}, '+')}, {gap_words(one)}"


def _promised(said: dict[str, Any]) -> list[str]:
    rows = [
        [percent(row["risk"], 0), percent(row["share"]), _text(row["note"])]
        for row in said["accepted"]
    ]
    found = [
        "### What can I promise?",
        _table(("At most wrong", "Can be accepted", "Certificate"), rows),
    ]
    if said["sets"] is not None:
        held = f"{percent(said['sets']['level'], 0)} of new rows"
        size = f"{said['sets']['size']:.2f} classes on average"
        found.append(f"Sets of classes that hold the true one for {held} have {size}.")
    return found


def _rates(said: dict[str, Any], calibrated: bool) -> list[str]:
    sides = {"false alarms": "above", "missed events": "not above"}
    rows = [
        [
            f"{percent(row['rate'], 0)} {row['error']}",
            "–" if row["share"] is None else f"{sides[row['error']]} {_threshold(row, calibrated)}",
            _text(row["note"]),
        ]
        for row in said["rates"]
    ]
    return ["### What can I promise?", _table(("At most", "Risk", "Promise"), rows)]


def _threshold(row: dict[str, Any], calibrated: bool) -> str:
    """Return the threshold as predicted; where the ``calibrated`` risks are advised, also so."""
    predicted, after = f"{row['threshold']:.4g}", row["calibrated"]
    both = calibrated and after is not None
    return f"{after:.4g} (uncalibrated {predicted})" if both else predicted


def _thresholds(found: dict[str, Any]) -> str:
    columns = [[written(value) for value in found[key]] for _, key, written in THRESHOLDS]
    return _table([title for title, *_ in THRESHOLDS], list(zip(*columns, strict=True)))


def _places(part: dict[str, Any], target: Any, of: str) -> list[str]:
    """Return a table for each way to cut the rows, the worst part first."""
    cuts, columns = PLACES.get(target, ANSWERS)
    parts = []
    for title, key in cuts:
        rows = part.get(key) or []
        rows = rows["rows"] if isinstance(rows, dict) else rows
        lines = [
            [
                _where(row),
                f"{row['predicted' if 'predicted' in row else 'rows']:,.0f}",
                *(written(row[name]) for _, name, written in columns),
                _range({**row, "value": row["gap"]}, "+"),
            ]
            for row in rows[:WORST]
        ]
        names = [title.capitalize(), "Rows", *(name for name, *_ in columns), "Gap"]
        if lines:
            parts += [f"### Where it is off{of}, by {title}, the worst first", _table(names, lines)]
    return parts


def _text(value: str) -> str:
    """Escaped, on one line."""
    return re.sub(r"([\\`*_\[\]<>|#$~])", r"\\\1", " ".join(str(value).split()))


def _table(head: Any, rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _range(part: Any, sign: str = "") -> str:
    """Return a value with its interval, where it has them."""
    if part is None or part["value"] is None:
        return "–"
    ends = [part.get("low"), part.get("high")]
    interval = "" if None in ends else f" ({' to '.join(rounded(end, sign) for end in ends)})"
    return rounded(part["value"], sign) + interval


def _metrics(scores: list[dict[str, Any]], summary: dict[str, Any]) -> str:
    rows = [
        [
            _text(row["name"]),
            *(_range(row[when]) for when in ("before", "after")),
            _range(row["change"], "+"),
            row["reading"] or "–",
        ]
        for row in scores
    ]
    after = f"After {_text(summary['calibrator']['name'])}"
    return _table(("Metric", "Before", after, "Change", "Reading"), rows)


def _chance(part: dict[str, Any], summary: dict[str, Any]) -> str:
    """Return the calibration error that chance alone explains, in one sentence."""
    before, after = (one and one.get("ence", one) for one in (part["chance"], part["chance_after"]))
    moved = summary["calibrator"]["evaluation"] != "none"
    name = "ECE" if before is part["chance"] else "ENCE"
    return f"{name} by {by_chance(before, after, rounded, moved)}."


def _where(row: Any) -> str:
    """The group, class, or part of a feature that a row is of, or the region by its ends."""
    said = " ".join(str(row[name]) for name in ("class", "group", "feature", "part") if name in row)
    return _text(said) if said else f"{row['from']:.4g} to {row['to']:.4g}"


def _over_time(drift: dict[str, Any] | None, of: str) -> list[str]:
    """Return the alarm of all rows and of each group with an alarm, and the calibration error of
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
    said = [f"{name}: {advice['reason']}." for name, advice in told]
    return [f"### Over time{of}", *(_listed(said) if said else []), _buckets(drift)]


def _buckets(drift: dict[str, Any]) -> str:
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
    errors = [f"Calibration error {when}" for when in columns]
    return _table([drift["every"].capitalize(), "Rows", *errors], lines)


def class_rows(found: dict[str, Any]) -> list[list[str]]:
    """The table of the log loss by predicted class: its head, the mean over classes, and the least
    accurate classes.
    """
    mean = ["Mean", "", "", found["best"], *map(rounded, found["macro"].values())]
    lines = [
        [
            row["class"],
            f"{row['rows']:,.0f}",
            "{} ({} to {})".format(*(percent(row[key], 0) for key in ("accuracy", "low", "high"))),
            row["use"],
            *(rounded(one["loss"]) for one in row["methods"].values()),
        ]
        for row in found["rows"][:WORST]
    ]
    return [["Predicted class", "Rows", "Accuracy", "Use", *found["macro"]], mean, *lines]


def _alternatives(rows: Any, columns: Any) -> str:
    titles = {key: title for key, title, kind in columns if kind != "change"}
    lines = [
        [
            " ".join(_text(v) for v in (row["name"], row["output"]) if v)
            + (" (chosen)" if row["chosen"] else ""),
            *(rounded(row["metrics"][key]["value"]) for key in titles),
            _range(
                row["against"] and {"value": row["against"]["difference"], **row["against"]}, "+"
            ),
        ]
        for row in rows
    ]
    return _table(["Calibrator", *titles.values(), "Against the chosen"], lines)
