import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_config
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from calibrant import (
    CalibratedClassifier,
    ConfidenceCalibrator,
    Isotonic,
    OneVsRest,
    Platt,
    TemperatureScaling,
    metrics,
)
from calibrant.calibrators import Beta, GeometricCalibrator, VennAbers
from calibrant.calibrators.auto import default_calibrator
from calibrant.core.calibrator import Calibrator, Tags
from calibrant.errors import CalibrationWarning, InputError


@pytest.fixture
def three():
    return make_classification(
        n_samples=400, n_features=6, n_informative=4, n_classes=3, class_sep=0.7, random_state=0
    )


@pytest.fixture
def two():
    return make_classification(
        n_samples=400, n_features=6, n_informative=4, class_sep=0.7, flip_y=0.2, random_state=0
    )


class Recorder(Calibrator):
    """Notes what it is given; changes nothing."""

    tags = Tags(uses_features=True, needs_reference=True)

    def __init__(self, *, inputs="probability", classes=None):
        self.inputs = inputs
        self.classes = classes

    def _fit(self, record):
        self.X_, self.reference_, self.values_, self.labels_ = (
            record.X,
            record.reference,
            record.values,
            record.labels,
        )

    def _predict_proba(self, record):
        return record.probabilities


def test_unfitted_model_is_one_model_with_one_calibrator_of_out_of_fold_predictions(three):
    X, y = three
    cv = StratifiedKFold(4)
    clf = CalibratedClassifier(GaussianNB(), TemperatureScaling(), cv=cv, ensemble=False).fit(X, y)
    P, labels = [], []
    for fit_rows, held_out in cv.split(X, y):
        P.append(GaussianNB().fit(X[fit_rows], y[fit_rows]).predict_proba(X[held_out]))
        labels.append(y[held_out])
    expected = TemperatureScaling().fit(np.concatenate(P), np.concatenate(labels))
    np.testing.assert_array_equal(
        clf.predict_proba(X), expected.predict_proba(GaussianNB().fit(X, y).predict_proba(X))
    )
    assert len(clf.estimators_) == len(clf.calibrators_) == 1


def test_ensemble_averages_one_pair_for_each_fold(two):
    X, y = two
    clf = CalibratedClassifier(GaussianNB(), OneVsRest(Beta()), cv=3, ensemble=True).fit(X, y)
    assert len(clf.estimators_) == len(clf.calibrators_) == 3
    each = [
        c.predict_proba(m.predict_proba(X))
        for m, c in zip(clf.estimators_, clf.calibrators_, strict=True)
    ]
    np.testing.assert_allclose(clf.predict_proba(X), np.mean(each, axis=0), rtol=1e-12)


@pytest.mark.parametrize("wrap", [lambda m: m, FrozenEstimator])
def test_fitted_or_frozen_model_is_used_as_it_is(three, wrap):
    X, y = three
    model = GaussianNB().fit(X[:200], y[:200])
    clf = CalibratedClassifier(wrap(model), TemperatureScaling()).fit(X[200:], y[200:])
    expected = TemperatureScaling().fit(model.predict_proba(X[200:]), y[200:])
    np.testing.assert_array_equal(
        clf.predict_proba(X), expected.predict_proba(model.predict_proba(X))
    )


@pytest.mark.filterwarnings("ignore:the GaussianNB is fitted already")
def test_a_fitted_model_is_fitted_afresh_when_cv_is_given(two):
    X, y = two
    model = GaussianNB().fit(X[:50], y[:50])
    before = model.theta_.copy()
    a = CalibratedClassifier(model, cv=3).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(
        a, CalibratedClassifier(GaussianNB(), cv=3).fit(X, y).predict_proba(X)
    )
    np.testing.assert_array_equal(model.theta_, before)


def test_prefit_is_refused_with_the_remedy(two):
    with pytest.raises(InputError, match="pass the model"):
        CalibratedClassifier(GaussianNB(), cv="prefit").fit(*two)


@pytest.mark.parametrize("cv", [GroupKFold(4), 4])
def test_groups_reach_the_splitter(two, cv):
    X, y = two
    groups = np.arange(400) // 20
    clf = CalibratedClassifier(GaussianNB(), Recorder(), cv=cv).fit(X, y, groups=groups)
    of_row = {row.tobytes(): g for row, g in zip(X, groups, strict=True)}
    for calibrator in clf.calibrators_:
        held_out = {of_row[r.tobytes()] for r in calibrator.X_}
        trained = {of_row[r.tobytes()] for r in calibrator.reference_[0]}
        assert held_out
        assert trained
        assert not held_out & trained


def test_time_series_split_calibrates_on_the_later_rows(two):
    X, y = two
    clf = CalibratedClassifier(GaussianNB(), OneVsRest(Isotonic()), cv=TimeSeriesSplit(3)).fit(X, y)
    assert clf.calibrators_[0].maps_[0].n_fit_ == 300


def test_frames_sparse_matrices_and_lists_give_the_same(two):
    X, y = two
    expected = (
        CalibratedClassifier(LogisticRegression(solver="newton-cholesky"), cv=3)
        .fit(X, y)
        .predict_proba(X)
    )
    names = [f"f{j}" for j in range(6)]
    for same in (
        pd.DataFrame(X, columns=names),
        pl.DataFrame(X, schema=names),
        sparse.csr_array(X),
        sparse.coo_matrix(X),
        X.tolist(),
    ):
        labels = pl.Series(y) if isinstance(same, pl.DataFrame) else y
        clf = CalibratedClassifier(LogisticRegression(solver="newton-cholesky"), cv=3).fit(
            same, labels
        )
        np.testing.assert_allclose(clf.predict_proba(same), expected, atol=1e-6)
    clf = CalibratedClassifier(LogisticRegression(solver="newton-cholesky"), cv=3).fit(
        pd.DataFrame(X, columns=names, index=np.arange(400)[::-1]), pd.Series(y)
    )
    assert clf.feature_names_in_.tolist() == names


@pytest.mark.parametrize(
    "names",
    [
        np.array(["b", "a"]),
        np.array([-1, 1]),
        np.array([True, False]),
        np.array([2, 1]),
        np.array(["x", "y"], dtype=object),
    ],
)
def test_labels_of_any_kind(two, names):
    X, y = two
    clf = CalibratedClassifier(GaussianNB(), ConfidenceCalibrator()).fit(X, names[y])
    assert clf.classes_.tolist() == sorted(names.tolist())
    accuracy = (clf.predict(X) == names[y]).mean()
    assert accuracy > (GaussianNB().fit(X, y).predict(X) == y).mean() - 0.05
    assert metrics.accuracy(names[y], clf.predict_proba(X), classes=clf.classes_) == pytest.approx(
        accuracy
    )


def test_decision_functions_are_logits(two, three):
    for X, y in (two, three):
        clf = CalibratedClassifier(LinearSVC(), TemperatureScaling(), cv=3, ensemble=False).fit(
            X, y
        )
        assert clf.calibrators_[0].inputs == "logit"
        Q = clf.predict_proba(X)
        np.testing.assert_allclose(Q.sum(axis=1), 1.0)
        np.testing.assert_array_equal(Q.argmax(axis=1), clf.estimators_[0].predict(X))
    margins = LinearSVC().fit(*two).decision_function(two[0])
    fitted = CalibratedClassifier(LinearSVC().fit(*two), TemperatureScaling()).fit(*two)
    T = fitted.calibrators_[0].temperature_
    np.testing.assert_allclose(fitted.predict_proba(two[0])[:, 1], 1 / (1 + np.exp(-margins / T)))


def test_logits_on_request_where_the_model_has_both(three):
    X, y = three
    clf = CalibratedClassifier(
        LogisticRegression(solver="newton-cholesky"), TemperatureScaling(inputs="logit"), cv=3
    ).fit(X, y)
    assert clf.calibrators_[0].inputs == "logit"
    same = CalibratedClassifier(
        LogisticRegression(solver="newton-cholesky"), TemperatureScaling(), cv=3
    ).fit(X, y)
    np.testing.assert_allclose(clf.predict_proba(X), same.predict_proba(X), atol=1e-9)


def test_pairwise_decisions_are_refused_with_the_remedy():
    X, y = make_classification(n_samples=200, n_informative=5, n_classes=4, random_state=0)
    with pytest.raises(InputError, match="decision_function_shape"):
        CalibratedClassifier(SVC(decision_function_shape="ovo"), cv=2).fit(X, y)


@pytest.mark.parametrize("model", [GaussianNB(), LinearSVC()])
@pytest.mark.parametrize(
    "calibrator", [TemperatureScaling(), OneVsRest(Isotonic()), ConfidenceCalibrator()]
)
@pytest.mark.parametrize("ensemble", [False, True])
def test_a_class_absent_from_a_fold_keeps_its_prior_mass(three, model, calibrator, ensemble):
    X, y = three
    rows = np.concatenate([np.flatnonzero(y != 2), np.flatnonzero(y == 2)[:1]])
    X, y = X[rows], y[rows]
    clf = CalibratedClassifier(model, calibrator, cv=3, ensemble=ensemble).fit(X, y)
    Q = clf.predict_proba(X)
    assert clf.classes_.tolist() == [0, 1, 2]
    np.testing.assert_allclose(Q.sum(axis=1), 1.0)
    assert Q[:, 2].mean() > 1e-6


def test_prior_mass_of_the_absent_class_is_its_share_of_all_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.repeat([0, 1, 2], 20)
    cv = [(np.arange(40), np.arange(40, 60)), (np.arange(20, 60), np.arange(20))]
    clf = CalibratedClassifier(GaussianNB(), Recorder(), cv=cv).fit(X, y)
    np.testing.assert_allclose(clf.calibrators_[0].values_[:, 2], 1 / 3)
    np.testing.assert_allclose(clf.calibrators_[0].values_[:, :2].sum(axis=1), 2 / 3)
    np.testing.assert_allclose(clf.calibrators_[1].values_[:, 0], 1 / 3)


def test_reference_of_a_fitted_model_is_handed_on(two):
    X, y = two
    model = GaussianNB().fit(X[:200], y[:200])
    clf = CalibratedClassifier(model, Recorder()).fit(
        X[200:], y[200:], reference=(X[:200], y[:200])
    )
    np.testing.assert_array_equal(clf.calibrators_[0].reference_[0], X[:200])
    np.testing.assert_array_equal(clf.calibrators_[0].X_, X[200:])
    assert clf.predict_proba(X).shape == (400, 2)
    with pytest.raises(InputError, match="reference"):
        CalibratedClassifier(model, Recorder()).fit(X[200:], y[200:])
    with pytest.raises(InputError, match="its own training part"):
        CalibratedClassifier(GaussianNB(), Recorder()).fit(X, y, reference=(X, y))


@pytest.mark.parametrize("ensemble", [False, True])
def test_with_cv_the_reference_is_the_folds_own_training_part(two, ensemble):
    X, y = two
    cv = StratifiedKFold(3)
    clf = CalibratedClassifier(GaussianNB(), Recorder(), cv=cv, ensemble=ensemble).fit(X, y)
    assert len(clf.estimators_) == (3 if ensemble else 1)
    for calibrator, (fit_rows, held_out) in zip(clf.calibrators_, cv.split(X, y), strict=True):
        np.testing.assert_array_equal(calibrator.reference_[0], X[fit_rows])
        np.testing.assert_array_equal(calibrator.reference_[1], y[fit_rows])
        np.testing.assert_array_equal(calibrator.X_, X[held_out])
    assert np.isfinite(clf.predict_proba(X)).all()


def test_reference_may_have_the_models_own_labels(two):
    X, y = two
    model = GaussianNB().fit(X[:200], y[:200])
    predicted = model.predict(X[:200])
    assert (predicted != y[:200]).any()
    clf = CalibratedClassifier(model, Recorder(), reference_labels="predicted").fit(
        X[200:], y[200:], reference=(X[:200], y[:200])
    )
    np.testing.assert_array_equal(clf.calibrators_[0].reference_[1], predicted)
    names = np.array(["no", "yes"])[y]
    clf = CalibratedClassifier(
        GaussianNB(), Recorder(), cv=StratifiedKFold(3), reference_labels="predicted"
    ).fit(X, names)
    for calibrator, (fit_rows, _) in zip(
        clf.calibrators_, StratifiedKFold(3).split(X, y), strict=True
    ):
        own = GaussianNB().fit(X[fit_rows], names[fit_rows]).predict(X[fit_rows])
        np.testing.assert_array_equal(calibrator.reference_[1], own == "yes")
    with pytest.raises(ValueError, match="inconsistent numbers"):
        CalibratedClassifier(model, Recorder(), reference_labels="predicted").fit(
            X[200:], y[200:], reference=(X[:200], y[:20])
        )
    with pytest.raises(InputError, match="the pair"):
        CalibratedClassifier(model, Recorder(), reference_labels="predicted").fit(
            X[200:], y[200:], reference=X[:200]
        )
    with pytest.raises(InputError, match="reference_labels"):
        CalibratedClassifier(GaussianNB(), reference_labels="own").fit(X, y)


class Booster(GaussianNB):
    """Takes fit arguments the way boosting libraries do."""

    def fit(
        self,
        X,
        y,
        sample_weight=None,
        *,
        eval_set=None,
        base_margin=None,
        categorical_feature="auto",
        verbose=True,
    ):
        self.given_ = {
            "eval_set": eval_set,
            "base_margin": base_margin,
            "categorical": categorical_feature,
            "verbose": verbose,
        }
        self.n_seen_ = len(y)
        return super().fit(X, y, sample_weight)


def test_fit_arguments_are_routed_and_cut_to_the_fold(two):
    X, y = two
    margin = np.arange(400.0)
    clf = CalibratedClassifier(Booster(), cv=4, ensemble=True).fit(
        X,
        y,
        eval_set=[(X[:5], y[:5])],
        base_margin=margin,
        categorical_feature=["a"],
        verbose=False,
    )
    for model in clf.estimators_:
        assert model.given_["base_margin"].shape == (model.n_seen_,) == (300,)
        assert model.given_["eval_set"][0][0].shape == (5, 6)
        assert (model.given_["categorical"], model.given_["verbose"]) == (["a"], False)


def test_weights_reach_the_model_through_a_pipeline_and_the_calibrator(two):
    X, y = two
    weight = np.random.default_rng(0).integers(0, 3, 400).astype(float)
    rows = np.repeat(np.arange(400), weight.astype(int))
    folds = np.arange(400) % 3
    for model in (
        GaussianNB(),
        make_pipeline(StandardScaler(with_mean=False, with_std=False), GaussianNB()),
    ):
        cv = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(3)]
        repeated = [
            (np.flatnonzero(folds[rows] != k), np.flatnonzero(folds[rows] == k)) for k in range(3)
        ]
        a = (
            CalibratedClassifier(model, OneVsRest(), cv=cv)
            .fit(X, y, sample_weight=weight)
            .predict_proba(X)
        )
        b = (
            CalibratedClassifier(model, OneVsRest(), cv=repeated)
            .fit(X[rows], y[rows])
            .predict_proba(X)
        )
        np.testing.assert_allclose(a, b, atol=1e-7)


def test_a_model_that_takes_no_weights_is_told_of(two):
    with pytest.warns(CalibrationWarning, match="has no sample_weight"):
        CalibratedClassifier(KNeighborsClassifier(), cv=2).fit(*two, sample_weight=np.ones(400) * 2)


def test_confidence_speaks_of_the_models_own_label(three):
    X, y = three
    model = GaussianNB().fit(X, y)
    clf = CalibratedClassifier(model, ConfidenceCalibrator(map=VennAbers())).fit(X, y)
    expected = clf.calibrators_[0].predict_confidence(model.predict_proba(X))
    np.testing.assert_allclose(clf.predict_confidence(X), expected, rtol=1e-12)


def test_default_calibrator_improves_an_overconfident_model(two):
    X, y = two
    clf = CalibratedClassifier(
        RandomForestClassifier(20, max_depth=None, random_state=0), random_state=1
    ).fit(X[:200], y[:200])
    raw = np.mean(
        [metrics.log_loss(y[200:], model.predict_proba(X[200:])) for model in clf.estimators_]
    )
    assert metrics.log_loss(y[200:], clf.predict_proba(X[200:])) < raw


def test_rows_that_no_split_holds_out_do_not_calibrate_and_string_input_works():
    words = ["good day"] * 30 + ["bad day"] * 30
    from sklearn.feature_extraction.text import CountVectorizer

    clf = CalibratedClassifier(
        make_pipeline(CountVectorizer(), SGDClassifier(random_state=0)), cv=3
    )
    clf.fit(words, ["yes"] * 30 + ["no"] * 30)
    assert clf.predict(["good", "bad"]).tolist() == ["yes", "no"]


def test_one_class_is_refused(two):
    with pytest.raises(InputError, match="at least 2 classes"):
        CalibratedClassifier(GaussianNB()).fit(two[0], np.zeros(400))


def test_missing_values_pass_through_to_a_model_that_takes_them(two):
    X, y = two
    X = X.copy()
    X[::7, 0] = np.nan
    clf = CalibratedClassifier(DecisionTreeClassifier(max_depth=3), cv=2).fit(X, y)
    assert np.isfinite(clf.predict_proba(X)).all()


def test_the_default_calibrator_is_the_one_of_the_whole_library(two):
    assert type(CalibratedClassifier(GaussianNB()).fit(*two).calibrators_[0]) is type(
        default_calibrator()
    )


@pytest.mark.parametrize("ensemble", [False, True])
def test_a_calibrator_that_looks_at_the_training_data_works_in_cross_validation(two, ensemble):
    X, y = two
    labels = np.array(["no", "yes"])[y]
    clf = CalibratedClassifier(GaussianNB(), GeometricCalibrator(), cv=3, ensemble=ensemble).fit(
        pd.DataFrame(X), labels
    )
    c = clf.predict_confidence(pd.DataFrame(X))
    right = (clf.estimators_[0].predict(pd.DataFrame(X)) == labels).mean()
    assert abs(c.mean() - right) < 0.1


def test_auto_refits_where_the_models_of_the_folds_agree():
    X, y = make_classification(n_samples=2000, n_features=4, random_state=0)
    clf = CalibratedClassifier(GaussianNB(), TemperatureScaling()).fit(X, y)
    assert (clf.chosen_, len(clf.estimators_), len(clf.calibrators_)) == ("refit", 1, 1)
    assert list(clf.evidence_) == ["agreement"]
    same = CalibratedClassifier(GaussianNB(), TemperatureScaling(), ensemble=False).fit(X, y)
    np.testing.assert_array_equal(clf.predict_proba(X), same.predict_proba(X))
    assert clf.explain().startswith("One model, fitted to all rows")
    assert "One model" not in same.explain()


@pytest.mark.parametrize("names", [np.array([0, 1, 2]), np.array(["c", "a", "b"])])
@pytest.mark.parametrize(
    "calibrator",
    [None, TemperatureScaling(), OneVsRest(Isotonic()), Recorder(), GeometricCalibrator()],
)
def test_auto_averages_where_they_differ(three, names, calibrator):
    X, y = three
    clf = CalibratedClassifier(
        DecisionTreeClassifier(min_samples_leaf=5, random_state=0), calibrator
    ).fit(X, names[y])
    assert (clf.chosen_, len(clf.estimators_)) == ("average", 5)
    rho, s = clf.evidence_["agreement_unseen"], clf.evidence_["exponent"]
    assert 0.0 < rho < 1.0
    assert s == pytest.approx(5 / (1 + 4 * rho))
    features = {"X": X} if clf.calibrators_[0].tags.uses_features else {}
    calibrators = clf.calibrators_ if len(clf.calibrators_) == 5 else clf.calibrators_ * 5
    answers = [
        c.predict_proba(m.predict_proba(X), **features)
        for m, c in zip(clf.estimators_, calibrators, strict=True)
    ]
    logs = np.log(np.clip(answers, 1e-12, None)).mean(axis=0)
    q = clf.class_rates_ * np.exp(s * (logs - np.log(clf.class_rates_)))
    np.testing.assert_allclose(clf.predict_proba(X), q / q.sum(axis=1, keepdims=True), atol=1e-9)
    assert clf.explain().startswith("The average of the 5 models")


class Counted(DecisionTreeClassifier):
    fits = 0

    def fit(self, *data, **options):
        Counted.fits += 1
        return super().fit(*data, **options)


@pytest.mark.parametrize("depth", [None, 1])
def test_auto_fits_one_model_more_than_folds(two, depth):
    X, y = two
    X = np.column_stack([y + 0.1 * X[:, 0], X]) if depth else X
    Counted.fits = 0
    clf = CalibratedClassifier(
        Counted(max_depth=depth, random_state=0), TemperatureScaling(), cv=4
    ).fit(X, y)
    assert clf.chosen_ == ("refit" if depth else "average")
    assert Counted.fits == 5


@pytest.mark.parametrize("cv", [TimeSeriesSplit(3), ShuffleSplit(1, random_state=0)])
def test_auto_refits_on_splits_in_time_and_on_a_single_one(two, cv):
    X, y = two
    clf = CalibratedClassifier(
        DecisionTreeClassifier(min_samples_leaf=5, random_state=0), OneVsRest(Platt()), cv=cv
    ).fit(X, y)
    assert (clf.chosen_, len(clf.estimators_), clf.evidence_) == ("refit", 1, {})
    assert "comparable models" in clf.explain()


def test_auto_with_two_folds_has_no_rows_that_neither_model_saw(two):
    clf = CalibratedClassifier(
        DecisionTreeClassifier(random_state=0), TemperatureScaling(), cv=2
    ).fit(*two)
    assert (clf.chosen_, clf.evidence_["exponent"]) == ("average", 1.0)


def test_auto_takes_a_weight_for_repetition(two):
    X, y = two
    weight = np.random.default_rng(0).integers(0, 3, 400).astype(float)
    rows, folds = np.repeat(np.arange(400), weight.astype(int)), np.arange(400) % 4
    cvs = [
        [(np.flatnonzero(f != k), np.flatnonzero(f == k)) for k in range(4)]
        for f in (folds, folds[rows])
    ]
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    a = CalibratedClassifier(tree, TemperatureScaling(), cv=cvs[0]).fit(X, y, sample_weight=weight)
    b = CalibratedClassifier(tree, TemperatureScaling(), cv=cvs[1]).fit(X[rows], y[rows])
    assert a.chosen_ == "average"
    assert a.evidence_ == pytest.approx(b.evidence_)
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), atol=1e-7)


def test_jobs_change_nothing(two):
    X, y = two
    with parallel_config("threading"):
        one, several = (
            CalibratedClassifier(GaussianNB(), TemperatureScaling(), n_jobs=n)
            .fit(X, y)
            .predict_proba(X)
            for n in (None, 2)
        )
    np.testing.assert_array_equal(one, several)


def test_a_given_model_leaves_no_choice(two):
    X, y = two
    clf = CalibratedClassifier(GaussianNB().fit(X, y), TemperatureScaling()).fit(X, y)
    assert (clf.chosen_, clf.evidence_) == ("given", {})
    assert clf.explain().startswith("TemperatureScaling")


def test_an_unknown_ensemble_is_refused(two):
    with pytest.raises(InputError, match="ensemble must be"):
        CalibratedClassifier(GaussianNB(), ensemble="some").fit(*two)


def test_a_grid_written_for_scikit_learn_works(two):
    grid = {"estimator__max_depth": [1, 2], "ensemble": [True, False, "auto"]}
    clf = CalibratedClassifier(DecisionTreeClassifier(), OneVsRest(Platt()), cv=3)
    search = GridSearchCV(clf, grid, cv=2, scoring="neg_log_loss")
    assert search.fit(*two).best_params_["estimator__max_depth"] in (1, 2)
