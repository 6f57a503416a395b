"""Verdict on the risk of an event in one sentence, from the numbers only."""

from typing import Any

from calibrant.core.text_table import percent, rounded
from calibrant.reporting.judge import Evidence, Words, counted, judged
from calibrant.reporting.miscalibration import could_show
from calibrant.reporting.summary import Verdict
from calibrant.reporting.verdict import WORDS, about_calibration, about_model, calibration_of

__all__ = ["verdict"]

#: From this ratio on a mean error is written as a factor, below it in points.
TIMES = 1.3
SIDES = ("overestimates", "underestimates")


def verdict(
    scores: Any, chance: Any, quality: Any, method: str, evaluation: str, evidence: Evidence
) -> Verdict:
    """Return the verdict on the risks and on the calibration, with a recommendation.

    ``model`` is "calibrated", "overestimates", "underestimates" or "miscalibrated" (too high in
    places and too low in others); the parameters are those of
    :func:`calibrant.reporting.verdict.verdict`.
    """
    said, happened = quality.risk, quality.rate
    model = about_model(evidence.before, chance, said - happened, SIDES)
    calibration = calibration_of(scores["log_loss"], evidence, evaluation)
    moved = ""
    if calibration in WORDS:
        loss, ratio = scores["log_loss"], scores["observed_expected_ratio"].after.value
        risk = "" if not ratio else f"it then says {percent(happened / ratio)}; "
        moved = f"{risk}log loss {rounded(loss.before.value)} to {rounded(loss.after.value)}"
    detail = _about(model, _shown(scores, chance, evidence), quality, evidence)
    detail += about_calibration(calibration, WORDS, method, moved, evaluation)
    words = _words(model, scores, quality, evidence, detail)
    return judged(evidence, words, model, calibration)


def _words(model: str, scores: Any, quality: Any, evidence: Evidence, detail: str) -> Words:
    means = f"{percent(quality.risk)} predicted on average, {percent(quality.rate)} observed"
    slope = scores["calibration_slope"].before
    fault = {
        "overestimates": f"The risks are too high: {means}.",
        "underestimates": f"The risks are too low: {means}.",
    }.get(model)
    if fault is None:
        known = slope.low is not None
        kind = (
            "too extreme, high ones too high and low ones too low"
            if known and slope.high < 1.0
            else "not extreme enough, high ones too low and low ones too high"
            if known and slope.low > 1.0
            else "too high in places and too low in others"
        )
        fault = f"The risks are {kind}{_at(evidence.example)}."
    rows = f"{counted(quality.events, 'event')} in {counted(quality.n, 'row')}"
    return Words("risks", fault, means, rows, detail)


def _at(example: tuple[float, float] | None) -> str:
    if example is None:
        return ""
    return f": where {percent(example[0])} is predicted, {percent(example[1])} happens"


def _shown(scores: Any, chance: Any, evidence: Evidence) -> str:
    """Return the number that shows the largest miscalibration, as text."""
    if not evidence.before.seen:
        return f"an ECE of {rounded(chance.observed)}"
    called = {
        "offset": ("observed_expected_ratio", "an O/E"),
        "slope": ("calibration_slope", "a calibration slope"),
    }
    key, name = called.get(evidence.before.worst, ("", ""))
    if key and scores[key].before.low is not None and chance.observed <= chance.high:
        return f"{name} of {_limits(scores[key].before)}"
    return f"an ECE of {rounded(chance.observed)} where chance explains {rounded(chance.high)}"


def _limits(one: Any) -> str:
    return f"{one.value:.3f} [{one.low:.3f}, {one.high:.3f}]"


def _about(model: str, shown: str, quality: Any, evidence: Evidence) -> str:
    said, happened = quality.risk, quality.rate
    means = f"says {percent(said)} on average where {percent(happened)} happened"
    if model == "calibrated":
        return (
            f"No miscalibration of the risks can be told from chance: the model {means}, with"
            f" {shown} {could_show(evidence.before)}"
        )
    if model == "miscalibrated":
        return f"The model {means}, but is too high in places and too low in others: {shown}"
    return f"The model {means}: it {model} {_by(said, happened)}, with {shown}"


def _by(said: Any, happened: Any) -> str:
    low, high = sorted((said, happened))
    if low > 0.0 and high / low >= TIMES:
        times = high / low
        return f"{times:.0f}-fold" if times >= 9.5 else f"{times:.1f}-fold"
    points = 100.0 * (high - low)
    return f"by {points:.1f} points" if points >= 1.0 else f"by {points:.2g} points"
