"""Figure 5 of the paper from stored numbers: the share right by separation, and its two fits."""

import matplotlib.pyplot as plt
import numpy as np
from benchmarks.papers.stored import read

from calibrant.displays.axes import COLOURS

_, *rows = read("geometric", "figure_5")
titles = {"mnist rf": "MNIST, forest", "gtsrb rf": "Traffic signs, forest, whole tracks held out"}
figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
for ax, (name, title) in zip(axes, titles.items(), strict=True):
    curve = np.array([row[1:] for row in rows if row[0] == name], dtype=float)
    separation, right, isotonic, sigmoid = curve.T
    ax.plot(separation, right, "o", color=COLOURS["main"], markersize=4, label="50 groups of rows")
    ax.plot(separation, isotonic, color=COLOURS["other"], label="isotonic regression")
    ax.plot(separation, sigmoid, color=COLOURS["text"], linestyle="--", label="sigmoid")
    ax.set(title=title, xlabel="fast separation", ylabel="share of right answers")
    ax.legend(frameon=False, loc="lower right")
