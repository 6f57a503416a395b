"""Figures 6 and 7 of the paper from stored numbers: queries a second, and the log loss, by
reduction.
"""

import matplotlib.pyplot as plt
from benchmarks.papers.stored import read

from calibrant.displays.axes import COLOURS

heading, *rows = read("geometric", "reductions_mnist")
names = [row[0] for row in rows]
figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
for ax, column, title in (
    (axes[0], "single", "Queries a CPU second, one at a time"),
    (axes[1], "log loss", "Log loss of isotonic regression"),
):
    values = [float(row[heading.index(column)].replace(",", "")) for row in rows]
    colours = [COLOURS["other"] if name == "none 1" else COLOURS["main"] for name in names]
    ax.barh(names, values, color=colours)
    ax.set(title=title, ylabel="reduction and its factor", xlabel=title.split(",")[0])
    ax.invert_yaxis()
