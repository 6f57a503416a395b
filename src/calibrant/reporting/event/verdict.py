"""The report on the risk of an event in one sentence, from the numbers alone."""

from typing import Any

from calibrant.reporting.summary import Verdict
from calibrant.reporting.verdict import about_calibration, about_model, advised

__all__ = ["verdict"]

#: From here on a mean is told as so many times too high or too low, below it in points.
TIMES = 1.3
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
    model = about_model(chance, said - happened, ("overestimates", "underestimates"))
    calibration = advised(scores["log_loss"], scores["event_ece"], evaluation)
    moved = ""
    if calibration in WORDS:
        loss, ratio = scores["log_loss"], scores["observed_expected_ratio"].after.value
        risk = "" if not ratio else f"it then says {share(happened / ratio)}; "
        moved = f"{risk}log loss {loss.before.value:.4f} to {loss.after.value:.4f}"
    sentence = _about(model, chance, said, happened) + about_calibration(calibration, WORDS, method, moved, evaluation)
    return Verdict(sentence, model, calibration)


def _about(model, chance, said, happened):
    means = f"says {share(said)} on average where {share(happened)} happened"
    error = f"an ECE of {chance.observed:.4f} where chance explains {chance.high:.4f}"
    if model == "calibrated":
        return f"No miscalibration of the risks can be told from chance: the model {means}, with an ECE of {chance.observed:.4f}"
    if model == "miscalibrated":
        return f"The model {means}, but is too high in places and too low in others: {error}"
    return f"The model {means}: it {model} {_by(said, happened)}, with {error}"


def _by(said, happened):
    low, high = sorted((said, happened))
    if low > 0.0 and high / low >= TIMES:
        times = high / low
        return f"{times:.0f}-fold" if times >= 9.5 else f"{times:.1f}-fold"
    return f"by {100.0 * (high - low):.1f} points"


def share(value: float) -> str:
    """A share in per cent, rare ones with two digits that count.

    Examples
    --------
    >>> share(0.304), share(0.00123), share(0.0)
    ('30.4 %', '0.12 %', '0.0 %')
    """
    return f"{100.0 * value:.2g} %" if 0.0 < value < 0.01 else f"{100.0 * value:.1f} %"
