"""Risks that are too high: the curve, and what acting on them is worth."""

import matplotlib.pyplot as plt
import numpy as np

import calibrant as cb

rng = np.random.default_rng(0)
true = rng.beta(1, 9, 24_000)
y = (rng.random(24_000) < true).astype(int)
p = true**0.6
fit, new = slice(4000), slice(4000, None)
q = cb.Platt().fit(p[fit], y[fit]).predict(p[new])
_, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.4), layout="constrained")
curve = cb.displays.ReliabilityDisplay.from_predictions
decision = cb.displays.DecisionCurveDisplay.from_predictions
for risk, name in ((q, "calibrated"), (p[new], "model")):  # blue and orange, as in a report
    curve(y[new], risk, smooth="spline", ax=left, name=name)
    decision(y[new], risk, ax=right, name=name)
right.set_xlim(0.0, 0.5)
