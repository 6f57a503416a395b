"""Which metrics' differences between two predictions of the same rows have a paired interval that
covers: simulated against a known truth.

    python benchmarks/metrics/paired.py ece,ici,calibration_slope --rows 500 --repeats 200
    python -m benchmarks.metrics.paired --hard  # laws that do not flatter comparisons and verdicts
    (benchmarks/hard), before and after

Outcomes follow logit p = u + v + w. One model sees u + v, the other u + w: both calibrated, equally
good, and rarely of one mind. Either is then made too sharp (log-odds times a slope) as the case
says. The truth is the difference on two million rows.
"""

import argparse
import sys
import warnings
from dataclasses import replace

import numpy as np

from calibrant import metrics
from calibrant.core.groups import clustered as clustered_rows
from calibrant.core.predictions import read
from calibrant.errors import CalibrationWarning
from calibrant.metrics.comparison import compare, paired_difference

#: Case -> slopes of the two models' log-odds, and whether the second is the first.
CASES = {
    "both calibrated": (1.0, 1.0, False),
    "both too sharp": (1.3, 1.3, False),
    "one too sharp": (1.0, 1.3, False),
    "one model, twice": (1.0, 1.1, True),
    "sharp against timid": (2.0, 0.5, False),
}
NODES, MASS = np.polynomial.hermite_e.hermegauss(21)


def expit(z):
    return 1.0 / (1.0 + np.exp(-z))


def draw(case, n, rng, base=0.0, cluster=1):
    """(y, first, second): rows come in runs of ``cluster`` that share u, v and w but not the
    outcome.
    """
    first, second, one = CASES[case]
    u, v, w = (np.repeat(rng.normal(size=n // cluster), cluster) for _ in range(3))
    y = (rng.random(len(u)) < expit(base + u + v + w)).astype(int)

    def said(seen, slope):
        p = expit(base + seen[:, None] + NODES) @ (MASS / MASS.sum())
        return expit(slope * np.log(p / (1.0 - p)))

    return y, said(u + v, first), said(u + (v if one else w), second)


def truth(metric, case, base=0.0):
    """The second's value less the first's."""
    if CASES[case][0] == CASES[case][1]:
        return 0.0
    y, a, b = draw(case, 2_000_000, np.random.default_rng(99), base)
    return metric(y, b) - metric(y, a)


def covered(
    metric,
    case,
    n,
    repeats,
    *,
    n_resamples=200,
    base=0.0,
    cluster=1,
    clustered=False,
    seed=5,
    level=0.95,
):
    """Share of the intervals that hold the truth; in cases of equals, 1 minus the size of the
    test.
    """
    aim, rng, held = truth(metric, case, base), np.random.default_rng(seed), 0
    groups = np.arange(n // cluster).repeat(cluster) if clustered else None
    for repeat in range(repeats):
        y, a, b = draw(case, n, rng, base, cluster)
        first, second = (clustered_rows(read(one, y), groups) for one in (a, b))
        found = paired_difference(
            metric, first, second, n_resamples=n_resamples, random_state=repeat
        )
        low, high = found.limits(level)
        held += low <= aim <= high
    return held / repeats


def false_alarms(n, n_models, repeats, *, correction="holm", seed=6):
    """How often any pair of equally good models is called different, by log loss."""
    rng, alarms = np.random.default_rng(seed), 0
    for _ in range(repeats):
        shared, own = rng.normal(size=n), rng.normal(size=(n_models, n))
        y = (rng.random(n) < expit(shared + own.sum(axis=0))).astype(int)
        spread = n_models - 1.0
        said = [expit(np.add(shared, one) / np.sqrt(1.0 + spread * np.pi / 8.0)) for one in own]
        records = {str(k): read(p, y) for k, p in enumerate(said)}
        alarms += any(
            row.meaning != "no clear change"
            for row in compare.of(records, [metrics.log_loss], correction=correction).rows
        )
    return alarms / repeats


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("keys", help="of the metrics, with commas between")
    options.add_argument("--rows", type=int, default=500)
    options.add_argument("--repeats", type=int, default=200)
    options.add_argument("--resamples", type=int, default=200)
    given = options.parse_args()
    known = {
        one.key: one for one in map(metrics.__getattr__, metrics.__all__) if hasattr(one, "key")
    }
    warnings.simplefilter("ignore", CalibrationWarning)
    for key in given.keys.split(","):
        for case in CASES:
            share = covered(
                replace(known[key]), case, given.rows, given.repeats, n_resamples=given.resamples
            )
            print(
                f"{key:26s} {case:20s} n = {given.rows}: held {100.0 * share:.1f} of 100, 95"
                " asked for",
                flush=True,
            )


if __name__ == "__main__":
    if "--hard" in sys.argv:
        from benchmarks.hard.tables import main as hard

        sys.exit(hard(sys.argv[1:], ("paired", "verdicts")))
    main()
