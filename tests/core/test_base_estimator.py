"""The base of every estimator: scikit-learn's protocols, without loading scikit-learn."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import sklearn.base
from sklearn import config_context
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import check_is_fitted

import calibrant as cb
from calibrant.core.estimators import BaseEstimator, explained

HEAVY = """
import sys
import numpy as np
import calibrant as cb
{code}
heavy = {{"sklearn", "scipy.stats", "scipy.optimize", "pandas", "pyarrow", "matplotlib"}}
print(sorted(heavy & sys.modules.keys()))
"""
P = np.array([0.1, 0.3, 0.4, 0.6, 0.8, 0.9, 0.2, 0.7])
Y = np.array([0, 0, 1, 0, 1, 1, 0, 1])


@pytest.mark.parametrize(
    "code",
    [
        "cb.metrics.log_loss",
        "cb.metrics.log_loss.interval([0, 1, 1], [0.2, 0.7, 0.4])",
        "cb.TemperatureScaling().fit([0.2, 0.7, 0.4], [0, 1, 1]).predict_proba([0.5])",
        "cb.calibrators.Platt().fit([0.2, 0.7, 0.4, 0.6], [0, 1, 1, 0]).predict([0.5])",
        "print(cb.TemperatureScaling().set_params(inputs='logit'))",
        """
try:
    cb.TemperatureScaling().predict_proba([0.5])
except cb.errors.NotFittedError:
    pass
""",
    ],
)
def test_the_core_loads_no_scikit_learn(code):
    run = subprocess.run(
        [sys.executable, "-c", HEAVY.format(code=code)], capture_output=True, text=True, check=True
    )
    assert run.stdout.splitlines()[-1] == "[]"


def test_parameters_are_read_and_set_as_by_scikit_learn():
    wrapped = cb.calibrators.OneVsRest(cb.calibrators.Spline(n_knots=4))
    deep = wrapped.get_params()
    assert deep["map__n_knots"] == 4
    assert list(wrapped.get_params(deep=False)) == sorted(wrapped.get_params(deep=False))
    # The component itself is set before its own parameters, whatever their order.
    wrapped.set_params(map__n_knots=7, map=cb.calibrators.Spline())
    assert wrapped.map.n_knots == 7
    with pytest.raises(ValueError, match="OneVsRest has no parameter 'maps'; it has classes"):
        wrapped.set_params(maps=1)


def test_clones_are_unfitted_equal_and_share_nothing():
    fitted = cb.calibrators.OneVsRest(cb.calibrators.Spline()).fit(P, Y)
    for copy in (sklearn.base.clone(fitted), *sklearn.base.clone([fitted])):
        assert repr(copy) == repr(fitted)
        assert not hasattr(copy, "classes_")
        assert copy.map is not fitted.map


def test_a_constructor_that_changes_its_argument_cannot_be_cloned():
    class Changing(BaseEstimator):
        def __init__(self, names=()):
            self.names = list(names)

    with pytest.raises(RuntimeError, match="its constructor changes names"):
        sklearn.base.clone(Changing(("a",)))


def test_text_names_the_changed_parameters_only():
    assert repr(cb.TemperatureScaling()) == "TemperatureScaling()"
    nested = cb.calibrators.OneVsRest(cb.calibrators.Spline(n_knots=4), inputs="logit")
    assert repr(nested) == "OneVsRest(inputs='logit', map=Spline(n_knots=4))"


def test_a_map_is_tuned_and_piped_by_scikit_learn():
    score = np.tile(P, 20)
    hit = np.tile(Y, 20)
    pipe = make_pipeline(FunctionTransformer(np.ravel), cb.calibrators.Spline())
    search = GridSearchCV(
        pipe,
        {"spline__n_knots": [3, 4]},
        scoring=lambda fitted, X, y: -np.mean((fitted.predict(X) - y) ** 2),
        cv=3,
        error_score="raise",
    ).fit(score[:, None], hit)
    assert search.best_params_["spline__n_knots"] in (3, 4)
    assert -0.25 < search.best_score_ < 0.0
    found = cross_val_score(
        cb.TemperatureScaling(),
        np.column_stack([1 - score, score]),
        hit,
        scoring=lambda fitted, X, y: float(np.mean(fitted.predict(X) == y)),
        error_score="raise",
    )
    assert found.mean() == pytest.approx(0.75)


def test_metadata_is_requested_by_the_names_of_the_arguments():
    scaling = cb.TemperatureScaling()
    assert not hasattr(cb.metrics.log_loss, "set_fit_request")
    assert not hasattr(scaling, "set_transform_request")
    with config_context(enable_metadata_routing=True):
        assert scaling.set_fit_request(sample_weight=True) is scaling
        requests = get_routing_for_object(sklearn.base.clone(scaling))
        assert requests.fit.requests["sample_weight"] is True
        assert requests.predict_proba.requests == {"P": None, "groups": None}
        with pytest.raises(TypeError, match="Unexpected args"):
            scaling.set_fit_request(weights=True)


def test_tags_and_diagrams_are_those_of_scikit_learn():
    assert get_tags(cb.TemperatureScaling()).requires_fit
    assert get_tags(cb.calibrators.PrincipalComponents()).transformer_tags is not None
    fitted = cb.calibrators.OneVsRest().fit(P, Y)
    html = fitted._repr_mimebundle_()["text/html"]
    assert "sk-estimator" in html
    assert "classes_" in html or "Fitted" in html
    assert "OneVsRest" in make_pipeline(cb.calibrators.OneVsRest())._repr_html_()
    with config_context(display="text"):
        assert not hasattr(fitted, "_repr_html_")


def test_scikit_learn_catches_the_error_before_a_fit():
    with pytest.raises(NotFittedError, match="this Platt is not fitted") as caught:
        cb.calibrators.Platt().predict(P)
    for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        assert isinstance(error, NotFittedError)
        assert isinstance(error, cb.errors.NotFittedError)
        assert str(error) == str(caught.value)


def test_a_part_of_others_may_raise_the_error_of_scikit_learn():
    class Mine(cb.calibrators.Platt):
        def explain(self):
            check_is_fitted(self)
            return "a sigmoid"

    assert explained(Mine()) is None
    assert explained(Mine().fit(P, Y)) == "a sigmoid"
