"""The error of the answers that a threshold accepts, with a band, the promise and the rule."""

import matplotlib.pyplot as plt
import numpy as np

import calibrant as cb

rng = np.random.default_rng(0)
P = rng.dirichlet(np.full(4, 0.15), 3000)
y = np.array([rng.choice(4, p=p) for p in P])
rule = cb.SelectiveClassifier(risk=0.1, confidence=0.9).fit(P, y)
_, ax = plt.subplots(figsize=(5.6, 4.2), layout="constrained")
cb.displays.RiskCoverageDisplay.from_predictions(y, P, band="simultaneous", ax=ax)
ax.axhline(0.1, color="0.3", linestyle="--", linewidth=1)
ax.annotate("promise: at most 10 % wrong", (0.02, 0.104))
share = rule.accept(P).mean()
ax.axvline(share, color="#c2410c", linewidth=1)
ax.annotate(f"the rule accepts {100 * share:.0f} %", (share - 0.02, 0.22), ha="right")
