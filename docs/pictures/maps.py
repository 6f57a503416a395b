"""Four maps of one score, beside the truth that they should find."""

import matplotlib.pyplot as plt
import numpy as np

import calibrant as cb

rng = np.random.default_rng(1)
score = rng.beta(1.2, 1.2, 600)


def truth(x):
    """The share of events at a score: hardly any below .4, and flat above .8."""
    return 0.05 + 0.75 / (1 + np.exp(-14 * (x - 0.6)))


y = (rng.random(600) < truth(score)).astype(int)
grid = np.linspace(0.01, 0.99, 300)
cal = cb.calibrators
maps = (cb.Platt(), cal.Spline(), cb.Isotonic(), cal.HistogramBinning())
axes = plt.subplots(1, 4, figsize=(13.2, 3.4), layout="constrained")[1]
for ax, one in zip(axes, maps, strict=True):
    ax.plot(grid, truth(grid), color="#c2410c", linestyle="--", label="truth")
    ax.plot(grid, one.fit(score, y).predict(grid), color="#0b6e99", label="map")
    ax.set_title(type(one).__name__, fontsize="medium")
    ax.set(xlabel="Score", ylabel="Probability of the event", ylim=(0, 1))
    ax.legend(frameon=False, fontsize="small")
