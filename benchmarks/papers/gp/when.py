"""When not to use the process: log loss and cost beside temperature scaling, by rows and classes.

    python -m benchmarks.papers.gp.when      # two CPU minutes

Stored outputs of 2 to 1,000 classes as log probabilities, three random splits: 100 or 1,000 rows to
fit and 2,000 others to test; means. CPU seconds of the fit, and of the prediction of 1,000 rows.
Then 100 rows of three classifiers in twenty splits: how far a fit goes astray.
"""

import time
import warnings

import numpy as np
from benchmarks.papers import stored
from benchmarks.papers.gp.cifar import gaussian_process
from benchmarks.papers.outputs import DATA, TITLES, read

import calibrant as cb
from calibrant import metrics
from calibrant.errors import FitWarning

#: Outputs below the data folder, by classes.
OUTPUTS = (
    "classifier_outputs/xgboost-kitti",
    "classifier_outputs/adaboost-mnist",
    "classifier_outputs/xgboost-mnist",
    "network_outputs/densenet-bc-100-cifar100",
    "stage2/nn_imagenet1k_lite0_lowres",
)
ROWS, N_TEST, SEEDS = (100, 1_000), 2_000, 3
#: Of them, those with few rows in many splits.
FEW, MANY_SEEDS = OUTPUTS[:3], 20
METHODS = {
    "temperature": lambda: cb.TemperatureScaling(inputs="logit"),
    "GP": gaussian_process,
    "full GP": lambda: gaussian_process(covariance="full"),
}


def one(make, logits, y, fit, test):
    """Log loss on new rows, and CPU seconds to fit and to predict 1,000 rows."""
    cal, start = make(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        cal.fit(logits[fit], y[fit])
    fitted = time.process_time()
    P = cal.predict_proba(logits[test])
    spent = time.process_time() - fitted
    return metrics.log_loss(y[test], P), fitted - start, spent * 1_000 / len(test)


def cells(logits, y, n_fit):
    """One row of the stored table: the means over the splits."""
    runs = {name: [] for name in METHODS}
    for seed in range(SEEDS):
        order = np.random.default_rng(seed).permutation(len(y))
        fit, test = order[N_TEST : N_TEST + n_fit], order[:N_TEST]
        for name, make in METHODS.items():
            runs[name].append(one(make, logits, y, fit, test))
    means = {name: np.mean(each, axis=0) for name, each in runs.items()}
    base, out = means["temperature"][0], {}
    for name, (loss, fit, predict) in means.items():
        gap = "" if name == "temperature" else f" ({loss - base:+.4f})"
        out[f"{name}, log loss"] = f"{loss:.4f}{gap}"
        out[f"{name}, fit s"] = f"{fit:.3f}"
        out[f"{name}, predict s"] = f"{predict:.3f}"
    return out


def astray(logits, y):
    """One row of the stored table of few rows: log losses over many splits."""
    runs = []
    for seed in range(MANY_SEEDS):
        order = np.random.default_rng(seed).permutation(len(y))
        fit, test = order[N_TEST : N_TEST + ROWS[0]], order[:N_TEST]
        before = metrics.log_loss(y[test], logits[test], inputs="logit")
        pair = [one(METHODS[name], logits, y, fit, test)[0] for name in ("temperature", "GP")]
        runs.append([before, *pair])
    before, temperature, process = np.array(runs).T
    return {
        "uncalibrated": f"{before.mean():.4f}",
        "temperature": f"{temperature.mean():.4f}",
        "temperature, worst split": f"{temperature.max():.4f}",
        "GP": f"{process.mean():.4f}",
        "GP, worst split": f"{process.max():.4f}",
        "GP above uncalibrated": f"{int((process > before).sum())} of {MANY_SEEDS}",
    }


def main():
    """Measure, print and store."""
    found = {}
    for path in OUTPUTS:
        logits, y = read(DATA / f"{path}.npz")
        for n_fit in ROWS:
            name = f"{TITLES[path]}, {logits.shape[1]:,} classes, {n_fit:,} rows"
            found[name] = cells(logits, y, n_fit)
            print(name, found[name], flush=True)
    stored.keep("gp", "when", found)
    few = {TITLES[path]: astray(*read(DATA / f"{path}.npz")) for path in FEW}
    print(few)
    stored.keep("gp", "few_rows", few)


if __name__ == "__main__":
    main()
