"""Advice from the results of a report: one state by one rule, and its words."""

from dataclasses import dataclass

from calibrant.reporting.miscalibration import Miscalibration

__all__ = ["STATES", "Evidence", "advised_state", "could_show", "points"]

#: From the gravest: what is said of several outputs together.
STATES = (
    "check the data first",
    "off, no remedy shown",
    "better, but still off",
    "too few rows to say",
    "calibrate before use",
    "fine as it is",
)
OTHERS = "try other methods, more rows or features"
#: What remains, by the check that says most.
REMAINS = {
    "offset": "the mean is still off",
    "slope": "it is still too sure, or not sure enough",
    "binned": "it is still off in places",
    "smooth": "it is still off over a range",
    "group": "a group is still off",
    "spread": "the errors are still larger or smaller than said",
    "shape": "the errors have another shape than said",
    "coverage": "the 90 % intervals still hold too much or too little",
    "std": "small and large error bars are still not equally right",
}


@dataclass(frozen=True)
class Evidence:
    """Miscalibration before and after calibration, and the cautions that rule out any advice."""

    before: Miscalibration
    after: Miscalibration | None = None
    veto: str | None = None

    def advice(self, better: bool) -> tuple[str, str]:
        """Return (the state, the verdict's last sentence); ``better`` as in ``advised_state``."""
        state = advised_state(self.veto is not None, better, self.before, self.after)
        return state, self._words(state)

    def _words(self, state: str) -> str:
        after = self.before if self.after is None else self.after
        sure = after.within or (not after.seen and after.shows)
        return {
            "check the data first": f"Check the data first. {self.veto}",
            "calibrate before use": (
                f"Calibrate before use{'' if sure else ': few rows to confirm'}."
            ),
            "better, but still off": f"Better, but still off: {REMAINS[after.worst]}.",
            "fine as it is": f"Fine as it is: {_fine(self.before)}.",
            "off, no remedy shown": f"Off, and no remedy shown: {OTHERS}.",
            "too few rows to say": f"Too few rows to say more: {_more_rows(self.before)}.",
        }[state]


def advised_state(
    vetoed: bool, better: bool, before: Miscalibration, after: Miscalibration | None
) -> str:
    """Return the state of the predictions by the first rule that holds.

    1. ``vetoed``, a caution that forbids any advice: **check the data first**.
    2. ``better``, surely, on rows that the calibration has not seen: **better, but still off**
       where something is beyond chance afterwards and not within the margin, else **calibrate
       before use**.
    3. Within the margin as it is, or nothing beyond chance where an error of the margin would have
       been seen: **fine as it is**.
    4. Something beyond chance, and by more than the margin: **off, no remedy shown**.
    5. **Too few rows to say**.

    Examples
    --------
    >>> few = Miscalibration(0.4, {"offset": 0.4}, 0.9, 0.0, {"offset": 0.1}, 0.02)
    >>> advised_state(False, False, few, None)
    'too few rows to say'
    """
    if vetoed:
        return "check the data first"
    if better and after is not None:
        remains = after.seen and not after.within
        return "better, but still off" if remains else "calibrate before use"
    if before.within or (not before.seen and before.shows):
        return "fine as it is"
    if before.seen and before.excess > before.margin:
        return "off, no remedy shown"
    return "too few rows to say"


def could_show(found: Miscalibration) -> str:
    """Return, in brackets, the error that the rows could have missed."""
    families = {"offset": "on the whole", "slope": "in the slope", "group": "in a group"}
    told = [f"{points(size)} {families[name]}" for name, size in found.detectable.items()]
    return f"(these rows could have shown an error of {', '.join(told)}, in 19 of 20 samples)"


def _more_rows(found: Miscalibration) -> str:
    """Return the factor of rows that would show an error of the margin."""
    times = max((max(found.detectable.values()) / found.margin) ** 2, 2.0)
    return f"about {times:.0f} times as many would show an error of {points(found.margin)}"


def points(size: float) -> str:
    """Format a probability in points, with two digits."""
    size = 100.0 * size
    told = f"{size:.0f}" if size >= 9.5 else f"{size:.1f}" if size >= 0.95 else f"{size:.2g}"
    return f"{told.removesuffix('.0')} points"


def _fine(found: Miscalibration) -> str:
    size = points(found.margin)
    if found.within:
        return f"it is within {size} everywhere (p = {found.equivalence:.2g})"
    return f"an error of {size} would have been seen"
