"""The small pictures of the first page: each function draws one, with a label or two."""

import matplotlib.pyplot as plt
import numpy as np

import calibrant as cb

BEFORE, AFTER, GREY = "#c2410c", "#0b6e99", "#9ca3af"
rng = np.random.default_rng(0)
z = rng.normal(-0.3, 1.2, 4000)
y = (rng.random(4000) < 1 / (1 + np.exp(-z))).astype(int)
p = 1 / (1 + np.exp(-2.2 * z))


def blank(*, diagonal=True):
    """Axes without ticks, and the diagonal."""
    ax = plt.subplots(figsize=(2.8, 1.7), layout="constrained")[1]
    ax.set(xticks=[], yticks=[])
    ax.spines[["top", "right"]].set_visible(False)
    if diagonal:
        ax.plot([0, 1], [0, 1], color=GREY, linestyle="--", linewidth=1)
    return ax


def write(ax, words, at, colour, **options):
    """Words inside the axes, ``at`` in shares of their width and height."""
    ax.text(*at, words, color=colour, transform=ax.transAxes, fontsize=9, **options)


def risks():
    """A curve of risks that are too extreme, before and after calibration."""
    ax = blank()
    for risk, colour in ((p, BEFORE), (cb.Platt().fit(p, y).predict(p), AFTER)):
        found = cb.metrics.loess_curve(y[:1500], risk[:1500])
        ax.fill_between(found.score, found.band_low, found.band_high, color=colour, alpha=0.2)
        ax.plot(found.score, found.observed, color=colour)
    write(ax, "before", (0.03, 0.42), BEFORE)
    write(ax, "after", (0.5, 0.3), AFTER)


def model():
    """The map that a calibrator learns of a model's score."""
    ax = blank()
    grid = np.linspace(0.001, 0.999, 200)
    for one, colour in ((cb.Isotonic(), BEFORE), (cb.Platt(), AFTER)):
        ax.plot(grid, one.fit(p[:500], y[:500]).predict(grid), color=colour)
    write(ax, "steps", (0.05, 0.5), BEFORE)
    write(ax, "sigmoid", (0.5, 0.2), AFTER)


def classes():
    """The probabilities of five classes of one row, before and after one temperature."""
    ax = blank(diagonal=False)
    Z = rng.normal(0, 2.5, (2000, 5))
    P = np.exp(Z / 2) / np.exp(Z / 2).sum(axis=1, keepdims=True)
    label = (P.cumsum(axis=1) > rng.random((2000, 1))).argmax(axis=1)
    cal = cb.TemperatureScaling(inputs="logit").fit(Z, label)
    row = Z[[int(np.argmin(abs(Z.max(axis=1) - 3.0)))]]
    before = np.exp(row[0]) / np.exp(row[0]).sum()
    order = np.argsort(-before)
    ax.bar(np.arange(5) - 0.2, before[order], 0.38, color=BEFORE)
    ax.bar(np.arange(5) + 0.2, cal.predict_proba(row)[0][order], 0.38, color=AFTER)
    write(ax, "before", (0.3, 0.85), BEFORE)
    write(ax, "after", (0.3, 0.68), AFTER)


def answers():
    """The error of the answers kept, the most confident first, and the share that a rule keeps."""
    ax = blank(diagonal=False)
    sure = np.column_stack([1 - p, p])
    right = cb.metrics.risk_coverage_curve(y, sure)
    rule = cb.SelectiveClassifier(risk=0.15).fit(sure, y)
    ax.plot(right.coverage, right.risk, color=AFTER)
    ax.axhline(0.15, color=GREY, linestyle="--", linewidth=1)
    ax.axvline(rule.accept(sure).mean(), color=BEFORE)
    write(ax, "errors allowed", (0.55, 0.4), "#4b5563")


def forecasts():
    """Outcomes with 90 % intervals in the order of the forecast; those missed are marked."""
    ax = blank(diagonal=False)
    mean = np.sort(rng.normal(size=60))
    std = 0.3 + 0.25 * abs(mean)
    outcome = mean + std * rng.normal(size=60)
    low, high = cb.NormalForecast(mean, std).interval(0.9)
    missed = (outcome < low) | (outcome > high)
    ax.fill_between(range(60), low, high, color=AFTER, alpha=0.25, linewidth=0)
    ax.plot(np.flatnonzero(~missed), outcome[~missed], ".", color=AFTER, markersize=4)
    ax.plot(np.flatnonzero(missed), outcome[missed], "x", color=BEFORE, markersize=5)
    write(ax, "90 % interval", (0.03, 0.85), AFTER)


def logs():
    """The evidence of a monitor over 24 batches, and its alarm."""
    ax = blank(diagonal=False)
    monitor = cb.monitoring.CalibrationMonitor()
    for day in range(24):
        true = rng.beta(2, 4, 150)
        said = true if day < 10 else true / (true + 1.6 * (1 - true))
        monitor.update(said, (rng.random(150) < true).astype(int), time=day)
    evidence = monitor.curve().log_evidence
    ax.plot(evidence, color=AFTER)
    ax.axhline(np.log(monitor.threshold_), color=GREY, linestyle="--", linewidth=1)
    ax.axvline(monitor.alarm_time_, color=BEFORE)
    write(ax, "alarm", (0.64, 0.85), BEFORE)
