"""What a report advises beside what is so: ``python -m benchmarks.verdicts``.

Worlds with known risks, none of which chose the rule: predictions of five spreads, true or off by
an offset, a slope, a bend, a floor or a wave. Printed by number of rows: the states; how often true
risks are told to be calibrated, or get a red badge; how often help of over 2 % is missed; how often
what is advised harms by over 1 %; the regret of the advice to the better of the two in hindsight;
and how often "off by" holds. Then, for a change over time, a group, a tail and later rows, the
share of right badges. Losses are expected ones, on 20,000 new rows.
"""

import argparse
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit

import calibrant as cb

__all__ = ["OFF", "SPREADS", "Run", "of_world", "summary"]

#: Name -> log-odds of the predictions, from normal draws.
SPREADS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "even": lambda z: 1.3 * z,
    "narrow": lambda z: 0.6 * z - 0.4,
    "rare": lambda z: 0.9 * z - 2.6,
    "sharp": lambda z: 2.5 * z + 0.5,
    "two camps": lambda z: np.where(z > 0.3, 1.8, -1.2) + 0.5 * z,
}
#: Name -> true log-odds, from those predicted.
OFF: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "true": lambda z: z,
    "too high": lambda z: z - 0.5,
    "too extreme": lambda z: 0.6 * z,
    "too timid": lambda z: 1.5 * z,
    "bent": lambda z: z - 0.25 * (z - z.mean()) ** 2 + 0.2,
    "floor": lambda z: np.maximum(z, -1.5) + 0.0,
    "wave": lambda z: z + 0.5 * np.sin(2.0 * z),
}
RED = ("check the data first", "off, and nothing tried helps", "off, and no calibrator was tried")
USED = ("calibrate", "calibrate by group")
NEW_ROWS, PARTS = 20_000, 20


@dataclass(frozen=True)
class Run:
    """One report: its world, state, the expected losses without and with the calibrator, that of
    who follows the advice, and the true typical error beside its limits, in points.
    """

    world: str
    state: str
    raw: float
    calibrated: float
    advised: float
    off: float
    low: float
    high: float


def _loss(p: np.ndarray, q: np.ndarray) -> float:
    p = np.clip(p, 1e-12, 1.0 - 1e-12)
    return float(-np.mean(q * np.log(p) + (1.0 - q) * np.log1p(-p)))


def of_world(spread: str, off: str, n: int, seed: int) -> Run:
    """One report on ``n`` rows of a world."""
    rng = np.random.default_rng([seed, n, list(SPREADS).index(spread), list(OFF).index(off)])
    z = SPREADS[spread](rng.normal(size=n + NEW_ROWS))
    p, q = expit(z), expit(OFF[off](z))
    y = (rng.random(n) < q[:n]).astype(int)
    verdict = cb.report(y, p[:n], n_resamples=2).to_dict()["verdict"]
    fitted = cb.AutoCalibrator().fit(p[:n], y)
    raw, calibrated = (_loss(each, q[n:]) for each in (p[n:], fitted.predict_proba(p[n:])[:, 1]))
    low, high = verdict["off_by"]["before"]
    parts = np.array_split(np.argsort(p[:n], kind="stable"), PARTS)
    error = 100.0 * np.sqrt(np.mean([np.mean(p[:n][i] - q[:n][i]) ** 2 for i in parts if len(i)]))
    return Run(
        off,
        verdict["state"],
        raw,
        calibrated,
        calibrated if verdict["state"] in USED else raw,
        float(error),
        low,
        high,
    )


def summary(runs: list[Run]) -> dict[str, float]:
    """The shares and the regret of runs of one number of rows."""
    true = [run for run in runs if run.world == "true"]
    wrong = [run for run in runs if run.world != "true"]
    helped = [run for run in wrong if np.log(run.calibrated / run.raw) < -0.02]
    used = [run for run in runs if run.state in USED]
    worst = max(
        np.mean([run.high < run.off for run in wrong if run.world == world])
        for world in {run.world for run in wrong}
    )

    def share(some: list[Run], so: Callable[[Run], bool]) -> float:
        return float(np.mean([so(run) for run in some])) if some else float("nan")

    return {
        "true: calibrate": share(true, lambda run: run.state in USED),
        "true: red": share(true, lambda run: run.state in RED),
        "help missed": share(helped, lambda run: run.state not in USED),
        "advice harms": share(used, lambda run: np.log(run.calibrated / run.raw) > 0.01),
        "regret": float(
            np.mean([np.log(run.advised / min(run.raw, run.calibrated)) for run in runs])
        ),
        "always": float(
            np.mean([np.log(run.calibrated / min(run.raw, run.calibrated)) for run in runs])
        ),
        "low above 0": share(true, lambda run: run.low > 0.0),
        "high missed": share(wrong, lambda run: run.high < run.off),
        "worst world": float(worst),
    }


def _drawn(n: int, seed: int) -> tuple[np.random.Generator, np.ndarray]:
    rng = np.random.default_rng([seed, 7])
    return rng, 1.2 * rng.normal(size=n) - 0.6


def _said(rng: Any, z: np.ndarray, true: np.ndarray, **options: Any) -> dict[str, Any]:
    y = (rng.random(len(z)) < expit(true)).astype(int)
    return cb.report(y, expit(z), n_resamples=2, **options).to_dict()["verdict"]


def over_time(n: int, seed: int) -> bool:
    """Whether a shift of the log-odds by .9 in the last third is dated, with its remedy."""
    rng, z = _drawn(n, seed)
    days = np.datetime64("2026-01-01") + np.arange(n) * 180 // n
    found = _said(rng, z, z + 0.9 * (np.arange(n) > 2 * n // 3), times=days)
    return found["state"] == "it has changed" and bool(found["code"])


def in_a_group(n: int, seed: int) -> bool:
    """Whether a group of five that is off by .9 gets calibration by group."""
    rng, z = _drawn(n, seed)
    group = rng.integers(5, size=n)
    found = _said(rng, z, z + 0.9 * (group == 2), groups={"site": group})
    return found["state"] == "calibrate by group" and "groups" in found["code"][1]


def in_a_tail(n: int, seed: int) -> bool:
    """Whether the surest 1 % that are off by 25 points are not said to be usable as they are."""
    rng, z = _drawn(n, seed)
    p = expit(z)
    high = p >= np.quantile(p, 0.99)
    found = _said(rng, z, np.where(high, logit(np.clip(p - 0.25, 0.01, 0.99)), z))
    return found["state"] != "use as they are"


def later(n: int, seed: int) -> bool:
    """Whether later rows whose risks are nearer to a half are said to be worse."""
    rng, z = _drawn(n, seed)
    found = _said(rng, z, z, new=expit(0.3 * _drawn(n, seed + 1)[1]))
    return found["state"] == "it has changed"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=4)
    parser.add_argument("--rows", type=int, nargs="*", default=[60, 150, 1_000, 5_000])
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    for n in asked.rows:
        runs = [
            of_world(spread, off, n, seed)
            for spread in SPREADS
            for off in OFF
            for seed in range(asked.repeats * (3 if off == "true" else 1))
        ]
        print(f"\n{n:,} rows, {len(runs)} reports", flush=True)
        for world in ("true", "off"):
            states = Counter(
                run.state for run in runs if (run.world == "true") == (world == "true")
            )
            print(f"  {world}: {dict(states.most_common())}")
        for name, value in summary(runs).items():
            print(f"  {name:<18} {value:.4f}", flush=True)
    for right, n in ((over_time, 3_000), (in_a_group, 3_000), (later, 3_000), (in_a_tail, 40_000)):
        share = np.mean([right(n, seed) for seed in range(2 * asked.repeats)])
        print(f"{(right.__doc__ or '').splitlines()[0]} {n:,} rows: {share:.2f}", flush=True)


if __name__ == "__main__":
    main()
