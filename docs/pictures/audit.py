"""The groups of an audit, the worst first: the gap with its interval."""

import matplotlib.pyplot as plt
import numpy as np

import calibrant as cb

rng = np.random.default_rng(0)
n = 6000
groups = {
    "sex": rng.choice(["f", "m"], n),
    "job": rng.choice(["full", "part", None], n),
    "age": rng.uniform(18, 90, n),
}
p = rng.uniform(0.1, 0.5, n)
off = 0.15 * ((groups["age"] > 70) & (groups["sex"] == "f"))
y = (rng.random(n) < p + off).astype(int)
found = cb.audit(y, p, groups)
table = found.frame().head(12)
_, ax = plt.subplots(figsize=(5.8, 4), layout="constrained")
for k, row in enumerate(table.itertuples()):
    colour = "#c2410c" if row.outcome == "off" else "#6b7280"
    ax.plot([100 * row.low, 100 * row.high], [k, k], color=colour)
    ax.plot(100 * row.gap, k, "o", color=colour)
ax.axvline(0.0, color="0.4", linewidth=1)
ax.set_yticks(range(len(table)), [f"{row.group} ({row.n:,.0f})" for row in table.itertuples()])
ax.invert_yaxis()
ax.set_xlabel("Predicted less observed (points)")
