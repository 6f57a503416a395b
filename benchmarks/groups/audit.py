"""How often an audit calls any group off where none is (at most 5 %), and how often it finds one
that is.

``python -m benchmarks.groups.audit [--runs 2000]`` prints one line a case. Every run draws new
rows: 2,000 of them, 4 columns (of two, four and six levels and of numbers), 100 or more groups with
their crossings. "power" is of one crossing, a twelfth of the rows, of which 12 points too little is
said. ``--hard`` prints the laws of ``benchmarks.hard`` on audits and rules, before and after.
"""

import argparse
import sys
import time
from dataclasses import dataclass

import numpy as np

import calibrant as cb

__all__ = ["CASES", "Alarms", "alarms", "most_alarms"]

ROWS, LEVELS = 2000, (2, 4, 6)
#: The crossing that is off, where there is power.
WORSE = {"c2": "0", "c6": "0"}


def _groups(rng, n):
    columns = {f"c{k}": rng.integers(0, k, n).astype(str) for k in LEVELS}
    return {**columns, "age": rng.normal(size=n)}


def _worse(groups):
    return np.all([groups[column] == level for column, level in WORSE.items()], axis=0)


def _event(rng, power, rare=False, **options):
    groups = _groups(rng, ROWS)
    p = (0.08 if rare else 1.0) * rng.beta(2.0, 3.0, ROWS)
    truth = np.where(_worse(groups), np.minimum(p + 0.12, 1.0), p) if power else p
    return cb.audit((rng.random(ROWS) < truth).astype(int), p, groups, **options)


def _average(rng, power, **options):
    """Right on average in every group, but not in every row: the weak null alone holds."""
    groups = _groups(rng, ROWS)
    p = np.clip(rng.beta(2.0, 3.0, ROWS), 0.1, 0.9)
    truth = p + 0.1 * rng.choice([-1.0, 1.0], ROWS)
    truth += 0.12 * _worse(groups) * power
    return cb.audit(
        (rng.random(ROWS) < np.clip(truth, 0.0, 1.0)).astype(int), p, groups, null="weak", **options
    )


def _clustered(rng, power, clusters=200, **options):
    """Rows of one cluster share their luck; clusters lie across the groups."""
    groups = _groups(rng, ROWS)
    cluster = rng.integers(0, clusters, ROWS)
    p = np.clip(rng.beta(2.0, 3.0, ROWS), 0.15, 0.8)
    truth = p + 0.12 * rng.choice([-1.0, 1.0], clusters)[cluster]
    truth += 0.12 * _worse(groups) * power
    return cb.audit(
        (rng.random(ROWS) < np.clip(truth, 0.0, 1.0)).astype(int),
        p,
        groups,
        cluster=cluster,
        **options,
    )


def _coverage(rng, power, **options):
    """Whether sets promised to hold 90 % of the labels held them."""
    groups = _groups(rng, ROWS)
    held = rng.random(ROWS) < np.where(_worse(groups) & bool(power), 0.75, 0.9)
    return cb.audit(held.astype(int), np.full(ROWS, 0.9), groups, **options)


def _classes(rng, power, target="classes", **options):
    groups = _groups(rng, ROWS)
    P = rng.dirichlet(np.ones(3), ROWS)
    truth = P.copy()
    if power:
        worse = _worse(groups)
        truth[worse] = 0.85 * P[worse] + 0.15 * np.array([1.0, 0.0, 0.0])
    y = (rng.random(ROWS)[:, None] > truth.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return cb.audit(y, P, groups, target=target, **options)


def _forecasts(rng, power, **options):
    groups = _groups(rng, ROWS)
    mean, std = rng.normal(size=ROWS), np.exp(0.3 * rng.normal(size=ROWS))
    worse = _worse(groups)
    return cb.audit(
        mean + rng.normal(size=ROWS) * std * np.where(worse & bool(power), 1.5, 1.0),
        mean,
        groups,
        std=std,
        **options,
    )


#: Name of the case -> (simulation, options of the audit). So few draws test at 5 % and at a fourth
#: of it without a remainder.
CASES = {
    "event, strong null": (_event, {}),
    "rare event, strong null": (_event, {"rare": True}),
    "event, weak null": (_event, {"null": "weak"}),
    "right on average, weak null": (_average, {}),
    "200 clusters, weak null": (_clustered, {}),
    "answers of three classes": (_classes, {"target": "answer"}),
    "coverage of sets": (_coverage, {}),
    "classes, strong null": (_classes, {}),
    "classes, weak null": (_classes, {"null": "weak"}),
    "forecasts, weak null": (_forecasts, {}),
    "forecasts, strong null": (_forecasts, {"null": "strong"}),
    "groups given, and found by a tree": (_event, {"found": "tree", "n_draws": 239}),
    "groups given, and found by boosting": (_event, {"found": "boosting", "n_draws": 239}),
    "event, share of false finds": (_event, {"control": "share"}),
    "forecasts, share of false finds": (_forecasts, {"control": "share"}),
    "found by a tree too, share of false": (
        _event,
        {"found": "tree", "control": "share", "n_draws": 239},
    ),
}


@dataclass(frozen=True)
class Alarms:
    """Shares of runs, and seconds of CPU a run.

    ``any_false``: a group is called off that is not (of those given, where one is off).
    ``false_share``: of the groups called off those that are not, on average. ``found``: the group
    that is off is called so.
    """

    any_false: float
    false_share: float
    found: float
    seconds: float


def alarms(name: str, runs: int, power: bool, first: int = 0, n_draws: int = 99) -> Alarms:
    """How often a case is wrong, and right, in so many runs."""
    simulate, options = CASES[name]
    options = {"n_draws": n_draws, **options}
    counted, start = [], time.process_time()
    for seed in range(first, first + runs):
        # Draws that all runs shared would make their alarms one another's: 99 of them alone move
        # the share by 2 points.
        off = simulate(np.random.default_rng(seed), power, random_state=seed, **options).off
        false = [one for one in off if not power or _untouched(one)]
        counted.append(
            (
                bool(false),
                len(false) / max(len(off), 1),
                bool([one for one in off if one.where == WORSE]),
            )
        )
    return Alarms(*np.mean(counted, axis=0).tolist(), (time.process_time() - start) / runs)


def _untouched(one):
    """Whether none of the rows that are off is in a group that was given."""
    return not one.found and any(
        one.where.get(column, level) != level for column, level in WORSE.items()
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--case", choices=list(CASES), nargs="*")
    asked = parser.parse_args()
    some = max(asked.runs // 10, 1)
    print(
        f"{asked.runs} runs where no group is off, {some} where one is; limit"
        f" {100.0 * most_alarms(asked.runs):.1f} %"
    )
    print(f"{'':38}{'any false':>10}{'power':>8}{'any false':>11}{'false share':>13}{'CPU s':>8}")
    for name in asked.case or CASES:
        none, one = (
            alarms(name, asked.runs, False, asked.first),
            alarms(name, some, True, asked.first + asked.runs),
        )
        shares = none.any_false, one.found, one.any_false, one.false_share
        print(
            f"{name:38}"
            + "".join(f"{100.0 * s:{w}.1f} %" for s, w in zip(shares, (8, 6, 9, 11), strict=True)),
            end="",
        )
        print(f"{none.seconds:8.3f}", flush=True)


def most_alarms(runs: int) -> float:
    """5 % and three standard errors of so many runs."""
    return 0.05 + 3.0 * float(np.sqrt(0.05 * 0.95 / runs))


if __name__ == "__main__":
    if "--hard" in sys.argv:
        from benchmarks.hard.tables import main as hard

        sys.exit(hard(sys.argv[1:], ("audits", "order", "rules")))
    main()
