"""The ONNX graph in onnxruntime gives what predict gives for the same float32 rows, alone and
behind a model.
"""

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError
from calibrant.export import append_to_onnx, to_onnx
from calibrant.export.onnx import BLOCK
from calibrant.export.subject import QUANTILES

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


def run(model, rows, name=None):
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(
        [name or session.get_outputs()[0].name], {session.get_inputs()[0].name: rows}
    )[0]


def expected(case, rows):
    fitted = case.fitted
    if case.expected.shape[1] == 1:
        return fitted.predict(rows[:, 0])[:, None]
    if isinstance(fitted, cb.core.RegressionCalibrator):
        made = fitted.predict(*rows.T)
        return np.column_stack([made.mean, made.std, made.quantile(QUANTILES)])
    return fitted.predict_proba(rows[:, : len(fitted.classes_)], groups=case.groups)


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_it_gives_what_predict_gives(cases, precision):
    moved = 0
    for case in cases:
        rows = case.rows.astype(np.float32)
        wanted = expected(case, rows)
        # The result is float32: what is larger than 1 is rounded as coarsely as it is large.
        off = np.abs(run(to_onnx(case.fitted, precision=precision), rows) - wanted) / np.maximum(
            1.0, np.abs(wanted)
        )
        if precision == "float64":
            assert off.max() <= 2e-7, f"{case.name}: {off.max()}"
        else:
            # Rows whose score crosses a step when it is normalised in float32 are counted, not
            # measured.
            steps = off.max(axis=1) > 2e-5
            moved += int(steps.sum())
            assert steps.mean() <= 0.1, f"{case.name}: {steps.mean()}"
    assert moved <= 60


@pytest.mark.parametrize("closed", [True, False])
def test_no_float32_changes_sides_of_a_step(closed):
    rng = np.random.default_rng(0)
    edges = np.unique(rng.uniform(size=3 * BLOCK + 5))
    near = np.repeat(edges.astype(np.float32), 3).reshape(-1, 3)
    near[:, 0], near[:, 2] = (
        np.nextafter(near[:, 1], np.float32(-1)),
        np.nextafter(near[:, 1], np.float32(2)),
    )
    score = near.ravel()
    step = cb.calibrators.BayesianBinning().fit(rng.uniform(size=50), rng.integers(0, 2, 50))
    step.edges_, step.value_ = edges, rng.uniform(size=len(edges) + 1)
    if not closed:
        step = cb.calibrators.VennAbers(n_splits=None).fit(edges, rng.integers(0, 2, len(edges)))
    out = run(to_onnx(step, precision="float32"), score[:, None])[:, 0]
    assert np.abs(out - step.predict(score)).max() < 1e-6


def model_of_logits():
    """x (n, 2) to logits (n, 3), as a model would be."""
    helper, float32 = onnx.helper, onnx.TensorProto.FLOAT
    W = onnx.numpy_helper.from_array(
        np.array([[1.0, -1.0, 0.5], [0.3, 2.0, -1.0]], dtype=np.float32), "W"
    )
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "W"], ["logits"])],
        "model",
        [helper.make_tensor_value_info("x", float32, ["n", 2])],
        [helper.make_tensor_value_info("logits", float32, ["n", 3])],
        [W],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def test_behind_a_model_it_calibrates_the_model():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(60, 2)).astype(np.float32)
    model = model_of_logits()
    logits = run(model, x)
    cal = cb.calibrators.StructuredMatrixScaling(inputs="logit").fit(logits, rng.integers(0, 3, 60))
    joined = append_to_onnx(model, cal, output="logits")
    assert np.abs(run(joined, x, "calibrated") - cal.predict_proba(logits)).max() < 2e-7
    assert [o.name for o in model.graph.output] == ["logits"], "the model given is not changed"


def test_wrong_names_are_refused():
    cal = cb.TemperatureScaling(inputs="logit").fit(
        [[2.0, 0.0, 0.1], [0.0, 1.0, 0.3], [1.0, 0.0, 2.0]], [0, 1, 2]
    )
    model = model_of_logits()
    with pytest.raises(InputError, match="output must be one of the model's, \\['logits'\\]"):
        append_to_onnx(model, cal, output="probabilities")
    with pytest.raises(InputError, match="output_name must be new"):
        append_to_onnx(model, cal, output="logits", output_name="logits")
    by_group = cb.GroupCalibrator(inputs="logit").fit(
        np.tile(np.eye(3), (4, 1)), [0, 1, 2, 1, 1, 2, 0, 1, 0, 0, 1, 2], groups=[0, 1, 2] * 4
    )
    with pytest.raises(InputError, match="needs groups, which the model's output does not contain"):
        append_to_onnx(model, by_group, output="logits")
    model.opset_import[0].version = 11
    with pytest.raises(InputError, match="operator set 18"):
        append_to_onnx(model, cal, output="logits")
    with pytest.raises(InputError, match="precision must be"):
        to_onnx(cal, precision="float16")


def test_input_and_output_have_two_names():
    cal = cb.StdScaling().fit([0.0, 0.0], [2.0, -2.0], std=[1.0, 1.0])
    for names in ({"input_name": ""}, {"output_name": ""}, {"output_name": "p"}, {"input_name": 3}):
        with pytest.raises(InputError, match="must be two different texts, not empty"):
            to_onnx(cal, **names)
