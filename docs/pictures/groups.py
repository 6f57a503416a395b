"""Gaps of three hospitals before and after calibration by group, on new rows."""

import matplotlib.pyplot as plt
import numpy as np

import calibrant as cb
from calibrant import metrics

rng = np.random.default_rng(0)
hospital = rng.choice(["north", "south", "east"], 12_000)
z = rng.normal(size=12_000)
p = 1 / (1 + np.exp(-z))
y = (rng.random(12_000) < 1 / (1 + np.exp(-z - 0.8 * (hospital == "south")))).astype(int)
fit, new = slice(6000), slice(6000, None)
all_rows = cb.Platt().fit(p[fit], y[fit]).predict(p[new])
grouped = cb.GroupCalibrator().fit(p[fit], y[fit], groups=hospital[fit])
by_group = grouped.predict_proba(p[new], groups=hospital[new])[:, 1]
_, ax = plt.subplots(figsize=(7, 2.9), layout="constrained")
rows = ((p[new], "model"), (all_rows, "calibrated"), (by_group, "calibrated by group"))
colours = ("#6b7280", "#c2410c", "#0b6e99")
for k, ((risk, name), colour) in enumerate(zip(rows, colours, strict=True)):
    gap = metrics.per_group(metrics.calibration_bias, y[new], risk, hospital[new]).frame()
    value = 100 * gap["value"].to_numpy()
    ends = [value - 100 * gap["low"].to_numpy(), 100 * gap["high"].to_numpy() - value]
    place = np.arange(len(gap)) + 0.2 * (k - 1)
    ax.errorbar(value, place, xerr=ends, fmt="o", color=colour, capsize=3, label=name)
ax.axvline(0.0, color="0.6", linewidth=1)
ax.set_yticks(range(len(gap)), gap["group"])
ax.set_xlabel("Predicted less observed share of events (points)")
ax.legend(frameon=False, fontsize="small")
