"""Forecasts of outputs together, calibrated by us and by netcal's multivariate Gaussian process,
judged on the same new rows.

Run: python -m benchmarks.intervals.joint [--peers PYTHON] [--seeds 3] [--outputs 2 5 10] [--cases
"breast cancer"] PYTHON is the interpreter of an environment with netcal; without it ours are run
alone. Three simulated sets of 300 rows to calibrate and 1,000 to judge, and one real one: the first
columns of scikit-learn's breast cancer table by a forest from its standard errors, with the spread
of its trees as what is said (no correlations), 40 % to fit, 30 % to calibrate, 30 % to judge.
"""

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

import calibrant as cb
from calibrant import metrics
from calibrant.testing.data import joint_rows

__all__ = ["CASES", "judged", "ours"]

ROWS, NEW = 300, 1000


def too_narrow(d, seed):
    """Covariances of the right shape, a quarter of the right size."""
    mean, cov, y = joint_rows(ROWS + NEW, d, seed)
    return mean, 0.25 * cov, y, ROWS


def _alone(d, seed, power):
    """Stds alone are said; the errors hang together, and are as large as 1.5 times a power of
    them.
    """
    rng, n = np.random.default_rng(seed), ROWS + NEW
    mean, std = rng.normal(size=(n, d)), np.exp(0.5 * rng.normal(size=(n, d)))
    together = np.full((d, d), 0.6) + 0.4 * np.eye(d)
    return (
        mean,
        _diagonal(std),
        mean + 1.5 * std**power * rng.multivariate_normal(np.zeros(d), together, n),
        ROWS,
    )


def breast_cancer(d, seed):
    """A forest whose trees disagree."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import RandomForestRegressor

    table = load_breast_cancer(return_X_y=True)[0]
    rows = np.random.default_rng(seed).permutation(len(table))
    table = table[rows]
    fit = int(0.4 * len(rows))
    y = table[:, :d] / table[:fit, :d].std(axis=0)
    forest = RandomForestRegressor(100, min_samples_leaf=3, random_state=seed).fit(
        table[:fit, 10:20], y[:fit]
    )
    trees = np.stack([one.predict(table[fit:, 10:20]) for one in forest.estimators_])
    std = np.maximum(trees.std(axis=0, ddof=1), 1e-3)
    return trees.mean(axis=0), _diagonal(std), y[fit:], int(0.3 * len(rows))


def _diagonal(std):
    return np.apply_along_axis(np.diag, 1, np.square(std))


CASES = {
    "too narrow": too_narrow,
    "no correlations said": lambda d, seed: _alone(d, seed, 1.0),
    "nor how errors grow": lambda d, seed: _alone(d, seed, 1.5),
    "breast cancer": breast_cancer,
}


def ours(mean, cov, y, rows):
    """(method, means and covariances of the new rows, CPU seconds)."""
    said = cb.regression.JointNormalForecast(mean, cov)
    old, new = said.take(slice(rows)), said.take(slice(rows, None))
    yield "as said", (new.mean, new.cov), 0.0
    for factors in ("one", "directions", "full"):
        start = time.process_time()
        found = cb.regression.CovarianceScaling(factors).fit(old, y[:rows]).predict(new)
        yield f"CovarianceScaling {factors}", (found.mean, found.cov), time.process_time() - start


def judged(forecast, y):
    """(NLL an output, energy score, coverage of 90 % ellipses); nan where a covariance is none."""
    try:
        joint = cb.regression.JointNormalForecast(*forecast)
    except cb.errors.InputError:
        return np.full(3, np.nan)
    return np.array(
        [
            -joint.log_density(y).mean() / y.shape[1],
            metrics.energy_score.interval(y, joint).value,
            metrics.ellipse_coverage.interval(y, joint).value,
        ]
    )


def _peers(held, python):
    """{case: [(method, forecast, seconds)]} of the methods of the other interpreter."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "cases.npz", Path(folder) / "found.npz"
        np.savez(
            source,
            **{
                f"{k}|{name}": value
                for k, one in enumerate(held)
                for name, value in zip(["mean", "cov", "y", "rows"], one, strict=True)
            },
        )
        subprocess.run(
            [python, str(Path(__file__).with_name("joint_peers.py")), str(source), str(target)],
            check=True,
        )
        with np.load(target) as file:
            found = {key: file[key] for key in file.files}
    out = {}
    for key in found:
        number, method, what = key.split("|")
        if what == "cov":
            mean, _, _, rows = held[int(number)]
            out.setdefault(int(number), []).append(
                (method, (mean[rows:], found[key]), float(found[f"{number}|{method}|seconds"]))
            )
    return out


def main() -> None:
    """Run, and print a table for each case."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.intervals.joint", description=__doc__
    )
    parser.add_argument("--peers", help="python of an environment with netcal")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--outputs", type=int, nargs="*", default=[2, 5, 10])
    parser.add_argument("--cases", nargs="*", choices=list(CASES), default=list(CASES))
    given = parser.parse_args()
    asked = [
        (name, d, seed)
        for name in given.cases
        for d in given.outputs
        for seed in range(given.seeds)
    ]
    held = [CASES[name](d, seed) for name, d, seed in asked]
    theirs = _peers(held, given.peers) if given.peers else {}
    results = {}
    for k, ((name, d, _), one) in enumerate(zip(asked, held, strict=True)):
        for method, forecast, seconds in [*ours(*one), *theirs.get(k, [])]:
            results.setdefault((name, d), {}).setdefault(method, []).append(
                [*judged(forecast, one[2][one[3] :]), seconds]
            )
    for (name, d), methods in results.items():
        print(f"\n{name}, {d} outputs")
        print(f"{'':30} {'NLL/output':>11} {'energy':>8} {'in 90 %':>8} {'CPU s':>8}")
        for method, rows in methods.items():
            nll, energy, coverage, seconds = np.mean(rows, axis=0)
            print(f"{method:30} {nll:11.3f} {energy:8.3f} {coverage:8.1%} {seconds:8.3f}")


if __name__ == "__main__":
    main()
