"""Hoki with the width searched on some rows beside the search on all, and its jumps between bins.

    python -m benchmarks.papers.hoki.search      # two CPU minutes

Simulated logits of several sizes, ten draws of each, with as many new rows to test; and every
stored output in the splits of ``others``. How often another width results, and the largest
differences of log loss and ECE on the rows to test. Neither the number of rows of the search nor
the way to choose them was set on these data. The jumps are those of the confidence as a function of
the stability, from the first split of three networks.
"""

import numpy as np
from benchmarks.papers import stored
from benchmarks.papers.hoki.networks import NAMES, load
from benchmarks.papers.hoki.others import every
from benchmarks.papers.outputs import TITLES
from benchmarks.speed.label_stability import sample

import calibrant as cb
from calibrant import metrics

SIZES = [(n, n_classes) for n_classes in (10, 100) for n in (2_000, 5_000, 20_000)]
DRAWS = range(100, 110)
#: A smaller step of the confidence between neighbours of a grid of stabilities is no jump.
GRID, SMALLEST = 100_001, 0.002


def hoki(logits, labels, search_rows):
    """A fit whose search uses so many rows; None is all."""
    signal = cb.calibrators.LabelStability(search_rows=search_rows)
    return cb.calibrators.HokiCalibrator(signal=signal, inputs="logit").fit(logits, labels)


def one_split(logits, labels, fit, test):
    """Whether the width is another one, and the differences of log loss and ECE-15 on new rows."""
    some, every_row = (hoki(logits[fit], labels[fit], rows) for rows in (1_000, None))
    right = (logits[test].argmax(axis=1) == labels[test]).astype(int)
    errors = [
        [m(right, cal.predict_confidence(logits[test])) for cal in (some, every_row)]
        for m in (metrics.log_loss, metrics.positive_class_calibration_error)
    ]
    return [some.signal_.scale_ != every_row.signal_.scale_, *(a - b for a, b in errors)]


def cells(runs):
    """One row of the stored table, of several fits."""
    other, loss, ece = np.array(runs, dtype=float).T
    return {
        "fits": str(len(runs)),
        "another width": str(int(other.sum())),
        "log loss, largest difference": f"{np.abs(loss).max():.4f}",
        "ECE-15, largest difference": f"{np.abs(ece).max():.4f}",
    }


def confidences(cal, stability):
    """The confidence of each stability, by equation 4 in every iteration."""
    p = np.full(len(stability), cal.accuracy_)
    for alpha, beta in zip(cal.alpha_, cal.beta_, strict=True):
        j = np.minimum((p * cal.n_bins + 1e-9).astype(int), cal.n_bins - 1)
        mixed = alpha[j] * stability + beta[j] * (1.0 - stability)
        p = np.where(np.isnan(mixed), p, mixed)
    return p


def jumps(name):
    """Jumps of the confidence from stability 0 to 1, of the first split of a network."""
    outputs = load(name)
    fit, test = outputs.split(0)
    cal = hoki(outputs.logits[fit], outputs.labels[fit], None)
    stability = cal.signal_.score(outputs.logits[test])
    np.testing.assert_allclose(
        confidences(cal, stability), cal.predict_confidence(outputs.logits[test]), atol=1e-9
    )
    step = np.diff(confidences(cal, np.linspace(stability.min(), stability.max(), GRID)))
    step = step[np.abs(step) > SMALLEST]
    return {
        "jumps": str(len(step)),
        "of them down": str(int((step < 0.0).sum())),
        "largest": f"{np.abs(step).max():.3f}",
    }


def main():
    """Run all sizes and outputs, print and store."""
    found = {}
    for n, n_classes in SIZES:
        runs = []
        for seed in DRAWS:
            logits, labels = sample(2 * n, n_classes, seed)
            runs.append(one_split(logits, labels, np.arange(n), np.arange(n, 2 * n)))
        found[f"simulated, {n:,} rows of {n_classes} classes"] = cells(runs)
        print(found, flush=True)
    runs = [
        one_split(outputs.logits, outputs.labels, *split)
        for _, outputs, splits in every(0)
        for split in splits
    ]
    found["stored outputs"] = cells(runs)
    print(found["stored outputs"])
    stored.keep("hoki", "search", found)
    steps = {TITLES[f"network_outputs/{name}"]: jumps(name) for name in NAMES[1:]}
    print(steps)
    stored.keep("hoki", "jumps", steps)


if __name__ == "__main__":
    main()
