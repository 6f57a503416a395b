"""Fits of Gaussian-process calibration with a learned kernel: 1,000 rows and 10, 100, 1,000
classes, CPU seconds on one core.

Run: OMP_NUM_THREADS=1 python benchmarks/speed/gaussian_process.py
Exits 1 when a fit takes a second or more.
"""

import sys
import time

import numpy as np

import calibrant as cb
from calibrant._numerics.threads import set_threads

ROWS, REPEATS, MOST = 1_000, 3, 1.0


def rows(n_classes):
    """Logits 1.8 times too large, and labels drawn from the right ones."""
    rng = np.random.default_rng(0)
    logits = 2.0 * rng.normal(size=(ROWS, n_classes))
    return 1.8 * logits, (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)


def main():
    set_threads(1)
    slow = False
    for n_classes in (10, 100, 1000):
        logits, y = rows(n_classes)
        P = np.exp(logits - logits.max(axis=1, keepdims=True))
        P /= P.sum(axis=1, keepdims=True)
        for inputs, X in (("probability", P), ("logit", logits)):
            spent = []
            for _ in range(REPEATS):
                start = time.process_time()
                cal = cb.calibrators.GaussianProcessCalibration(inputs=inputs).fit(X, y)
                spent.append(time.process_time() - start)
            slow |= min(spent) >= MOST
            print(
                f"K = {n_classes:5,d}  {inputs:11s}  {cal.layout_:12s}  {min(spent):.2f} s CPU "
                f" {cal.status_}"
            )
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
