"""The paper's experiments in numbers: figures 1, 4 and 5, the Cauchy example, figures 3 and 6, the
form of table 1; and its claims.

    python -m benchmarks.papers.regression.tables [--seeds 3]

Results go to results/tables.json beside this file. About two minutes of CPU.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from benchmarks.papers import stored
from benchmarks.papers.regression import data
from benchmarks.papers.regression.measure import averaged, judged
from benchmarks.papers.regression.methods import METHODS
from scipy import integrate, stats

from calibrant import metrics

RESULTS = Path(__file__).resolve().parent / "results"
#: Table 1: ENCE in % before, after STD scaling, after the interval method.
PUBLISHED = {
    "tx": (16.5, 8.3, 6.0),
    "ty": (25.4, 4.7, 3.9),
    "tw": (24.4, 8.4, 12.6),
    "th": (12.6, 5.7, 11.2),
}
#: Fewer are a quick look, which is not stored.
SEEDS = 3
PAPERS_METHODS = ("before", "STD scaling", "interval")


def synthetic(seeds, **sizes):
    """Uncertainty -> method -> measures, the means over seeds."""
    kinds = ("random", "trained", "true")
    return {
        kind: averaged([judged(data.synthetic(kind, seed, **sizes)) for seed in range(seeds)])
        for kind in kinds
    }


def learned(seeds, **sizes):
    """How near the trained network's mean and std are to the true ones: mean of |mean - x| and
    |std - x|, over x.
    """
    errors = []
    for seed in range(seeds):
        mean, std, _, x = data.synthetic("trained", seed, **sizes).test
        errors.append([np.mean(np.abs(mean - x) / x), np.mean(np.abs(std - x) / x)])
    return dict(zip(("mean", "std"), np.mean(errors, axis=0).tolist(), strict=True))


def cauchy(seed=0, n=data.TEST):
    """Perfectly calibrated by intervals, although the scale has nothing to do with the outcome:
    and so what of a row?
    """
    y, scale = data.cauchy(seed, n)
    narrow = scale < np.quantile(scale, 0.1)
    zero = np.zeros(n)
    return {
        "interval error": metrics.interval_calibration_error(y, stats.cauchy(zero, scale)),
        "coverage of 90 % intervals": metrics.interval_coverage(y, stats.cauchy(zero, scale)),
        "the same, tenth of rows with the smallest scale": metrics.interval_coverage(
            y[narrow], stats.cauchy(zero[narrow], scale[narrow])
        ),
    }


def boxes(uncertainty, seeds, **sizes):
    """Output -> method -> measures, the means over seeds; and the factors of STD scaling."""
    problems = [data.boxes(uncertainty, seed, **sizes) for seed in range(seeds)]
    each = [judged(problem) for problem in problems]
    factors = np.mean(
        [
            METHODS["STD scaling"].fit(problem.fit[:2], problem.fit[2]).scale_
            for problem in problems
        ],
        axis=0,
    )
    return {
        name: averaged([e[j] for e in each]) for j, name in enumerate(data.OUTPUTS)
    }, factors.tolist()


def one_tail_variance():
    """Eq. 13 as printed, for a standard normal variable, whose variance is 1."""
    first, second = (
        integrate.quad(lambda u, k=k: u**k * stats.norm.sf(u), 0.0, np.inf)[0] for k in (0, 1)
    )
    return 2.0 * second - first**2


def claims(out):
    """(the claim, the number, whether it holds), the issue's and the paper's."""
    random, trained, true = (out["synthetic"][kind] for kind in ("random", "trained", "true"))
    untrained, boxes = out["boxes, untrained"].values(), out["boxes, trained"].values()
    both = ("STD scaling", "interval")
    return [
        (
            "random: interval error below .02 after the interval method",
            random["interval"]["interval error"],
            lambda v: v < 0.02,
        ),
        (
            "random: interval error below .02 after STD scaling",
            random["STD scaling"]["interval error"],
            lambda v: v < 0.02,
        ),
        (
            "random: ENCE above .3 after either",
            min(random[m]["ENCE"] for m in both),
            lambda v: v > 0.3,
        ),
        (
            "random: std uncorrelated with the true, largest",
            max(abs(random[m]["rank correlation"]) for m in both),
            lambda v: v < 0.02,
        ),
        (
            "true: interval error below .02 after either",
            max(true[m]["interval error"] for m in both),
            lambda v: v < 0.02,
        ),
        (
            "true: ENCE below .02 after either",
            max(true[m]["ENCE"] for m in both),
            lambda v: v < 0.02,
        ),
        (
            "trained: std learned almost perfectly, mean relative error",
            out["learned"]["std"],
            lambda v: v < 0.05,
        ),
        (
            "trained: either method changes the ENCE by less than .02, largest change",
            max(abs(trained[m]["ENCE"] - trained["before"]["ENCE"]) for m in both),
            lambda v: v < 0.02,
        ),
        (
            "trained: either method changes the interval error by less than .02, largest change",
            max(
                abs(trained[m]["interval error"] - trained["before"]["interval error"])
                for m in both
            ),
            lambda v: v < 0.02,
        ),
        ("Cauchy: interval error below .01", out["cauchy"]["interval error"], lambda v: v < 0.01),
        (
            "untrained boxes: interval error below .02 after the interval method, largest",
            max(b["interval"]["interval error"] for b in untrained),
            lambda v: v < 0.02,
        ),
        (
            "untrained boxes: ENCE above .1 after STD scaling, smallest",
            min(b["STD scaling"]["ENCE"] for b in untrained),
            lambda v: v > 0.1,
        ),
        (
            "boxes: STD scaling lowers the ENCE of each, largest ratio",
            max(b["STD scaling"]["ENCE"] / b["before"]["ENCE"] for b in boxes),
            lambda v: v < 1.0,
        ),
        (
            "boxes: the interval method lowers the ENCE of each, largest ratio",
            max(b["interval"]["ENCE"] / b["before"]["ENCE"] for b in boxes),
            lambda v: v < 1.0,
        ),
        (
            "boxes: either method leaves c_v as it is, largest change",
            max(abs(b[m]["c_v"] - b["before"]["c_v"]) for b in boxes for m in both),
            lambda v: v < 1e-6,
        ),
    ]


def show(title, rows):
    """Print one table."""
    columns = list(next(iter(rows.values())))
    print(f"\n{title}\n{'':20s}" + "".join(f"{c:>18s}" for c in columns))
    for name, values in rows.items():
        print(f"{name:20s}" + "".join(f"{v:18.4f}" for v in values.values()))


def show_table_1(rows, factors):
    """Table 1's form: ENCE in % and c_v before, after STD scaling, after the interval method;
    published beside it.
    """
    print(
        "\nTable 1's form, boxes simulated: ENCE % and c_v (published, of a detector that is not"
        " available); the factor, found and known"
    )
    print(f"{'':4s}" + "".join(f"{method:>28s}" for method in PAPERS_METHODS))
    for j, (output, row) in enumerate(rows.items()):
        cells = [
            f"{100 * row[m]['ENCE']:6.1f}  {row[m]['c_v']:.2f}  ({p})"
            for m, p in zip(PAPERS_METHODS, PUBLISHED[output], strict=True)
        ]
        print(
            f"{output:4s}"
            + "".join(f"{cell:>28s}" for cell in cells)
            + f"   s {factors[j]:.3f}, {data.FACTOR[j]}"
        )


def keep(out):
    """Store the tables that the README and the documentation show."""
    measures = ("interval error", "ENCE", "c_v", "CRPS")
    rows = [["uncertainty", "method", *measures]]
    for kind, of in out["synthetic"].items():
        for method in of if kind == "random" else PAPERS_METHODS:
            cells = [f"{of[method][m]:.3f}" for m in measures]
            said = "interval method" if method == "interval" else method
            rows.append(["" if method != "before" else kind, said, *cells])
    stored.write("regression", "synthetic", rows)
    heading = ["before", "STD scaling", "interval method", "factor found", "known"]
    rows = [["output", *heading]]
    for j, (output, of) in enumerate(out["boxes, trained"].items()):
        cells = [
            f"{100 * of[m]['ENCE']:.1f}, {of[m]['c_v']:.2f} ({printed})".replace(" 0.", " .")
            for m, printed in zip(PAPERS_METHODS, PUBLISHED[output], strict=True)
        ]
        factor = out["factors, trained"][j]
        rows.append([output, *cells, f"{factor:.3f}", str(data.FACTOR[j])])
    stored.write("regression", "boxes", rows)


def run(seeds=3, synthetic_sizes=None, box_sizes=None):
    """All numbers."""
    synthetic_sizes, box_sizes = synthetic_sizes or {}, box_sizes or {}
    out = {
        "synthetic": synthetic(seeds, **synthetic_sizes),
        "learned": learned(seeds, **synthetic_sizes),
        "cauchy": cauchy(),
    }
    for kind in ("trained", "untrained"):
        out[f"boxes, {kind}"], out[f"factors, {kind}"] = boxes(kind, seeds, **box_sizes)
    out["variance of N(0, 1) by Eq. 13 as printed"] = one_tail_variance()
    return out


def main():
    """Run all, print, and write results/tables.json and the stored tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=SEEDS)
    seeds = parser.parse_args().seeds
    out = run(seeds)
    for kind, rows in out["synthetic"].items():
        show(f"Synthetic problem, {kind} uncertainty", rows)
    print(
        "\nThe trained network, mean error relative to x:",
        {k: round(v, 4) for k, v in out["learned"].items()},
    )
    print("Cauchy example:", {k: round(v, 4) for k, v in out["cauchy"].items()})
    for output, rows in out["boxes, untrained"].items():
        show(f"Figures 3 and 6: {output}, untrained uncertainty", rows)
    show_table_1(out["boxes, trained"], out["factors, trained"])
    for output, rows in out["boxes, trained"].items():
        show(f"{output}, trained uncertainty", rows)
    print(
        "\nVariance of N(0, 1) by Eq. 13 as printed:"
        f" {out['variance of N(0, 1) by Eq. 13 as printed']:.3f}"
    )
    print("\nClaims")
    for claim, number, holds in claims(out):
        print(f"  {'holds' if holds(number) else 'FAILS'}  {number:.4f}  {claim}")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "tables.json").write_text(json.dumps(out, indent=1) + "\n", encoding="utf-8")
    if seeds >= SEEDS:
        keep(out)


if __name__ == "__main__":
    main()
