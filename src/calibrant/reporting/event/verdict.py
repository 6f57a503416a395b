"""The report on the risk of an event in one sentence, from the numbers alone."""

from typing import Any

from calibrant.reporting.rounded import rounded
from calibrant.reporting.summary import Verdict
from calibrant.reporting.verdict import about_calibration, about_model, advised, could_show

__all__ = ["verdict"]

#: From here on a mean is told as so many times too high or too low, below it in points.
TIMES = 1.3
#: Intervals are made so much wider before they accuse a model: there are three looks at each (Bonferroni, at 95 %).
WIDER = 1.22
SIDES = ("overestimates", "underestimates")
WORDS = {
    "mixed": ("lowers the log loss but makes the risks less honest", ": try another method"),
    "use": ("improves it", ": use it"),
    "do not use": ("makes it worse", ": do not use it here"),
    "no clear gain": ("changes it by no more than chance", ""),
}


def verdict(scores: Any, chance: Any, quality: Any, method: str, evaluation: str) -> Verdict:
    """What the numbers say of the risks, and of the calibration, with a recommendation.

    ``model`` is "calibrated", "overestimates", "underestimates" or "miscalibrated" (too high in places and too low in others); the
    parameters are those of :func:`calibrant.reporting.verdict.verdict`.
    """
    said, happened = quality.risk, quality.rate
    model, evidence = _model(scores, chance, said - happened)
    calibration = advised(scores["log_loss"], scores["event_ece"], evaluation)
    if quality.veto is not None and calibration not in ("none", "unknown"):
        calibration = "check the data first"
        return Verdict(f"{_about(model, evidence, quality)}. Check the data first. {quality.veto}", model, calibration)
    moved = ""
    if calibration in WORDS:
        loss, ratio = scores["log_loss"], scores["observed_expected_ratio"].after.value
        risk = "" if not ratio else f"it then says {share(happened / ratio)}; "
        moved = f"{risk}log loss {rounded(loss.before.value)} to {rounded(loss.after.value)}"
    sentence = _about(model, evidence, quality) + about_calibration(calibration, WORDS, method, moved, evaluation)
    return Verdict(sentence, model, calibration)


def _model(scores: Any, chance: Any, gap: Any) -> tuple[str, str]:
    """The model in a word, and the number that says it.

    Where the ECE finds nothing, as bins see little of rare events, an interval of O/E or of the slope beside it may leave 1 out.
    """
    model: str = about_model(chance, gap, SIDES)
    error = f"an ECE of {rounded(chance.observed)}"
    if model != "calibrated":
        return model, f"{error} where chance explains {rounded(chance.high)}"
    ratio, slope = scores["observed_expected_ratio"].before, scores["calibration_slope"].before
    if _off(ratio):
        return SIDES[1 if ratio.value > 1.0 else 0], f"an O/E of {_limits(ratio)}"
    return ("miscalibrated", f"a calibration slope of {_limits(slope)}") if _off(slope) else (model, error)


def _off(one: Any):
    return one.low is not None and (one.value - 1.0 > WIDER * (one.value - one.low) or 1.0 - one.value > WIDER * (one.high - one.value))


def _limits(one: Any):
    return f"{one.value:.3f} [{one.low:.3f}, {one.high:.3f}]"


def _about(model: Any, evidence: Any, quality: Any):
    said, happened = quality.risk, quality.rate
    means = f"says {share(said)} on average where {share(happened)} happened"
    if model == "calibrated":
        return (
            f"No miscalibration of the risks can be told from chance: the model {means}, with {evidence} {could_show(quality.detectable)}"
        )
    if model == "miscalibrated":
        return f"The model {means}, but is too high in places and too low in others: {evidence}"
    return f"The model {means}: it {model} {_by(said, happened)}, with {evidence}"


def _by(said: Any, happened: Any):
    low, high = sorted((said, happened))
    if low > 0.0 and high / low >= TIMES:
        times = high / low
        return f"{times:.0f}-fold" if times >= 9.5 else f"{times:.1f}-fold"
    points = 100.0 * (high - low)
    return f"by {points:.1f} points" if points >= 1.0 else f"by {points:.2g} points"


def share(value: float) -> str:
    """A share in per cent, rare ones with two digits that count.

    Examples
    --------
    >>> share(0.304), share(0.00123), share(0.0)
    ('30.4 %', '0.12 %', '0.0 %')
    """
    return f"{100.0 * value:.2g} %" if 0.0 < value < 0.01 else f"{100.0 * value:.1f} %"
