"""Verdict on classes in one sentence, from the numbers only, and the words on a calibration that
all tasks share.
"""

from typing import Any

from calibrant.reporting.advice import Evidence, could_show
from calibrant.reporting.miscalibration import Miscalibration
from calibrant.reporting.rounded import rounded
from calibrant.reporting.summary import Verdict

__all__ = ["WORDS", "about_calibration", "about_model", "advised", "verdict"]

#: What is said of the calibration, before the numbers.
WORDS = {
    "mixed": "lowers the log loss but makes the confidences less honest",
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
    state, ending = evidence.advice(calibration in ("use", "mixed"))
    said = _about_model(model, chance, quality, evidence)
    words = {**WORDS, "mixed": f"lowers the {loss.name} but makes the confidences less honest"}
    said += about_calibration(calibration, words, method, moved, evaluation)
    return Verdict(f"{said} {ending}", model, calibration, state)


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
        f"it is {quality.confidence:.1%} sure on average and right {quality.accuracy:.1%} of the"
        " time"
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
