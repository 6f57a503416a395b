"""Gates for continuous integration: ``--fail-if "ece>0.02"``."""

import operator
import re
from dataclasses import dataclass
from typing import Any

import click

from calibrant._support.deprecation import warn_renamed
from calibrant.errors import InputError
from calibrant.reporting.classification import KEYS as OF_ANSWERS
from calibrant.reporting.event.task import KEYS as OF_EVENTS
from calibrant.reporting.regression.task import METRICS

__all__ = ["FAILED", "Gate", "GateType"]

#: Exit code of a failed gate.
FAILED = 3
OPERATORS = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}
#: Of classes, key -> name: of two classes those of the event, and of the answer beside it.
KEYS = {**OF_EVENTS, **OF_ANSWERS}
#: Old key -> key.
OLD_KEYS = {
    "brier": "brier_score", "positive_class_ece": "event_ece", "interval_error": "interval_calibration_error", "pinball": "pinball_loss",
    "spread_of_std": "c_v",
}  # fmt: skip
#: Of an audit of groups, key -> name, and where the number is.
OF_GROUPS = {"group_gap": ("Largest gap of a group that is off", "largest_gap"), "groups_off": ("Groups that are off", "n_off")}
#: Name that people see, or key, in small letters -> key.
SHOWN = {
    said.lower(): key for key, name in (*KEYS.items(), *((key, name) for key, (name, _) in METRICS.items())) for said in (key, name)
}  # fmt: skip
GRAMMAR = re.compile(r"\s*(?:(before|after)\.)?([^<>=]+?)\s*(<=|>=|<|>)\s*([-+0-9.eE]+)\s*")


@dataclass(frozen=True)
class Gate:
    """One condition under which a run fails: a metric of the predictions ``before`` or ``after`` calibration, against a number."""

    when: str
    metric: str
    sign: str
    bound: float

    @classmethod
    def parse(cls, text: str) -> "Gate":
        """Read ``[before.|after.]metric op number``; without a prefix the predictions as they are in the file are meant.

        Examples
        --------
        >>> Gate.parse("ece > 0.02")
        Gate(when='before', metric='ece', sign='>', bound=0.02)
        """
        match = GRAMMAR.fullmatch(text)
        key = None if match is None else OLD_KEYS.get(match[2], match[2])
        if match is None or key not in (*KEYS, *METRICS, *OF_GROUPS):
            meant = None if match is None else SHOWN.get(match[2].lower())
            raise ValueError(
                f'a gate reads [before.|after.]METRIC OP NUMBER, such as "ece>0.02", with METRIC one of {", ".join(KEYS)}, '
                f"of forecasts {', '.join(METRICS)}, or of groups {', '.join(OF_GROUPS)}; got {text!r}"
                + (f"; the key of {match[2]} is {meant}" if match is not None and meant is not None else "")
            )
        try:
            bound = float(match[4])
        except ValueError:
            raise ValueError(f"{match[4]!r} in {text!r} is not a number") from None
        if key != match[2]:
            warn_renamed(f"--fail-if {match[2]}", f"--fail-if {key}", since="0.2")
        return cls(match[1] or "before", key, match[3], bound)

    def reason(self, summary: dict[str, Any]) -> Any:
        """Why it fails, in one line, for the first output that does; None when it passes."""
        told = [
            *summary["metrics"],
            *summary.get("answer", {}).get("metrics", ()),
            *(row for one in summary.get("outputs", [summary]) for row in _of_groups(one.get("audit"))),
        ]
        rows = [row for row in told if row["key"] == self.metric]
        if not rows or rows[0][self.when] is None:
            known = ", ".join(dict.fromkeys(row["key"] for row in told))
            missing = f"{self.metric} of the predictions {self.when} calibration"
            raise InputError(f"--fail-if asks for {missing}, which this run does not have; it has {known}.")
        failed = (row for row in rows if self._holds(row[self.when]["value"]))
        return next((self._said(row, len(rows) > 1) for row in failed), None)

    def _holds(self, value):
        # A number that is not finite is left out of the summary: it passes no gate.
        return value is None or OPERATORS[self.sign](value, self.bound)

    def _said(self, row, several):
        value, of = row[self.when]["value"], f" of {row['output']}" if several else ""
        found = "not finite" if value is None else f"{value:.6g}, which is {self.sign} {self.bound:g}"
        return f"{row['name']}{of} {self.when} calibration is {found}"


def _of_groups(audit):
    """The numbers of an audit, {"before": ..., "after": ...}, as rows of metrics."""
    if audit is None:
        return []
    found = {when: audit[when] for when in ("before", "after")}
    return [
        {"key": key, "name": name, **{when: None if of is None else {"value": of[place]} for when, of in found.items()}}
        for key, (name, place) in OF_GROUPS.items()
    ]


class GateType(click.ParamType):
    """A gate as an option of a command; what cannot be read is wrong usage."""

    name = "condition"

    def convert(self, value: str, param: Any, ctx: Any) -> Gate:
        """The gate."""
        try:
            return value if isinstance(value, Gate) else Gate.parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
