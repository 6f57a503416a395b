"""Hoki beside temperature scaling on every stored output: how general is what the tables show?

    python -m benchmarks.papers.hoki.others        # half a CPU minute

Every network and classifier of the data folder, and three networks of one hidden layer trained here
on MNIST. Halves to fit and to test, five times (seeds 0 to 4; twice with 1,000 classes; the ten
views of an image stay in one half); means, and the range of the differences. A split "cycles" where
Hoki ends so.
"""

import warnings

import numpy as np
from benchmarks.papers import stored
from benchmarks.papers.hoki.networks import SEEDS, Outputs, load
from benchmarks.papers.outputs import DATA, TITLES, read
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

import calibrant as cb
from calibrant import metrics

TRAINED = 3
#: An output whose rows are views of images.
VIEWS = "stage2/nn_imagenet1k_lite0_views"


def every(n_trained=TRAINED):
    """(name, outputs, splits) one after the other, those trained here last."""
    absent = [path for path in (*TITLES, "mnist") if not (DATA / f"{path}.npz").is_file()]
    for path in absent:
        print(f"left out, not in {DATA}: {path}")
    for path, title in TITLES.items():
        if path in absent:
            continue
        folder, name = path.split("/")
        network = folder == "network_outputs"
        outputs = load(name) if network else Outputs(*read(DATA / f"{path}.npz"))
        seeds = SEEDS if outputs.logits.shape[1] < 500 else SEEDS[:2]
        if path == VIEWS:
            with np.load(DATA / f"{path}.npz") as kept:
                images = kept["image_id"]
            yield title, outputs, [by_image(images, seed) for seed in seeds]
        else:
            yield title, outputs, [outputs.split(seed) for seed in seeds]
    if not n_trained or "mnist" in absent:
        return
    with np.load(DATA / "mnist.npz") as archive:
        X, y = (
            archive["images"].reshape(len(archive["images"]), -1) / np.float32(255.0),
            archive["labels"].astype(np.int64),
        )
    for seed in range(n_trained):
        outputs = trained(X, y, seed)
        splits = [outputs.split(seed) for seed in SEEDS]
        yield f"128 hidden units, MNIST, seed {seed}", outputs, splits


def by_image(images, seed):
    """Row numbers of two halves of the images."""
    unique = np.unique(images)
    chosen = np.random.default_rng(seed).permutation(unique)[: len(unique) // 2]
    fit = np.isin(images, chosen)
    return np.flatnonzero(fit), np.flatnonzero(~fit)


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


def one_split(outputs, fit, test):
    """ECE-15 and log loss of temperature scaling, of Hoki; the largest difference that Hoki's
    stop makes, and whether it cycles.
    """
    logits, labels = outputs.logits, outputs.labels
    right = (logits[test].argmax(axis=1) == labels[test]).astype(int)
    temperature, hoki, papers = (
        calibrator.fit(logits[fit], labels[fit])
        for calibrator in (
            cb.TemperatureScaling(inputs="logit"),
            cb.calibrators.HokiCalibrator(inputs="logit"),
            cb.calibrators.HokiCalibrator(inputs="logit", stop="unchanged"),
        )
    )
    said = [c.predict_confidence(logits[test]) for c in (temperature, hoki, papers)]
    errors = [
        m(right, p)
        for p in said[:2]
        for m in (metrics.positive_class_calibration_error, metrics.log_loss)
    ]
    return [*errors, np.abs(said[1] - said[2]).max(), hoki.status_ == "cycle"]


def cells(outputs, runs):
    """One row of the stored table."""
    ece, loss, hoki_ece, hoki_loss, stop, cycles = runs.T
    return {
        "rows": f"{len(outputs.labels):,}",
        "accuracy": f"{np.mean(outputs.logits.argmax(axis=1) == outputs.labels):.3f}",
        "ECE-15, temperature": f"{ece.mean():.4f}",
        "ECE-15, Hoki": f"{hoki_ece.mean():.4f}",
        "ECE-15, difference": stored.spread(hoki_ece - ece, "+.4f"),
        "log loss, temperature": f"{loss.mean():.4f}",
        "log loss, Hoki": f"{hoki_loss.mean():.4f}",
        "log loss, difference": stored.spread(hoki_loss - loss, "+.4f"),
        "cycles": f"{int(cycles.sum())} of {len(runs)}",
        "stop": f"{stop.max():.3f}",
    }


def summary():
    """On how many outputs the stored means of Hoki are lower, and in how many of their splits Hoki
    cycles: the rows of the stored summary.
    """
    heading, *body = stored.read("hoki", "others")
    out = [["Hoki beside temperature scaling", "outputs", "of"]]
    for measure in ("ECE-15", "log loss"):
        i, j = (heading.index(f"{measure}, {name}") for name in ("Hoki", "temperature"))
        lower = sum(float(row[i]) < float(row[j]) for row in body)
        out.append([f"lower {measure}", str(lower), str(len(body))])
    cycles = np.array([row[heading.index("cycles")].split(" of ") for row in body], dtype=int)
    return [*out, ["splits in which the partitions cycle", *map(str, cycles.sum(axis=0))]]


def main():
    """Run every output, print and store."""
    found = {}
    for name, outputs, splits in every():
        found[name] = cells(outputs, np.array([one_split(outputs, *split) for split in splits]))
        print(name, found[name], flush=True)
    stored.keep("hoki", "others", found)
    stored.write("hoki", "summary", summary())
    for row in summary()[1:]:
        print("{}: {} of {}".format(*row))


if __name__ == "__main__":
    main()
