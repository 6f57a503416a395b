"""Result of an audit, with a row for each group, miscalibrated ones first, and a one-line
summary.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from calibrant.core.cards import Card, Shown
from calibrant.core.extras import import_extra
from calibrant.core.guarantee import plain
from calibrant.core.text_table import p_text, percent

__all__ = ["Audit", "GroupGap", "MulticalibrationError"]

#: Tone and action of each state.
ACTIONS = {
    "all groups are off alike": (
        "bad",
        "Calibrate over all rows, then audit the calibrated predictions.",
    ),
    "groups are off": (
        "bad",
        "Calibrate by these groups, if they may be used, or give the model what sets them apart.",
    ),
    "too few rows": ("unknown", "Collect more rows of these groups, then audit again."),
    "use as they are": ("good", "Keep the predictions as they are, and audit again on new data."),
}


@dataclass(frozen=True)
class GroupGap:
    """Audit result of one group.

    Attributes
    ----------
    where : {column: level}, with several columns for a crossing
    question : "" for one target; a class, or "mean" and "spread" for forecasts
    n, events : rows (sum of weights), and the events among them; None for forecasts
    said, came, gap : mean prediction, mean observation, and ``said - came``, above 0 for
        overprediction. For forecasts the means are of the normal score of the outcome (0 under
        calibration) and of the level of the central interval that just holds it (0.5 under
        calibration).
    low, high : interval of the gap; the intervals of all tested groups hold together, and the
        others each at its share of the error rate, one among all groups
    ratio : came / said (O/E), None if nothing was predicted
    error, error_by_chance : calibration error within the group, and its expectation under perfect
        calibration; None for forecasts
    score_gap : Brier score minus its expectation under the probabilities; None for forecasts
    shrunk : the gap shrunk towards 0 by the part expected by chance, as a prediction for new rows
    p_value : adjusted for the number of groups; None if not tested
    outcome : "off", "holds" (the interval is inside the tolerance), or "not enough data"
    found : whether the group was found in the features, on rows other than those of the test
    """

    where: dict[str, str]
    question: str
    n: float
    events: float | None
    said: float
    came: float
    gap: float
    low: float
    high: float
    ratio: float | None
    error: float | None
    error_by_chance: float | None
    score_gap: float | None
    shrunk: float
    p_value: float | None
    outcome: Literal["off", "holds", "not enough data"]
    found: bool

    @property
    def name(self) -> str:
        """The levels, each after its column, as a readable name."""
        parts = [
            level if column == "group" else f"{column} {level}"
            for column, level in self.where.items()
        ]
        return " × ".join([*parts, *([self.question] if self.question else [])])

    def to_dict(self) -> dict[str, Any]:
        """Return all fields in one dictionary, with the name."""
        return {"group": self.name, **vars(self)}


@dataclass(frozen=True)
class MulticalibrationError:
    """Largest error of any group at any cut of the predictions: the range of the running sum of
    errors, in standard deviations.

    ``expected`` and ``p_value`` refer to the null of the audit.
    """

    value: float
    expected: float
    p_value: float


@dataclass(frozen=True, repr=False)
class Audit(Shown):
    """Result of an audit: ``print`` it for one line, display it for the first groups, ``frame()``
    for all.

    Attributes
    ----------
    groups : list of GroupGap, miscalibrated ones first, by p-value and by the distance of their
        interval from 0; then the rest.
    overall : the same for all rows together, one for each question, not tested and with a separate
        interval.
    multicalibration : MulticalibrationError or None
        For the named groups; None if none could be tested.
    null : {"strong", "weak"}
    level, tolerance : the options of the audit
    control : {"any", "share"}, the quantity that the p-values bound: the probability of any false
        finding, or their share
    target : "event", "answer", "classes", a class, or "forecast"
    """

    groups: Sequence[GroupGap]
    overall: Sequence[GroupGap]
    multicalibration: MulticalibrationError | None
    null: Literal["strong", "weak"]
    level: float
    tolerance: float
    control: Literal["any", "share"]
    target: str

    @property
    def off(self) -> list[GroupGap]:
        """The miscalibrated groups, the worst first."""
        return [one for one in self.groups if one.outcome == "off"]

    @property
    def worst(self) -> GroupGap | None:
        """The group with the largest significant gap, or, if none is miscalibrated, the one whose
        interval is farthest from 0; None without groups.
        """
        among = self.off or list(self.groups)
        return max(
            among, key=lambda one: (max(one.low, -one.high, 0.0), abs(one.shrunk)), default=None
        )

    @property
    def largest_gap(self) -> float:
        """Size of the largest shrunken gap of a miscalibrated group, for gates; it does not grow
        with their number. 0 if there are none.
        """
        return max((abs(one.shrunk) for one in self.off), default=0.0)

    @property
    def sentence(self) -> str:
        """Summarise the number of miscalibrated groups, the worst one, and the number with too few
        rows.
        """
        untold = sum(one.outcome == "not enough data" for one in self.groups)
        told = (
            f"; {untold} {'has' if untold == 1 else 'have'} too few rows to tell" if untold else ""
        )
        worst = f"; the worst is {_said(self.worst)}" if self.off and self.worst is not None else ""
        if self.alike:
            rows = self.overall[0]
            return (
                f"All {len(self.groups)} groups are off alike; over all rows {percent(rows.said)}"
                f" predicted, {percent(rows.came)} observed."
            )
        verb = "is" if len(self.off) == 1 else "are"
        return f"{len(self.off)} of {len(self.groups)} groups {verb} miscalibrated{worst}{told}."

    @property
    def alike(self) -> bool:
        """Whether several groups are all off, and each as all rows together may be."""
        rates = len(self.overall) == 1 and self.overall[0].events is not None
        if not rates or not 1 < len(self.groups) == len(self.off):
            return False
        return all(one.low <= self.overall[0].gap <= one.high for one in self.groups)

    @property
    def state(self) -> str:
        """The answer in words: "all groups are off alike", "groups are off"; "too few rows" if
        none is, but most have too few rows to tell; else "use as they are".
        """
        if self.off:
            return "all groups are off alike" if self.alike else "groups are off"
        few = sum(one.outcome == "not enough data" for one in self.groups)
        return "too few rows" if 2 * few > len(self.groups) else "use as they are"

    @property
    def action(self) -> str:
        """Advice for this state."""
        return ACTIONS[self.state][1]

    def __str__(self) -> str:
        return self.sentence

    def _card(self) -> Card:
        head = ("group", "rows", "predicted", "observed", "gap", "interval", "p", "outcome")
        rows = [_shown(one) for one in self.groups]
        title = f"Audit of {len(rows):,} groups"
        badge, tone = self.state.capitalize(), ACTIONS[self.state][0]
        return Card(self.sentence, title, badge, tone, self.action, head=head, rows=rows)

    def frame(self) -> Any:
        """Return one row a group, as a pandas data frame."""
        pandas = import_extra("pandas", "a data frame of groups", "frames")
        return pandas.DataFrame(
            [
                {name: v for name, v in one.to_dict().items() if name != "where"}
                for one in self.groups
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, ready for JSON."""
        return plain(
            {
                "sentence": self.sentence,
                "n_groups": len(self.groups),
                "n_off": len(self.off),
                "largest_gap": self.largest_gap,
                **vars(self),
            }
        )


def _said(one: GroupGap) -> str:
    if one.events is None:
        return f"{one.name}: expected {one.said:.3g}, observed {one.came:.3g} (n = {one.n:,.0f})"
    return (
        f"{one.name}: predicted {percent(one.said)}, observed {percent(one.came)} (n ="
        f" {one.n:,.0f})"
    )


def _shown(one: GroupGap) -> tuple[str, ...]:
    p = "" if one.p_value is None else p_text(one.p_value)
    interval = f"[{one.low:+.3f}, {one.high:+.3f}]"
    return (
        one.name,
        f"{one.n:,.0f}",
        f"{one.said:.3g}",
        f"{one.came:.3g}",
        f"{one.gap:+.3f}",
        interval,
        p,
        one.outcome,
    )
