"""Words of a verdict by kind of prediction: what is wrong with the model, in a word and in a
sentence, and what the calibration does; and one verdict on several outputs.
"""

from typing import Any

from calibrant.core.text_table import counted, percent
from calibrant.reporting.judge import STATES, Evidence, Words
from calibrant.reporting.miscalibration import Miscalibration
from calibrant.reporting.summary import Verdict

__all__ = [
    "calibration_of",
    "of_outputs",
    "words_of_answers",
    "words_of_error_bars",
    "words_of_risks",
]

#: What is said of error bars, by the model in a word; from the gravest.
FAULTS = {
    "overconfident": "too small",
    "miscalibrated": "wrong in places",
    "underconfident": "too large",
    "calibrated": "",
}
CALIBRATIONS = {
    "do not use": "worsens",
    "no clear gain": "",
    "use": "improves",
    "unknown": "",
    "none": "",
}
#: Outputs whose sentences are said one by one.
SAID = 2


def words_of_answers(scores: Any, chance: Any, quality: Any, evidence: Evidence) -> Words:
    """Return the words on the confidences of answers; the parameters are those of
    :meth:`calibrant.reporting.report_table.ReportTable.words`.
    """
    gap = quality.confidence - quality.accuracy
    model = _in_a_word(evidence.before, chance, gap, ("overconfident", "underconfident"))
    sure = f"{percent(quality.confidence, 0)} sure on average"
    means = f"{sure}, right {percent(quality.accuracy, 0)} of the time"
    fault = {
        "overconfident": f"The model is too sure: {means}.",
        "underconfident": f"The model is not sure enough: {means}.",
    }.get(model, f"The model’s confidences are off in places{_at(evidence, 0, 'are right')}.")
    rows = counted(quality.n, "row")
    return Words(model, "confidences", "a confidence", fault, means, rows, ("sure", "right"))


def words_of_risks(scores: Any, chance: Any, quality: Any, evidence: Evidence) -> Words:
    """Return the words on the risks of an event, which may be too high, too low, or both."""
    gap = quality.risk - quality.rate
    model = _in_a_word(evidence.before, chance, gap, ("overestimates", "underestimates"))
    means = f"{percent(quality.risk)} predicted on average, {percent(quality.rate)} observed"
    slope = scores["calibration_slope"].before
    known = slope.low is not None
    kind = (
        "too extreme, high ones too high and low ones too low"
        if known and slope.high < 1.0
        else "not extreme enough, high ones too low and low ones too high"
        if known and slope.low > 1.0
        else "too high in places and too low in others"
    )
    fault = {
        "overestimates": f"The risks are too high: {means}.",
        "underestimates": f"The risks are too low: {means}.",
    }.get(model, f"The risks are {kind}{_at(evidence, 1, 'happens')}.")
    rows = f"{counted(quality.events, 'event')} in {counted(quality.n, 'row')}"
    return Words(model, "risks", "a risk", fault, means, rows)


def words_of_error_bars(scores: Any, chance: Any, quality: Any, evidence: Evidence) -> Words:
    """Return the words on error bars, by what their intervals hold."""
    coverage, size = scores["coverage"].before, quality.scaled_error
    model = "calibrated"
    if evidence.before.seen:
        small = coverage.high < 0.9 and size > 1.0
        large = coverage.low > 0.9 and size < 1.0
        model = "overconfident" if small else "underconfident" if large else "miscalibrated"
    means = f"90 % intervals hold {percent(coverage.value, 0)} of the outcomes"
    fault = {
        "overconfident": f"The error bars are too small: {means}.",
        "underconfident": f"The error bars are too large: {means}.",
    }.get(model, f"The error bars are wrong in places, though {means}.")
    rows = counted(quality.n, "row")
    return Words(model, "error bars", "the coverage", fault, means, rows, ("claimed", "covered"))


def calibration_of(loss: Any, evidence: Evidence, evaluation: str) -> str:
    """Return the calibration in a word, by its change of the score ``loss``; rows it was fitted on
    say nothing.
    """
    if evaluation in ("none", "in-sample"):
        return "none" if evaluation == "none" else "unknown"
    if evidence.gain is not None and evidence.gain.enough:
        return "use"
    change = loss.change
    return "do not use" if change is not None and change.meaning == "worse" else "no clear gain"


def _in_a_word(found: Miscalibration, chance: Any, gap: float, words: tuple[str, str]) -> str:
    """Return one of ``words``, too high and too low, if the mean ``gap`` is most of the observed
    error.
    """
    if not found.seen:
        return "calibrated"
    if abs(gap) < 0.5 * chance.observed:
        return "miscalibrated"
    return words[0] if gap > 0 else words[1]


def _at(evidence: Evidence, digits: int, observed: str) -> str:
    """Return ": where 90 % is predicted, 71 % ``observed``", or nothing without an example."""
    if evidence.example is None:
        return ""
    predicted, rate = (percent(share, digits) for share in evidence.example)
    return f": where {predicted} is predicted, {rate} {observed}"


def of_outputs(verdicts: dict[Any, Verdict]) -> Verdict:
    """Return one verdict from {name of the output: its verdict}: that of the only one, or how many
    are of each kind, with the gravest state.
    """
    if len(verdicts) == 1:
        return next(iter(verdicts.values()))
    faults = _named(verdicts, "model", FAULTS, "{} for {}")
    sentence = (
        f"Of {len(verdicts)} outputs the error bars are {faults}"
        if faults
        else f"None of the {len(verdicts)} outputs shows a fault"
    )
    changes = _named(verdicts, "calibration", CALIBRATIONS, "calibration {} {}")
    sentence = "; ".join(filter(None, (sentence, changes)))
    order = sorted(verdicts.items(), key=lambda one: STATES.index(one[1].state))
    gravest = order[0][1]
    each = " ".join(f"{name}: {one.sentence}" for name, one in order[:SAID])
    told = len(verdicts) <= SAID
    apart = told and len({one.action for one in verdicts.values()}) > 1
    return Verdict(
        gravest.state,
        each if gravest.state == STATES[0] or told else f"{sentence}.",
        " ".join(f"{name}: {one.action}" for name, one in order) if apart else gravest.action,
        _gravest(verdicts, "model", FAULTS),
        _gravest(verdicts, "calibration", CALIBRATIONS),
        gravest.off_by,
        gravest.code,
    )


def _gravest(verdicts: dict[Any, Verdict], key: str, words: dict[str, str]) -> str:
    return min((getattr(one, key) for one in verdicts.values()), key=list(words).index)


def _named(verdicts: dict[Any, Verdict], key: str, words: dict[str, str], form: str) -> str:
    """Return for each word the names of its outputs, "all" of several kinds' only one."""
    parts = []
    for kind, word in words.items():
        names = [str(name) for name, one in verdicts.items() if getattr(one, key) == kind]
        if names and word:
            parts.append(
                form.format(word, "all" if len(names) == len(verdicts) else ", ".join(names))
            )
    return "; ".join(parts)
