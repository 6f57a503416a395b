"""Bugs of wrappers and cross-validated calibration that bit other tools, each a test named after
the trap.
"""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import calibrant as cb
from calibrant import metrics

CALIBRATORS = [
    cb.TemperatureScaling(),
    cb.OneVsRest(cb.Platt()),
    cb.OneVsRest(cb.Isotonic()),
    cb.ConfidenceCalibrator(),
]
every_calibrator = pytest.mark.parametrize(
    "calibrator", CALIBRATORS, ids=lambda c: " ".join(repr(c).split())
)


def blobs(n=240, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return rng.normal(size=(n, 2)) + 1.5 * np.eye(n_classes, 2)[y], y


@pytest.mark.filterwarnings("ignore:none of the")
def test_all_calibrators_zero_gives_no_division_by_zero():
    """scikit-learn #19421."""
    P = np.repeat(np.eye(3) * 0.6 + 0.2 * (1 - np.eye(3)), 5, axis=0)
    cal = cb.OneVsRest(cb.calibrators.HistogramBinning(n_bins=2, prior_weight=0)).fit(
        P, np.repeat([0, 1, 2], 5)
    )
    Q = cal.predict_proba([[0.4, 0.35, 0.25], [0.0, 0.0, 1.0]])
    assert np.isfinite(Q).all()
    np.testing.assert_allclose(Q.sum(axis=1), 1.0)
    assert Q.argmax(axis=1).tolist() == [0, 2]


@every_calibrator
def test_class_absent_from_the_calibration_set_of_a_fitted_model(calibrator):
    """scikit-learn 1.9.1: IndexError for all three methods."""
    X, y = blobs()
    model = GaussianNB().fit(X, y)
    rows = y != 2
    Q = cb.CalibratedClassifier(model, calibrator).fit(X[rows], y[rows]).predict_proba(X)
    assert Q.shape == (240, 3)
    np.testing.assert_allclose(Q.sum(axis=1), 1.0)
    assert Q[:, 2].max() > 0


@every_calibrator
def test_class_absent_from_a_fold_is_neither_zero_nor_uniform(calibrator):
    """scikit-learn #29551: sigmoid gave [0, 1, 0], isotonic [1/3, 1/3, 1/3], temperature
    crashed.
    """
    X, y = blobs()
    rows = np.concatenate([np.flatnonzero(y < 2), np.flatnonzero(y == 2)[:2]])
    fold = np.arange(len(rows)) % 2
    fold[-2:] = 1
    cv = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(2)]
    clf = cb.CalibratedClassifier(GaussianNB(), calibrator, cv=cv, ensemble=True).fit(
        X[rows], y[rows]
    )
    Q = clf.predict_proba(X[rows])
    assert Q.shape == (len(rows), 3)
    assert (Q[:, 2] > 0).mean() > 0.9
    assert np.abs(Q - 1 / 3).max() > 0.2


@every_calibrator
def test_two_classes_in_a_fold_of_three_are_not_binary(calibrator):
    X, y = blobs()
    order = np.argsort(y, kind="stable")
    cv = [(order[80:], order[:80]), (order[:160], order[160:])]
    clf = cb.CalibratedClassifier(GaussianNB(), calibrator, cv=cv).fit(X, y)
    assert clf.predict_proba(X).shape == (240, 3)


@pytest.mark.parametrize("names", [["zebra", "ant"], [1, -1], [True, False], [2, 1]])
def test_labels_follow_the_columns_not_the_alphabet(names):
    """MLflow #24049, NannyML #347: the positive label sorts first."""
    X, y = blobs(n_classes=2)
    labels = np.array(names)[y]
    clf = cb.CalibratedClassifier(GaussianNB(), cb.OneVsRest(cb.calibrators.Beta()), cv=3).fit(
        X, labels
    )
    own = clf.classes_.tolist().index(names[1])
    plain = (
        cb.CalibratedClassifier(GaussianNB(), cb.OneVsRest(cb.calibrators.Beta()), cv=3)
        .fit(X, y)
        .predict_proba(X)[:, 1]
    )
    assert np.corrcoef(clf.predict_proba(X)[:, own], plain)[0, 1] > 0.99
    assert metrics.log_loss(labels, clf.predict_proba(X), classes=clf.classes_) < 0.69


@pytest.mark.parametrize(
    "model",
    [GaussianNB(), make_pipeline(StandardScaler(with_mean=False, with_std=False), GaussianNB())],
)
def test_weights_are_not_dropped_by_cross_validation_or_a_pipeline(model):
    """scikit-learn #20610, #21134."""
    X, y = blobs()
    weight = np.where(y == 0, 3.0, 1.0)
    plain = cb.CalibratedClassifier(model, cv=3).fit(X, y)
    weighted = cb.CalibratedClassifier(model, cv=3).fit(X, y, sample_weight=weight)
    assert weighted.predict_proba(X)[:, 0].mean() > plain.predict_proba(X)[:, 0].mean() + 0.05
    ones = cb.CalibratedClassifier(model, cv=3).fit(X, y, sample_weight=np.ones(240))
    np.testing.assert_allclose(ones.predict_proba(X), plain.predict_proba(X), atol=1e-9)


@every_calibrator
def test_fit_does_not_change_parameters_nor_the_users_model(calibrator):
    """netcal #22, wandb #2791."""
    X, y = blobs()
    model = LogisticRegression().fit(X, y)
    before, coefficients = repr(calibrator.get_params()), model.coef_.copy()
    clf = cb.CalibratedClassifier(model, calibrator).fit(X, y)
    again = clone(clf).set_params(estimator=model).fit(X, y)
    twice = clf.fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(twice, again.predict_proba(X))
    np.testing.assert_array_equal(model.coef_, coefficients)
    assert repr(calibrator.get_params()) == before
    assert not [a for a in vars(calibrator) if a.endswith("_")]


def test_logits_and_probabilities_of_one_model_give_the_same():
    """torch-uncertainty #179: logits clamped as if probabilities."""
    X, y = blobs()
    model = LogisticRegression().fit(X, y)
    a, b = (
        cb.CalibratedClassifier(model, cb.TemperatureScaling(inputs=kind))
        .fit(X, y)
        .predict_proba(X)
        for kind in ("logit", "probability")
    )
    np.testing.assert_allclose(a, b, atol=1e-9)


def test_shuffled_data_frame_columns_are_the_models_business_and_it_says_so():
    pandas = pytest.importorskip("pandas")
    X, y = blobs()
    frame = pandas.DataFrame(X, columns=["a", "b"])
    clf = cb.CalibratedClassifier(LogisticRegression(), cv=2).fit(frame, y)
    with pytest.raises(ValueError, match="feature names"):
        clf.predict_proba(frame[["b", "a"]])
