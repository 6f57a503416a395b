"""A pipeline that ends in CalibratedClassifier converts whole, and gives what it gave."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import calibrant as cb
from calibrant.errors import MissingDependencyError
from calibrant.export import register_skl2onnx

LOGISTIC, TREE = (
    LogisticRegression(max_iter=500),
    DecisionTreeClassifier(min_samples_leaf=10, random_state=0),
)


@pytest.mark.parametrize(
    ("ensemble", "model", "chosen"),
    [
        (False, LOGISTIC, "refit"),
        (True, LOGISTIC, "average"),
        ("auto", LOGISTIC, "refit"),
        ("auto", TREE, "average"),
    ],
)
@pytest.mark.parametrize("data", [load_iris, load_breast_cancer])
def test_a_pipeline_converts(data, ensemble, model, chosen):
    skl2onnx, onnxruntime = pytest.importorskip("skl2onnx"), pytest.importorskip("onnxruntime")
    register_skl2onnx()
    X, y = data(return_X_y=True)
    X = X.astype(np.float32)
    last = cb.CalibratedClassifier(
        model, cb.calibrators.StructuredMatrixScaling(), cv=4, ensemble=ensemble, random_state=0
    )
    pipeline = make_pipeline(StandardScaler(), last).fit(X, y)
    assert pipeline[-1].chosen_ == chosen
    converted = skl2onnx.to_onnx(pipeline, X[:1], target_opset=18)
    session = onnxruntime.InferenceSession(
        converted.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    label, P = session.run(["label", "probabilities"], {session.get_inputs()[0].name: X})
    # The model itself runs in float32 there.
    assert np.abs(P - pipeline.predict_proba(X)).max() < 2e-6
    assert (label == pipeline.predict(X)).all()


def test_without_skl2onnx_it_says_what_to_install():
    try:
        import skl2onnx  # noqa: F401
    except ImportError:
        with pytest.raises(MissingDependencyError, match="skl2onnx"):
            register_skl2onnx()
