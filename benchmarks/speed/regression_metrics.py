"""Ten million rows of (mean, std, y) through every mergeable regression metric, in one pass: time,
memory, the sketch's error.

python -m benchmarks.speed.regression_metrics [ROWS]
"""

import resource
import sys
import time

import numpy as np

from calibrant import metrics

BLOCK = 250_000
MERGEABLE = [
    metrics.negative_log_likelihood,
    metrics.continuous_ranked_probability_score,
    metrics.root_mean_squared_error,
    metrics.mean_absolute_error,
    metrics.sharpness,
    metrics.coefficient_of_variation,
    metrics.interval_coverage,
    metrics.interval_width,
    metrics.interval_calibration_error,
    type(metrics.expected_normalized_calibration_error)(cells=256),
    type(metrics.uncertainty_calibration_error)(cells=256),
    type(metrics.quantile_calibration_error)(cells=256),
    type(metrics.pinball_loss)(levels=(0.1, 0.5, 0.9)),
]


def block(k):
    """Rows of block k, made afresh: no more than one block is in memory."""
    rng = np.random.default_rng(k)
    mean, std = rng.normal(size=BLOCK), np.exp(0.7 * rng.normal(size=BLOCK))
    return mean + 1.2 * std**1.1 * rng.normal(size=BLOCK), mean, std


def main():
    """Run and print."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    states, seconds = [m.state() for m in MERGEABLE], 0.0
    for k in range(rows // BLOCK):
        data = block(k)
        start = time.process_time()
        states = [s + m.state(*data) for s, m in zip(states, MERGEABLE, strict=True)]
        seconds += time.process_time() - start
    for m, s in zip(MERGEABLE, states, strict=True):
        print(f"{m.name:28s} {s.finalise():.6f}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{rows:,} rows: {seconds:.1f} s of CPU, peak memory {peak:.0f} MB")
    y, mean, std = (
        np.concatenate(parts) for parts in zip(*(block(k) for k in range(8)), strict=True)
    )
    for name in ("expected_normalized", "uncertainty", "quantile"):
        metric = getattr(metrics, f"{name}_calibration_error")
        exact, sketch = metric(y, mean, std), metric(y, mean, std, cells=256)
        print(
            f"{metric.name} of {len(y):,} rows: sorted {exact:.6f}, sketch {sketch:.6f}, difference"
            f" {abs(exact - sketch):.1e}"
        )


if __name__ == "__main__":
    main()
