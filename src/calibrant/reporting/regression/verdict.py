"""The report on error bars in one sentence, from the numbers alone."""

__all__ = ["overall", "verdict"]

FAULTS = {"overconfident": "too small", "underconfident": "too large", "miscalibrated": "wrong in places"}
#: From the gravest: what is said of several outputs together.
MODELS = ("overconfident", "miscalibrated", "underconfident", "calibrated")
#: A change of the NLL that is no reason to do anything, however certain: a std off by 7 %. Of the CRPS it is a quarter, relative.
NEGLIGIBLE = 5e-3
CALIBRATIONS = ("do not use", "mixed", "no clear gain", "use", "unknown", "none")


def verdict(scores, chance, scaled_error, method, evaluation) -> dict:
    """What the numbers say of the error bars of one output, and of the calibration, with a recommendation.

    Parameters
    ----------
    scores : list of dict, from ``score_table``
    chance : dict, from ``chance_errors``
    scaled_error : root mean square of the errors in std, before
    method : str, the calibrator's name in tables
    evaluation : "none", "out-of-fold", "held-out" or "in-sample"

    Returns
    -------
    dict
        sentence; model: "calibrated", "overconfident", "underconfident" or "miscalibrated"; calibration: "use", "mixed", "do not use",
        "no clear gain", "unknown" (in-sample) or "none". In-sample numbers never enter.
    """
    by_key = {row["key"]: row for row in scores}
    model = _model(chance, by_key["coverage"]["before"], scaled_error)
    calibration = _calibration(by_key, evaluation)
    sentence = _about_model(model, by_key, chance, scaled_error) + _about_calibration(calibration, by_key, method, evaluation)
    return {"sentence": sentence, "model": model, "calibration": calibration}


def overall(verdicts) -> dict:
    """One verdict from {name of the output: its verdict}: that of the only one, or how many are of each kind."""
    if len(verdicts) == 1:
        return dict(next(iter(verdicts.values())))
    found = [one["model"] for one in verdicts.values()]
    named = {model: [name for name, one in verdicts.items() if one["model"] == model] for model in MODELS}
    said = "; ".join(f"{FAULTS[model]} for {', '.join(names)}" for model, names in named.items() if names and model in FAULTS)
    calibration = min((one["calibration"] for one in verdicts.values()), key=CALIBRATIONS.index)
    sentence = f"Of {len(verdicts)} outputs the error bars are {said}" if said else f"None of the {len(verdicts)} outputs shows a fault"
    by_kind = {kind: [name for name, one in verdicts.items() if one["calibration"] == kind] for kind in CALIBRATIONS}
    for kind, words in (("use", "improves"), ("mixed", "improves one score and worsens another of"), ("do not use", "worsens")):
        if by_kind[kind]:
            sentence += f"; calibration {words} {', '.join(by_kind[kind]) if len(by_kind[kind]) < len(verdicts) else 'all'}"
    return {"sentence": f"{sentence}.", "model": min(found, key=MODELS.index), "calibration": calibration}


def _model(chance, coverage, scaled_error):
    if not any(one["beyond"] for one in chance.values()):
        return "calibrated"
    if coverage["high"] < 0.9 and scaled_error > 1.0:
        return "overconfident"
    return "underconfident" if coverage["low"] > 0.9 and scaled_error < 1.0 else "miscalibrated"


def _calibration(by_key, evaluation):
    if evaluation == "none":
        return "none"
    if evaluation == "in-sample":
        return "unknown"
    losses = {_meaning(by_key["nll"], 1.0), _meaning(by_key["crps"], 0.25 * by_key["crps"]["before"]["value"])}
    if "better" in losses:
        return "mixed" if "worse" in losses or by_key["ence"]["change"]["meaning"] == "worse" else "use"
    return "do not use" if "worse" in losses else "no clear gain"


def _meaning(row, unit):
    change = row["change"]
    return None if change is None or abs(change["value"]) <= NEGLIGIBLE * unit else change["meaning"]


def _about_model(model, by_key, chance, scaled_error):
    held, ence = by_key["coverage"]["before"]["value"], chance["ence"]
    says = (
        f"90 % intervals hold {held:.1%} of the outcomes, the errors are {scaled_error:.2f} times what the std says, "
        f"and the ENCE is {ence['observed']:.3f}"
    )
    if model == "calibrated":
        return f"No fault of the error bars can be told from chance: {says}"
    return f"The error bars are {FAULTS[model]}: {says} where chance explains {ence['high']:.3f}"


def _about_calibration(calibration, by_key, method, evaluation):
    if calibration == "none":
        return "."
    if calibration == "unknown":
        return f"; whether {method} helps cannot be said from the rows it was fitted on."
    where = "out of fold" if evaluation == "out-of-fold" else "on rows it has not seen"
    crps, ence = by_key["crps"], by_key["ence"]
    moved = [f"CRPS {crps['before']['value']:.4g} to {crps['after']['value']:.4g}"] if crps["after"] is not None else []
    moved = ", ".join([*moved, f"ENCE to {ence['after']['value']:.3f}", where])
    return {
        "mixed": f"; {method} improves one score and worsens another ({moved}): try another method.",
        "use": f"; {method} improves them ({moved}): use it.",
        "do not use": f"; {method} makes them worse ({moved}): do not use it here.",
        "no clear gain": f"; {method} changes them by next to nothing ({moved}).",
    }[calibration]
