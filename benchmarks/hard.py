"""Intervals, tests and rules on laws that do not flatter them: ``python -m benchmarks.hard``.

Each line is a world with a known truth, a share of samples, and what that share should be: how often a
truly worse model is called better, an interval holds the truth, a true claim is rejected, a rule is
refused. ``--at REV`` runs the sources of another revision; ``--only paired weights`` some of the tables.
"""

import argparse
import inspect
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from tools.measure import ROOT, checkout

import calibrant as cb

__all__ = ["TABLES", "main"]

Line = tuple[str, float, str]
Draw = Callable[[np.random.Generator, int], np.ndarray]


def sigmoid(z: Any) -> Any:
    """The logistic function."""
    return 1.0 / (1.0 + np.exp(-np.asarray(z)))


def share(asked: Callable[[int], bool], repeats: int) -> float:
    """Of the seeds, those for which it is so."""
    return sum(bool(asked(seed)) for seed in range(repeats)) / repeats


def sharp(rng: np.random.Generator, n: int) -> np.ndarray:
    """Log-odds of a model that is right to be sure."""
    return rng.choice([-1.0, 1.0], n) * rng.normal(5.0, 1.5, n)


def mild(rng: np.random.Generator, n: int) -> np.ndarray:
    """Log-odds of a standard normal law."""
    return rng.normal(0.0, 1.0, n)


def mixed(rng: np.random.Generator, n: int) -> np.ndarray:
    """One row in twenty is sure."""
    return np.where(rng.random(n) < 0.05, rng.choice([-7.0, 7.0], n), rng.normal(0.0, 1.0, n))


#: World -> (log-odds of the true risks, those of a model that is worse, sizes).
WORSE: dict[str, tuple[Draw, Callable[[np.ndarray], np.ndarray], tuple[int, ...]]] = {
    "sharp, 1.5 x sharper": (sharp, lambda z: 1.5 * z, (50, 100, 200, 1_000)),
    "few rows overstated": (mild, lambda z: np.where(z > 2.5, z + 4.0, z), (500, 1_000, 3_000)),
    "sharp on one side": (lambda rng, n: rng.normal(4.0, 1.0, n), lambda z: 1.5 * z, (100,)),
    "rare, 1.5 x sharper": (lambda rng, n: rng.normal(-5.0, 1.0, n), lambda z: 1.5 * z, (200,)),
    "rarest understated": (lambda rng, n: rng.normal(-4.0, 1.5, n), lambda z: np.where(z < -6.0, z - 3.0, z), (500,)),
    "one in twenty sure": (mixed, lambda z: np.where(np.abs(z) > 5.0, 2.0 * z, z), (300,)),
    "timid": (mild, lambda z: 0.6 * z, (200,)),
    "1.5 x bolder": (mild, lambda z: 1.5 * z, (100, 500)),
}


def paired(repeats: int) -> Iterator[Line]:
    """True risks beside a model that is truly worse."""
    for name, (draw, other, sizes) in WORSE.items():
        for n in sizes:
            found = [_compared(draw, other, n, seed) for seed in range(repeats)]
            yield f"{name}, n = {n}: called better", found.count("better") / repeats, "at most .025"
            yield f"{name}, n = {n}: called worse", found.count("worse") / repeats, "much"


def _compared(draw: Draw, other: Callable[[np.ndarray], np.ndarray], n: int, seed: int) -> str:
    rng = np.random.default_rng(seed)
    z = draw(rng, n)
    y = (rng.random(n) < sigmoid(z)).astype(int)
    pair = {"true": sigmoid(z), "other": sigmoid(other(z))}
    return cb.metrics.compare(y, pair, metrics=[cb.metrics.log_loss]).rows[0].meaning


def weights(repeats: int) -> Iterator[Line]:
    """Inverse-probability weights of 860 rows that are worth about 330."""
    many = np.sort(sigmoid(np.random.default_rng(1).normal(0.0, 1.3, 1_000_000)))
    loss = -float((many * np.log(many) + (1.0 - many) * np.log1p(-many)).mean())
    ranked = float(many @ np.cumsum(1.0 - many) / (many.sum() * (1.0 - many).sum()))
    truths = {
        "log_loss": loss, "event_brier_score": float((many * (1.0 - many)).mean()), "event_auroc": ranked,
        "calibration_slope": 1.0, "observed_expected_ratio": 1.0, "calibration_bias": 0.0,
    }  # fmt: skip
    for key, truth in truths.items():
        metric = getattr(cb.metrics, key)
        yield f"{key}: interval holds", share(lambda seed, m=metric, t=truth: _holds(m, t, _weighted(seed)), repeats), ".95"
    test = cb.metrics.spiegelhalter_test
    yield "spiegelhalter_test: rejects", share(lambda seed: _asked(test, _weighted(seed)).p_value < 0.05, repeats), "at most .05"


def _weighted(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    p, w = sigmoid(rng.normal(0.0, 1.3, 860)), np.exp(rng.normal(0.0, 1.0, 860))
    y = (rng.random(860) < p).astype(int)
    kind = {"weight_kind": "sampling"} if "weight_kind" in inspect.signature(cb.metrics.compare).parameters else {}
    return {"y": y, "p": p, "sample_weight": w / w.mean(), **kind}


def _asked(function: Callable[..., Any], given: dict[str, Any], **options: Any) -> Any:
    rest = {name: value for name, value in given.items() if name not in ("y", "p")}
    return function(given["y"], given["p"], **rest, **options)


def _holds(metric: Any, truth: float, given: dict[str, Any]) -> bool:
    found = _asked(metric.interval, given, n_resamples=200)
    return found.low <= truth <= found.high


def clusters(repeats: int) -> Iterator[Line]:
    """One cluster with a large part of the rows among small ones, and models that are as good."""
    for count, part in ((10, 0.45), (25, 0.31), (60, 0.25)):
        rows = max(300, 12 * count)
        sizes = np.full(count, rows * (1.0 - part) / (count - 1))
        sizes[0] = rows * part
        cluster = np.repeat(np.arange(count), np.round(sizes).astype(int))
        where = f"{count} clusters, the largest {100 * part:.0f} %"
        yield f"{where}: equals told apart", share(lambda seed, c=cluster: _told_apart(c, seed), repeats), "at most .05"
        for key, truth in (("observed_expected_ratio", 1.0), ("calibration_bias", 0.0)):
            metric = getattr(cb.metrics, key)
            held = share(lambda seed, c=cluster, m=metric, t=truth: _holds(m, t, _clustered(c, seed)), repeats)
            yield f"{where}, {key}: interval holds", held, ".95"


def _clustered(cluster: np.ndarray, seed: int) -> dict[str, Any]:
    """Risks that are right on average over clusters, each of which has an effect of its own."""
    rng = np.random.default_rng(seed)
    z, shared = rng.normal(0.0, 1.0, len(cluster)), rng.normal(0.0, 1.0, cluster.max() + 1)
    nodes, mass = np.polynomial.hermite_e.hermegauss(21)
    p = sigmoid(z[:, None] + nodes) @ (mass / mass.sum())
    y = (rng.random(len(cluster)) < sigmoid(z + shared[cluster])).astype(int)
    return {"y": y, "p": p, "cluster": cluster}


def _told_apart(cluster: np.ndarray, seed: int) -> bool:
    given = _clustered(cluster, seed)
    z = np.log(given["p"] / (1.0 - given["p"]))
    pair = {"high": sigmoid(z + 0.5), "low": sigmoid(z - 0.5)}
    found = cb.metrics.compare(given["y"], pair, metrics=[cb.metrics.log_loss], cluster=cluster)
    return found.rows[0].p_value < 0.05


def intervals(repeats: int) -> Iterator[Line]:
    """Sure rows that may fail, long tails, standard deviations that say nothing, risks near 0 and 1."""
    for n in (50, 100, 300):
        yield f"calibration_bias, sure rows fail, n = {n}: holds", share(lambda seed, n=n: _sure_rows(n, seed), repeats), ".95"
    laws = {
        "root_mean_squared_error, long tails": (_long_tails, float(np.exp(1.3**2)), cb.metrics.root_mean_squared_error),
        "negative_log_likelihood, std says nothing": (
            _no_std, float(0.5 * np.log(2.0 * np.pi) + 1.5 * np.exp(2.0 * 0.49)), cb.metrics.negative_log_likelihood,
        ),
    }  # fmt: skip
    for name, (draw, truth, metric) in laws.items():
        for n in (60, 200):
            held = share(lambda seed, d=draw, t=truth, m=metric, n=n: _covers(m, t, *d(n, seed)), repeats)
            yield f"{name}, n = {n}: holds", held, ".95"
    for n in (40, 200):
        yield f"spiegelhalter_test, sure risks, n = {n}: rejects", share(lambda seed, n=n: _sure_risks(n, seed), repeats), "at most .05"


def _sure_rows(n: int, seed: int) -> bool:
    rng = np.random.default_rng(seed)
    high = rng.random(n) < 0.1
    y = (rng.random(n) < np.where(high, 0.9, 0.003)).astype(int)
    found = cb.metrics.calibration_bias.interval(y, np.where(high, 0.97, 0.001))
    return found.low <= 0.9 * (0.001 - 0.003) + 0.1 * (0.97 - 0.9) <= found.high


def _long_tails(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=n) * np.exp(rng.normal(0.0, 1.3, n)), np.ones(n)


def _no_std(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.standard_t(3.0, n), np.exp(rng.normal(0.0, 0.7, n))


def _covers(metric: Any, truth: float, errors: np.ndarray, std: np.ndarray) -> bool:
    found = metric.interval(errors, np.zeros(len(errors)), std)
    return found.low <= truth <= found.high


def _sure_risks(n: int, seed: int) -> bool:
    rng = np.random.default_rng(seed)
    p = rng.choice([0.0035, 0.9965], n)
    return cb.metrics.spiegelhalter_test((rng.random(n) < p).astype(int), p).p_value < 0.05


def audits(repeats: int) -> Iterator[Line]:
    """Risks 2.5 times too bold, with the mean of every group right."""
    found = [_audited(seed) for seed in range(max(repeats // 2, 1))]
    yield "all intervals of six groups hold", float(np.mean([one[0] for one in found])), ".95"
    yield "a group without a gap is off", float(np.mean([one[1] for one in found])), "at most .05"


def _audited(seed: int) -> tuple[bool, bool]:
    rng = np.random.default_rng(seed)
    z = rng.normal(0.0, 1.0, 600)
    y = (rng.random(600) < sigmoid(z)).astype(int)
    table = cb.audit(y, sigmoid(2.5 * z), rng.integers(0, 6, 600).astype(str), n_draws=200).frame()
    return bool(((table["low"] <= 0.0) & (table["high"] >= 0.0)).all()), bool((table["outcome"] == "off").any())


def rules(repeats: int) -> Iterator[Line]:
    """The surest 12 % of the rows are worse than the next 43 %."""
    for n in (2_000, 5_000):
        for method in ("fixed_sequence", "sgr", "learn_then_test"):
            yield f"{method}, n = {n}: refused", share(lambda seed, n=n, m=method: _refused(n, m, seed), max(repeats // 2, 1)), "little"


def _refused(n: int, method: Any, seed: int) -> bool:
    rng = np.random.default_rng(seed)
    u = rng.random(n)
    lost = (rng.random(n) < np.where(u > 0.88, 0.1, np.where(u > 0.45, 0.005, 0.3))).astype(float)
    try:
        cb.SelectiveClassifier(0.05, 0.95, method=method).fit_scores(u, lost)
    except ValueError:
        return True
    return False


TABLES: dict[str, Callable[[int], Iterator[Line]]] = {
    "paired": paired, "weights": weights, "clusters": clusters, "intervals": intervals, "audits": audits, "rules": rules,
}  # fmt: skip


def main(arguments: list[str]) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser("python -m benchmarks.hard", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--repeats", type=int, default=400)
    parser.add_argument("--at", metavar="REV", help="run the sources of this revision")
    given = parser.parse_args(arguments)
    if given.at:
        with tempfile.TemporaryDirectory() as folder:
            root = checkout(given.at, Path(folder))
            again = ["--only", *given.only, "--repeats", str(given.repeats)]
            path = os.pathsep.join([str(root / "src"), str(ROOT)])
            command = [sys.executable, "-m", "benchmarks.hard", *again]
            return subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, check=False).returncode
    warnings.simplefilter("ignore")
    for name in given.only:
        print(f"\n{name}", flush=True)
        for said, found, wanted in TABLES[name](given.repeats):
            print(f"  {said:64s} {found:6.3f}   {wanted}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
