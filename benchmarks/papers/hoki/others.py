"""Hoki beside temperature scaling on outputs that the tables do not have: how general is what they
show?

    python -m benchmarks.papers.hoki.others        # about one CPU minute

Classifiers and networks of the data folder, and three networks of one hidden layer trained here on
MNIST. Halves to fit and to test, five times (seeds 0 to 4; twice with 1,000 classes); means, and
the range of the difference. A split "cycles" where Hoki ends so.
"""

import warnings

import numpy as np
from benchmarks.papers.hoki.networks import DATA, Outputs
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

import calibrant as cb
from calibrant import metrics

KEPT = [
    f"classifier_outputs/{name}-mnist.npz"
    for name in ("1layer-nn", "adaboost", "mondrian-forest", "random-forest", "xgboost")
]
KEPT += [
    f"stage2/nn_{name}.npz"
    for name in ("cifar10_test_set", "tinyimagenet200_linear", "imagenet1k_lite0_lowres")
]
TRAINED = 3


def every():
    """(name, outputs) one after the other."""
    for path in KEPT:
        with np.load(DATA / path) as kept:
            names = set(kept.files)
            labels = kept["labels" if "labels" in names else "label"].astype(np.int64)
            if "logits" in names:
                logits = kept["logits"].astype(np.float64)
            else:
                P = kept["probabilities" if "probabilities" in names else "probs"].astype(
                    np.float64
                )
                logits = np.log(np.maximum(P, 1e-12))
        yield path.split("/")[1].removesuffix(".npz"), Outputs(logits, labels)
    with np.load(DATA / "mnist.npz") as archive:
        X, y = (
            archive["images"].reshape(len(archive["images"]), -1) / np.float32(255.0),
            archive["labels"].astype(np.int64),
        )
    for seed in range(TRAINED):
        yield f"128 hidden units, MNIST, seed {seed}", trained(X, y, seed)


def trained(X, y, seed):
    """What a network trained on 25,000 digits says of 20,000 others."""
    order = np.random.default_rng(seed).permutation(len(y))
    fit, rest = order[:25_000], order[50_000:]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        network = MLPClassifier((128,), max_iter=12, batch_size=128, random_state=seed).fit(
            X[fit], y[fit]
        )
    return Outputs(
        np.maximum(network.predict_log_proba(X[rest]).astype(np.float64), -700.0), y[rest]
    )


def one_split(outputs, seed):
    """ECE-15 and log loss of temperature scaling, of Hoki; the largest difference that Hoki's
    stop makes, and whether it cycles.
    """
    fit, test = outputs.split(seed)
    logits, labels = outputs.logits, outputs.labels
    right = (logits[test].argmax(axis=1) == labels[test]).astype(int)
    temperature, hoki, papers = (
        calibrator.fit(logits[fit], labels[fit])
        for calibrator in (
            cb.TemperatureScaling(inputs="logit"),
            cb.HokiCalibrator(inputs="logit"),
            cb.HokiCalibrator(inputs="logit", stop="unchanged"),
        )
    )
    said = [c.predict_confidence(logits[test]) for c in (temperature, hoki, papers)]
    errors = [
        m(right, p)
        for p in said[:2]
        for m in (metrics.positive_class_calibration_error, metrics.log_loss)
    ]
    return [*errors, np.abs(said[1] - said[2]).max(), hoki.status_ == "cycle"]


def main():
    print(
        "| outputs | accuracy | ECE-15, temperature | Hoki | log loss, temperature | Hoki |"
        " difference | cycles | stop |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for name, outputs in every():
        runs = np.array(
            [one_split(outputs, seed) for seed in range(5 if outputs.logits.shape[1] < 500 else 2)]
        )
        accuracy = np.mean(outputs.logits.argmax(axis=1) == outputs.labels)
        ece, loss, hoki_ece, hoki_loss, *_ = runs.mean(axis=0)
        worse = runs[:, 3] - runs[:, 1]
        print(
            f"| {name} | {accuracy:.3f} | {ece:.4f} | {hoki_ece:.4f} | {loss:.4f} | {hoki_loss:.4f}"
            f" | {worse.min():+.4f} to {worse.max():+.4f} | {int(runs[:, 5].sum())} of {len(runs)}"
            f" | {runs[:, 4].max():.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
