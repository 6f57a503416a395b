"""Figure 17 of the paper from stored numbers: the NLL of each method, less that of one shared
temperature, as a mean over classes with its interval.
"""

import matplotlib.pyplot as plt
from benchmarks.papers.stored import read

from calibrant.displays.axes import COLOURS

heading, *rows = read("exploratory", "mnist")
figure, axes = plt.subplots(1, 3, figsize=(10.2, 3.5), layout="constrained")
for ax, variant in zip(axes, ("shifted", "imbalanced", "balanced"), strict=True):
    place = heading.index(f"{variant}, less STS")
    for row in (row for row in rows if row[place] and row[0] != "uncalibrated"):
        value, half = (float(part) for part in row[place].strip("*").split(" ∓ "))
        colour = COLOURS["main"] if value + half < 0 else COLOURS["other"]
        ax.errorbar(value, row[0], xerr=half, fmt="o", color=colour, markersize=5)
    ax.axvline(0, color=COLOURS["muted"], linewidth=1)
    ax.set(title=variant.capitalize(), xlabel="NLL less that of STS", ylabel="method")
    ax.invert_yaxis()
