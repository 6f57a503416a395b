"""A model whose risks are right for 12 weeks and then too low: error, evidence and alarm."""

import numpy as np

import calibrant as cb

rng = np.random.default_rng(0)
monitor = cb.monitoring.CalibrationMonitor(alpha=0.05, tolerance=0.01)
for week in range(24):
    true = rng.beta(2, 6, 200)
    p = true if week < 12 else true / (true + 2.2 * (1 - true))
    happened = (rng.random(200) < true).astype(int)
    monitor.update(p, happened, time=np.datetime64("2026-01-05") + 7 * week)
cb.displays.DriftDisplay.from_monitor(monitor, name=f"Alarm on {monitor.alarm_time_}")
