"""Bias of the automatic choice's out-of-fold gain, by the fits that its weights come from.

Run: python -m benchmarks.experiments.honest_folds [--rows N ...] [--classes K ...] [--repeats R]

The true probabilities of every world are known. A fold's choice (weights and candidates without its
labels) is scored on the fold and on 5,000 new rows, by the expected log loss. The difference of the
two gains over no calibration is the bias of the estimate. Weights from pairs of folds have none, as
neither their fits nor their losses saw the fold; the column "pairs" shows it within the error of
the simulation. The bias of "shared" weights is measured against "pairs" on the same rows, which
removes most of that error. Both are in standard errors of the gain, the mean of those over the
repeats. "Nested" repeats the whole choice without each of five folds: its difference to the
gain of the choice on all rows ("truth") is what an honest estimate costs in rows, in the same unit.
"""

import argparse
import time

import numpy as np

import calibrant as cb
from calibrant._kernels.softmax import softmax
from calibrant.folds.splits import out_of_fold
from calibrant.predictions import read

NEW_ROWS = 5_000
WORLDS = ("calibrated", "noise", "overconfident", "bent")


def drawn(world: str, n: int, n_classes: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Return predictions, true probabilities and labels of n rows."""
    logits = rng.normal(size=(n, n_classes)) * 1.5
    truth = {
        "calibrated": softmax(logits),
        "noise": np.full(logits.shape, 1.0 / n_classes),
        "overconfident": softmax(logits / 1.3),
        "bent": softmax(logits + 0.5 * np.sin(2.0 * logits)),
    }[world]
    labels = (truth.cumsum(axis=1) > rng.uniform(size=(n, 1))).argmax(axis=1)
    return softmax(logits), truth, labels


def gains(Q: np.ndarray, P: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """Return (n,) gains in log loss over P, for rows with class probabilities ``chance``."""
    return (chance * (np.log(np.maximum(Q, 1e-15)) - np.log(P))).sum(axis=1)


def repeat(world: str, n: int, n_classes: int, seed: int, nested: bool) -> dict[str, float]:
    """Return gains of one simulated data set, out of fold and on new rows."""
    rng = np.random.default_rng([seed, n, n_classes, WORLDS.index(world)])
    (P, _, y), (new, chance, _) = (
        drawn(world, size, n_classes, rng) for size in (n, NEW_ROWS)
    )
    record, fresh = read(P, y, classes=range(n_classes)), read(new, classes=range(n_classes))
    choice = cb.AutoCalibrator(classes=range(n_classes))
    choice._begin(record)
    fits = choice._fit_in_folds(record.above(choice.least_))
    folds, out, hit = fits.held_out.folds[fits.pieces.given], {}, np.eye(n_classes)[y]
    for kind in ("shared", "extra", "pairs"):
        rows, there = np.empty(n), 0.0
        for k, (weights, members) in enumerate(fits.choices(kind)):
            own, used = folds == k, np.flatnonzero(weights)
            Q, new_Q = (
                sum(weights[j] * members[j].predict_record(one) for j in used)
                for one in (record.take(own), fresh)
            )
            rows[own] = gains(Q, P[own], hit[own])
            there += own.mean() * gains(new_Q, new, chance).mean()
        out[kind], out[f"{kind} new"] = rows.mean(), there
        out[f"{kind} error"] = rows.std(ddof=1) / n**0.5
    out["truth"] = gains(choice.predict_record(fresh), new, chance).mean()
    if nested:
        Q, _ = out_of_fold(cb.AutoCalibrator(), record)
        out["nested"] = gains(Q, P, hit).mean()
    return out


def main() -> None:
    """Print a row for each world, number of rows and number of classes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", nargs="+", type=int, default=[1_000, 2_000, 4_000, 10_000])
    parser.add_argument("--classes", nargs="+", type=int, default=[2, 10])
    parser.add_argument("--worlds", nargs="+", default=WORLDS, choices=WORLDS)
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--nested", action="store_true", help="add nested folds (slow)")
    options = parser.parse_args()
    print(
        f"{'rows':>6} {'K':>3} {'world':14} {'R':>4} {'gain, nats':>11} {'s.e.':>8}"
        f"{'shared bias/se':>16} {'pairs bias/se':>15} {'shared - truth':>15}"
        f"{'pairs - truth':>14} {'nested - truth':>15} {'CPU s':>6}"
    )
    for n in options.rows:
        for n_classes in options.classes:
            for world in options.worlds:
                start = time.process_time()
                found = [
                    repeat(world, n, n_classes, seed, options.nested)
                    for seed in range(options.repeats)
                ]
                all_ = {name: np.array([one[name] for one in found]) for name in found[0]}
                error = all_["shared error"].mean()

                def told(values: np.ndarray, unit: float = error) -> str:
                    spread = values.std(ddof=1) / len(values) ** 0.5
                    return f"{values.mean() / unit:+.3f} ({spread / unit:.3f})"

                pairs = all_["pairs"] - all_["pairs new"]
                cells = [
                    told(all_["shared"] - all_["shared new"] - pairs),
                    told(all_["extra"] - all_["extra new"] - pairs),
                    told(pairs),
                    told(all_["shared"] - all_["truth"]),
                    told(all_["extra"] - all_["truth"]),
                    told(all_["pairs"] - all_["truth"]),
                    told(all_["nested"] - all_["truth"]) if options.nested else "",
                ]
                print(
                    f"{n:6,} {n_classes:3} {world:14} {options.repeats:4}"
                    f" {all_['truth'].mean():+11.5f} {error:8.5f}  {'  '.join(cells)}"
                    f"  {time.process_time() - start:.0f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
