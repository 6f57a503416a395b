"""What an audit found: a row for each group, those that are off first, and one line."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from calibrant._support.extras import import_extra
from calibrant._support.text_table import MOST_SHOWN, text_table
from calibrant.contracts.columns import plain

__all__ = ["Audit", "GroupGap", "MulticalibrationError"]


@dataclass(frozen=True)
class GroupGap:
    """One group.

    Attributes
    ----------
    where : {column: level}, of several columns where they are crossed
    question : "" of one target; a class, or "mean" and "spread" of forecasts
    n, events : rows (sum of weights), and how many of them the event happened in; None of forecasts
    said, came, gap : means, and ``said - came``: above 0 where too much is said. Of forecasts the
        means are of the normal score of the
        outcome (0 is right) and of the central interval that just holds it (0.5 is right).
    low, high : of the gap; the intervals of all groups that were tested hold together, and those of
        the others each at its share of the
        error rate, one among all groups
    ratio : came / said (O/E), None where nothing was said
    error, error_by_chance : calibration error within the group, and what honest probabilities would
        show; None of forecasts
    score_gap : Brier score above what the probabilities themselves promise; None of forecasts
    shrunk : the gap drawn towards 0 by as much as chance explains: what to expect of new rows
    p_value : adjusted for the number of groups; None where it was not tested
    outcome : "off", "holds" (the interval is inside the tolerance), or "not enough data"
    found : whether the group was found in the features, on other rows than it was tested on
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
        """To be read: the levels, each after its column."""
        parts = [
            level if column == "group" else f"{column} {level}"
            for column, level in self.where.items()
        ]
        return " × ".join([*parts, *([self.question] if self.question else [])])

    def to_dict(self) -> dict[str, Any]:
        """In one, with the name."""
        return {"group": self.name, **vars(self)}


@dataclass(frozen=True)
class MulticalibrationError:
    """The largest error of any group at any cut of what was said: the range of the running sum of
    errors, in standard deviations.

    ``expected`` and ``p_value`` are of the null that the audit tests.
    """

    value: float
    expected: float
    p_value: float


@dataclass(frozen=True, repr=False)
class Audit:
    """What an audit found: ``print`` it for one line, show it for the first groups, ``frame()`` for
    all.

    Attributes
    ----------
    groups : list of GroupGap, those that are off first, by p-value and by how far from 0 their
        interval is; then the rest.
    overall : the same of all rows together, one for each question; not tested, and its interval is
        its own.
    multicalibration : MulticalibrationError or None
        Of the groups given; None where none could be tested.
    null : {"strong", "weak"}
    level, tolerance : as asked for
    control : {"any", "share"}, what the p-values bound: the chance of any false find, or their
        share
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
        """The groups that are off, the worst first."""
        return [one for one in self.groups if one.outcome == "off"]

    @property
    def worst(self) -> GroupGap | None:
        """The group whose gap is surely largest: of those that are off, else of all, whose
        interval is farthest from 0; None of none.
        """
        among = self.off or list(self.groups)
        return max(
            among, key=lambda one: (max(one.low, -one.high, 0.0), abs(one.shrunk)), default=None
        )

    @property
    def largest_gap(self) -> float:
        """Size of the largest shrunken gap of a group that is off, for gates; it does not grow
        with their number. 0 where none is.
        """
        return max((abs(one.shrunk) for one in self.off), default=0.0)

    @property
    def sentence(self) -> str:
        """How many groups are miscalibrated, which is the worst, and how many have too few rows
        to tell.
        """
        untold = sum(one.outcome == "not enough data" for one in self.groups)
        told = (
            f"; {untold} {'has' if untold == 1 else 'have'} too few rows to tell" if untold else ""
        )
        worst = f"; the worst is {_said(self.worst)}" if self.off and self.worst is not None else ""
        verb = "is" if len(self.off) == 1 else "are"
        return f"{len(self.off)} of {len(self.groups)} groups {verb} miscalibrated{worst}{told}."

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        head = ("group", "rows", "predicted", "observed", "gap", "interval", "p", "outcome")
        return "\n".join(
            [self.sentence, *text_table(head, [_shown(one) for one in self.groups], MOST_SHOWN)]
        )

    def frame(self) -> Any:
        """One row a group, as a pandas data frame."""
        pandas = import_extra("pandas", "a data frame of groups", "frames")
        return pandas.DataFrame(
            [
                {name: v for name, v in one.to_dict().items() if name != "where"}
                for one in self.groups
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
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
        f"{one.name}: predicted {100.0 * one.said:.3g} %, observed {100.0 * one.came:.3g} % (n ="
        f" {one.n:,.0f})"
    )


def _shown(one: GroupGap) -> tuple[str, ...]:
    p = "" if one.p_value is None else f"{one.p_value:.3g}"
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
