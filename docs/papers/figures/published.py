"""The numbers of tables 1 and 2, ours against those that the paper prints, from stored tables."""

import re

import matplotlib.pyplot as plt
from benchmarks.papers.stored import read

from calibrant.displays.axes import COLOURS

PAIR = re.compile(r"([\d.]+) \(([\d.]+)\)")
figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
for ax, (measure, title) in zip(
    axes, {"ece": "ECE, 100 bins", "log_loss": "Log loss"}.items(), strict=True
):
    for ours, colour in ((False, COLOURS["muted"]), (True, COLOURS["main"])):
        pairs = [
            tuple(map(float, found.groups()))
            for data in ("kitti", "mnist")
            for row in read("gp", f"{data}_{measure}")[1:]
            for found in filter(None, map(PAIR.fullmatch, row[1:]))
            if row[0].startswith("GPcalib") == ours
        ]
        label = "GPcalib, GPcalib_approx" if ours else "other methods"
        ax.loglog(*zip(*pairs, strict=True), "o", color=colour, markersize=5, label=label)
    low, high = ax.get_xlim()
    ax.plot([low, high], [low, high], color=COLOURS["text"], linewidth=1)
    ax.set(title=title, xlabel="redone", ylabel="published")
    ax.legend(frameon=False)
