"""How long Hoki takes to fit, its search of the noise's scale included, beside temperature scaling
and beside sampled noise.

    python -m benchmarks.speed.label_stability

CPU seconds of one process, turn about on the same simulated logits (planted temperature 2), the
best turn counting. scikit-learn's temperature scaling is timed without its meta-estimator. The
sampled fit is extrapolated: the time of DRAWS noise vectors at one scale, times 1,000 / DRAWS,
times the number of scales. Exits with 1 where a limit does not hold at n = 25,000 and K = 1,000.
"""

import sys
import time

import numpy as np
from sklearn.calibration import _TemperatureScaling

import calibrant as cb
from calibrant._numerics import label_stability as kernel

SIZES = ((10_000, 10), (5_000, 100), (25_000, 1_000))  # MNIST, CIFAR-100, ImageNet
TURNS, DRAWS, DRAWS_PER_SCALE = 3, 10, 1_000
AT_MOST_TIMES_SKLEARN, AT_LEAST_TIMES_FASTER_THAN_SAMPLED = 2.0, 10.0


def sample(n, n_classes, seed=0):
    """Logits (n, K) float32 and labels drawn from softmax(logits / 2)."""
    rng = np.random.default_rng(seed)
    logits = 2.0 * rng.standard_normal((n, n_classes))
    logits[np.arange(n), rng.integers(0, n_classes, n)] += 2.0 * rng.gamma(
        4.0, 1.0, n
    ) + 2.0 * np.log(n_classes)
    labels = (0.5 * logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    return logits.astype(np.float32), labels


def cpu_seconds(function):
    """CPU seconds that one call takes."""
    start = time.process_time()
    function()
    return time.process_time() - start


def sampled_seconds(logits, n_scales):
    """CPU seconds of a search with 1,000 drawn noise vectors at each scale, extrapolated."""
    noise = kernel.standard_noise("gaussian", DRAWS, logits.shape[1], 0)
    label = logits.argmax(axis=1)
    return (
        cpu_seconds(lambda: kernel.sampled_stability(logits, label, noise))
        * DRAWS_PER_SCALE
        / DRAWS
        * n_scales
    )


def measure(n, n_classes):
    """{"name": CPU seconds} of one size."""
    logits, y = sample(n, n_classes)
    fits = {
        "Hoki, Gaussian noise": lambda: cb.calibrators.HokiCalibrator(inputs="logit").fit(
            logits, y
        ),
        "Hoki, uniform noise": (
            lambda: cb.calibrators.HokiCalibrator(
                signal=cb.calibrators.LabelStability(noise="uniform"), inputs="logit"
            ).fit(logits, y)
        ),
        "temperature, calibrant": lambda: cb.TemperatureScaling(inputs="logit").fit(logits, y),
        "temperature, scikit-learn": lambda: _TemperatureScaling().fit(logits, y),
    }
    turns = [{name: cpu_seconds(fit) for name, fit in fits.items()} for _ in range(TURNS)]
    best = {name: min(turn[name] for turn in turns) for name in fits}
    scales = len(cb.calibrators.HokiCalibrator(inputs="logit").fit(logits, y).signal_.scales_)
    return best | {
        "Hoki, 1,000 draws a scale": min(sampled_seconds(logits, scales) for _ in range(TURNS))
    }


def main():
    """Print a table of times; 1 where a limit is broken."""
    best: dict[str, float] = {}
    for n, n_classes in SIZES:
        best = measure(n, n_classes)
        print(f"n = {n:,}, K = {n_classes:,}")
        for name, seconds in best.items():
            print(f"  {name:28s} {seconds:9.3f} s CPU")
    over = best["Hoki, Gaussian noise"] / best["temperature, scikit-learn"]
    faster = best["Hoki, 1,000 draws a scale"] / best["Hoki, Gaussian noise"]
    print(
        f"at the last size: {over:.2f} times scikit-learn's temperature scaling (limit"
        f" {AT_MOST_TIMES_SKLEARN})"
    )
    print(
        f"at the last size: {faster:.0f} times less than sampling (limit"
        f" {AT_LEAST_TIMES_FASTER_THAN_SAMPLED})"
    )
    return int(over > AT_MOST_TIMES_SKLEARN or faster < AT_LEAST_TIMES_FASTER_THAN_SAMPLED)


if __name__ == "__main__":
    sys.exit(main())
