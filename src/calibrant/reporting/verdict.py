"""Words of the verdict on classes, and what those on all kinds share: the model in a word, the
calibration in one, and the numbers behind them.
"""

from typing import Any

from calibrant.core.text_table import percent, rounded
from calibrant.reporting.judge import Evidence, Words, counted, judged
from calibrant.reporting.miscalibration import Miscalibration, could_show
from calibrant.reporting.summary import Verdict

__all__ = ["about_calibration", "about_model", "at", "calibration_of", "verdict"]

#: What is said of the calibration, before the numbers.
WORDS = {
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
    calibration = calibration_of(loss, evidence, evaluation)
    moved = ""
    if calibration in WORDS:
        moved = (
            f"{loss.name} {rounded(loss.before.value)} to {rounded(loss.after.value)}, ECE to"
            f" {rounded(ece.after.value)}"
        )
    detail = _about_model(model, chance, quality, evidence)
    detail += about_calibration(calibration, WORDS, method, moved, evaluation)
    return judged(evidence, _words(model, quality, evidence, detail), model, calibration)


def calibration_of(loss: Any, evidence: Evidence, evaluation: str) -> str:
    """Return the calibration in a word; rows it was fitted on say nothing."""
    if evaluation in ("none", "in-sample"):
        return "none" if evaluation == "none" else "unknown"
    if evidence.gain is not None and evidence.gain.enough:
        return "use"
    change = loss.change
    return "do not use" if change is not None and change.meaning == "worse" else "no clear gain"


def _words(model: str, quality: Any, evidence: Evidence, detail: str) -> Words:
    sure = f"{percent(quality.confidence, 0)} sure on average"
    right = f"right {percent(quality.accuracy, 0)}"
    fault = {
        "overconfident": f"The model is too sure: {sure}, {right} of the time.",
        "underconfident": f"The model is not sure enough: {sure}, {right} of the time.",
    }.get(model, f"The model’s confidences are off in places{at(evidence.example, 'right')}.")
    means = f"{sure}, {right} of the time"
    rows = counted(quality.n, "row")
    return Words("confidences", fault, means, rows, detail, ("sure", "right"))


def at(example: tuple[float, float] | None, observed: str) -> str:
    """Return ": where 90 % is predicted, 71 % ``observed``", or nothing without an example."""
    if example is None:
        return ""
    return f": where {percent(example[0], 0)} is predicted, {percent(example[1], 0)} are {observed}"


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
