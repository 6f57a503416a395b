"""Verdict on classes in one sentence, from the numbers only, and the words on a calibration that
all tasks share.
"""

from typing import Any

from calibrant.core.text_table import percent, rounded
from calibrant.reporting.miscalibration import (
    Evidence,
    Miscalibration,
    Words,
    could_show,
    in_words,
    points,
)
from calibrant.reporting.summary import Verdict

__all__ = [
    "WORDS",
    "about_calibration",
    "about_model",
    "advised",
    "at",
    "gain",
    "judged",
    "verdict",
]

#: What is said of the calibration, before the numbers.
WORDS = {
    "mixed": "lowers the log loss but makes the confidences less calibrated",
    "use": "improves it",
    "do not use": "makes it worse",
    "no clear gain": "is not shown to improve it",
}


def verdict(
    scores: Any,
    chance: Any,
    quality: Any,
    method: str,
    evaluation: str,
    evidence: Evidence,
    decides: str = "log_loss",
) -> Verdict:
    """Return the verdict on the model and on the calibration, with a recommendation.

    Parameters
    ----------
    scores : {key: Score}
    chance : from ``chance_error``
    quality : with the mean confidence and the accuracy before
    method : str, the calibrator's name in tables
    evaluation : "none", "out-of-fold", "held-out" or "in-sample"
    evidence : Evidence
    decides : key of the score that calibrators are chosen by
    """
    gap = quality.confidence - quality.accuracy
    model = about_model(evidence.before, chance, gap, ("overconfident", "underconfident"))
    loss, ece = scores[decides], scores["ece"]
    calibration = advised(loss, ece, evaluation)
    moved = ""
    if calibration in WORDS:
        moved = (
            f"{loss.name} {rounded(loss.before.value)} to {rounded(loss.after.value)}, ECE to"
            f" {rounded(ece.after.value)}"
        )
    said = _about_model(model, chance, quality, evidence)
    words = {**WORDS, "mixed": f"lowers the {loss.name} but makes the confidences less calibrated"}
    said += about_calibration(calibration, words, method, moved, evaluation)
    return judged(
        evidence, _words(model, quality, gain(loss, ece), evidence), said, model, calibration
    )


def judged(evidence: Evidence, words: Words, detail: str, model: str, calibration: str) -> Verdict:
    """Return the verdict whose words follow from its state."""
    state = evidence.state(calibration in ("use", "mixed"))
    sentence, action = in_words(state, words, evidence, calibration)
    return Verdict(state, sentence, action, detail, model, calibration)


def gain(loss: Any, error: Any) -> str:
    """Return the sentence on what calibration does to the mean gap, from the binned error before
    and after, or to the ``loss`` where the gap is no smaller.
    """
    if error.after is None:
        return ""
    before, after = points(error.before.value), points(error.after.value)
    if error.after.value < error.before.value and before != after:
        before = before.removesuffix(" points")
        return f"Calibration brings the mean gap from {before} to {after}."
    return f"Calibration lowers the {loss.name}, but not the mean gap ({after})."


def _words(model: str, quality: Any, gained: str, evidence: Evidence) -> Words:
    sure = f"{percent(quality.confidence, 0)} sure on average"
    right = f"right {percent(quality.accuracy, 0)}"
    fault = {
        "overconfident": f"The model is too sure: {sure}, {right} of the time.",
        "underconfident": f"The model is not sure enough: {sure}, {right} of the time.",
    }.get(model, f"The model’s confidences are off in places{at(evidence.example, 'right')}.")
    fine = f"The confidences match the accuracy: {sure}, {right} of the time."
    return Words("confidences", fault, fine, gained, f"{quality.n:,.0f} rows", quality.n)


def at(example: tuple[float, float] | None, came: str) -> str:
    """Return ": where 90 % is predicted, 71 % ``came``", or nothing without an example."""
    if example is None:
        return ""
    return f": where {percent(example[0], 0)} is predicted, {percent(example[1], 0)} are {came}"


def about_calibration(
    calibration: Any, words: dict[str, str], method: str, moved: Any, evaluation: str
) -> str:
    """Return the end of the sentence, in the ``words`` of the task; ``moved`` names the numbers
    before and after.
    """
    if calibration == "none":
        return "."
    if calibration == "unknown":
        return f"; whether {method} helps cannot be said from the rows it was fitted on."
    seen = "out of fold" if evaluation == "out-of-fold" else "on rows it has not seen"
    return f"; {method} {words[calibration]} ({moved}, {seen})."


def about_model(found: Miscalibration, chance: Any, gap: float, words: tuple[str, str]) -> str:
    """Return the model in a word: one of ``words``, too high and too low, if the mean ``gap`` is
    most of the observed error.
    """
    if not found.seen:
        return "calibrated"
    if abs(gap) < 0.5 * chance.observed:
        return "miscalibrated"
    return words[0] if gap > 0 else words[1]


def advised(loss: Any, ece: Any, evaluation: str) -> str:
    """Return the advice on the calibration by its log loss; rows it was fitted on give none."""
    if evaluation in ("none", "in-sample"):
        return "none" if evaluation == "none" else "unknown"
    if loss.change.meaning == "better" and ece.change.meaning == "worse":
        return "mixed"
    return {"better": "use", "worse": "do not use"}.get(loss.change.meaning, "no clear gain")


def _about_model(model: str, chance: Any, quality: Any, evidence: Evidence) -> str:
    says = (
        f"it is {percent(quality.confidence)} sure on average and right"
        f" {percent(quality.accuracy)} of the time"
    )
    if model == "calibrated":
        return (
            f"No miscalibration of the model can be told from chance: {says}, with an ECE of"
            f" {rounded(chance.observed)} {could_show(evidence.before)}"
        )
    named = (
        "miscalibrated, too sure in places and not enough in others"
        if model == "miscalibrated"
        else model
    )
    return (
        f"The model is {named}: {says}, with an ECE of {rounded(chance.observed)} where chance"
        f" explains {rounded(chance.high)}"
    )
