"""Rows that a validation needs by the width of its interval, and one metric at five sites."""

import matplotlib.pyplot as plt
import numpy as np

from calibrant import metrics

_, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.6), layout="constrained")
widths = np.linspace(0.1, 0.5, 17)
for rate, beta in ((0.2, (2, 8)), (0.05, (1, 19))):
    rows = [metrics.validation_size(beta=beta, slope_width=w, oe_width=None).rows for w in widths]
    left.semilogy(widths, rows, label=f"events in {100 * rate:.0f} % of the rows")
left.set_yticks([1000, 3000, 10_000, 30_000], ["1,000", "3,000", "10,000", "30,000"])
left.minorticks_off()
left.set(xlabel="Width of the interval of the slope", ylabel="Rows needed")
left.legend(frameon=False, fontsize="small")

rng = np.random.default_rng(0)
site = np.repeat(["a", "b", "c", "d", "e"], 400)
risk = rng.uniform(0.05, 0.5, 2000)
y = rng.random(2000) < risk * np.repeat([0.7, 0.9, 1.0, 1.2, 1.5], 400)
ratio = metrics.observed_expected_ratio
pooled = metrics.over_sites(ratio, y, risk, site)
lines = {f"site {one}": ratio.interval(y[site == one], risk[site == one]) for one in "abcde"}
lines = {name: (one.value, one.low, one.high) for name, one in lines.items()}
one, together = pooled.pooled, ratio.interval(y, risk)
lines["all rows"] = (together.value, together.low, together.high)
lines["a new site"] = (one.value, one.prediction_low, one.prediction_high)
for k, (value, low, high) in enumerate(lines.values()):
    colour = "#0b6e99" if k < 5 else "#c2410c"
    right.plot([low, high], [k, k], color=colour)
    right.plot(value, k, "o", color=colour)
right.axvline(1.0, color="0.6", linewidth=1)
right.set_yticks(range(len(lines)), list(lines))
right.invert_yaxis()
right.set_xlabel("Observed / expected events")
