"""Figures 1 and 5 of the paper from stored numbers: random error bars pass the interval
criterion and fail the ENCE; trained ones pass both.
"""

import matplotlib.pyplot as plt
import numpy as np
from benchmarks.papers.stored import read

from calibrant.displays.axes import COLOURS

_, *rows = read("regression", "figures_1_4_5")
cases = {
    ("random", "interval"): ("random, interval method", COLOURS["other"]),
    ("trained", "before"): ("trained by the NLL", COLOURS["main"]),
}
panels = {
    "true std by predicted": ("Figures 1a, 5a", "predicted std", "true std"),
    "coverage by level": ("Figures 1b, 5c", "level of the interval", "coverage"),
    "RMSE by predicted std": ("Figures 1c, 5b", "predicted std of the bin", "RMSE of the bin"),
}
figure, axes = plt.subplots(1, 3, figsize=(10.2, 3.5), layout="constrained")
for ax, (what, (title, across, up)) in zip(axes, panels.items(), strict=True):
    top = 0.0
    for (kind, method), (label, colour) in cases.items():
        own = [row[3:] for row in rows if row[:3] == [kind, method, what]]
        x, y = np.array(own, dtype=float).T
        ax.plot(x, y, "." if "true" in what else "o-", color=colour, markersize=4, label=label)
        top = max(top, x.max(), y.max())
    ax.plot([0, top], [0, top], color=COLOURS["muted"], linestyle="--", linewidth=1)
    ax.set(title=title, xlabel=across, ylabel=up)
    ax.legend(frameon=False)
