"""Calibration curves on new rows: a score, the calibrated score, and the risk from a margin."""

import matplotlib.pyplot as plt
import numpy as np

import calibrant as cb

rng = np.random.default_rng(0)
margin = rng.normal(0.4, 1.5, 3000)
topic = rng.choice(["law", "maths"], 3000)
outcome = (rng.random(3000) < 1 / (1 + np.exp(0.8 * (topic == "maths") - margin))).astype(int)
score = 1 / (1 + np.exp(-2 * margin))
old, new = slice(2000), slice(2000, None)
calibrated = cb.AutoCalibrator().fit(score[old], outcome[old]).predict_proba(score[new])[:, 1]
risk = cb.calibrators.CenteredIsotonic().fit(margin[old], outcome[old]).predict(margin[new])
_, axes = plt.subplots(1, 3, figsize=(13, 4.8), layout="constrained")
rows = ((score[new], "The score"), (calibrated, "Calibrated"), (risk, "Risk from the margin"))
for ax, (predicted, name) in zip(axes, rows, strict=True):
    cb.displays.ReliabilityDisplay.from_predictions(
        outcome[new], predicted, smooth="loess", ax=ax, name=name
    )
