"""Confidence of the top label: several signals stacked, beside every single signal with its best
map.

Run: python benchmarks/stacked_confidence.py [--seeds N] [--rows N] [--only WORD ...] [--keep FILE]
Stored outputs: for seed 0..N-1, ``default_rng(seed).permutation(n)``, the first half fits, the rest
tests. MNIST and KITTI with features: a random forest and gradient boosting on 60 % of ``--rows``
rows (default 12,000), 20 % to fit the calibrators, 20 % to test. A single signal gets the best map
of isotonic, logistic (of the signal and of its logit) and spline, chosen BY THE TEST SET,
separately for log loss and for AURC: a stronger opponent than any one could name beforehand. Errors
are paired over seeds. ``--keep`` writes results as they come and resumes. Needs CALIBRANT_DATA
(default ../shared/data). Exits 1 where the stack is worse than the best single signal by more than
two standard errors.
"""

import argparse
import json
import os
import sys
import warnings
from pathlib import Path

import numpy as np
from benchmarks.papers.geometric.data import split
from benchmarks.papers.geometric.models import fitted

import calibrant as cb
from calibrant._numerics.thresholds import risk_coverage, risk_coverage_area
from calibrant.metrics import log_loss

DATA = Path(os.environ.get("CALIBRANT_DATA", "../shared/data"))
SIGNALS = {
    "top probability": cb.calibrators.TopProbability,
    "margin": cb.calibrators.Margin,
    "margin of logits": lambda: cb.calibrators.Margin(scale="logit"),
    "entropy": cb.calibrators.Entropy,
    "label stability": cb.calibrators.LabelStability,
}
MAPS = {
    "isotonic": cb.Isotonic,
    "logistic": lambda: cb.Platt(scale="probability"),
    "logistic of logit": cb.Platt,
    "spline": cb.calibrators.Spline,
}
STACK = "stacked"


def clipped(P):
    """Probabilities inside [1e-12, 1], rows summing to 1."""
    P = np.clip(np.asarray(P, dtype=np.float64), 1e-12, 1.0)
    return P / P.sum(axis=1, keepdims=True)


def stored(path, seed):
    """(P, y, arguments) to fit and to test, halves of a stored file."""
    with np.load(path) as data:
        P, y = clipped(data["probabilities"]), data["labels"].astype(np.intp)
    order = np.random.default_rng(seed).permutation(len(y))
    return tuple((P[rows], y[rows], {}) for rows in (order[: len(y) // 2], order[len(y) // 2 :]))


def with_features(name, kind, seed, rows):
    """(P, y, arguments) to fit and to test, of a model trained here."""
    data = split(name, seed, rows)
    P, _ = fitted(kind, name, data)
    reference = data.X["train"], data.y["train"]
    fit = (
        clipped(P["validation"]),
        data.y["validation"],
        {"X": data.X["validation"], "reference": reference},
    )
    return fit, (clipped(P["test"]), data.y["test"], {"X": data.X["test"]})


def scores(confidence, right):
    """(log loss of being right, area under the risk-coverage curve)."""
    area = risk_coverage_area(*risk_coverage(confidence, right, np.ones(len(right)))[1:])
    return float(log_loss(right.astype(int), confidence)), area


def measure(fit, test):
    """{method: (log loss, AURC)} of the stack and of every signal with every map that takes it."""
    (P, y, given), (P_test, y_test, features) = fit, test
    right = (P_test.argmax(axis=1) == y_test).astype(np.float64)
    stack = cb.calibrators.StackedConfidence().fit(P, y, **given)
    found = {STACK: scores(stack.predict_confidence(P_test, **features), right)}
    for name, make in (
        SIGNALS | ({"separation": cb.calibrators.FastSeparation} if given else {})
    ).items():
        own, own_test = (given, features) if name == "separation" else ({}, {})
        for map_name, make_map in MAPS.items():
            if make().tags.domain == "real" and make_map().tags.domain == "unit":
                continue
            cal = cb.ConfidenceCalibrator(signal=make(), map=make_map(), per_class=False).fit(
                P, y, **own
            )
            found[f"{name}, {map_name}"] = scores(cal.predict_confidence(P_test, **own_test), right)
    return found


def problems(seeds, rows):
    """(name, seed, function that gives the parts to fit and to test) of everything measured."""
    for folder in ("network_outputs", "classifier_outputs"):
        for path in sorted((DATA / folder).glob("*.npz")):
            for seed in range(seeds):
                yield path.stem, seed, lambda path=path, seed=seed: stored(path, seed)
    for name in ("kitti", "mnist"):
        for kind in ("rf", "gb"):
            for seed in range(seeds):
                yield (
                    f"{name} {kind}, features",
                    seed,
                    lambda name=name, kind=kind, seed=seed: with_features(name, kind, seed, rows),
                )


def run(options):
    """{problem: {method: [(log loss, AURC) by seed]}}, kept in a file as they come."""
    keep = Path(options.keep) if options.keep else None
    done = json.loads(keep.read_text(encoding="utf-8")) if keep and keep.exists() else {}
    for name, seed, parts in problems(options.seeds, options.rows):
        if options.only and not any(word in name for word in options.only):
            continue
        key = f"{name}|{seed}|{options.rows if 'features' in name else 0}"
        if key not in done:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                done[key] = measure(*parts())
            if keep:
                keep.write_text(json.dumps(done), encoding="utf-8")
    results = {}
    for key, found in done.items():
        results.setdefault(key.split("|")[0], []).append(found)
    return results


def line(name, runs, score, scale):
    """(printed comparison with the best single signal of one score, whether the stack is worse
    by more than two errors).
    """
    mean = {method: np.mean([r[method][score] for r in runs]) for method in runs[0]}
    best = min((m for m in mean if m != STACK), key=lambda m: mean[m])
    gap = np.array([r[STACK][score] - r[best][score] for r in runs])
    error = gap.std(ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else np.nan
    verdict = (
        "better"
        if gap.mean() < -2.0 * error
        else "worse"
        if gap.mean() > 2.0 * error
        else "within two errors"
    )
    text = (
        f"{scale * mean[STACK]:9.4f} {scale * mean[best]:9.4f} {scale * gap.mean():+9.4f} +-"
        f" {scale * error:.4f}  {verdict:17s} {best}"
    )
    return f"  {name:28s} {text}", verdict


def main():
    """Print both tables; the exit code says whether the stack is clearly worse anywhere."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument(
        "--rows", type=int, default=12_000, help="of MNIST and of KITTI, where models are trained"
    )
    parser.add_argument("--only", nargs="+", help="problems whose names hold one of these words")
    parser.add_argument("--keep", help="JSON file of results to go on from")
    parser.add_argument("--all", action="store_true", help="every method's scores too")
    options = parser.parse_args()
    if not DATA.exists():
        print(f"{DATA} is not there: set CALIBRANT_DATA to the folder that holds network_outputs/")
        return 0
    results = run(options)
    worse = 0
    for score, (title, scale) in enumerate(
        (("log loss of being right", 1.0), ("AURC x 1000", 1000.0))
    ):
        print(f"\n{title}: stacked, best single signal, difference, paired standard error")
        lines = [line(name, runs, score, scale) for name, runs in results.items()]
        print("\n".join(text for text, _ in lines))
        verdicts = [verdict for _, verdict in lines]
        worse += verdicts.count("worse")
        print(
            "  "
            + ", ".join(
                f"{word} {verdicts.count(word)}"
                for word in ("better", "within two errors", "worse")
            )
        )
    if options.all:
        for name, runs in results.items():
            print(f"\n{name}")
            for method in sorted(runs[0], key=lambda m: np.mean([r[m][0] for r in runs])):
                loss, area = np.mean([r[method] for r in runs], axis=0)
                print(f"  {method:36s} log loss {loss:.4f}  AURC x 1000 {1000 * area:.3f}")
    return int(worse > 0)


if __name__ == "__main__":
    sys.exit(main())
