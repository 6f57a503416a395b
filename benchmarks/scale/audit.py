"""CPU seconds and peak memory of ``cb.audit`` of rows in memory, beside a script of pandas and
scikit-learn.

python -m benchmarks.scale.audit --rows 1000000

The audit tests all groups together with 1,000 draws, and says the intervals of their gaps. The
script computes, for the same groups and their crossings, the mean prediction, the event rate and
the calibration error in 16 parts of equal weight; of scores of forecasts only their means. It tests
nothing. Each case runs in a process of its own, after a run on a few rows; ``memory`` is the peak
above what the inputs need.
"""

import argparse
import json
import subprocess
import sys
import time
from itertools import combinations

import numpy as np
from benchmarks.scale.one_case import Watch

WARM, PARTS = 3_000, 16
CASES = {
    "two columns, 5 and 20 levels": "columns",
    "1,000 groups": "many",
    "weights": "weights",
    "four classes": "classes",
    "error bars": "forecasts",
}


def made(case, n):
    """(outcomes, predictions, group columns, further arguments of the audit)."""
    rng = np.random.default_rng(0)
    groups = {
        "region": np.array([f"region {k}" for k in range(5)])[rng.integers(0, 5, n)],
        "site": np.array([f"site {k:02d}" for k in range(20)])[rng.integers(0, 20, n)],
    }
    if case == "many":
        units = np.array([f"unit {k:03d}" for k in range(1000)])
        groups = {"unit": units[rng.integers(0, 1000, n)]}
    if case == "classes":
        P = rng.dirichlet(np.ones(4), n)
        return (P.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1), P, groups, {}
    if case == "forecasts":
        mean, std = rng.normal(size=n), rng.gamma(5.0, 0.2, n)
        return mean + std * rng.normal(size=n), mean, groups, {"std": std}
    z = rng.normal(-1.0, 1.2, n)
    truth = 1.0 / (1.0 + np.exp(-z - 0.2 * (np.arange(n) % 7 == 0)))
    weight = {"sample_weight": rng.integers(1, 4, n)} if case == "weights" else {}
    return (rng.random(n) < truth).astype(int), 1.0 / (1.0 + np.exp(-z)), groups, weight


def ours(y, P, groups, options):
    """The audit."""
    import calibrant as cb

    return cb.audit(y, P, groups, **options)


def script(y, P, groups, options):
    """Means by group, and calibration errors of probabilities, as one would write them."""
    import pandas as pd
    from scipy.stats import norm
    from sklearn.preprocessing import KBinsDiscretizer

    table = pd.DataFrame(groups)
    if "std" in options:
        z = (y - P) / options["std"]
        columns, error = {"mean": z, "spread": 2.0 * norm.cdf(np.abs(z)) - 1.0}, False
    else:
        confident = P.ndim > 1
        columns = {
            "said": P.max(axis=1) if confident else P,
            "came": (P.argmax(axis=1) == y if confident else y).astype(float),
        }
        error = True
    weight = options.get("sample_weight", np.ones(len(y)))
    table = table.assign(w=weight, **{k: v * weight for k, v in columns.items()})
    if error:
        cut = KBinsDiscretizer(
            PARTS, encode="ordinal", subsample=None, quantile_method="averaged_inverted_cdf"
        )
        table["part"] = cut.fit_transform(columns["said"][:, None], sample_weight=weight)[:, 0]
    out = []
    for size in range(1, len(groups) + 1):
        for keys in map(list, combinations(groups, size)):
            sums = table.groupby(keys)[["w", *columns]].sum()
            means = sums[list(columns)].div(sums["w"], axis=0)
            if error:
                cells = table.groupby([*keys, "part"])[["said", "came"]].sum()
                gaps = (cells["said"] - cells["came"]).abs().groupby(level=keys).sum()
                means["ece"] = gaps / sums["w"]
            out.append(means)
    return out


def measure(who, case, n):
    """Run one case in this process and print what it took."""
    work = {"ours": ours, "script": script}[who]
    work(*made(case, WARM))
    given, watch = made(case, n), Watch()
    watch.start()
    time.sleep(0.1)
    before, cpu = watch.peak, time.process_time()
    work(*given)
    cpu = time.process_time() - cpu
    time.sleep(0.1)
    print(json.dumps({"cpu_s": cpu, "mib": watch.peak - before}))


def measured(who, case, n):
    """One case in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.scale.audit", "--one", who, case, str(n)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return json.loads(done.stdout.splitlines()[-1])


def rows(n=1_000_000):
    """Yield (what, our CPU seconds, peer, its CPU seconds, ratio)."""
    for what, case in CASES.items():
        audit, peer = (measured(who, case, n)["cpu_s"] for who in ("ours", "script"))
        yield f"audit of {n:,} rows, {what}", audit, "pandas, scikit-learn", peer, audit / peer


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        measure(args.one[0], args.one[1], int(args.one[2]))
        return
    print(
        f"{'rows':>10} {'case':>30} {'audit, CPU s':>13} {'memory, MiB':>12} {'script':>8}"
        f" {'memory':>8} {'ratio':>6}"
    )
    for n in args.rows:
        for what, case in CASES.items():
            audit, peer = measured("ours", case, n), measured("script", case, n)
            print(
                f"{n:>10,} {what:>30} {audit['cpu_s']:13.2f} {audit['mib']:12.0f}"
                f" {peer['cpu_s']:8.2f} {peer['mib']:8.0f} {audit['cpu_s'] / peer['cpu_s']:6.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
