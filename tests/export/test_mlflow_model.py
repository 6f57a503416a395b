import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import calibrant as cb
from calibrant.errors import InputError
from calibrant.export import MlflowCalibrator, trusted_types
from calibrant.export.mlflow import _load_pyfunc


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    p = np.clip(rng.random(200), 0.01, 0.99)
    return p, (rng.random(200) < p**2).astype(int)


@pytest.mark.parametrize("calibrator", [cb.AutoCalibrator(), cb.OneVsRest(cb.Isotonic())])
def test_it_predicts_what_was_saved(tmp_path, rows, calibrator):
    p, y = rows
    fitted = calibrator.fit(p, y)
    served = _load_pyfunc(str(fitted.save(tmp_path / "c.calibrant")))
    for values in (p[:, None], np.column_stack([1.0 - p, p])):
        np.testing.assert_array_equal(served.predict(values), fitted.predict_proba(p))
    table = pytest.importorskip("pandas").DataFrame({"no": 1.0 - p, "yes": p})
    np.testing.assert_array_equal(served.predict(table, params=None), fitted.predict_proba(p))


def test_error_bars_are_two_columns(tmp_path, rows):
    p, y = rows
    fitted = cb.StdScaling().fit(p, y * 1.0, std=np.full(200, 0.3))
    served = MlflowCalibrator(fitted.save(tmp_path / "c.calibrant"))
    forecast = fitted.predict(p, np.full(200, 0.3))
    np.testing.assert_array_equal(
        served.predict(np.column_stack([p, np.full(200, 0.3)])),
        np.column_stack([forecast.mean, forecast.std]),
    )
    with pytest.raises(InputError, match="two columns, mean and std"):
        served.predict(p)


def test_groups_cannot_be_given_there(tmp_path, rows):
    p, y = rows
    fitted = cb.GroupCalibrator().fit(p, y, groups=np.arange(200) % 3)
    with pytest.raises(InputError, match="predictions alone"):
        MlflowCalibrator(fitted.save(tmp_path / "c.calibrant"))


def test_a_map_is_no_calibrator(tmp_path, rows):
    with pytest.raises(InputError, match="path must be a calibrator"):
        MlflowCalibrator(cb.Isotonic().fit(*rows).save(tmp_path / "m.calibrant"))


def test_a_pipeline_names_our_classes_only(rows):
    skops = pytest.importorskip("skops.io")
    p, y = rows
    X = np.column_stack([p, p**2])
    model = make_pipeline(
        StandardScaler(), cb.CalibratedClassifier(LogisticRegression(), cb.AutoCalibrator())
    ).fit(X, y)
    names = trusted_types(model)
    assert "calibrant.calibrators.classifier.CalibratedClassifier" in names
    assert all(name.startswith("calibrant.") for name in names)
    np.testing.assert_array_equal(
        skops.loads(skops.dumps(model), trusted=names).predict_proba(X), model.predict_proba(X)
    )


# MLflow warns of type hints of its own when it is first imported.
@pytest.mark.filterwarnings("ignore:.*Any type hint is inferred as AnyType:UserWarning")
def test_mlflow_keeps_and_loads_both(tmp_path, rows):
    mlflow = pytest.importorskip("mlflow")
    pytest.importorskip("skops")
    p, y = rows
    model = cb.CalibratedClassifier(LogisticRegression()).fit(p[:, None], y)
    mlflow.sklearn.save_model(
        model,
        tmp_path / "model",
        serialization_format="skops",
        skops_trusted_types=trusted_types(model),
    )
    np.testing.assert_array_equal(
        mlflow.sklearn.load_model(tmp_path / "model").predict_proba(p[:, None]),
        model.predict_proba(p[:, None]),
    )
    fitted = cb.TemperatureScaling().fit(p, y)
    mlflow.pyfunc.save_model(
        tmp_path / "calibrator",
        data_path=str(fitted.save(tmp_path / "c.calibrant")),
        loader_module="calibrant.export.mlflow",
        pip_requirements=["calibrant"],
    )
    loaded = mlflow.pyfunc.load_model(str(tmp_path / "calibrator"))
    np.testing.assert_array_equal(loaded.predict(p[:, None]), fitted.predict_proba(p))
