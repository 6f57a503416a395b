"""Figure 2 of the paper from stored numbers: the latent function of each of the authors'
classifiers.
"""

import matplotlib.pyplot as plt
import numpy as np
from benchmarks.papers.stored import read

_, *rows = read("gp", "figure_2")
titles = {"kitti": "KITTI, two classes", "mnist": "MNIST, ten classes"}
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, (data, title) in zip(axes, titles.items(), strict=True):
    own = [row for row in rows if row[0] == data]
    for name in dict.fromkeys(row[1] for row in own):
        score, prior, mean, low, high = np.array(
            [row[2:] for row in own if row[1] == name], dtype=float
        ).T
        (line,) = ax.semilogx(score, mean, label=name.replace("_", " "))
        ax.fill_between(score, low, high, color=line.get_color(), alpha=0.12, linewidth=0)
    ax.semilogx(score, prior, color="black", linestyle="--", label="prior: calibrated")
    ax.set(title=title, xlabel="probability of a class", ylabel="latent function")
    ax.legend(frameon=False, fontsize="small")
