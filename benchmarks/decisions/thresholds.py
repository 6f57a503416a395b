"""Certified thresholds over many calibration sets: how often each method's promise is broken, and
how much it accepts.

``python -m benchmarks.decisions.thresholds [--runs 10000] [--peer-runs 1000]``; exits 1 where a
promise of ours is broken in more than delta and three simulation errors, or where the default
accepts less than MAPIE's controller (which is left out where it is not installed). Scores come from a Beta law and are right with the probability they say, so that
the true error rate of every threshold is known.
"""

import argparse
import sys
import time
import warnings
from dataclasses import dataclass

import numpy as np
from scipy import stats

import calibrant as cb
from calibrant.errors import InputError


@dataclass(frozen=True)
class Case:
    """Scores from Beta(a, 1), perhaps rounded, or right together in clusters of some size; n
    rows, or clusters; and what is promised.
    """

    a: float
    n: int
    risk: float
    confidence: float
    digits: int | None = None
    together: int = 1

    def draw(self, rng):
        """(score, wrong, cluster or None)."""
        score = rng.beta(self.a, 1.0, self.n)
        score = score if self.digits is None else score.round(self.digits)
        wrong = (rng.random(self.n) > score).astype(float)
        if self.together == 1:
            return score, wrong, None
        return (
            *(np.repeat(values, self.together) for values in (score, wrong)),
            np.repeat(np.arange(self.n), self.together),
        )

    def accepted(self, t, strictly=True):
        """True share of scores above the threshold (or on it)."""
        if self.digits is not None:
            cells = (
                self.cells[1][self.cells[0] > t + 1e-9]
                if strictly
                else self.cells[1][self.cells[0] >= t - 1e-9]
            )
            return float(cells.sum())
        return float(1.0 - max(t, 0.0) ** self.a)

    def error(self, t, strictly=True):
        """True share of wrong ones among those."""
        if self.digits is not None:
            held = self.cells[0] > t + 1e-9 if strictly else self.cells[0] >= t - 1e-9
            mass = self.cells[1][held]
            return (
                float(mass @ (1.0 - self.cells[0][held]) / mass.sum()) if mass.sum() > 0.0 else 0.0
            )
        t = max(t, 0.0)
        return (
            float(1.0 - self.a / (self.a + 1.0) * (1.0 - t ** (self.a + 1.0)) / (1.0 - t**self.a))
            if t < 1.0
            else 0.0
        )

    @property
    def cells(self):
        """(values, shares) of rounded scores."""
        values = np.arange(10**self.digits + 1) / 10.0**self.digits
        half = 0.5 / 10.0**self.digits
        law = stats.beta(self.a, 1.0)
        return values, law.cdf(values + half) - law.cdf(values - half)

    def oracle(self):
        """The largest share that could be accepted."""
        ts = self.cells[0] if self.digits is not None else np.linspace(0.0, 1.0 - 1e-6, 20_001)
        return max(
            (self.accepted(t, False) for t in ts if self.error(t, False) <= self.risk), default=0.0
        )


CASES = {
    "a tenth, at 90 %": Case(4.0, 1000, 0.1, 0.9),
    "a twentieth, at 95 %": Case(9.0, 1000, 0.05, 0.95),
    "5,000 rows, at 95 %": Case(4.0, 5000, 0.1, 0.95),
    "scores of two digits": Case(4.0, 1000, 0.1, 0.9, digits=2),
    "clusters of five": Case(4.0, 1000, 0.1, 0.9, together=5),
}
OURS = {
    "default": {},
    "default, by betting": {"bound": "betting"},
}


def ours(options):
    """(score, wrong, cluster, case) -> (threshold, whether only scores above it are accepted),
    None where it refuses.
    """

    def decide(score, wrong, cluster, case):
        try:
            rule = cb.SelectiveClassifier(case.risk, case.confidence, **options).fit_scores(
                score, wrong, cluster=cluster
            )
        except InputError:
            return None
        return rule.threshold_, True

    return decide


def mapie():
    """The same of MAPIE's controller, on its own grid of thresholds with its default correction;
    None where it is not installed.
    """
    try:
        from mapie.risk_control import BinaryClassificationController
    except ImportError:
        return None

    def decide(score, wrong, cluster, case):
        controller = BinaryClassificationController(
            lambda s: np.column_stack([1.0 - s.ravel(), s.ravel()]),
            "precision",
            1.0 - case.risk,
            case.confidence,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            controller.calibrate(score[:, None], 1 - wrong.astype(int))
        best = controller.best_predict_param
        return None if best is None else (float(best), False)

    return decide


def simulate(case, decide, runs, seed=0):
    """(share of runs whose promise is broken, its limit, mean true share accepted, share
    refused, CPU seconds a run).
    """
    rng, found = np.random.default_rng(seed), np.zeros((runs, 3))
    began = time.process_time()
    for row in found:
        said = decide(*case.draw(rng), case)
        if said is None:
            row[2] = 1.0
        else:
            row[:2] = case.error(*said) > case.risk + 1e-12, case.accepted(*said)
    delta = 1.0 - case.confidence
    limit = delta + 3.0 * np.sqrt(delta * (1.0 - delta) / runs)
    broken, accepted, refused = found.mean(axis=0)
    return broken, limit, accepted, refused, (time.process_time() - began) / runs


def main(arguments=None):
    """Print the table; 1 where a check fails."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--peer-runs", type=int, default=1000)
    options = parser.parse_args(arguments)
    peer, failed = mapie(), []
    if peer is None:
        print("MAPIE is not installed here, and is left out.")
    print(f"{'':34}{'broken':>9}{'limit':>9}{'accepts':>9}{'refuses':>9}{'ms':>8}")
    for name, case in CASES.items():
        print(
            f"{name}: risk {case.risk:g}, confidence {case.confidence:g}, n = {case.n:,}; could"
            f" accept {100 * case.oracle():.1f} %"
        )
        rows = {label: (ours(given), options.runs, True) for label, given in OURS.items()}
        if peer is not None and case.together == 1:
            rows["MAPIE's controller"] = peer, options.peer_runs, False
        shares = {}
        for label, (decide, runs, own) in rows.items():
            if "betting" in label:
                runs = min(runs, options.peer_runs)
            broken, limit, accepted, refused, seconds = simulate(case, decide, runs)
            shares[label] = accepted
            print(
                f"  "
                f"{label:32}{broken:9.4f}{limit:9.4f}{accepted:9.4f}{refused:9.4f}{1e3 * seconds:8.2f}"
            )
            if own and broken > limit:
                failed.append(f"{name}: {label} is broken in {broken:.4f}, more than {limit:.4f}")
        best = max(shares.values())
        if shares["default"] < best:
            failed.append(
                f"{name}: the default accepts {shares['default']:.4f}, another {best:.4f}"
            )
    print("\n".join(failed) or "every promise is kept, and the default accepts most.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
