"""What the automatic choice's gate and pool were chosen by: the tables and networks to choose by,
and simulated tasks of two classes with a known truth.

``python -m benchmarks.experiments.choice_rules [--tasks 400] [--rows 1000]`` fits every candidate
once, by folds and on all rows, and applies each rule to what was kept: about ten CPU minutes. A
rule is compared with the library's by the mean change of the log loss on new rows, the share of
runs made more than 0.5 % worse than no calibration, and the share of members that it beats.
"""

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from benchmarks.arena import cases, predictions
from scipy.optimize import brentq
from scipy.special import expit

from calibrant._support.solving import one_blas_thread
from calibrant.errors import CalibrationWarning
from calibrant.folds.splits import folds_of
from calibrant.predictions import read
from calibrant.select import trust
from calibrant.select.auto import tried
from calibrant.select.candidates import CANDIDATES, RARE
from calibrant.select.evidence_pool import evidence_pool
from calibrant.select.held_out import HeldOut, canonical

__all__ = ["GATES", "POOLS", "Kept", "kept", "main", "share_of_rule", "simulated"]

#: Constants of ``calibrant.select.trust`` that stand for another gate.
GATES = {
    "17 errors, as before": {"ERRORS": 17.0},
    "13": {"ERRORS": 13.0},
    "7": {"ERRORS": 7.0},
    "10 for few telling rows too": {"ENOUGH": 0.0},
}
#: Candidate that enters or leaves, and the least and most classes where it does.
POOLS = {
    "with structured vector scaling": ("structured vector scaling", True, 3, 150),
    "without near-isotonic regression": ("near-isotonic regression", False, 2, 2),
    "without class offsets": ("class offsets", False, 2, 1_000),
    "class offsets always": ("class offsets", True, 2, 1_000),
    "without intra-order-preserving scaling": ("intra-order-preserving scaling", False, 41, 1_000),
    "without ensemble matrix scaling": ("ensemble matrix scaling", False, 41, 60),
    "with ensemble matrix scaling": ("ensemble matrix scaling", True, 61, 150),
}
#: Candidates tried beyond their limits.
WIDER = {"ensemble matrix scaling": (2.0, 150.0)}
NOT_WORSE, SMALLEST = 1.005, 1e-4


@dataclass(frozen=True)
class Task:
    """Rows to fit, rows to test, and each test row's class probabilities (its label's, if only that
    is known).
    """

    name: str
    P: np.ndarray
    y: np.ndarray
    P_test: np.ndarray
    truth: np.ndarray


@dataclass(frozen=True)
class Kept:
    """What a task's candidates predicted: the held-out rows, and the test rows, (J, m, K)."""

    task: Task
    names: list[str]
    held: HeldOut
    n: float
    test: np.ndarray

    def loss(self, shares: np.ndarray) -> float:
        """Return the expected log loss of the mean with these shares."""
        mixed = np.tensordot(shares, self.test, axes=1)
        return float(-(self.task.truth * np.log(np.maximum(mixed, 1e-15))).sum(axis=1).mean())


def simulated(n_tasks: int) -> Iterator[Task]:
    """Tasks of two classes with wrong offsets, slopes and bends; half of them with rare events."""
    for seed in range(n_tasks):
        rng, n = np.random.default_rng(seed), (100, 250, 1_000)[seed % 3]
        x = rng.standard_t((3.0, 1e9)[rng.integers(2)], n + 4_000)
        rate = rng.uniform(0.005, 0.04) if seed % 2 else rng.uniform(0.04, 0.8)
        z = rng.uniform(0.3, 3.0) * x
        z = z + brentq(lambda a, z=z, rate=rate: expit(z + a).mean() - rate, -40.0, 40.0)
        q, kind = expit(z), rng.integers(4)
        told = (
            z,
            z * np.exp(rng.normal(0.2, 0.6)),
            z + rng.normal(0.0, 0.7),
            np.sign(z) * np.abs(z) ** rng.uniform(0.5, 1.6),
        )[kind]
        p = np.clip(expit(told), 1e-12, 1.0 - 1e-12)
        P, truth = np.column_stack([1.0 - p, p]), np.column_stack([1.0 - q, q])
        y = (rng.random(len(q)) < q).astype(int)
        yield Task(f"simulated~{n}", P[:n], y[:n], P[n:], truth[n:])


def stored(rows: int) -> Iterator[Task]:
    """The runs of the tables and networks to choose by, with at most so many rows to fit."""
    for run in cases.PARTS["tables"]():
        if run.size <= rows:
            P, y = predictions.load(run.case)
            fit, test = predictions.split(run, len(y))
            yield Task(run.name, P[fit], y[fit], P[test], np.eye(P.shape[1])[y[test]])


def kept(task: Task) -> Kept:
    """Fit every candidate by folds and on all rows, beyond the limits of the pool too."""
    n_classes = task.P.shape[1]
    pieces = canonical(read(task.P, task.y, classes=np.arange(n_classes)))
    n = float(pieces.weight.sum())
    wide = [replace(c, classes=WIDER.get(c.name, c.classes)) for c in CANDIDATES]
    candidates = [
        c
        for c in wide
        if n >= c.min_rows and c.classes[0] <= n_classes <= c.classes[1] and c.tags.suits(())
    ]
    n_folds = min(10 if n < 500 else 5, len(pieces.row))
    folds = folds_of(pieces.labels, None, n_folds, 0)
    with one_blas_thread():
        trials, held, _ = tried(candidates, pieces, folds, "log_loss", lambda _: None)
    test = read(task.P_test, classes=np.arange(n_classes))
    said = np.array([t.member.predict_record(test) for t in trials])
    return Kept(task, [t.candidate.name for t in trials], held, n, said)


def share_of_rule(one: Kept, **changed: tuple[str, bool, int, int]) -> np.ndarray:
    """Return the shares (J,) of the library's rule, with one candidate of ``changed`` in or out."""
    n_classes = one.task.P.shape[1]
    others = 1.0 - np.bincount(one.task.y).max() / one.n
    by_name = {c.name: c for c in CANDIDATES}
    enter = [
        c.classes[0] <= n_classes <= c.classes[1]
        and others <= c.most_others
        and c.unless not in one.names
        for c in (by_name[name] for name in one.names)
    ]
    for name, there, least, most in changed.values():
        if name in one.names and least <= n_classes <= most:
            enter[one.names.index(name)] = there
    kept_ones = np.flatnonzero(enter)
    pool = evidence_pool(one.held.only(kept_ones.tolist()), len(kept_ones), one.n, 0)
    shares = np.zeros(len(one.names))
    shares[kept_ones] = pool.shares
    return shares


def _told(name: str, now: np.ndarray, other: np.ndarray, alone: np.ndarray) -> str:
    change = 100.0 * (other / now - 1.0)
    harm = 100.0 * (other > NOT_WORSE * alone[:, 0]).mean()
    beaten = np.nanmean(np.where(np.isnan(alone[:, 1:]), np.nan, other[:, None] < alone[:, 1:]))
    error = change.std(ddof=1) / len(change) ** 0.5 if len(change) > 1 else np.nan
    change_told = f"{change.mean():+8.3f} % ({error:.3f})"
    return f"  {name:40s}{change_told}  worse {harm:4.1f} %  beats {beaten:.3f}"


def compared(found: list[Kept]) -> Iterator[str]:
    """Lines of the comparison of every rule with the library's."""
    now = np.array([one.loss(share_of_rule(one)) for one in found])
    width = max(len(one.names) for one in found)
    alone = np.full((len(found), width), np.nan)
    for row, one in zip(alone, found, strict=True):
        row[: len(one.names)] = [one.loss(e) for e in np.eye(len(one.names))]
    yield _told("the rule", now, now, alone)
    for name, constants in GATES.items():
        before = {key: getattr(trust, key) for key in constants}
        vars(trust).update(constants)
        yield _told(name, now, np.array([one.loss(share_of_rule(one)) for one in found]), alone)
        vars(trust).update(before)
    for name, change in POOLS.items():
        other = np.array([one.loss(share_of_rule(one, changed=change)) for one in found])
        if (other != now).any():
            yield _told(name, now, other, alone)


def main() -> None:
    """Print the comparison by number of rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, default=400, help="simulated tasks")
    parser.add_argument("--rows", type=int, default=1_000, help="at most so many rows to fit")
    asked = parser.parse_args()
    print(f"Class offsets enter where the other classes have at most {RARE:.0%} of the rows.")
    for what, tasks in (("simulated", simulated(asked.tasks)), ("tables", stored(asked.rows))):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CalibrationWarning)
            found = [kept(task) for task in tasks if len(np.unique(task.y)) > 1]
        found = [k for k in found if k.loss(np.eye(len(k.names))[0]) > SMALLEST]
        for many in (False, True):
            for n in sorted({round(one.n) for one in found}):
                part = [k for k in found if round(k.n) == n and (k.task.P.shape[1] > 40) == many]
                if len(part) > 2:
                    print(f"{what}, {n:,} rows, {len(part)} runs{', many classes' * many}")
                    print(*compared(part), sep="\n", flush=True)


if __name__ == "__main__":
    main()
