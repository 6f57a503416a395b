"""Internal validation: parts by hand, and the true optimism on fresh rows."""

from typing import ClassVar

import numpy as np
import pytest
from scipy import special
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import calibrant as cb
from calibrant._numerics.bootstrap import mixed_codes
from calibrant.core.groups import feature_codes
from calibrant.errors import InputError
from calibrant.metrics import event_brier_score, log_loss
from calibrant.metrics.validation import Rows, measure, resample_measures, uninformed

KEYS = (
    "log_loss",
    "event_brier_score",
    "event_auroc",
    "calibration_slope",
    "calibration_in_the_large",
)
#: Its default penalty is too weak to matter here, and it fits in a millisecond.
MODEL = LogisticRegression(C=1e4, solver="newton-cholesky")


def _rows(rng, n=120, d=8):
    X = rng.normal(size=(n, d))
    return X, (rng.random(n) < special.expit(X[:, 0] - 0.3)).astype(int)


def _in_order(X, y):
    """The rows in the order of their content, in which validate draws."""
    order = np.argsort(mixed_codes(feature_codes(X), y.astype(np.uint64)))
    return X[order], y[order]


class Constant(ClassifierMixin, BaseEstimator):
    """Says the share of events among the rows it was fitted to; counts its fits and what they
    got.
    """

    seen: ClassVar[list] = []

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.share_ = float(np.average(np.asarray(y) == self.classes_[1], weights=sample_weight))
        type(self).seen.append(
            (len(X), None if sample_weight is None else float(np.sum(sample_weight)))
        )
        return self

    def predict_proba(self, X):
        return np.tile([1 - self.share_, self.share_], (len(X), 1))


class Grouped(Constant):
    """Takes groups, and notes whether equal rows share one."""

    def fit(self, X, y, groups=None):
        X = np.asarray(X)
        if groups is not None:
            assert len({(x, g) for x, g in zip(X[:, 0], groups, strict=True)}) == len(set(groups))
        type(self).seen.append(groups)
        return super().fit(X, y)


def test_of_a_constant_model_the_optimism_of_the_brier_score_is_twice_the_variance_of_a_mean():
    """Fitted to a resample of share q, of data of share p: E[q(1-q) - (p(1-p) + (q-p)^2)] = -2
    p(1-p)/n.
    """
    y = np.repeat([0, 1], [14, 6])
    found = cb.metrics.validate(Constant(), np.zeros((20, 1)), y, n_resamples=300, n_outer=0)[
        "event_brier_score"
    ]
    assert found.apparent == pytest.approx(0.21)
    assert found.optimism == pytest.approx(-2 * 0.21 / 20, abs=3 * 0.04 / np.sqrt(300))
    assert found.corrected == pytest.approx(found.apparent - found.optimism)
    assert found.optimism == pytest.approx(found.training - found.test)
    assert np.isnan(found.low)


def test_the_corrected_value_is_harrells_by_hand():
    X, y = _in_order(*_rows(np.random.default_rng(0), n=60, d=3))
    found = cb.metrics.validate(MODEL, X, y, n_resamples=5, n_outer=0, random_state=7)
    rng, gaps = np.random.default_rng(7), []
    for _ in range(5):
        times = np.bincount(rng.integers(0, 60, 60), minlength=60)
        rows = np.repeat(np.arange(60), times)
        fitted = LogisticRegression(C=1e4, solver="newton-cholesky").fit(X[rows], y[rows])
        p = fitted.predict_proba(X)[:, 1]
        gaps.append(log_loss(y[rows], p[rows]) - log_loss(y, p))
    assert found["log_loss"].optimism == pytest.approx(np.mean(gaps), abs=1e-9)
    apparent = log_loss(
        y, LogisticRegression(C=1e4, solver="newton-cholesky").fit(X, y).predict_proba(X)[:, 1]
    )
    assert found["log_loss"].corrected == pytest.approx(apparent - np.mean(gaps), abs=1e-9)


def test_the_632_plus_of_a_model_that_knows_its_rows_by_heart_is_what_it_does_on_the_others():
    """One neighbour on noise: apparent 0, unseen and without information about 1/2, so that R is
    about 1 and w about 1.
    """
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(150, 4)), np.arange(150) % 2
    whole = cb.metrics.validate(KNeighborsClassifier(1), X, y, n_resamples=150, n_outer=0)
    found = whole["event_brier_score"]
    assert found.apparent == 0.0
    assert found.corrected_632 == pytest.approx(0.5, abs=0.08)
    # Harrell's optimism is too small here: 63 % of the rows of the test are those that it learned.
    assert found.corrected < 0.3
    assert repr(whole).endswith("so that the resamples show too little optimism; read .632+.")


def test_the_weight_of_the_632_plus_by_hand():
    X, y = _in_order(*_rows(np.random.default_rng(2), n=50, d=4))
    found = cb.metrics.validate(MODEL, X, y, n_resamples=6, n_outer=0, random_state=3)
    rows = Rows(X, y.astype(float), np.ones(50), None, None, np.array([0, 1]), False)
    unseen = np.array(
        [one.unseen for one in resample_measures(rows, MODEL, 6, np.random.default_rng(3))]
    )
    risk = MODEL.fit(X, y).predict_proba(X)[:, 1]
    pairs = event_brier_score(np.repeat(y, 50), np.tile(risk, 50))
    informed = uninformed(risk, y.astype(float), np.ones(50))
    assert informed[1] == pytest.approx(pairs)
    assert informed[0] == pytest.approx(log_loss(np.repeat(y, 50), np.tile(risk, 50)))
    for j, key in enumerate(KEYS[:4]):
        apparent, out = found[key].apparent, unseen[:, j].mean()
        overfit = np.clip((out - apparent) / (informed[j] - apparent), 0, 1)
        weight = 0.632 / (1 - 0.368 * overfit)
        assert found[key].corrected_632 == pytest.approx((1 - weight) * apparent + weight * out), (
            key
        )


def test_what_chooses_features_is_part_of_what_is_validated():
    """Journey: 500 useless features, of which the 5 best are kept. Validated as a whole it is
    worth nothing; after the choice it shines.
    """
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(100, 500)), np.arange(100) % 2
    whole = cb.metrics.validate(
        make_pipeline(SelectKBest(k=5), MODEL), X, y, n_resamples=20, n_outer=0
    )["event_auroc"]
    late = cb.metrics.validate(
        MODEL, SelectKBest(k=5).fit_transform(X, y), y, n_resamples=20, n_outer=0
    )["event_auroc"]
    assert whole.apparent > 0.75
    assert abs(whole.corrected_632 - 0.5) < 0.12
    assert late.corrected > 0.7


def test_the_estimates_meet_the_truth_on_fresh_rows():
    """Journey: 12 samples of 100 rows and 10 features. Mean errors are within three standard
    errors, apparent ones are not.
    """
    rng = np.random.default_rng(4)
    X_new, y_new = _rows(rng, n=100_000, d=10)
    errors, apparent = [], []
    for world in range(12):
        X, y = _rows(rng, n=100, d=10)
        found = cb.metrics.validate(MODEL, X, y, n_resamples=20, n_outer=0, random_state=world)
        truth = measure(
            MODEL.fit(X, y).predict_proba(X_new)[:, 1], y_new.astype(float), np.ones(len(y_new))
        )
        ours = [found[key] for key in KEYS]
        errors.append([one.corrected - true for one, true in zip(ours, truth, strict=True)])
        apparent.append([one.apparent - true for one, true in zip(ours, truth, strict=True)])
    error = np.std(errors, axis=0, ddof=1) / np.sqrt(12)
    assert (np.abs(np.mean(errors, axis=0)) < 3 * error).all()
    # All but the last, which no overfitting moves.
    assert (np.abs(np.mean(apparent, axis=0)) > 3 * error)[:4].all()


@pytest.mark.slow
def test_intervals_hold_the_truth_in_many_samples():
    rng, held = np.random.default_rng(5), []
    X_new, y_new = _rows(rng, n=100_000)
    for world in range(80):
        X, y = _rows(rng, n=200)
        found = cb.metrics.validate(
            MODEL, X, y, n_resamples=40, n_outer=30, n_inner=3, random_state=world
        )
        truth = measure(
            MODEL.fit(X, y).predict_proba(X_new)[:, 1], y_new.astype(float), np.ones(len(y_new))
        )
        held.append(
            [
                found[key].low <= true <= found[key].high
                for key, true in zip(KEYS, truth, strict=True)
            ]
        )
    assert (np.mean(held, axis=0) > 0.95 - 3 * np.sqrt(0.95 * 0.05 / 80)).all()


def test_weights_are_repetitions():
    Constant.seen = []
    y, weight = np.array([0, 0, 1, 1, 0]), np.array([3.0, 1.0, 2.0, 1.0, 0.0])
    found = cb.metrics.validate(
        Constant(), np.zeros((5, 1)), y, sample_weight=weight, n_resamples=60, n_outer=0
    )
    repeated = cb.metrics.validate(
        Constant(), np.zeros((7, 1)), np.repeat(y, weight.astype(int)), n_resamples=60, n_outer=0
    )
    assert (found.n, found.events) == (7.0, 3.0)
    assert found["log_loss"].apparent == pytest.approx(repeated["log_loss"].apparent)
    assert found["event_brier_score"].optimism == pytest.approx(
        repeated["event_brier_score"].optimism, abs=0.02
    )
    assert Constant.seen[0] == (4, 7.0)
    assert Constant.seen[1] == (7, None)


def test_clusters_are_drawn_whole_and_copies_share_a_fold():
    rng = np.random.default_rng(6)
    X, y = np.arange(30.0)[:, None], rng.integers(0, 2, 30)
    rows = Rows(
        X,
        y.astype(float),
        np.ones(30),
        np.repeat(np.arange(10), 3),
        np.repeat(np.arange(10), 3),
        np.array([0, 1]),
        False,
    )
    times = rows.drawn(rng)
    assert (times.reshape(10, 3) == times.reshape(10, 3)[:, :1]).all()
    again = rows.resampled(times)
    assert len(again.event) == times.sum() == len(again.unit)
    assert len(np.unique(again.unit)) == 10
    assert set(zip(again.copy_of, again.X[:, 0] // 3, strict=True)) == set(
        enumerate(np.flatnonzero(times[::3]))
    )
    Grouped.seen = []
    cb.metrics.validate(Grouped(), X, y, n_resamples=3, n_outer=2, n_inner=2)
    assert [one is None for one in Grouped.seen if not isinstance(one, tuple)] == [True] + [
        False
    ] * 9


def test_dependent_rows_widen_the_intervals():
    rng = np.random.default_rng(7)
    X, y = _rows(rng, n=40, d=2)
    X, y, patient = np.repeat(X, 4, axis=0), np.repeat(y, 4), np.repeat(np.arange(40), 4)
    alone, whole = (
        cb.metrics.validate(MODEL, X, y, cluster=c, n_resamples=2, n_outer=20, n_inner=2)[
            "event_auroc"
        ]
        for c in (None, patient)
    )
    assert whole.high - whole.low > 1.4 * (alone.high - alone.low)


def test_a_calibrated_pipeline_and_named_classes():
    X, y = _rows(np.random.default_rng(8), n=90, d=3)
    model = cb.CalibratedClassifier(MODEL, cb.Platt(), cv=3)
    found = cb.metrics.validate(model, X, np.array(["no", "yes"])[y], n_resamples=3, n_outer=0)
    assert found.events == y.sum()
    assert not hasattr(model, "classes_")
    assert 0.5 < found["event_auroc"].corrected < 1.0


def test_it_prints_a_table_and_is_a_frame_and_a_dictionary():
    X, y = _rows(np.random.default_rng(9), n=60, d=2)
    found = cb.metrics.validate(MODEL, X, y, n_resamples=4, n_outer=3, n_inner=2)
    lines = repr(found).splitlines()
    assert lines[0] == f"60 rows, {y.sum()} events, 4 resamples"
    assert lines[1].split()[:4] == ["metric", "apparent", "optimism", "corrected"]
    assert len(lines) == 7
    assert found.caution is None
    assert found.frame()["key"].tolist() == list(KEYS)
    told = found.to_dict()
    assert told["metrics"]["event_auroc"]["corrected"] == found["event_auroc"].corrected
    assert repr(cb.metrics.validate(MODEL, X, y, n_resamples=4, n_outer=3, n_inner=2)) == repr(
        found
    )
    assert repr(
        cb.metrics.validate(MODEL, X, y, n_resamples=4, n_outer=3, n_inner=2, random_state=1)
    ) != repr(found)


BAD = {
    "one class": ({"y": np.zeros(20)}, "y must hold two classes; got 1"),
    "three classes": ({"y": np.arange(20) % 3}, "y must hold two classes; got 3"),
    "no probabilities": ({"model": object()}, "model must have fit and predict_proba; got object"),
    "frozen": (
        {"model": FrozenEstimator(Constant().fit(np.zeros((2, 1)), [0, 1]))},
        "must not be frozen",
    ),
    "resamples": ({"n_resamples": 1}, "n_resamples must be a whole number of at least 2"),
    "outer": ({"n_outer": -1}, "n_outer must be"),
    "inner": ({"n_inner": 1}, "n_inner must be"),
    "level": ({"level": 95}, "level must be"),
    "weights": ({"sample_weight": -np.ones(20)}, "sample_weight must be finite and not negative"),
    "cluster": ({"cluster": np.zeros(3)}, "cluster must have"),
}


@pytest.mark.parametrize(("given", "said"), BAD.values(), ids=BAD)
def test_bad_input_is_refused(given, said):
    given = {"model": Constant(), "X": np.zeros((20, 1)), "y": np.arange(20) % 2, **given}
    with pytest.raises(InputError, match=said):
        cb.metrics.validate(given.pop("model"), given.pop("X"), given.pop("y"), **given)


def test_a_class_that_resamples_miss_is_refused():
    """Two clusters of one class each: with weights so unequal no resample of 100 holds the other
    row.
    """
    weight = np.array([1e9, 1e-3])
    rows = Rows(np.zeros((2, 1)), np.array([0.0, 1.0]), weight, None, None, np.array([0, 1]), True)
    with pytest.raises(
        InputError, match=r"rarer class; got 0\.001, and 100 resamples in a row had none"
    ):
        rows.drawn(np.random.default_rng(0))


def test_rows_must_be_as_many_as_labels():
    with pytest.raises(InputError, match="one label for each of the 3 rows of X"):
        cb.metrics.validate(Constant(), np.zeros((3, 1)), [0, 1])
