"""Gates for continuous integration: ``--fail-if "ece>0.02"``."""

import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from calibrant.cli.methods import import_extensions
from calibrant.cli.wording import say
from calibrant.errors import InputError
from calibrant.reporting.event.task import KEYS as OF_EVENTS
from calibrant.reporting.measure import TABLES

__all__ = ["Gate", "failed", "known", "metric_key"]

OPERATORS = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}
#: Numbers of an audit of groups: key -> (name, key in the audit's summary).
OF_GROUPS = {
    "group_gap": ("Largest gap of a miscalibrated group", "largest_gap"),
    "groups_off": ("Number of miscalibrated groups", "n_off"),
}
#: Numbers of a monitor: key -> name.
OF_TIME = {
    "alarms": "Alarms, of all rows and of slices",
    "discoveries": "Slices whose evidence stands out",
}
GRAMMAR = re.compile(r"\s*(?:(before|after)\.)?([^<>=]+?)\s*(<=|>=|<|>)\s*([-+0-9.eE]+)\s*")


def known() -> dict[str, dict[str, str]]:
    """Return {kind of number: {key: name}}, including those of extensions."""
    import_extensions()
    kinds = {one.predictions: TABLES[one].keys() for one in TABLES}
    groups = {key: name for key, (name, _) in OF_GROUPS.items()}
    return {"events": OF_EVENTS, **kinds, "groups": groups, "a monitor": OF_TIME}


def _is_metric(key: str) -> bool:
    from calibrant import metrics

    return any(getattr(getattr(metrics, name), "key", name) == key for name in metrics.__all__)


def metric_key(word: str) -> str:
    """The key of a metric, from its key or from its name in Python; another word as it is."""
    from calibrant import metrics

    return getattr(getattr(metrics, word), "key", word) if word in metrics.__all__ else word


@dataclass(frozen=True)
class Gate:
    """Condition under which a run fails: a metric ``before`` or ``after`` calibration, compared
    with a number.
    """

    when: str
    metric: str
    sign: str
    bound: float

    @classmethod
    def parse(cls, text: str) -> "Gate":
        """Parse ``[before.|after.]metric op number``; without a prefix the gate applies to the
        predictions in the file.

        Examples
        --------
        >>> Gate.parse("ece > 0.02")
        Gate(when='before', metric='ece', sign='>', bound=0.02)
        """
        match = GRAMMAR.fullmatch(text)
        if match is None:
            raise ValueError(
                'a gate must be [before.|after.]METRIC OP NUMBER, such as "ece>0.02", in quotes,'
                f" because the shell takes > for itself; got {text!r}"
            )
        key, keys = metric_key(match[2]), known()
        names = {key: name for of in keys.values() for key, name in of.items()}
        if key not in names:
            words = {word.lower(): key for key, name in names.items() for word in (key, name)}
            within = sorted((word for word in words if key.lower() in word), key=len)
            near = within or get_close_matches(key.lower(), words, n=1)
            near = [] if _is_metric(key) else near
            listed = "; ".join(f"of {what} {', '.join(of)}" for what, of in keys.items())
            remedy = f"did you mean {words[near[0]]}?" if near else f"the keys are {listed}"
            raise ValueError(f"a gate must name a metric; got {match[2]!r}; {remedy}")
        try:
            bound = float(match[4])
        except ValueError:
            raise ValueError(f"{match[4]!r} in {text!r} is not a number") from None
        return cls(match[1] or "before", key, match[3], bound)

    def reason(self, summary: dict[str, Any]) -> Any:
        """Return why the gate fails, for the first output that fails it; None if it passes."""
        told = [
            *summary["metrics"],
            *summary.get("answer", {}).get("metrics", ()),
            *(
                row
                for one in summary.get("outputs", [summary])
                for row in _of_groups(one.get("audit"))
            ),
        ]
        rows = [row for row in told if row["key"] == self.metric]
        if not rows or rows[0][self.when] is None:
            known = ", ".join(dict.fromkeys(row["key"] for row in told))
            missing = f"{self.metric} of the predictions {self.when} calibration"
            raise InputError(
                f"--fail-if names {missing}, which this run does not have; it has {known}."
            )
        failed = (row for row in rows if self._holds(row[self.when]["value"]))
        return next((self._said(row, len(rows) > 1) for row in failed), None)

    def _holds(self, value):
        # The summary has no value for a number that is not finite, and such a number fails a gate.
        return value is None or OPERATORS[self.sign](value, self.bound)

    def _said(self, row, several):
        value, of = row[self.when]["value"], f" of {row['output']}" if several else ""
        of += "" if row["after"] is None else f" {self.when} calibration"
        found = (
            "not finite" if value is None else f"{value:.6g}, which is {self.sign} {self.bound:g}"
        )
        return f"{row['name']}{of} is {found}"


def _of_groups(audit):
    """Return the numbers of an audit, {"before": ..., "after": ...}, as rows of metrics."""
    if audit is None:
        return []
    found = {when: audit[when] for when in ("before", "after")}
    return [
        {
            "key": key,
            "name": name,
            **{when: None if of is None else {"value": of[place]} for when, of in found.items()},
        }
        for key, (name, place) in OF_GROUPS.items()
    ]


def failed(gates: Sequence[Gate], summary: dict[str, Any]) -> bool:
    """Return whether a gate fails, and print each failed gate on standard error."""
    reasons = [reason for gate in gates if (reason := gate.reason(summary)) is not None]
    if reasons:
        say(f"Failed: {'; '.join(reasons)}", err=True)
    return bool(reasons)
