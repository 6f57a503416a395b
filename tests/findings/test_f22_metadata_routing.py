"""F22: the wrappers knew nothing of scikit-learn's metadata routing. Expected: what its own
CalibratedClassifierCV does.
"""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.metadata_routing import MetadataRouter

import calibrant as cb

N = 120
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
WEIGHT = RNG.uniform(0.5, 2.0, N)
GROUPS = np.arange(N) // 10
FITS: list = []


@pytest.fixture(autouse=True)
def routing():
    FITS.clear()
    with config_context(enable_metadata_routing=True):
        yield


class _Consumer(BaseEstimator):
    """Writes down what its fit is given."""

    def fit(self, X, y, sample_weight=None, metadata=None):
        FITS.append({"rows": len(y), "sample_weight": sample_weight, "metadata": metadata})
        self.classes_ = np.unique(y)
        self.n_features_in_ = X.shape[1]
        return self


class Classifier(ClassifierMixin, _Consumer):
    def predict_proba(self, X):
        p = 1.0 / (1.0 + np.exp(-X[:, 0]))
        return np.column_stack([1.0 - p, p])

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class Regressor(RegressorMixin, _Consumer):
    def predict(self, X):
        return np.abs(X[:, 0])


class Splitter(KFold):
    """Asks for metadata of its own."""

    def split(self, X, y=None, groups=None, metadata="nothing"):
        FITS.append({"split": metadata, "groups": groups})
        return super().split(X, y)


def classifier(model, **options):
    return cb.CalibratedClassifier(model, cb.TemperatureScaling(), **{"cv": 3, **options})


def regressor(model, **options):
    return cb.CalibratedRegressor(model, cb.StdScaling(), **{"cv": 3, **options})


BOTH = pytest.mark.parametrize(
    ("wrap", "inner"), [(classifier, Classifier), (regressor, Regressor)]
)


@BOTH
def test_f22_get_metadata_routing_is_a_router(wrap, inner):
    router = wrap(inner().set_fit_request(sample_weight=True)).get_metadata_routing()
    assert isinstance(router, MetadataRouter)
    assert router.consumes("fit", ["sample_weight", "groups", "metadata"]) >= {
        "sample_weight",
        "groups",
    }


@BOTH
@pytest.mark.parametrize("name", ["sample_weight", "metadata"])
def test_f22_an_argument_that_is_neither_requested_nor_refused_raises(wrap, inner, name):
    with pytest.raises(
        UnsetMetadataPassedError, match=rf"\[{name}\] are passed .*{inner.__name__}\.fit"
    ):
        wrap(inner()).fit(X, Y, **{name: WEIGHT})


@BOTH
def test_f22_a_refused_argument_does_not_reach_the_model_but_the_calibrator(wrap, inner):
    refusing = wrap(inner().set_fit_request(sample_weight=False)).fit(
        X, Y, sample_weight=10.0 ** (2 * Y - 1)
    )
    assert len(FITS) == 4
    assert all(fit["sample_weight"] is None for fit in FITS)
    plain = wrap(inner()).fit(X, Y)
    answers = [
        m.predict_proba(X) if wrap is classifier else m.predict_distribution(X).std
        for m in (refusing, plain)
    ]
    assert np.abs(answers[0] - answers[1]).max() > 1e-3


@BOTH
def test_f22_requested_arguments_are_cut_to_each_fold(wrap, inner):
    model = inner().set_fit_request(sample_weight=True, metadata=True)
    wrap(model).fit(X, Y, sample_weight=WEIGHT, metadata=GROUPS)
    assert [fit["rows"] for fit in FITS] == [80, 80, 80, 120]
    for fit in FITS:
        assert len(fit["sample_weight"]) == len(fit["metadata"]) == fit["rows"]
    np.testing.assert_array_equal(FITS[-1]["sample_weight"], WEIGHT)


@BOTH
def test_f22_an_alias_names_another_argument(wrap, inner):
    wrap(inner().set_fit_request(sample_weight="importance")).fit(X, Y, importance=WEIGHT)
    np.testing.assert_array_equal(FITS[-1]["sample_weight"], WEIGHT)


@BOTH
def test_f22_the_splitter_gets_what_it_asks_for(wrap, inner):
    model = inner().set_fit_request(metadata=False)
    wrap(model, cv=Splitter(3).set_split_request(metadata=True)).fit(X, Y, metadata=GROUPS)
    np.testing.assert_array_equal(FITS[0]["split"], GROUPS)
    assert all(fit["metadata"] is None for fit in FITS[1:])


@BOTH
@pytest.mark.parametrize("cv", [None, 4, GroupKFold(4)])
def test_f22_groups_go_to_the_splitter_unasked(wrap, inner, cv):
    seen = []

    class Watching(inner):
        def fit(self, X, y):
            seen.append({row.tobytes() for row in X})
            return super().fit(X, y)

    wrap(Watching(), cv=cv).fit(X, Y, groups=GROUPS)
    of_row = {row.tobytes(): g for row, g in zip(X, GROUPS, strict=True)}
    for rows in seen[:-1]:
        left_out = {of_row[r] for r in of_row.keys() - rows}
        assert left_out.isdisjoint({of_row[r] for r in rows})


@BOTH
def test_f22_an_argument_for_nobody_is_refused(wrap, inner):
    with pytest.raises(TypeError, match="unexpected argument"):
        wrap(inner()).fit(X, Y, nonsense=WEIGHT)
    with pytest.raises(TypeError, match="unexpected argument"):
        wrap(inner(), cv=KFold(3)).fit(X, Y, groups=GROUPS)


@BOTH
@pytest.mark.parametrize("freeze", [FrozenEstimator, lambda fitted: fitted])
def test_f22_a_fitted_model_is_asked_nothing(wrap, inner, freeze):
    model = freeze(inner().fit(X, Y))
    FITS.clear()
    wrap(model, cv=None).fit(X, Y, sample_weight=WEIGHT)
    assert FITS == []


def test_f22_the_scale_model_is_asked_too():
    model, scale = Regressor().set_fit_request(sample_weight=True), Regressor()
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        regressor(model, scale_estimator=scale).fit(X, Y, sample_weight=WEIGHT)
    FITS.clear()
    regressor(model, scale_estimator=scale.set_fit_request(sample_weight=False)).fit(
        X, Y, sample_weight=WEIGHT
    )
    assert [fit["sample_weight"] is None for fit in FITS] == [False] * 4 + [True] * 4


@BOTH
def test_f22_through_a_pipeline_inside_and_outside(wrap, inner):
    inside = make_pipeline(
        StandardScaler().set_fit_request(sample_weight=False),
        inner().set_fit_request(sample_weight=True),
    )
    outside = Pipeline(
        [("scale", StandardScaler().set_fit_request(sample_weight=False)), ("model", wrap(inside))]
    )
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        outside.fit(X, Y, sample_weight=WEIGHT)
    outside.set_params(model=wrap(inside).set_fit_request(sample_weight=True)).fit(
        X, Y, sample_weight=WEIGHT
    )
    np.testing.assert_array_equal(FITS[-1]["sample_weight"], WEIGHT)


@BOTH
def test_f22_in_a_grid_search(wrap, inner):
    model = inner().set_fit_request(sample_weight=True, metadata=False)
    inside = wrap(model).set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
    search = GridSearchCV(inside, {"cv": [2, 3]}, cv=GroupKFold(2))
    search.fit(X, Y, sample_weight=WEIGHT, groups=GROUPS)
    assert all(fit["sample_weight"] is not None for fit in FITS)
    np.testing.assert_array_equal(FITS[-1]["sample_weight"], WEIGHT)


@BOTH
def test_f22_nothing_given_asks_nothing(wrap, inner):
    wrap(inner()).fit(X, Y)
    assert len(FITS) == 4


@BOTH
def test_f22_without_routing_requests_are_not_read(wrap, inner):
    with config_context(enable_metadata_routing=False):
        wrap(inner()).fit(X, Y, sample_weight=WEIGHT, metadata=GROUPS)
    assert all(len(fit["sample_weight"]) == len(fit["metadata"]) == fit["rows"] for fit in FITS)
