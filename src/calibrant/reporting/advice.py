"""Advice from the results of a report: one state by one rule, and its words."""

from dataclasses import dataclass

from calibrant.reporting.miscalibration import Miscalibration

__all__ = [
    "EVERY",
    "STATES",
    "Evidence",
    "Words",
    "advised_state",
    "could_show",
    "in_words",
    "points",
]

#: From the gravest: what is said of several outputs together.
STATES = (
    "check the data first",
    "off, no remedy shown",
    "better, but still off",
    "too few rows to say",
    "calibrate before use",
    "fine as it is",
)
#: How the name of all groups together begins.
EVERY = "all"
OTHERS = "Try another calibrator, more rows or other features."
#: Sentences on a calibration that is no remedy, by that of the verdict.
TRIED = {
    "do not use": " The calibration tried makes them worse.",
    "no clear gain": " The calibration tried does not make them clearly better.",
    "use": " The calibration tried is not enough.",
    "mixed": " The calibration tried is not enough.",
}
FIRST = "Fit a calibrator, and measure it on rows that it has not seen."
#: What remains, by the check that says most.
REMAINS = {
    "offset": "the mean is still off",
    "slope": "they are still too extreme, or not extreme enough",
    "binned": "they are still off in places",
    "smooth": "they are still off over a range",
    "group": "they are still off for a group",
    "spread": "the errors are still larger or smaller than predicted",
    "shape": "the errors have another shape than predicted",
    "coverage": "90 % intervals still hold too much or too little",
    "std": "small and large error bars are not equally right",
}


@dataclass(frozen=True)
class Evidence:
    """Miscalibration before and after calibration, the caution that rules out any advice, the pair
    (predicted, observed) where the predictions are farthest off, what is still off after, and
    whether the calibration was by group.
    """

    before: Miscalibration
    after: Miscalibration | None = None
    veto: str | None = None
    example: tuple[float, float] | None = None
    where: str | None = None
    by_group: bool = False

    def state(self, better: bool) -> str:
        """Return the state; ``better`` as in ``advised_state``."""
        return advised_state(self.veto is not None, better, self.before, self.after)


@dataclass(frozen=True)
class Words:
    """Parts of a verdict in plain words: what the predictions are called, what is wrong with them,
    what they are like if nothing is, what calibration does to them, and how many rows there are,
    in words and as a number.
    """

    things: str
    fault: str
    fine: str
    gain: str
    rows: str
    n: float


def in_words(state: str, words: Words, evidence: Evidence, calibration: str) -> tuple[str, str]:
    """Return (one or two sentences on the predictions, one on what to do); ``calibration`` is that
    of the verdict.

    Examples
    --------
    >>> few = Miscalibration(0.4, {"offset": 0.4}, 0.9, 0.0, {"offset": 0.1}, 0.02)
    >>> words = Words("risks", "They are too high.", "They match.", "It helps.", "9 rows", 9.0)
    >>> in_words("too few rows to say", words, Evidence(few), "none")[1]
    'Collect rows until there are about 220, then measure again.'
    """
    things, fault = words.things, words.fault
    if not evidence.before.seen:
        fault = f"As they are, the {things} show no error beyond chance."
    if state == "check the data first":
        return str(evidence.veto), "Check the data before you use any number on this page."
    if state == "fine as it is":
        return f"{words.fine} {_fine(evidence.before)}", f"Keep the {things} as they are."
    if state == "calibrate before use":
        few = "" if _sure(evidence) else " Check them again on new rows."
        return f"{fault} {words.gain}", f"Use the calibrated {things}.{few}"
    if state == "better, but still off":
        after = evidence.before if evidence.after is None else evidence.after
        remains = REMAINS[after.worst]
        if after.worst == "group" and evidence.where is not None:
            remains = f"they are still off for {evidence.where}"
            every, tried = evidence.where.startswith(EVERY), evidence.by_group
            use = f"Use the calibrated {things}, but not for {evidence.where}"
            use += "; calibration by group was tried." if tried else "; calibrate by group."
            if every:
                use = f"Calibrate by group before use: the {things} are right for none yet."
            if every and tried:
                use = f"Do not use the {things} by group: they are right for none, by group too."
            return f"{fault} Calibration helps, but {remains}.", use
        return f"{fault} Calibration helps, but {remains}.", (
            f"Use the calibrated {things}, and look at where they are still off."
        )
    if state == "off, no remedy shown":
        tried = TRIED.get(calibration, "")
        todo = OTHERS if tried else FIRST
        return f"{words.fault}{tried}", f"Do not act on these {things} yet. {todo}"
    before = evidence.before
    unseen = f"are right: an error of {points(max(before.detectable.values()))} could go unseen"
    doubt = f"are off by more than {points(before.margin)}" if before.seen else unseen
    return (
        f"{words.rows} are too few to tell whether the {things} {doubt}.",
        f"Collect rows until there are about {_rounded(_times(before) * words.n):,}, then measure"
        " again.",
    )


def _rounded(count: float) -> int:
    """Return a count with two digits."""
    return int(float(f"{count:.2g}"))


def _sure(evidence: Evidence) -> bool:
    after = evidence.before if evidence.after is None else evidence.after
    return after.within or (not after.seen and after.shows)


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


def _times(found: Miscalibration) -> float:
    """Return the factor of rows that would show an error of the margin."""
    return max((max(found.detectable.values()) / found.margin) ** 2, 2.0)


def points(size: float) -> str:
    """Format a probability in points, with two digits."""
    size = 100.0 * size
    told = f"{size:.0f}" if size >= 9.5 else f"{size:.1f}" if size >= 0.95 else f"{size:.2g}"
    told = told.removesuffix(".0")
    return f"{told} point{'' if told == '1' else 's'}"


def _fine(found: Miscalibration) -> str:
    size = points(found.margin)
    if found.within:
        return f"They are within {size} everywhere."
    return f"An error of {size} on average would have shown."
