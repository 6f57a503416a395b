"""Active learning with and without calibration: figures 3 and 4 of the paper on Gaussian-process
calibration, as numbers.

    python benchmarks/papers/gp/active_learning.py  # one shuffle, 4,000 rows of the stream;
    needs river
    python benchmarks/papers/gp/active_learning.py --shuffles 10 --rows 16000 --test 9090
    python benchmarks/papers/gp/active_learning.py --active-calibration

Two online Mondrian forests (river's AMFClassifier) see KITTI's five common classes in the same
order. Each asks for a row's label where the entropy of what it says (nats) exceeds 0.5; both start
with 1,000 labels. The calibrated one then spends the next 200 rows of the stream on calibration
after every ``--interval`` labels, and judges entropy by its calibrated probabilities. With
``--active-calibration`` a third forest chooses for each label it asks for: calibration where the
latent function is less sure than usual (the half width of its band over the row's scores, weighted
by the row), else training. Every label counts, whatever it was spent on.
"""

import argparse
import os
from collections import deque
from pathlib import Path

import numpy as np

import calibrant as cb
from calibrant import metrics

DATA = Path(os.environ.get("CALIBRANT_DATA", "../shared/data")) / "kitti.npz"
CLASSES = (0, 1, 3, 5, 7)
START, CALIBRATION, THRESHOLD = 1_000, 200, 0.5


class Learner:
    """An online forest that spends every label on training."""

    name = "uncalibrated"

    def __init__(self, seed, n_trees):
        from river import forest

        self.forest = forest.AMFClassifier(n_estimators=n_trees, seed=seed)
        self.labels, self.calibrator = 0, None

    def raw(self, x):
        said = self.forest.predict_proba_one(x)
        P = np.array([said.get(k, 0.0) for k in range(len(CLASSES))]) + 1e-6
        return P / P.sum()

    def predict(self, X):
        P = np.array([self.raw(x) for x in X])
        return P if self.calibrator is None else self.calibrator.predict_proba(P)

    def asks(self, x):
        P = self.predict([x])[0]
        return -(P * np.log(np.maximum(P, 1e-300))).sum() > THRESHOLD

    def train(self, x, y):
        self.labels += 1
        self.forest.learn_one(x, y)

    def see(self, x, y):
        """A row of the stream after the start; the label is looked at only where asked for."""
        if self.asks(x):
            self.train(x, y)

    def refit(self, rows):
        P, y = np.array([self.raw(x) for x, _ in rows]), np.array([y for _, y in rows])
        self.calibrator = cb.calibrators.GaussianProcessCalibration(
            classes=np.arange(len(CLASSES)), expectation="taylor"
        ).fit(P, y)


class Calibrated(Learner):
    """The same, calibrated anew by 200 rows after every ``interval`` labels spent on training."""

    name = "calibrated"

    def __init__(self, seed, n_trees, interval):
        super().__init__(seed, n_trees)
        self.interval, self.trained, self.kept = interval, interval, []

    def see(self, x, y):
        if self.trained >= self.interval:
            self.kept.append((x, y))
            self.labels += 1
            if len(self.kept) == CALIBRATION:
                self.refit(self.kept)
                self.trained, self.kept = 0, []
        elif self.asks(x):
            self.train(x, y)
            self.trained += 1


class ActivelyCalibrated(Calibrated):
    """After the first calibration, each label goes where the latent variance says: to
    calibration if it is above its running median.
    """

    name = "active calibration"

    def __init__(self, seed, n_trees, interval):
        super().__init__(seed, n_trees, interval)
        self.recent, self.pool = deque(maxlen=200), deque(maxlen=2 * CALIBRATION)
        self.since = 0

    def see(self, x, y):
        if self.calibrator is None:
            if len(self.kept) == CALIBRATION - 1:
                self.pool.extend([*self.kept, (x, y)])
            super().see(x, y)
        elif self.asks(x):
            P = self.raw(x)
            latent = self.calibrator.latent(P)
            unsure = float(P @ (latent.high - latent.mean))
            self.recent.append(unsure)
            if unsure > np.median(self.recent):
                self._calibrate(x, y)
            else:
                self.train(x, y)

    def _calibrate(self, x, y):
        self.labels += 1
        self.pool.append((x, y))
        self.since += 1
        if self.since == CALIBRATION // 4:
            self.refit(list(self.pool))
            self.since = 0


def data(seed, n_rows, n_test):
    """((stream, labels), (test rows, labels)); rows as river's dictionaries."""
    if not DATA.is_file():
        raise SystemExit(
            f"{DATA} is not there; set CALIBRANT_DATA to the folder that holds kitti.npz"
        )
    rng, out = np.random.default_rng(seed), []
    with np.load(DATA) as archive:
        for part, most in (("train", n_rows), ("test", n_test)):
            X, y = archive[f"X_{part}"], archive[f"y_{part}"]
            rows = rng.permutation(np.flatnonzero(np.isin(y, CLASSES)))[:most]
            out.append(
                (
                    [dict(enumerate(row)) for row in X[rows].tolist()],
                    np.searchsorted(CLASSES, y[rows]).tolist(),
                )
            )
    return out


def scores(learner, X, y):
    P, y = learner.predict(X), np.array(y)
    return (
        learner.labels,
        1.0 - metrics.accuracy(y, P),
        metrics.expected_calibration_error(y, P),
        metrics.overconfidence(y, P),
        metrics.underconfidence(y, P),
        metrics.log_loss(y, P),
    )


def one_shuffle(seed, options):
    """(rows seen (checkpoints,), {learner: scores (checkpoints, 6)})."""
    (stream, labels), (X, y) = data(seed, options.rows, options.test)
    learners = [Learner(seed, options.trees), Calibrated(seed, options.trees, options.interval)]
    if options.active_calibration:
        learners.append(ActivelyCalibrated(seed, options.trees, options.interval))
    checkpoints = np.linspace(START, len(stream), options.checkpoints).astype(int)
    found = {learner.name: [] for learner in learners}
    for i, (x, label) in enumerate(zip(stream, labels, strict=True), 1):
        for learner in learners:
            learner.train(x, label) if i <= START else learner.see(x, label)
        if i in checkpoints:
            for learner in learners:
                found[learner.name].append(scores(learner, X, y))
    return checkpoints, found


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shuffles", type=int, default=1, help="10 in the paper")
    parser.add_argument("--rows", type=int, default=4_000)
    parser.add_argument("--test", type=int, default=1_000)
    parser.add_argument("--trees", type=int, default=10)
    parser.add_argument(
        "--interval", type=int, default=400, help="labels spent on training between calibrations"
    )
    parser.add_argument("--checkpoints", type=int, default=5)
    parser.add_argument("--active-calibration", action="store_true")
    options = parser.parse_args()
    runs = []
    for seed in range(options.shuffles):
        checkpoints, found = one_shuffle(seed, options)
        runs.append(found)
        print(f"shuffle {seed + 1} of {options.shuffles} done", flush=True)
    print(
        f"{'':20s} {'seen':>6s} {'labels':>7s} {'error':>7s} {'ECE':>7s} {'over':>7s} {'under':>7s}"
        f" {'log loss':>8s}"
    )
    for name in runs[0]:
        for seen, row in zip(
            checkpoints, np.mean([run[name] for run in runs], axis=0), strict=True
        ):
            labels, *rest = row
            print(f"{name:20s} {seen:6,d} {labels:7,.0f} " + " ".join(f"{v:7.4f}" for v in rest))


if __name__ == "__main__":
    main()
