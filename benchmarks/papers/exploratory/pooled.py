"""Maps on log-odds for each predicted class with partial pooling, beside one temperature and the
paper's temperatures, where half of the classes are rare.

    python -m benchmarks.papers.exploratory.pooled        # one CPU minute; needs no torch

The outputs as they are, and with one row in ten left of every second class. Half of the rows fit
and half test, five splits.
Log loss of the top label and its calibration error (ten bins of equal weight), over all
rows and over the rows predicted as a rare class. The method was chosen on the outputs in CHOSEN_ON;
the table has others.
"""

import warnings

import numpy as np
from benchmarks.papers import stored
from benchmarks.papers.outputs import DATA, TITLES, read

import calibrant as cb
from calibrant import metrics
from calibrant.errors import CalibrationWarning

CHOSEN_ON = (
    *(f"classifier_outputs/{k}-mnist" for k in ("adaboost", "xgboost", "1layer-nn")),
    *("classifier_outputs/mondrian-forest-mnist", "network_outputs/lenet-5-cifar10"),
    "stage2/nn_tinyimagenet200_linear",
)
OUTPUTS = (
    "network_outputs/wideresnet-16-4-cifar10",
    "stage2/nn_cifar10_test_set",
    "classifier_outputs/random-forest-mnist",
    "network_outputs/densenet-bc-100-cifar100",
)
LEFT, SEEDS = 0.1, 5
METHODS = {
    "STS": lambda: cb.TemperatureScaling(objective="top_label", inputs="logit"),
    "CSTS": lambda: cb.calibrators.CategoryTemperature(inputs="logit"),
    "TSwA": lambda: cb.calibrators.AwardTemperature(inputs="logit"),
    # What a user would compare with, which the paper has not.
    "structured vector scaling": lambda: cb.calibrators.StructuredVectorScaling(inputs="logit"),
    "pooled": lambda: cb.calibrators.PerClass(
        cb.TemperatureScaling(inputs="logit"), pooled=True, inputs="logit"
    ),
}


def halves(y, seed, left):
    """Rows to fit and to test, of which every second class has a share left."""
    rng = np.random.default_rng(seed)
    left = np.flatnonzero((y % 2 == 0) | (rng.random(len(y)) < left))
    return np.array_split(rng.permutation(left), 2)


def measures(right, confidence):
    """Log loss and calibration error of confidences in being right."""
    error = metrics.positive_class_calibration_error(right, confidence, n_bins=10, strategy="mass")
    return metrics.log_loss(right, confidence), error


def measured(logits, y, left):
    """{method: (seeds, all or rare, log loss or error)}."""
    runs = {name: [] for name in METHODS}
    for seed in range(SEEDS):
        fit, test = halves(y, seed, left)
        label = logits[test].argmax(axis=1)
        right, rare = (label == y[test]).astype(int), label % 2 == 1
        for name, make in METHODS.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CalibrationWarning)
                cal = make().fit(logits[fit], y[fit])
            c = cal.predict_confidence(logits[test])
            runs[name].append([measures(right, c), measures(right[rare], c[rare])])
    return {name: np.array(each) for name, each in runs.items()}


def main():
    """Measure, print and store."""
    rows = {}
    for path in OUTPUTS:
        logits, y = read(DATA / f"{path}.npz")
        whole, thinned = (measured(logits, y, left) for left in (1.0, LEFT))
        parts = {"as it is": (whole, 0), "thinned": (thinned, 0), "rare classes": (thinned, 1)}
        for part, (found, k) in parts.items():
            cells = {}
            for name, values in found.items():
                loss, error = values[:, k].mean(axis=0)
                gap = loss - found["STS"][:, k, 0].mean()
                less = "" if name == "STS" else f" ({gap:+.4f})"
                cells[name] = f"{loss:.4f}{less}, {error:.3f}"
            rows[f"{TITLES[path]}, {part}"] = cells
            print(TITLES[path], part, cells, flush=True)
    stored.keep("exploratory", "pooled", rows)


if __name__ == "__main__":
    main()
