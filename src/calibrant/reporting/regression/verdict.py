"""Verdict on error bars in one sentence, from the numbers only."""

from typing import Any

from calibrant.core.text_table import percent
from calibrant.reporting.judge import STATES, Evidence, Words, counted, judged
from calibrant.reporting.miscalibration import Miscalibration, could_show
from calibrant.reporting.summary import Verdict
from calibrant.reporting.verdict import about_calibration, calibration_of

__all__ = ["overall", "verdict"]

FAULTS = {
    "overconfident": "too small",
    "underconfident": "too large",
    "miscalibrated": "wrong in places",
}
#: Outputs whose sentences are said one by one.
SAID = 2
#: From the gravest: what is said of several outputs together.
MODELS = ("overconfident", "miscalibrated", "underconfident", "calibrated")
CALIBRATIONS = ("do not use", "no clear gain", "use", "unknown", "none")
WORDS = {
    "use": "improves them",
    "do not use": "makes them worse",
    "no clear gain": "is not shown to improve them",
}


def verdict(
    scores: Any, chance: Any, quality: Any, method: str, evaluation: str, evidence: Evidence
) -> Verdict:
    """Return the verdict on the error bars of one output and on the calibration, with a
    recommendation.

    Parameters
    ----------
    scores : {key: Score}
    chance : from ``chance_errors``
    quality : with the root mean square of the errors in std before
    method : str, the calibrator's name in tables
    evaluation : "none", "out-of-fold", "held-out" or "in-sample"
    evidence : Evidence
    """
    model = _model(evidence.before, scores["coverage"].before, quality.scaled_error)
    calibration = calibration_of(scores["nll"], evidence, evaluation)
    moved = ""
    if calibration in WORDS:
        crps, ence = scores["crps"], scores["ence"]
        moved = (
            ""
            if crps.after is None
            else f"CRPS {crps.before.value:.4g} to {crps.after.value:.4g}, "
        )
        moved += f"ENCE to {ence.after.value:.3f}"
    said = _about_model(model, scores, chance, quality, evidence)
    said += about_calibration(calibration, WORDS, method, moved, evaluation)
    words = _words(model, scores["coverage"], quality, said)
    return judged(evidence, words, model, calibration)


def _words(model: str, coverage: Any, quality: Any, detail: str) -> Words:
    held = f"those for 90 % of the outcomes hold {percent(coverage.before.value, 0)}"
    fault = {
        "overconfident": f"The error bars are too small: {held}.",
        "underconfident": f"The error bars are too large: {held}.",
    }.get(model, f"The error bars are wrong in places, though {held}.")
    rows = counted(quality.n, "row")
    return Words("error bars", fault, held, rows, detail, ("claimed", "covered"))


def overall(verdicts: Any) -> Any:
    """One verdict from {name of the output: its verdict}: that of the only one, or how many are
    of each kind.
    """
    if len(verdicts) == 1:
        return next(iter(verdicts.values()))
    found = [one.model for one in verdicts.values()]
    named = {
        model: [name for name, one in verdicts.items() if one.model == model] for model in MODELS
    }
    said = "; ".join(
        f"{FAULTS[model]} for {', '.join(names)}"
        for model, names in named.items()
        if names and model in FAULTS
    )
    calibration = min((one.calibration for one in verdicts.values()), key=CALIBRATIONS.index)
    sentence = (
        f"Of {len(verdicts)} outputs the error bars are {said}"
        if said
        else f"None of the {len(verdicts)} outputs shows a fault"
    )
    sentence += _calibrations(verdicts)
    gravest = min(verdicts.values(), key=lambda one: STATES.index(one.state))
    vetoed = gravest.state == STATES[0]
    return Verdict(
        gravest.state,
        _each(verdicts) if vetoed or len(verdicts) <= SAID else f"{sentence}.",
        gravest.action,
        " ".join(f"{name}: {one.detail}" for name, one in verdicts.items()),
        min(found, key=MODELS.index),
        calibration,
        gravest.off_by,
        gravest.code,
    )


def _model(found: Miscalibration, coverage: Any, scaled_error: float) -> str:
    if not found.seen:
        return "calibrated"
    if coverage.high < 0.9 and scaled_error > 1.0:
        return "overconfident"
    return "underconfident" if coverage.low > 0.9 and scaled_error < 1.0 else "miscalibrated"


def _about_model(model: str, scores: Any, chance: Any, quality: Any, evidence: Evidence) -> str:
    held, ence = scores["coverage"].before.value, chance["ence"]
    says = (
        f"90 % intervals hold {percent(held)} of the outcomes, the errors are"
        f" {quality.scaled_error:.2f} times what the std says, and the ENCE is {ence.observed:.3f}"
    )
    if model == "calibrated":
        return (
            f"No fault of the error bars can be told from chance: {says}"
            f" {could_show(evidence.before)}"
        )
    return f"The error bars are {FAULTS[model]}: {says} where chance explains {ence.high:.3f}"


def _each(verdicts: dict[Any, Verdict]) -> str:
    """Return the sentences of the outputs, the gravest first; of many, the gravest alone."""
    order = sorted(verdicts.items(), key=lambda one: STATES.index(one[1].state))
    return " ".join(f"{name}: {one.sentence}" for name, one in order[: min(len(order), SAID)])


def _calibrations(verdicts: dict[Any, Verdict]) -> str:
    """Return the end of the sentence on what calibration does to which outputs."""
    said = ""
    for kind, words in (
        ("use", "improves"),
        ("do not use", "worsens"),
    ):
        names = [name for name, one in verdicts.items() if one.calibration == kind]
        if names:
            which = ", ".join(names) if len(names) < len(verdicts) else "all"
            said += f"; calibration {words} {which}"
    return said
