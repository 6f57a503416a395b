"""The expected ECE and Brier score of the truth and of coarser probabilities, by enumeration."""

from itertools import product

import matplotlib.pyplot as plt
import numpy as np

from calibrant import metrics

truth = np.array([0.1, 0.3, 0.6, 0.9])
reports = {"truth": truth, "rounded": np.array([0.0, 0.5, 0.5, 1.0]), "constant": np.full(4, 0.475)}
outcomes = np.array(list(product((0, 1), repeat=4)))
chance = np.where(outcomes == 1, truth, 1 - truth).prod(axis=1)
measures = {
    "Expected ECE": metrics.positive_class_calibration_error.with_options(n_bins=1000),
    "Expected Brier score": metrics.event_brier_score,
}
axes = plt.subplots(1, 2, figsize=(8, 2.6), layout="constrained")[1]
for ax, (title, metric) in zip(axes, measures.items(), strict=True):
    values = [sum(chance * [metric(y, np.asarray(p)) for y in outcomes]) for p in reports.values()]
    best = int(np.argmin(values))
    colours = ["#0b6e99" if k == best else "0.75" for k in range(3)]
    bars = ax.barh(list(reports), values, color=colours)
    ax.bar_label(bars, fmt="%.3f", padding=3)
    ax.set(title=title, xlim=(0, 1.2 * max(values)))
    ax.invert_yaxis()
