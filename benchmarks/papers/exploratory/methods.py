"""The paper's methods by the names its figures use, each a calibrant calibrator of logits.

Scores of an ensemble by summed logs crowd at 1, so the kernel densities also run on the log odds of
the same score ("log odds").
"""

import calibrant as cb

RULES = ("b_mon", "b_mon2", "b_mon4", "b_opt")


def per_class(map, signal=None):
    """One map for each predicted class."""
    return cb.ConfidenceCalibrator(signal=signal, map=map, per_class=True, inputs="logit")


METHODS = {
    "uncalibrated": cb.calibrators.Identity(inputs="logit"),
    "Conf1": per_class(cb.calibrators.ClassRate()),
    "histogram": per_class(cb.calibrators.HistogramBinning(n_bins=10)),
    "CwOC": per_class(cb.calibrators.CumulativeConfidence(cutoff="optimal")),
    **{f"KDE {rule}": per_class(cb.calibrators.KernelDensity(bandwidth=rule)) for rule in RULES},
    **{
        f"KDE {rule}, log odds": per_class(
            cb.calibrators.KernelDensity(bandwidth=rule), cb.calibrators.LogOdds()
        )
        for rule in RULES
    },
    "STS": cb.TemperatureScaling(objective="top_label", inputs="logit"),
    "STS by log loss": cb.TemperatureScaling(inputs="logit"),
    "CSTS": cb.calibrators.CategoryTemperature(inputs="logit"),
    "TSwA": cb.calibrators.AwardTemperature(inputs="logit"),
    "CSTSwA": cb.calibrators.AwardTemperature(per_class_temperature=True, inputs="logit"),
}
TEMPERATURES = ("STS", "CSTS", "TSwA", "CSTSwA")
BANDWIDTHS = tuple(f"KDE {rule}" for rule in RULES)
BANDWIDTHS_LOG_ODDS = tuple(f"KDE {rule}, log odds" for rule in RULES)
COMPARED = (
    "histogram",
    "KDE b_mon",
    "KDE b_mon2",
    "KDE b_mon2, log odds",
    "STS",
    "CSTS",
    "TSwA",
    "CwOC",
    "uncalibrated",
)
