"""The data and the calls of the gallery of displays."""

import numpy as np

import calibrant as cb

rng = np.random.default_rng(0)

# Risks of an event, by a model that is too sure of itself
z = rng.normal(-0.5, 1.2, 3000)
y = (rng.random(3000) < 1 / (1 + np.exp(-z))).astype(int)
p = 1 / (1 + np.exp(-1.8 * z))
# Probabilities of three classes, too sure as well, and two calibrators
P = rng.dirichlet([1.0, 1.0, 1.0], 1500)
label = (P.cumsum(axis=1) > rng.random((1500, 1))).argmax(axis=1)
P = P**1.8 / (P**1.8).sum(axis=1, keepdims=True)
sets = cb.ConformalSets(level=0.8).fit(P[:500], label[:500]).predict_set(P)
sigmoid = cb.ConfidenceCalibrator(per_class=False).fit(P, label)
smooth = cb.calibrators.GaussianProcessCalibration(n_inducing=8).fit(P, label)
# Forecasts of a number, whose error bars are too small
mean, std = rng.normal(size=1500), np.exp(rng.normal(-0.3, 0.5, 1500))
outcome = mean + 1.5 * std * rng.normal(size=1500)
# A monitor of ten months, in which risks drift from the sixth on
monitor = cb.monitoring.CalibrationMonitor()
for month in range(10):
    drift = 0.35 * max(month - 4, 0)
    risk = rng.beta(2, 3, 150)
    happened = (rng.random(150) < risk / (risk + (1 - risk) * np.exp(-drift))).astype(int)
    monitor.update(risk, happened, time=f"2026-{month + 1:02d}")

#: Heading of the gallery -> display -> its call.
CALLS = {
    "Risks of an event": {
        "ReliabilityDisplay": "ReliabilityDisplay.from_predictions(y, p)",
        "IsotonicCurveDisplay": "IsotonicCurveDisplay.from_predictions(y, p)",
        "RiskDistributionDisplay": "RiskDistributionDisplay.from_predictions(y, p)",
        "DecisionCurveDisplay": "DecisionCurveDisplay.from_predictions(y, p)",
        "GainDisplay": "GainDisplay.from_predictions(y, p)",
        "MurphyDisplay": "MurphyDisplay.from_predictions(y, p)",
    },
    "Answers and classes": {
        "ConfidenceHistogramDisplay": "ConfidenceHistogramDisplay.from_predictions(label, P)",
        "ConfidenceCurveDisplay": "ConfidenceCurveDisplay.from_predictions(label, P, sigmoid)",
        "RiskCoverageDisplay": "RiskCoverageDisplay.from_predictions(label, P)",
        "SignalAccuracyDisplay": (
            "SignalAccuracyDisplay.from_predictions(label, P, cb.calibrators.Margin())"
        ),
        "SetCoverageDisplay": "SetCoverageDisplay.from_sets(label, sets, said=0.8)",
        "LatentFunctionDisplay": "LatentFunctionDisplay.from_calibrator(smooth, P)",
        "JointDistributionDisplay": "JointDistributionDisplay.from_predictions(label, P)",
    },
    "Forecasts of a number": {
        "IntervalCalibrationDisplay": (
            "IntervalCalibrationDisplay.from_predictions(outcome, mean, std)"
        ),
        "RmseRmvDisplay": "RmseRmvDisplay.from_predictions(outcome, mean, std)",
        "RealStdDisplay": "RealStdDisplay.from_predictions(outcome, mean, std)",
        "PitHistogramDisplay": "PitHistogramDisplay.from_predictions(outcome, mean, std)",
        "OrderedIntervalsDisplay": (
            "OrderedIntervalsDisplay.from_predictions(outcome, mean, std, n_rows=60)"
        ),
        "IntervalWidthDisplay": "IntervalWidthDisplay.from_predictions(outcome, mean, std)",
    },
    "Change over time": {
        "DriftDisplay": "DriftDisplay.from_monitor(monitor)",
    },
}
