"""Converter of ``CalibratedClassifier`` for skl2onnx, including pipelines that end in one."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from calibrant._numerics.logistic import ZERO_FLOOR
from calibrant.calibrators.classifier import CalibratedClassifier
from calibrant.core.extras import import_extra
from calibrant.errors import InputError
from calibrant.export.onnx import write_expression
from calibrant.export.subject import subject_of

__all__ = ["register_skl2onnx"]

FEATURE = "the converter of CalibratedClassifier"


def register_skl2onnx() -> None:
    """Register the converter of ``CalibratedClassifier``; call it once, before
    ``skl2onnx.to_onnx``.

    Raises
    ------
    MissingDependencyError
        Without skl2onnx.

    See Also
    --------
    to_onnx, append_to_onnx : export without skl2onnx.

    Notes
    -----
    It supports calibrators of probabilities (``inputs="probability"``, the default) with models
    that skl2onnx converts. The outputs are ``label`` and ``probabilities``. The calibrator computes
    in doubles, the model as skl2onnx defines it.
    """
    skl2onnx = import_extra("skl2onnx", FEATURE, "export")
    skl2onnx.update_registered_converter(
        CalibratedClassifier,
        "CalibrantCalibratedClassifier",
        _shapes,
        _convert,
        parser=_parse,
        options={"zipmap": [False], "nocl": [True, False]},
    )


def _parse(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    types = import_extra("skl2onnx.common.data_types", FEATURE, "export")
    operator = scope.declare_local_operator("CalibrantCalibratedClassifier", model)
    operator.inputs = inputs
    labels = (
        types.Int64TensorType() if model.classes_.dtype.kind in "iub" else types.StringTensorType()
    )
    for name, kind in (("label", labels), ("probabilities", types.FloatTensorType())):
        operator.outputs.append(scope.declare_local_variable(name, kind))
    return operator.outputs


def _shapes(operator: Any) -> None:
    rows = operator.inputs[0].type.shape[0]
    operator.outputs[0].type.shape = [rows]
    operator.outputs[1].type.shape = [rows, len(operator.raw_operator.classes_)]


class _Container:
    """Nodes and tables of a calibrator in skl2onnx's container; a ``Target`` of ``onnx_nodes``."""

    def __init__(self, onnx: Any, scope: Any, container: Any) -> None:
        self.onnx, self.scope, self.container = onnx, scope, container
        self.dtype = np.dtype(np.float64)

    def add(
        self, kind: str, inputs: Sequence[str], output: str | None = None, **attributes: Any
    ) -> str:
        name = output or self.scope.get_unique_variable_name("calibrated")
        self.container.add_node(
            kind, list(inputs), [name], name=self.scope.get_unique_operator_name(kind), **attributes
        )
        return name

    def table(self, values: Any, dtype: Any = None) -> str:
        name = self.scope.get_unique_variable_name("table")
        self.container.add_initializer(
            name,
            None,
            None,
            self.onnx.numpy_helper.from_array(np.asarray(values, dtype or self.dtype), name),
        )
        return name


def _convert(scope: Any, operator: Any, container: Any) -> None:
    onnx = import_extra("onnx", FEATURE, "export")
    model, X, (label, probabilities) = operator.raw_operator, operator.inputs[0], operator.outputs
    graph = _Container(onnx, scope, container)
    tensors = [_calibrated(graph, base, cal, X) for base, cal in _pairs(model)]
    mean = (
        _evidence_mean(graph, tensors, model)
        if "exponent" in model.evidence_
        else _mean(graph, tensors)
    )
    graph.add("Cast", [mean], probabilities.full_name, to=onnx.TensorProto.FLOAT)
    place = graph.add("ArgMax", [mean], axis=-1, keepdims=0)
    names = model.classes_
    texts = (
        names.astype(np.int64) if names.dtype.kind in "iub" else names.astype(str).astype(object)
    )
    graph.add("Gather", [graph.table(texts, texts.dtype), place], label.full_name, axis=0)


def _mean(graph: _Container, tensors: list[str]) -> str:
    total = tensors[0]
    for other in tensors[1:]:
        total = graph.add("Add", [total, other])
    return graph.add("Div", [total, graph.table(float(len(tensors)))])


def _evidence_mean(graph: _Container, tensors: list[str], model: Any) -> str:
    """Return the name of the geometric mean of ``fold_evidence.averaged``."""
    logs = _mean(
        graph,
        [
            graph.add("Log", [graph.add("Max", [tensor, graph.table(ZERO_FLOOR)])])
            for tensor in tensors
        ],
    )
    exponent = model.evidence_["exponent"]
    evidence = graph.add("Mul", [logs, graph.table(exponent)])
    return graph.add(
        "Softmax",
        [graph.add("Add", [evidence, graph.table((1.0 - exponent) * np.log(model.class_rates_))])],
        axis=-1,
    )


def _pairs(model: Any) -> list[tuple[Any, Any]]:
    if any(c.inputs != "probability" for c in model.calibrators_):
        raise InputError(
            'only calibrators with inputs="probability" convert with their model; export this one'
            " alone with export.to_onnx."
        )
    if any(c.group_levels() is not None for c in model.calibrators_):
        raise InputError(
            "calibrators with groups do not convert with their model; export this one alone with"
            " export.to_onnx."
        )
    for base in model.estimators_:
        if not np.array_equal(base.classes_, model.classes_):
            raise InputError(
                "a model that was fitted on only some of the classes does not convert; fit it on"
                " all of them."
            )
    most = max(len(model.estimators_), len(model.calibrators_))
    return list(
        zip(_repeated(model.estimators_, most), _repeated(model.calibrators_, most), strict=True)
    )


def _repeated(items: list[Any], n: int) -> list[Any]:
    """Return one for each of n places: the list itself, or its only element repeated."""
    return items if len(items) == n else items * n


def _calibrated(graph: _Container, base: Any, calibrator: Any, X: Any) -> str:
    """Return the name of the calibrated rows of one fitted model."""
    algebra = import_extra("skl2onnx.algebra.onnx_operator", FEATURE, "export")
    opset = graph.container.target_opset
    sub = algebra.OnnxSubEstimator(base, X, op_version=opset, options={"zipmap": False})
    operators = import_extra("skl2onnx.algebra.onnx_ops", FEATURE, "export")
    name = graph.scope.get_unique_variable_name("said")
    operators.OnnxIdentity(sub[1], op_version=opset, output_names=[name]).add_to(
        graph.scope, graph.container
    )
    return write_expression(graph, subject_of(calibrator).expression, name)
