"""The paper's protocol: its authors' classifier outputs, ten Monte-Carlo folds, and the measures
as their code computes them.
"""

import os
from pathlib import Path

import numpy as np
from sklearn.model_selection import ShuffleSplit

DATA = Path(
    os.environ.get("CALIBRANT_DATA", Path(__file__).resolve().parents[4] / "shared" / "data")
)
#: In the order in which each method's one stream of random numbers meets them: name in the
#: published tables -> name of the file.
CLASSIFIERS = {
    "AdaBoost": "adaboost",
    "XGBoost": "xgboost",
    "mondrian_forest": "mondrian-forest",
    "random_forest": "random-forest",
    "1layer_NN": "1layer-nn",
}
TEST_ROWS = {"kitti": 8000, "mnist": 9000}
TRAIN_ROWS, FOLDS, BINS = 1000, 10, 100
#: What the authors put in the place of an exact zero.
TINY = float(np.finfo(np.float64).tiny)


def outputs(dataset, classifier):
    """(probabilities (n, K), labels (n,)) of one stored classifier.

    Stored in single precision; read by their decimals, since a forest's 0.6 sits on a bin's edge
    and 0.60000002 above it. A network's top probability that single precision rounded to 1 is 1
    less the others, which it kept.
    """
    path = DATA / "classifier_outputs" / f"{CLASSIFIERS[classifier]}-{dataset}.npz"
    if not path.is_file():
        raise SystemExit(
            f"{path} is not there; set CALIBRANT_DATA to the folder that holds classifier_outputs/"
        )
    with np.load(path) as archive:
        P, y = (
            archive["probabilities"].astype(str).astype(np.float64),
            archive["labels"].astype(np.intp),
        )
    rows, top = np.arange(len(P)), P.argmax(axis=1)
    P[rows, top] = np.where(P[rows, top] == 1.0, 1.0 - _others(P, top), P[rows, top])
    return P, y


def _others(P, top):
    """Sum of each row's entries but the top one, without the rounding of adding them to it."""
    others = P.copy()
    others[np.arange(len(P)), top] = 0.0
    return others.sum(axis=1)


def folds(dataset):
    """Yields (classifier, fold, P, y, train, test): the same splits for every method, drawn from
    RandomState(1) in order.
    """
    stream = np.random.RandomState(1)
    for classifier in CLASSIFIERS:
        P, y = outputs(dataset, classifier)
        splitter = ShuffleSplit(
            FOLDS, train_size=TRAIN_ROWS, test_size=TEST_ROWS[dataset], random_state=stream
        )
        for fold, (train, test) in enumerate(splitter.split(P)):
            yield classifier, fold, P, y, train, test


def lift_zeros(P):
    """Exact zeros as the smallest normal number, as the authors' code has it."""
    return np.where(P <= 0.0, TINY, P)


def calibration_error(y, Q, n_bins=BINS):
    """The authors' ECE: equal bins from 1 / K (classes seen) to 1, accuracy against points near the
    bins' centres.

    It is not the usual one: the centres are spaced as if the bins began at 0, and the mean
    confidence is never computed. A value that rounds to 1 without being it counts one bin lower, as
    binned_statistic had it in 2019.
    """
    predicted, confidence = Q.argmax(axis=1), Q.max(axis=1)
    lowest = 1.0 / len(np.union1d(y, predicted))
    edges = np.linspace(lowest, 1.0, n_bins + 1)
    place = np.digitize(confidence, edges)
    decimals = int(-np.log10(np.diff(edges).min())) + 6
    place[np.around(confidence, decimals) == np.around(edges[-1], decimals)] -= 1
    place = np.clip(place - 1, 0, n_bins - 1)
    n = np.bincount(place, minlength=n_bins)
    right = np.bincount(place, weights=predicted == y, minlength=n_bins)
    centre = np.linspace(lowest + 0.5 / n_bins, 1.0 - 0.5 / n_bins, n_bins)
    return float(np.abs(right - n * centre).sum() / n.sum())


def log_loss(y, Q):
    """As scikit-learn computed it in 2019: clipped at 1e-15, then renormalised."""
    Q = np.clip(Q, 1e-15, 1.0 - 1e-15)
    return float(-np.log(Q[np.arange(len(y)), y] / Q.sum(axis=1)).mean())


def measures(y, Q):
    """{name: value} of one fold."""
    return {
        "accuracy": float((Q.argmax(axis=1) == y).mean()),
        "nll": log_loss(y, Q),
        "ece100": calibration_error(y, Q),
        "ece15": calibration_error(y, Q, 15),
    }
