"""What intervals promise, simulated: found from the class, whatever its method."""

from typing import Any

import numpy as np

from calibrant._support.estimators import clone
from calibrant.testing.check import seeded
from calibrant.testing.guarantee_checks import check_guarantee
from calibrant.testing.runs import groups_beside

__all__ = ["check_promise", "realised_coverage"]

#: Levels that every method's examples know.
LEVELS = (0.5, 0.8)
NEW_ROWS = 100


def check_promise(calibrator: Any, runs: int = 120, n: int = 40) -> None:
    """Coverage is what ``guarantee(level)`` says, on skewed errors of wrong std; where nothing is promised nothing is asked."""
    for level in LEVELS:
        said, _ = realised_coverage(calibrator, level, 1, n)
        if said is not None:
            in_the_limit = said.guarantee == "asymptotic"
            check_guarantee(*realised_coverage(calibrator, level, *((runs // 6, 50 * n) if in_the_limit else (runs, n))))


def realised_coverage(calibrator: Any, level: float, runs: int, n: int) -> tuple[Any, np.ndarray]:
    """(what was promised, the share of new rows that the intervals held in each run), every run with calibration rows of its own."""
    rng = np.random.default_rng(round(1000 * level))
    said, held = None, np.zeros(runs)
    for k in range(runs):
        mean = rng.normal(size=n + NEW_ROWS)
        std = np.exp(0.7 * rng.normal(size=n + NEW_ROWS))
        y = mean + std**1.5 * (rng.gamma(0.5, 2.0, n + NEW_ROWS) - 1.0)
        of_fit, of_test = groups_beside(calibrator, mean[:n]), groups_beside(calibrator, mean[n:])
        fresh = seeded(clone(calibrator)).fit(mean[:n], y[:n], std=std[:n], **of_fit)
        said = fresh.guarantee(level)
        if said is None:
            break
        low, high = fresh.predict(mean[n:], std[n:], **of_test).interval(level)
        held[k] = np.mean((low <= y[n:]) & (y[n:] <= high))
    return said, held
