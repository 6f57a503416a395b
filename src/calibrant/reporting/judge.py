"""The verdict on predictions: one state by one rule, whatever was predicted, and its words.

Advice is a decision, weighed by its consequences: a calibrator is advised where its gain out of
fold exceeds a few nats, not where a test is significant. How far off the predictions are stands
beside it as a range; few rows make the range wide and never the advice empty.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant.core.text_table import percent
from calibrant.reporting.compared_scores import Gain
from calibrant.reporting.drift import DatedAdvice, Drift
from calibrant.reporting.miscalibration import Miscalibration, points, surely
from calibrant.reporting.summary import Measured, Verdict

__all__ = [
    "CALIBRATED",
    "REMAINS",
    "STATES",
    "Changed",
    "Evidence",
    "Words",
    "advised_state",
    "evidence_of",
    "judged",
]

#: From the gravest: what is said of several outputs together.
STATES = (
    "check the data first",
    "off, and nothing tried helps",
    "off, and no calibrator was tried",
    "it has changed",
    "calibrate by group",
    "calibrate",
    "too few rows",
    "use as they are",
)
#: States whose advice is to use what was calibrated.
CALIBRATED = ("calibrate by group", "calibrate")
#: Standard errors by which the mean gap must differ before and after a change.
SURELY = 3.0
#: Times the typical error from which the error of a tail leads the sentence.
LEADS = 5.0
#: How the name of all groups together begins.
EVERY = "all"
OTHERS = "Try another calibrator; if none helps, collect more rows or add features."
FIRST = "Fit a calibrator, and measure it on rows that it has not seen."
#: What remains, by the check that says most.
REMAINS = {
    "offset": "the mean is still off",
    "slope": "they are still too extreme, or not extreme enough",
    "binned": "they are still off in places",
    "smooth": "they are still off over a range",
    "tail": "the surest of them are still off",
    "group": "they are still off for a group",
    "spread": "the errors are still larger or smaller than predicted",
    "shape": "the errors have another shape than predicted",
    "coverage": "90 % intervals still hold too much or too little",
    "std": "small and large error bars are not equally right",
}


@dataclass(frozen=True)
class Changed:
    """A change over time: since when, what was predicted and observed since then, on how many
    rows, and what to do: "re-offset", "re-fit" or "wait".
    """

    since: str
    predicted: float
    observed: float
    rows: float
    remedy: str


@dataclass(frozen=True)
class Evidence:
    """Facts from which a verdict follows.

    Attributes
    ----------
    before, after : Miscalibration; after only of rows that the calibration has not seen
    veto : the caution that rules out any advice
    few : how many rows of what there must be at least, in words, where there are fewer
    example : (predicted, observed) where the predictions are farthest off
    gain : of the calibration; None without one, and on the rows that it was fitted on
    changed : the change over time, if there is an alarm
    where : the worst groups in words, of those after calibration, if it was measured
    worst : the worst group that is off before calibration, with what was predicted and observed
    surely : the error that the worst group has at least
    repaired : whether groups were off before calibration and fewer are off after it
    by_group : whether the calibration was by group
    untried : whether a calibration by group exists that was not tried
    """

    before: Miscalibration
    after: Miscalibration | None = None
    veto: str | None = None
    few: str | None = None
    example: tuple[float, float] | None = None
    gain: Gain | None = None
    changed: Changed | None = None
    where: str | None = None
    worst: str = ""
    surely: float = 0.0
    repaired: bool = False
    by_group: bool = False
    untried: bool = False

    @property
    def off(self) -> bool:
        """Whether the predictions are off beyond doubt by more than the margin: typically, in a
        tail or for a group.
        """
        typical = self.before.low > self.before.margin
        return typical or self.group_off or self.before.tail is not None

    @property
    def group_off(self) -> bool:
        """Whether a group is off beyond doubt by more than the margin."""
        return self.where is not None and self.surely > self.before.margin


@dataclass(frozen=True)
class Words:
    """Parts of a verdict in plain words: the model in a word, what the predictions are called, all
    and a single one, what is wrong with them, what was predicted and observed on average, how many
    rows there are, and what was tried against it.
    """

    model: str
    things: str
    single: str
    fault: str
    means: str
    rows: str
    columns: tuple[str, str] = ("predicted", "observed")
    remedy: str = "Calibration"
    untried: str = "No calibrator was tried; a report tries one by default."


def evidence_of(part: Measured, *, rates: bool) -> Evidence:
    """Return the facts of a measured output; ``rates`` says whether what is predicted of a row is
    its own probability.
    """
    drift, tested = part.drift, part.miscalibration
    changed = None
    if drift is not None:
        changed = _changed_since(drift, drift.advice) or _changed_since(drift, drift.hidden)
    return Evidence(
        tested["before"],
        tested["after"],
        next(iter(part.vetoes), None),
        part.few,
        part.example,
        part.gain,
        changed,
        *_of_groups(part.audit, part.of, rates),
        part.by_group,
        rates and not part.by_group,
    )


def _changed_since(drift: Drift, advice: DatedAdvice | None) -> Changed | None:
    """Return the change over time of an alarm, unless the predictions were never right; one that a
    calibrator hides only where the mean gap since then differs from that before by three standard
    errors.
    """
    if advice is None or advice.alarm_time is None:
        return None
    curve, since = drift.before, str(advice.since)
    place = next(i for i, time in enumerate(curve.time) if str(time) == since)
    if place == 0:
        return None
    sides = [
        (
            float(curve.n[rows].sum()),
            float(np.average(curve.confidence[rows], weights=curve.n[rows])),
            float(np.average(curve.accuracy[rows], weights=curve.n[rows])),
        )
        for rows in (slice(None, place), slice(place, None))
    ]
    (_, *then), (n, predicted, observed) = sides
    noise = sum(rate * (1.0 - rate) / rows for rows, _, rate in sides)
    moved = abs((predicted - observed) - (then[0] - then[1]))
    if advice is drift.hidden and moved <= SURELY * np.sqrt(noise):
        return None
    return Changed(since, predicted, observed, n, advice.decision)


def _of_groups(
    audit: dict[str, Any] | None, of: str, rates: bool
) -> tuple[str | None, str, float, bool]:
    """(the worst groups in words, the worst before calibration, by how much the worst is off at
    least, whether the calibration repaired any).
    """
    if audit is None:
        return None, "", 0.0, False
    last = audit[of] or audit["before"]
    gaps = [one[of] or one["before"] for one in audit["worst"]]
    sure = [surely(gap["low"], gap["high"]) for gap in gaps if gap["outcome"] == "off"]
    after = audit["after"]
    repaired = after is not None and after["n_off"] < audit["before"]["n_off"]
    off = [one for one in audit["worst"] if one["before"] and one["before"]["outcome"] == "off"]
    words = ""
    if rates and off:
        worst = max(off, key=lambda row: surely(row["before"]["low"], row["before"]["high"]))
        predicted, observed = (percent(worst["before"][key]) for key in ("said", "came"))
        words = f"for {worst['group']}, where {predicted} is predicted and {observed} observed"
    return _worst_groups(last), words, max(sure, default=0.0), repaired


def _worst_groups(audit: dict[str, Any]) -> str | None:
    """Name the worst group that is off, and the number of others."""
    if not audit["off"]:
        return None
    if audit["n_off"] == audit["n_groups"] > 1:
        return f"{EVERY} {audit['n_off']} groups"
    others = audit["n_off"] - 1
    more = f" and {others} other group{'s' if others > 1 else ''}" if others else ""
    return f"{audit['off'][0]}{more}"


def advised_state(evidence: Evidence) -> str:
    """Return the state of the predictions by the first rule that holds.

    1. A caution that forbids any advice: **check the data first**.
    2. Fewer than about ten events, or ten others: **too few rows**.
    3. An alarm over time: **it has changed**.
    4. A calibration by group gains enough, and fewer groups are off after it: **calibrate by
       group**.
    5. A calibration gains more than 3 nats out of fold, and more than .3 % of the loss:
       **calibrate**.
    6. Off beyond doubt by more than the margin, typically, in a tail or for a group: **off, and
       nothing tried helps** (or no calibrator was tried).
    7. **Use as they are**.

    Examples
    --------
    >>> few = Miscalibration(0.4, {"offset": 0.4}, 0.9, 0.02, 9e3, 100.0, 100.0, 0.0, 0.1)
    >>> advised_state(Evidence(few)), advised_state(Evidence(few, gain=Gain(4.0, 0.01, "")))
    ('use as they are', 'calibrate')
    """
    if evidence.veto is not None:
        return "check the data first"
    if evidence.few is not None:
        return "too few rows"
    if evidence.changed is not None:
        return "it has changed"
    if evidence.gain is not None and evidence.gain.enough:
        return "calibrate by group" if evidence.by_group and evidence.repaired else "calibrate"
    if evidence.off:
        tried = evidence.gain is not None
        return "off, and nothing tried helps" if tried else "off, and no calibrator was tried"
    return "use as they are"


def judged(evidence: Evidence, words: Words, calibration: str) -> Verdict:
    """Return the verdict: its state, what is so, what to do, and how far off the predictions are;
    ``calibration`` is the calibration in a word.
    """
    state = advised_state(evidence)
    sentence, action = WRITTEN[state](evidence, words)
    before, after = evidence.before, evidence.after
    off_by = {
        "before": [100.0 * before.low, 100.0 * before.high],
        "after": None if after is None else 100.0 * after.high,
    }
    code = []
    if evidence.changed is not None and state == "it has changed":
        code = [f"# names with _calibration: the rows since {evidence.changed.since} only"]
    return Verdict(state, sentence, action, words.model, calibration, off_by, code)


def _vetoed(evidence: Evidence, words: Words) -> tuple[str, str]:
    return str(evidence.veto), "Check the data before you use any number on this page."


def _few(evidence: Evidence, words: Words) -> tuple[str, str]:
    sentence = f"{words.rows}: too few to judge the {words.things}."
    return sentence, f"Collect rows until there are {evidence.few} for a first answer."


def _changed(evidence: Evidence, words: Words) -> tuple[str, str]:
    found: Any = evidence.changed
    predicted, observed = words.columns
    sentence = (
        f"The {words.things} have changed since {found.since}: {percent(found.predicted)}"
        f" {predicted}, {percent(found.observed)} {observed} in {found.rows:,.0f} rows."
    )
    since = f"the {found.rows:,.0f} rows since {found.since}"
    again = "Fit a calibrator" if evidence.after is None else "Fit the calibrator again"
    return sentence, {
        "re-offset": f"{again} on {since}; one shift of all {words.things} would do too.",
        "re-fit": f"{again} on {since}.",
    }.get(found.remedy, f"Collect more rows after {found.since}, then fit the calibrator on them.")


def _calibrate(evidence: Evidence, words: Words) -> tuple[str, str]:
    gain: Any = evidence.gain
    before, after = evidence.before, evidence.after
    things, by_group = words.things, advised_state(evidence) == "calibrate by group"
    tail = _in_tail(before, words)
    size = surely(*before.tails[str(before.tail)]) if tail else 0.0
    if by_group:
        fault, farthest = f"The {things} are off {evidence.worst or 'for some groups'}.", ""
    elif size > LEADS * before.high:
        fault, farthest = tail, ""
    else:
        fault = words.fault if before.seen or evidence.off else f"{words.means}."
        farthest = f" {tail}" if size > before.high else ""
        farthest = (
            f" The {things} are farthest off {evidence.worst}." if evidence.worst else farthest
        )
    help_ = f"{words.remedy} by group" if by_group else words.remedy
    sentence = (
        f"{fault}{farthest} Over all rows {_off_by(before, words)}."
        f" {help_} {'clearly' if gain.clear else 'probably'} helps: "
    )
    if after is not None and after.high < before.high:
        sentence += f"{words.single} is then typically within {points(after.high)}, and "
    action = (
        f"Use the {things} calibrated by group, if the groups may be used."
        if by_group
        else f"Use the calibrated {things}."
    )
    remains = _remains(evidence)
    action = f"{action[:-1]}, but {remains}." if remains else action
    sentence = f"{sentence}{gain.words}."
    return sentence, action if gain.clear else f"{action} Check them again on new rows."


def _remains(evidence: Evidence) -> str:
    """Part that is off beyond doubt by more than the margin after calibration, if anything."""
    after = evidence.after
    if evidence.group_off:
        more = "; without calibrator=, calibration by group is tried" if evidence.untried else ""
        return f"they are still off for {evidence.where}{more}"
    if after is None or not (after.low > after.margin or after.tail):
        return ""
    return REMAINS["tail"] if after.tail else REMAINS[after.worst]


def _in_tail(found: Miscalibration, words: Words) -> str:
    """Say by how much the worst tail is off beyond doubt, if one is by more than the margin."""
    if found.tail is None:
        return ""
    low, high = found.tails[found.tail]
    side, least = "too low" if low > 0.0 else "too high", points(surely(low, high))
    return f"The {found.tail} of the {words.things} are {side} by at least {least}."


def _off(evidence: Evidence, words: Words) -> tuple[str, str]:
    where = f"They are off for {evidence.where}." if evidence.group_off else ""
    tried = ""
    if evidence.gain is not None:
        helps = "gains too little" if evidence.gain.nats > 0.0 else "makes them worse"
        tried = f"The calibration tried {helps}."
    sentence = (
        words.fault,
        f"Over all rows {_off_by(evidence.before, words)}.",
        where or _in_tail(evidence.before, words),
        tried,
    )
    action = f"Do not act on these {words.things} yet. {OTHERS if tried else FIRST}"
    return " ".join(filter(None, sentence)), action


def _use(evidence: Evidence, words: Words) -> tuple[str, str]:
    before, off_by = evidence.before, _off_by(evidence.before, words)
    sentence = f"{words.rows} show nothing wrong: {words.means}; {off_by}."
    sentence += f" {_everywhere(before)}" if before.within else ""
    if before.seen or before.low > 0.0:
        unsure = f"but not surely by more than {points(before.margin)}"
        why = "and calibration gains too little" if evidence.gain else unsure
        sentence = f"{words.fault} Over all rows {off_by}, {why}."
    action = f"Use the {words.things} as they are."
    if before.high > before.margin:
        action += "" if evidence.gain else f" {words.untried}"
        action += (
            f" About {_rounded(before.wanted):,} rows in all would show whether they are within"
            f" {points(before.margin)}."
        )
    return sentence, action


def _everywhere(found: Miscalibration) -> str:
    """Return how far off the parts and the tails can be."""
    ends = [
        f"the {name} within {points(max(abs(low), abs(high)))}"
        for name, (low, high) in found.tails.items()
    ]
    within = f"They are within {points(found.margin)} in every fifth of the rows"
    return f"{', '.join([within, *ends])}."


def _off_by(found: Miscalibration, words: Words) -> str:
    """Range of the typical error, in words."""
    high = points(found.high)
    if found.low <= 0.0:
        return f"{words.single} is typically off by at most {high}"
    low = points(found.low)
    return f"{words.single} is typically off by {low.split()[0]} to {high}"


def _rounded(count: float) -> int:
    """Return a count with two digits."""
    return int(float(f"{count:.2g}"))


#: State -> what writes (one or two sentences on the predictions, one on what to do).
WRITTEN: dict[str, Any] = {
    "check the data first": _vetoed,
    "too few rows": _few,
    "it has changed": _changed,
    "calibrate by group": _calibrate,
    "calibrate": _calibrate,
    "off, and nothing tried helps": _off,
    "off, and no calibrator was tried": _off,
    "use as they are": _use,
}
