"""A class that is predicted too rarely: one temperature cannot repair it, a matrix can."""

import matplotlib.pyplot as plt
import numpy as np

import calibrant as cb

rng = np.random.default_rng(0)
P = rng.dirichlet([1.0, 1.0, 1.0], 4000)
often = P * [3.0, 1.0, 1.0]
true = often / often.sum(axis=1, keepdims=True)
y = (true.cumsum(axis=1) > rng.random((4000, 1))).argmax(axis=1)
fit, test = slice(1000), slice(1000, None)
axes = plt.subplots(1, 2, figsize=(9.6, 4.4), layout="constrained")[1]
for cal, ax in zip(
    (cb.TemperatureScaling(), cb.calibrators.StructuredMatrixScaling()), axes, strict=True
):
    Q = cal.fit(P[fit], y[fit]).predict_proba(P[test])
    cb.displays.ReliabilityDisplay.from_predictions(
        y[test], Q, target=0, n_bins=10, ax=ax, name=type(cal).__name__
    )
