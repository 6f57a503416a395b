"""How often the alarm of CalibrationMonitor is false, and how soon it is right: ``python -m benchmarks.monitoring``.

Streams of 200 batches of 100 rows with confidences as a good classifier gives them (Beta(4, 1) between a half and 1), calibrated up to
batch 100. Printed for each change: the share of streams with an alarm before it, the share found after it, and the median and ninth
decile of the batches waited.
"""

import argparse

import numpy as np

import calibrant as cb

ROWS, BATCHES, CHANGE = 100, 200, 100


def _sharper(p, factor):
    return 1.0 / (1.0 + ((1.0 - p) / p) ** factor)


CHANGES = {
    "none": lambda p: p,
    "2 points lower": lambda p: p - 0.02,
    "5 points lower": lambda p: p - 0.05,
    "10 points lower": lambda p: p - 0.10,
    "20 points lower": lambda p: p - 0.20,
    "5 points higher": lambda p: np.minimum(p + 0.05, 1.0),
    "logits 1.5 times too large": lambda p: _sharper(p, 1.0 / 1.5),
    "logits 2 times too large": lambda p: _sharper(p, 0.5),
    "logits 2 times too small": lambda p: _sharper(p, 2.0),
}


def alarm_of(change, seed, options):
    """The batch of the alarm, from 0; None without one."""
    rng, monitor = np.random.default_rng(seed), cb.CalibrationMonitor(target="event", **options)
    for t in range(BATCHES):
        p = 0.5 + 0.5 * rng.beta(4.0, 1.0, ROWS)
        rate = change(p) if t >= CHANGE else p
        if monitor.update(p, (rng.uniform(size=ROWS) < rate).astype(int)).alarm_:
            return t
    return None


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--alpha", type=float, default=0.05)
    parser.add_argument("--tolerance", type=float, default=0.01)
    asked = parser.parse_args()
    options = {"alpha": asked.alpha, "tolerance": asked.tolerance}
    print(f"{asked.streams} streams, alpha {asked.alpha:g}, tolerance {asked.tolerance:g}")
    print(f"{'change':<28}{'false':>8}{'found':>8}{'median':>8}{'90 %':>8}")
    for name, change in CHANGES.items():
        alarms = [alarm_of(change, seed, options) for seed in range(asked.streams)]
        false = np.mean([t is not None and t < CHANGE for t in alarms])
        waited = [t - CHANGE + 1 for t in alarms if t is not None and t >= CHANGE]
        found = len(waited) / max(sum(t is None or t >= CHANGE for t in alarms), 1)
        quantiles = np.quantile(waited, [0.5, 0.9]) if waited else [np.nan, np.nan]
        print(f"{name:<28}{false:>8.3f}{found:>8.2f}{quantiles[0]:>8.0f}{quantiles[1]:>8.0f}", flush=True)


if __name__ == "__main__":
    main()
