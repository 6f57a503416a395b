"""Temperature scaling of 25,000 x 1,000 float32 logits against scikit-learn's, in one process.

Run: python benchmarks/speed/temperature.py
"""

import sys
import time

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

import calibrant as cb
from calibrant._numerics.threads import get_threads
from calibrant.metrics import log_loss

REPEATS = 3
ALLOWED_SHARE = 0.2


class Lookup:
    """A fitted "model" whose decision function is its input: what scikit-learn's calibration
    needs around logits.
    """

    def __init__(self, n_classes):
        self.classes_ = np.arange(n_classes)

    def __sklearn_is_fitted__(self):
        return True

    def __sklearn_tags__(self):
        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(),
            input_tags=InputTags(),
        )

    def fit(self, X, y):
        """Nothing to learn."""
        return self

    def decision_function(self, X):
        """The logits themselves."""
        return X

    def predict(self, X):
        """The largest logit's class."""
        return self.classes_[X.argmax(axis=1)]


def logits_and_labels(n=25_000, n_classes=1_000, seed=0):
    """Logits of an overconfident model (true temperature 1.5) and its labels."""
    rng = np.random.default_rng(seed)
    logits = 2.0 * rng.standard_normal((n, n_classes), dtype=np.float32)
    logits[np.arange(n), rng.integers(0, n_classes, n)] += 10.0
    truth = logits / 1.5
    labels = np.array([(row + rng.gumbel(size=n_classes)).argmax() for row in truth])
    return logits, labels


def timed(fit):
    """(fitted object, least CPU seconds, least wall seconds) over the repeats."""
    cpu, wall, fitted = [], [], None
    for _ in range(REPEATS):
        start = time.process_time(), time.perf_counter()
        fitted = fit()
        cpu.append(time.process_time() - start[0])
        wall.append(time.perf_counter() - start[1])
    return fitted, min(cpu), min(wall)


def main():
    """Print both times and both losses; exit 1 when ours takes more than a fifth of
    scikit-learn's CPU time.
    """
    logits, labels = logits_and_labels()
    n_classes = logits.shape[1]
    ours, our_cpu, our_wall = timed(
        lambda: cb.TemperatureScaling(inputs="logit").fit(logits, labels)
    )
    theirs, their_cpu, their_wall = timed(
        lambda: CalibratedClassifierCV(
            FrozenEstimator(Lookup(n_classes)), method="temperature"
        ).fit(logits, labels)
    )
    part = slice(0, 5_000)
    print(
        f"{logits.shape[0]:,} x {n_classes:,} float32 logits, best of {REPEATS}, {get_threads()}"
        " thread(s)"
    )
    print(f"{'':14s}{'CPU s':>8s}{'wall s':>8s}{'log loss':>10s}")
    print(
        f"{'calibrant':14s}{our_cpu:8.3f}{our_wall:8.3f}{log_loss(labels[part], ours.predict_proba(logits[part])):10.6f}"
    )
    print(
        f"{'scikit-learn':14s}{their_cpu:8.3f}{their_wall:8.3f}{log_loss(labels[part], theirs.predict_proba(logits[part])):10.6f}"
    )
    print(
        f"share of scikit-learn's CPU time: {our_cpu / their_cpu:.3f} (at most {ALLOWED_SHARE}); T"
        f" = {ours.temperature_:.6f}"
    )
    return int(our_cpu > ALLOWED_SHARE * their_cpu)


if __name__ == "__main__":
    sys.exit(main())
