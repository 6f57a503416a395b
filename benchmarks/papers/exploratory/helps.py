"""Does calibrating always help? The paper's methods against the model's own words, on stored
outputs that are no ensembles of MNIST.

    python -m benchmarks.papers.exploratory.helps        # about two CPU minutes; needs no torch

NLL of the top label on the half that nothing was fitted on: mean over rows, and mean over the
classes with 20 predictions in both halves.
"""

import numpy as np
from benchmarks.papers.exploratory import measure, stored
from benchmarks.papers.exploratory.methods import METHODS, per_class
from benchmarks.papers.stored import keep

import calibrant as cb

COMPARED = (
    "uncalibrated",
    "Conf1",
    "histogram",
    "CwOC",
    "KDE b_mon2",
    "KDE b_mon2, log odds",
    "STS",
    "CSTS",
    "TSwA",
)
#: No shrinkage to Conf1, as the paper has it.
LITERAL = {
    "KDE b_mon2, literal": per_class(cb.calibrators.KernelDensity(prior_weight=0.0)),
    "KDE b_mon2, log odds, literal": per_class(
        cb.calibrators.KernelDensity(prior_weight=0.0), cb.calibrators.LogOdds()
    ),
}
#: What a user of the library would compare with, which the paper has not.
OURS = {
    "structured vector": cb.calibrators.StructuredVectorScaling(inputs="logit"),
    "automatic": cb.AutoCalibrator(inputs="logit"),
}
#: Columns of the stored table.
COLUMNS = {
    "histogram": "histogram",
    "CwOC": "CwOC",
    "KDE b_mon2, c = 0 (the paper's)": "KDE b_mon2, literal",
    "KDE b_mon2, c = 1": "KDE b_mon2",
    "KDE b_mon2, log odds": "KDE b_mon2, log odds",
    **{name: name for name in ("STS", "CSTS", "TSwA")},
    "structured vector scaling (not the paper's)": "structured vector",
    "AutoCalibrator (not the paper's)": "automatic",
}
TRIED = {name: METHODS[name] for name in COMPARED} | LITERAL | OURS


def losses(said, labels, methods=TRIED):
    """(methods, 2) NLL on the second half: over rows, over classes."""
    scores, positives = measure.ensemble(said, labels, methods=methods)
    weight = positives[1] / positives[1].sum()
    rows = np.nansum(scores[:, 1, :, 0] * weight, axis=1)
    return np.stack([rows, measure.macro(scores, positives)[0][:, 1, 0]], axis=1)


def main():
    harmed, rows = [], {}
    for name, path in stored.names().items():
        found = np.stack([losses(*half) for half in stored.halves(*stored.read(path))])
        print(
            f"\n{name}: uncalibrated {found[:, 0, 0].mean():.4f} over rows,"
            f" {found[:, 0, 1].mean():.4f} over classes; less that:"
        )
        for m, method in list(enumerate(TRIED))[1:]:
            gap = found[:, m] - found[:, 0]
            worse = " and ".join(
                over for over, g in zip(("rows", "classes"), gap.T, strict=True) if g.mean() > 0.0
            )
            if worse:
                harmed.append(f"{name}: {method} over {worse}")
            print(
                f"  {method:30s} rows {stored.spread(gap[:, 0])}  classes"
                f" {stored.spread(gap[:, 1])}{'  WORSE' * bool(worse)}",
                flush=True,
            )
        less = dict(zip(TRIED, (found[:, :, 0] - found[:, :1, 0]).T, strict=True))
        rows[stored.title(path)] = {
            "uncalibrated": f"{found[:, 0, 0].mean():.3f}".removeprefix("0")
        } | {column: stored.short(less[method]) for column, method in COLUMNS.items()}
    keep("exploratory", "beyond", rows)
    print("\nWorse than uncalibrated:", *(harmed or ["none"]), sep="\n  ")


if __name__ == "__main__":
    main()
