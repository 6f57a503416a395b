"""Network outputs (CIFAR-10 and CIFAR-100): Gaussian-process calibration, diagonal and full, beside
temperature scaling.

    python -m benchmarks.papers.gp.cifar
    python -m benchmarks.papers.gp.cifar --outputs lenet-5-cifar10 --seeds 2

Protocol: for each seed, ``default_rng(seed).permutation(n)``, the first half fits, the rest tests;
probabilities clipped to [1e-12, 1]. Then the same with 1,000 rows to fit. Three seeds are stored.
Exits 1 when, fitted to
half, the mean log loss of the Gaussian process on log probabilities exceeds temperature scaling's
by over 0.002 on CIFAR-100.
"""

import argparse
import sys
import time

import numpy as np
from benchmarks.papers.gp.protocol import DATA
from benchmarks.papers.stored import keep

import calibrant as cb
from calibrant import metrics

OUTPUTS = ("lenet-5-cifar10", "wideresnet-16-4-cifar10", "densenet-bc-100-cifar100")
#: Columns of the stored table, and the name of each network there.
COLUMNS = {
    "diagonal": "GP on log probabilities",
    "diagonal, monotone": "GP on log probabilities, monotone",
    "full": "full GP on log probabilities",
    "full, monotone": "full GP on log probabilities, monotone",
    "diagonal on probabilities": "GP on probabilities",
}
NAMES = ("LeNet-5, CIFAR-10", "Wide ResNet 16-4, CIFAR-10", "DenseNet-BC 100, CIFAR-100")
TITLES = dict(zip(OUTPUTS, NAMES, strict=True))
SEEDS = 3
JUDGED = ("densenet-bc-100-cifar100", "GP on log probabilities")


def gaussian_process(**options):
    return cb.calibrators.GaussianProcessCalibration(inputs="logit", **options)


#: Name -> how to make what is fitted; the modes are other predictions from the same fit.
METHODS = {
    "temperature": cb.TemperatureScaling,
    "GP on probabilities": cb.calibrators.GaussianProcessCalibration,
    "GP on log probabilities": gaussian_process,
    "GP on log probabilities, monotone": lambda: gaussian_process(monotone=True),
    "full GP on log probabilities": lambda: gaussian_process(covariance="full"),
    "full GP on log probabilities, monotone": lambda: gaussian_process(
        covariance="full", monotone=True
    ),
}
MODES = dict.fromkeys(
    ("GP on log probabilities", "full GP on log probabilities"), ("mean", "taylor")
)
SLACK = 0.002


def one(name, P, y, fit, test):
    """{row name: log loss}, and CPU seconds to fit, of one split."""
    cal = METHODS[name]()
    X = np.log(P) if cal.inputs == "logit" else P
    start = time.process_time()
    cal.fit(X[fit], y[fit])
    spent = time.process_time() - start
    losses = {name: metrics.log_loss(y[test], cal.predict_proba(X[test]))}
    for mode in MODES.get(name, ()):
        losses[f"{name}, {mode}"] = metrics.log_loss(
            y[test], cal.set_params(expectation=mode).predict_proba(X[test])
        )
    return losses, spent


def outputs(name):
    """(probabilities, labels) of one stored network."""
    path = DATA / "network_outputs" / f"{name}.npz"
    if not path.is_file():
        raise SystemExit(
            f"{path} is not there; set CALIBRANT_DATA to the folder that holds network_outputs/"
        )
    with np.load(path) as archive:
        P, y = (
            np.clip(archive["probabilities"].astype(np.float64), 1e-12, 1.0),
            archive["labels"].astype(np.intp),
        )
    return P / P.sum(axis=1, keepdims=True), y


def compare(name, n_fit, n_seeds):
    """Print a line a method; {row name: (mean log loss, that less temperature scaling's)}."""
    P, y = outputs(name)
    orders, gaps = [np.random.default_rng(seed).permutation(len(y)) for seed in range(n_seeds)], {}
    base = None
    for method in METHODS:
        runs = [
            one(method, P, y, order[: n_fit or len(y) // 2], order[len(y) // 2 :])
            for order in orders
        ]
        for row in runs[0][0]:
            loss = np.array([found[row] for found, _ in runs])
            base = loss if base is None else base
            gaps[row] = float(loss.mean()), float(np.mean(loss - base))
            told = f"log loss {loss.mean():.5f} ({gaps[row][1]:+.5f} +- {np.std(loss - base):.5f})"
            print(
                f"{name} {n_fit or 'half'}   {row:46s} {told}   {np.mean([s for _, s in runs]):.2f}"
                " s CPU",
                flush=True,
            )
    return gaps


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--outputs", nargs="+", choices=OUTPUTS, default=list(OUTPUTS))
    parser.add_argument("--seeds", type=int, default=SEEDS)
    options = parser.parse_args()
    worse, found = False, {}
    for name in options.outputs:
        for n_fit in (1000, None):
            gaps = compare(name, n_fit, options.seeds)
            worse |= n_fit is None and name == JUDGED[0] and gaps[JUDGED[1]][1] > SLACK
            found[f"{TITLES[name]}, {n_fit or 5000:,}"] = {
                "temperature": f"{gaps['temperature'][0]:.4f}"
            } | {c: "{:.4f} ({:+.4f})".format(*gaps[row]) for c, row in COLUMNS.items()}
    keep("gp", "networks", found, "" if options.seeds == SEEDS else f"{options.seeds} seeds")
    return int(worse)


if __name__ == "__main__":
    sys.exit(main())
