"""Two groups with calibrated risks and different rates of the event: one threshold, two rates."""

import matplotlib.pyplot as plt
import numpy as np

import calibrant as cb
from calibrant import metrics

rng = np.random.default_rng(0)
axes = plt.subplots(1, 2, figsize=(9.6, 4.4), layout="constrained")[1]
for ax, (name, shape) in zip(axes, {"Group A": (3, 2), "Group B": (2, 3)}.items(), strict=True):
    p = rng.beta(*shape, 8000)
    y = (rng.random(8000) < p).astype(int)
    alarms = np.mean(p[y == 0] > 0.5)
    gap = 100 * metrics.calibration_bias(y, p)
    title = f"{name}: gap {abs(gap):.1f} points, false positives {100 * alarms:.0f} %"
    cb.displays.RiskDistributionDisplay.from_predictions(y, p, scale="linear", ax=ax, name=title)
    ax.axvline(0.5, color="0.2", linestyle="--", linewidth=1)
