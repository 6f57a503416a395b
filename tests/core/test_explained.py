import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LinearRegression, LogisticRegression

import calibrant as cb
from calibrant.core.estimators import account, explained


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    return X, (rng.random(300) < 1.0 / (1.0 + np.exp(-3.0 * X[:, 0]))).astype(int)


def test_a_fitted_estimator_shows_its_words_below_its_diagram(rows):
    X, y = rows
    model = cb.CalibratedClassifier(LogisticRegression(), cb.AutoCalibrator())
    assert explained(model) is None
    assert "pre-line" not in model._repr_mimebundle_()["text/html"]
    model.fit(X, y)
    assert "rows, 2 classes" in model.explain()
    for html in (model._repr_mimebundle_()["text/html"], model._repr_html_()):
        assert html.endswith("</p></div></div>")
        assert "rows, 2 classes" in html.rpartition("<p")[2]


def test_names_of_the_data_are_escaped_in_it(rows):
    X, y = rows
    P = np.clip(1.0 / (1.0 + np.exp(-2.0 * X[:, 0])), 0.01, 0.99)
    site = np.where(X[:, 1] > 0.0, "<b>", "plain")
    fitted = cb.GroupCalibrator().fit(
        P, np.where(site == "<b>", np.maximum(y, X[:, 0] > -0.5), y), groups=site
    )
    assert "<b> +" in fitted.explain()
    shown = fitted._repr_mimebundle_()["text/html"].rpartition("<p")[2]
    assert "&lt;b&gt; +" in shown
    assert "<b>" not in shown


def test_what_has_no_words_gives_its_status(rows):
    X, y = rows
    fitted = cb.TemperatureScaling().fit(np.clip(1.0 / (1.0 + np.exp(-X[:, 0])), 0.01, 0.99), y)
    assert explained(fitted) is None
    assert account(fitted) == f"TemperatureScaling: {fitted.status_}"
    assert cb.CalibratedRegressor(LinearRegression()).fit(X, X[:, 0] + y).explain()


def test_text_is_all_where_diagrams_are_off(rows):
    with sklearn.config_context(display="text"):
        assert set(cb.AutoCalibrator()._repr_mimebundle_()) == {"text/plain"}
