"""Errors of two outputs, with the region that should hold 90 % of them, before and after."""

import matplotlib.pyplot as plt
import numpy as np

import calibrant as cb
from calibrant import metrics

rng = np.random.default_rng(0)
cov = np.array([[1.0, 0.8], [0.8, 1.0]])
y = rng.multivariate_normal([0.0, 0.0], cov, size=1000)
forecast = cb.regression.JointNormalForecast(np.zeros((1000, 2)), 0.25 * cov)
fit, new = slice(0, 500), slice(500, None)
cal = cb.regression.CovarianceScaling().fit(forecast.take(fit), y[fit])
before, after = forecast.take(new), cal.predict(forecast.take(new))
turn = np.linspace(0, 2 * np.pi, 200)
circle = np.sqrt(-2 * np.log(1 - 0.9)) * np.column_stack([np.cos(turn), np.sin(turn)])
_, ax = plt.subplots(figsize=(5, 4), layout="constrained")
ax.plot(*y[new].T, ".", color="0.6", markersize=3)
for one, name, colour in ((before, "model", "#c2410c"), (after, "calibrated", "#0b6e99")):
    held = metrics.ellipse_coverage(y[new], one, said=0.9)
    region = circle @ np.linalg.cholesky(one.cov[0]).T
    ax.plot(*region.T, color=colour, label=f"{name}: holds {100 * held:.0f} %")
ax.set(xlabel="Error of the first output", ylabel="Error of the second output", aspect="equal")
ax.legend(frameon=False, fontsize="small")
