"""Figures 2 and 6 of the paper from stored numbers: RMSE against RMV of four simulated outputs."""

import matplotlib.pyplot as plt
import numpy as np
from benchmarks.papers.stored import read

from calibrant.displays.axes import COLOURS

_, *rows = read("regression", "figures_2_6")
cases = {
    ("trained", "before"): ("before", COLOURS["other"]),
    ("trained", "STD scaling"): ("after STD scaling", COLOURS["main"]),
    ("untrained", "STD scaling"): ("untrained, after STD scaling", COLOURS["muted"]),
}
figure, axes = plt.subplots(1, 4, figsize=(12, 3.4), layout="constrained")
for ax, output in zip(axes, dict.fromkeys(row[0] for row in rows), strict=True):
    top = 0.0
    for (kind, method), (label, colour) in cases.items():
        own = [row[3:] for row in rows if row[:3] == [output, kind, method]]
        x, y = np.array(own, dtype=float).T
        ax.plot(x, y, "o-", color=colour, markersize=4, label=label)
        top = max(top, x.max(), y.max())
    ax.plot([0, top], [0, top], color=COLOURS["text"], linestyle="--", linewidth=1)
    ax.set(title=f"Output {output}", xlabel="RMV of the bin", ylabel="RMSE of the bin")
axes[0].legend(frameon=False, fontsize="small")
