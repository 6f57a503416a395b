"""Three changes after the fifth of ten batches: what the labels show, and what inputs show."""

import matplotlib.pyplot as plt
import numpy as np

import calibrant as cb

rng = np.random.default_rng(0)
N = 400


def batch(move=0.0, rate=0.0, relation=1.0):
    """Features and outcomes of a batch: inputs that move, another class rate, another relation."""
    X = rng.normal(size=(20 * N, 2))
    y = (rng.random(len(X)) < 1 / (1 + np.exp(-relation * (X[:, 0] + X[:, 1]) + 0.5))).astype(int)
    weight = np.exp(move * X[:, 0] + rate * y)
    rows = rng.choice(len(X), N, p=weight / weight.sum())
    return X[rows], y[rows]


kinds = {
    "inputs (covariate shift)": {"move": 1.0},
    "class rates (label shift)": {"rate": 1.2},
    "relation (concept drift)": {"relation": 0.2},
}
axes = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")[1]
for ax, (name, change) in zip(axes, kinds.items(), strict=True):
    monitor, seen = cb.monitoring.CalibrationMonitor(), []
    for day in range(10):
        X, y = batch(**(change if day >= 5 else {}))
        p = 1 / (1 + np.exp(-X.sum(axis=1) + 0.5))
        seen.append(X)
        monitor.update(p, y, time=day + 1)
    test = cb.monitoring.shift_test(np.vstack(seen[:5]), np.vstack(seen[5:]))
    title = f"{name}\nshift_test: p = {test.p_value:.2g}"
    cb.displays.DriftDisplay.from_monitor(monitor, ax=ax, name=title)
