"""Bias of the automatic choice's gain out of fold, by the fits that the weights come from.

Run: python -m benchmarks.experiments.honest_folds [--rows N ...] [--classes K ...] [--repeats R]

The true probabilities of every world are known. The choice for a fold, which is made without its
labels, is scored on the fold and by its expected log loss on 5,000 new rows. The difference of the
two gains over no calibration is the bias of the estimate. All numbers are in standard errors of the
gain, with their errors in parentheses. The weights of a fold come from the losses of other folds by

- "pairs": fits without both folds, which leave no bias but the error of the simulation;
- "extrapolated": fits without both, extrapolated from those without one;
- "shared": fits without the other fold, which have seen the fold itself.

The bias of the last two is that beyond "pairs" on the same rows, which removes most of the error.
The last columns compare the gain with that of the choice on all rows; ``--nested`` adds the whole
choice repeated without each of five folds.
"""

import argparse
import time
from typing import Any

import numpy as np

import calibrant as cb
from calibrant._kernels.softmax import softmax
from calibrant.folds.splits import out_of_fold
from calibrant.predictions import read
from calibrant.select.evidence_pool import evidence_pool

NEW_ROWS = 5_000
WORLDS = ("calibrated", "noise", "overconfident", "bent")
KINDS = ("pairs", "extrapolated", "shared")


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


def shared(fits: Any) -> list[Any]:
    """Return the choice of each fold by losses of fits that have seen it."""
    held, weight, out = fits.held_out, fits.held_out.weight, []
    for k, members in enumerate(held.members):
        held.weight = np.where(held.folds == k, 0.0, weight)
        out.append((evidence_pool(held, len(members), held.weight.sum(), 0).shares, members))
    held.weight = weight
    return out


def repeat(world: str, n: int, n_classes: int, seed: int, nested: bool) -> dict[str, float]:
    """Return gains of one simulated data set, out of fold and on new rows."""
    rng = np.random.default_rng([seed, n, n_classes, WORLDS.index(world)])
    (P, _, y), (new, chance, _) = (drawn(world, size, n_classes, rng) for size in (n, NEW_ROWS))
    record, fresh = read(P, y, classes=range(n_classes)), read(new, classes=range(n_classes))
    choice = cb.AutoCalibrator(classes=range(n_classes))
    choice._begin(record)
    fits = choice._fit_in_folds(record.above(choice.least_))
    folds, out, hit = fits.held_out.folds[fits.pieces.given], {}, np.eye(n_classes)[y]
    for kind in KINDS:
        rows, there = np.empty(n), 0.0
        choices = shared(fits) if kind == "shared" else fits.choices(kind)[1]
        for k, (weights, members) in enumerate(choices):
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
    against = ("pairs", "extrapolated", "nested") if options.nested else ("pairs", "extrapolated")
    print(
        f"{'rows':>6} {'K':>3} {'world':14} {'R':>4} {'gain':>9} {'s.e.':>8}"
        + "".join(f"{kind:>17}" for kind in KINDS)
        + "".join(f"{kind + ' - truth':>22}" for kind in against)
    )
    for n in options.rows:
        for n_classes in options.classes:
            for world in options.worlds:
                start = time.process_time()
                found = [
                    repeat(world, n, n_classes, seed, options.nested)
                    for seed in range(options.repeats)
                ]
                values = {name: np.array([one[name] for one in found]) for name in found[0]}
                error = values["pairs error"].mean()

                def told(part: np.ndarray, unit: float = error) -> str:
                    spread = part.std(ddof=1) / len(part) ** 0.5
                    return f"{part.mean() / unit:+.3f} ({spread / unit:.3f})"

                excess = {kind: values[kind] - values[f"{kind} new"] for kind in KINDS}
                cells = [told(excess["pairs"])]
                cells += [told(excess[kind] - excess["pairs"]) for kind in KINDS[1:]]
                cells += [told(values[kind] - values["truth"]) for kind in against]
                print(
                    f"{n:6,} {n_classes:3} {world:14} {options.repeats:4}"
                    f" {values['truth'].mean():+9.5f} {error:8.5f}  {'   '.join(cells)}"
                    f"   {time.process_time() - start:.0f} s",
                    flush=True,
                )


if __name__ == "__main__":
    main()
