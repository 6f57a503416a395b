"""How often an audit calls any group off where none is (at most 5 %), and how often it finds one that is.

``python -m benchmarks.groups.audit [--runs 2000]`` prints one line a case. Every run draws new rows: 2,000 of them, 4 columns (of two, four
and six levels and of numbers), 100 or more groups with their crossings. "power" is of one crossing, a twelfth of the rows, of which 12
points too little is said.
"""

import argparse
import time

import numpy as np

import calibrant as cb

__all__ = ["CASES", "share_of_alarms"]

ROWS, LEVELS = 2000, (2, 4, 6)


def _groups(rng, n):
    columns = {f"c{k}": rng.integers(0, k, n).astype(str) for k in LEVELS}
    return {**columns, "age": rng.normal(size=n)}


def _event(rng, power, rare=False, **options):
    groups = _groups(rng, ROWS)
    p = (0.08 if rare else 1.0) * rng.beta(2.0, 3.0, ROWS)
    truth = np.where((groups["c2"] == "0") & (groups["c6"] == "0"), np.minimum(p + 0.12, 1.0), p) if power else p
    return cb.audit((rng.random(ROWS) < truth).astype(int), p, groups, **options)


def _average(rng, power, **options):
    """Right on average in every group, but not in every row: the weak null alone holds."""
    groups = _groups(rng, ROWS)
    p = np.clip(rng.beta(2.0, 3.0, ROWS), 0.1, 0.9)
    truth = p + 0.1 * rng.choice([-1.0, 1.0], ROWS)
    truth += 0.12 * ((groups["c2"] == "0") & (groups["c6"] == "0")) * power
    return cb.audit((rng.random(ROWS) < np.clip(truth, 0.0, 1.0)).astype(int), p, groups, null="weak", **options)


def _clustered(rng, power, clusters=200, **options):
    """Rows of one cluster share their luck; clusters lie across the groups."""
    groups = _groups(rng, ROWS)
    cluster = rng.integers(0, clusters, ROWS)
    p = np.clip(rng.beta(2.0, 3.0, ROWS), 0.15, 0.8)
    truth = p + 0.12 * rng.choice([-1.0, 1.0], clusters)[cluster]
    truth += 0.12 * ((groups["c2"] == "0") & (groups["c6"] == "0")) * power
    return cb.audit((rng.random(ROWS) < np.clip(truth, 0.0, 1.0)).astype(int), p, groups, cluster=cluster, **options)


def _classes(rng, power, **options):
    groups = _groups(rng, ROWS)
    P = rng.dirichlet(np.ones(3), ROWS)
    truth = P.copy()
    if power:
        worse = (groups["c2"] == "0") & (groups["c6"] == "0")
        truth[worse] = 0.85 * P[worse] + 0.15 * np.array([1.0, 0.0, 0.0])
    y = (rng.random(ROWS)[:, None] > truth.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return cb.audit(y, P, groups, target="classes", **options)


def _forecasts(rng, power, **options):
    groups = _groups(rng, ROWS)
    mean, std = rng.normal(size=ROWS), np.exp(0.3 * rng.normal(size=ROWS))
    worse = (groups["c2"] == "0") & (groups["c6"] == "0")
    return cb.audit(mean + rng.normal(size=ROWS) * std * np.where(worse & bool(power), 1.5, 1.0), mean, groups, std=std, **options)


#: Name of the case -> (simulation, options of the audit).
CASES = {
    "event, strong null": (_event, {}),
    "rare event, strong null": (_event, {"rare": True}),
    "event, weak null": (_event, {"null": "weak"}),
    "right on average, weak null": (_average, {}),
    "200 clusters, weak null": (_clustered, {}),
    "classes, strong null": (_classes, {}),
    "forecasts, weak null": (_forecasts, {}),
    "forecasts, strong null": (_forecasts, {"null": "strong"}),
    "groups given, and found by a tree": (_event, {"found": "tree"}),
    "groups given, and found by boosting": (_event, {"found": "boosting"}),
    "event, share of false finds": (_event, {"control": "share"}),
}


def share_of_alarms(name: str, runs: int, power: bool, first: int = 0, n_draws: int = 300) -> tuple[float, float]:
    """(share of runs in which any group is called off, or where there is power the group that is; seconds of CPU a run)."""
    simulate, options = CASES[name]
    alarms, start = 0, time.process_time()
    for seed in range(first, first + runs):
        found = simulate(np.random.default_rng(seed), power, n_draws=n_draws, **options)
        where = {"c2": "0", "c6": "0"}
        alarms += bool([one for one in found.off if one.where == where]) if power else bool(found.off)
    return alarms / runs, (time.process_time() - start) / runs


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--case", choices=list(CASES))
    asked = parser.parse_args()
    print(f"{'case':40}{'any alarm, none due':>22}{'power':>8}{'CPU s':>9}   ({asked.runs} runs; power of {max(asked.runs // 5, 1)})")
    for name in CASES if asked.case is None else [asked.case]:
        error, seconds = share_of_alarms(name, asked.runs, False)
        power, _ = share_of_alarms(name, max(asked.runs // 5, 1), True, first=asked.runs)
        print(f"{name:40}{100.0 * error:20.1f} %{100.0 * power:6.0f} %{seconds:9.3f}", flush=True)


if __name__ == "__main__":
    main()
