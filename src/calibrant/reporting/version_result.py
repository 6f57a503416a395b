"""Result of a comparison of two versions of a model."""

import math
from dataclasses import dataclass

from calibrant.core.cards import Card, Shown
from calibrant.core.guarantee import Result
from calibrant.metrics.comparison import Comparison
from calibrant.monitoring.promises import SwapCheck

__all__ = ["GroupMove", "Move", "VersionComparison"]

#: Advice -> (badge, tone, action).
ADVICE = {
    "keep": ("Keep", "good", "Use the new version with the old calibrator and rule."),
    "re-fit": ("Re-fit", "bad", "Fit the calibrator on labels of the new version, then certify."),
    "re-certify": ("Re-certify", "bad", "Certify the rule on labels of the new version."),
    "cannot tell": ("Cannot tell", "unknown", "Label about {} rows of the new version."),
}


@dataclass(frozen=True)
class Move(Result):
    """Mean of a difference between two versions over the same rows, with its interval.

    Attributes
    ----------
    name : "changed answers" (their share), "risk", "confidence", "mean" or "std" (new minus old),
        "distance" (of the two distributions of a row: total variation, or Wasserstein-1 in units of
        the outcome), or the share of rows that a rule decides on (new minus old)
    value, low, high : float
    """

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class GroupMove(Result):
    """Group whose mean moved, by a test that takes the number of groups into account.

    Attributes
    ----------
    group : str
    n : float, rows
    old, new, change : float, means under both versions, and the difference
    low, high : float, interval of the change; those of all groups hold together
    p_value : float, adjusted
    """

    group: str
    n: float
    old: float
    new: float
    change: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True, repr=False)
class VersionComparison(Shown, Result):
    """Result of ``compare_versions``; it prints the advice and what moved.

    Attributes
    ----------
    advice : {"keep", "re-fit", "re-certify", "cannot tell"}
    reason : str
    labels_needed : float, more labels that would decide; 0 where the advice is no "cannot tell"
    moved : list of Move
    groups : list of GroupMove, in which the prediction moved, the largest change first
    better, worse : lists of GroupMove, in which the loss fell or rose; empty without labels
    comparison : metrics.Comparison of the labelled rows, or None
    checks : list of SwapCheck, of the calibrator and the rule on the new version
    n, labelled : int, rows
    """

    advice: str
    reason: str
    labels_needed: float
    moved: list[Move]
    groups: list[GroupMove]
    better: list[GroupMove]
    worse: list[GroupMove]
    comparison: Comparison | None
    checks: list[SwapCheck]
    n: int
    labelled: int

    @property
    def sentence(self) -> str:
        """The comparison of the labelled rows, what moved for whom, and the reason."""
        rows = [] if self.comparison is None else self.comparison.rows[:1]
        found = [f"The new version is {row.meaning} ({row.metric})." for row in rows]
        for word, groups in (("moved most", self.groups), ("is worse", self.worse)):
            named = [f"{one.group} ({one.change:+.3g})" for one in groups[:3]]
            found += [f"It {word} in {', '.join(named)}."] if named else []
        return " ".join([*found, f"{self.reason[0].upper()}{self.reason[1:]}."])

    def _card(self) -> Card:
        badge, tone, action = ADVICE[self.advice]
        needed = f"{self.labels_needed:,.0f}" if math.isfinite(self.labels_needed) else "more"
        head = ("new minus old", "value", "interval")
        rows = [
            (one.name, f"{one.value:.4g}", f"[{one.low:.4g}, {one.high:.4g}]") for one in self.moved
        ]
        sentence = f"{badge}: {self.sentence} {action.format(needed)}"
        return Card(sentence, "Two versions of a model", badge, tone, head=head, rows=rows)
