"""What a report advises beside what is so: ``python -m benchmarks.verdicts``.

Log-odds of N(0, 1.5) are said; the true ones differ by an offset, a slope or in one of four groups.
Printed: the share of reports in each state where the risks are true; where they are off by so much
that the rows should show it in 19 of 20 samples (by two points at least), where "fine as it is"
would be false comfort; and, of 5,000 rows off by 5 points, with calibrators that can repair it.
"""

import argparse
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

import calibrant as cb

__all__ = ["of_size", "states"]

SPREAD, GROUPS = 1.5, 4
#: The true log-odds, by those said, the size of the error, and the group.
FAMILIES: dict[str, Callable[..., np.ndarray]] = {
    "offset": lambda z, size, group: z - size,
    "slope": lambda z, size, group: z * (1.0 - size),
    "group": lambda z, size, group: z - size * (group == 0),
}


def rows_of(family: str, size: float, n: int, seed: int) -> tuple[Any, Any, Any, Any]:
    """(outcomes, what was said, groups, how far it is off)."""
    rng = np.random.default_rng([seed, 11])
    z, group = rng.normal(0.0, SPREAD, n), rng.integers(GROUPS, size=n)
    said, truth = expit(z), expit(FAMILIES[family](z, size, group))
    return (rng.random(n) < truth).astype(int), said, group, abs(truth - said)


def of_size(family: str, points: float) -> float:
    """The parameter of a family that puts the risks (a group's, of a group) so far off."""

    def short(size: float) -> float:
        _, _, group, off = rows_of(family, size, 200_000, 0)
        return float(off[group == 0].mean() if family == "group" else off.mean()) - points

    return float(brentq(short, 0.0, 0.95, xtol=1e-4))


def states(family: str, size: float, n: int, calibrator: Any, repeats: int) -> Counter[str]:
    """How often each state was advised."""
    found: Counter[str] = Counter()
    for seed in range(repeats):
        y, p, group, _ = rows_of(family, size, n, 10_000 + seed)
        given = {"groups": group} if family == "group" else {}
        made = cb.report(y, p, calibrator=calibrator(), n_resamples=2, random_state=seed, **given)
        found[made.to_dict()["verdict"]["state"]] += 1
    return found


def detectable(family: str, n: int) -> float:
    """What a report of true risks says that it would have seen, two points at least."""
    y, p, group, _ = rows_of(family, 0.0, n, 0)
    made = cb.report(
        y, p, calibrator=cb.calibrators.Identity(), groups=group, n_resamples=2
    ).to_dict()
    return max(made["miscalibration"]["before"]["detectable"][family], 0.02)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=100)
    repeats = parser.parse_args().repeats
    warnings.simplefilter("ignore")
    for n in (300, 1_000, 5_000):
        print(
            f"true risks, n = {n:<6} {dict(states('offset', 0.0, n, cb.Platt, repeats))}",
            flush=True,
        )
    for family in FAMILIES:
        for n in (1_000, 10_000):
            size = detectable(family, n)
            told = states(family, of_size(family, size), n, cb.calibrators.Identity, repeats)
            print(f"{family}, {100 * size:.1f} points, n = {n:<6} {dict(told)}", flush=True)
    for family, calibrator in (
        ("offset", cb.Platt),
        ("slope", cb.TemperatureScaling),
        ("slope", cb.AutoCalibrator),
    ):
        told = states(family, of_size(family, 0.05), 5_000, calibrator, repeats)
        print(f"{family}, 5 points, {calibrator.__name__} {dict(told)}", flush=True)


if __name__ == "__main__":
    main()
