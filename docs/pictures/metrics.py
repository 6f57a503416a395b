"""The plain ECE of a perfect model by the number of rows, and its debiased interval."""

import matplotlib.pyplot as plt
import numpy as np

from calibrant import metrics

rng = np.random.default_rng(0)
rows = [100, 200, 400, 800, 1600, 3200, 6400]
ece = metrics.positive_class_calibration_error
intervals = []
for n in rows:
    p = rng.beta(2, 2, n)
    intervals.append(ece.interval((rng.random(n) < p).astype(int), p))
_, ax = plt.subplots(figsize=(5.6, 3.6), layout="constrained")
ax.fill_between(
    rows,
    [one.low for one in intervals],
    [one.high for one in intervals],
    color="#0b6e99",
    alpha=0.2,
    label="debiased 95 % interval",
)
ax.plot(rows, [one.plain for one in intervals], "o-", color="#c2410c", label="plain ECE")
ax.axhline(0.0, color="0.4", linestyle="--", label="true error")
ax.set_xscale("log")
ax.set_xticks(rows, [f"{n:,}" for n in rows])
ax.minorticks_off()
ax.set(xlabel="Rows", ylabel="Calibration error")
ax.legend(frameon=False, fontsize="small")
