"""Export to an ONNX graph, separate or at the end of the model's own."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from calibrant.core.estimators import require_option
from calibrant.core.extras import import_extra
from calibrant.errors import InputError
from calibrant.export.onnx_nodes import Graph, written
from calibrant.export.subject import QUANTILES, Subject, subject_of

__all__ = ["append_to_onnx", "to_onnx"]

#: First operator set with all operators used (ReduceSum and Split with inputs), and its oldest IR
#: version.
OPSET, IR_VERSION = 18, 8
Precision = Literal["float64", "float32"]


def to_onnx(
    fitted: Any,
    *,
    precision: Precision = "float64",
    input_name: str = "p",
    output_name: str = "calibrated",
    quantiles: Sequence[float] = QUANTILES,
    risk: str | None = None,
) -> Any:
    """Return an ONNX model of one input (n, K) float32 and one output (n, K) float32.

    Parameters
    ----------
    fitted : Calibrator, RegressionCalibrator (of normal forecasts of one output), or Map
    precision : {"float64", "float32"}, default "float64"
        Precision of the arithmetic. Accelerators without doubles need "float32". Steps are then
        moved to the next float32 on their own side, and results agree to about 1e-6, except where
        normalising in float32 moves a score across a step.
    input_name, output_name : str
    quantiles : levels of the quantiles of error bars, default 5, 50 and 95 %
    risk : {"probability", "percent", "log_probability", "logit"}, optional
        Unit of a single input, the risk of the second of two classes. It replaces the K inputs, and
        there is one output risk.

    Returns
    -------
    onnx.ModelProto
        Operator set 18; ``onnx.save`` writes it. A map has inputs and outputs of shape (n, 1).
        Error bars have inputs (n, 2), mean and std, and outputs (n, 2 + m): mean, std and the
        quantiles. With c columns of groups the input is (n, K + c): the positions of the rows'
        levels, ``fitted.group_levels().codes(groups)``, follow the predictions.

    Raises
    ------
    InputError
        When the calibrator has no expression.
    MissingDependencyError
        Without onnx: ``pip install 'calibrant[export]'``.

    See Also
    --------
    append_to_onnx : appends the calibrator to a model.
    to_torch, to_c : export to other languages.

    Notes
    -----
    The output agrees with ``predict_proba`` of the same float32 rows to 1e-7, the rounding error.

    Examples
    --------
    >>> from calibrant import TemperatureScaling
    >>> cal = TemperatureScaling(inputs="logit").fit(
    ...     [[2.0, 0.0], [0.0, 1.0], [1.0, 0.0]], [0, 1, 1]
    ... )
    >>> to_onnx(cal).graph.output[0].name
    'calibrated'
    """
    subject = subject_of(fitted, quantiles, risk)
    onnx = _onnx()
    helper, float32 = onnx.helper, onnx.TensorProto.FLOAT
    graph = _graph(onnx, subject, precision, input_name, output_name)
    made = helper.make_graph(
        graph.nodes,
        subject.name,
        [helper.make_tensor_value_info(input_name, float32, ["n", subject.width])],
        [helper.make_tensor_value_info(output_name, float32, ["n", subject.expression.width])],
        graph.tables,
        doc_string=subject.note,
    )
    model = helper.make_model(
        made,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="calibrant",
    )
    onnx.checker.check_model(model)
    return model


def append_to_onnx(
    model: Any,
    fitted: Any,
    *,
    output: str,
    output_name: str = "calibrated",
    precision: Precision = "float64",
) -> Any:
    """Copy an ONNX model and add the calibrated rows of its output ``output`` as a new output.

    Parameters
    ----------
    model : onnx.ModelProto
        A model of operator set 18 or later, with ``output`` of shape (n, K) and type float32 or
        float64.
    fitted : Calibrator of classes
        Fitted on the values of ``output``: probabilities or logits, according to its ``inputs``.
    output, output_name : str
        The output to calibrate, and the name of the result, which must be new to the model.
    precision : {"float64", "float32"}, default "float64"

    Returns
    -------
    onnx.ModelProto

    Raises
    ------
    InputError
        When the model has no such output or is of an older operator set, and for a calibrator with
        groups.

    See Also
    --------
    to_onnx : exports the calibrator alone.
    """
    subject = subject_of(fitted)
    if subject.groups:
        raise InputError(
            f"{subject.name} needs groups, which the model's output does not contain; export it"
            " alone with to_onnx."
        )
    onnx = _onnx()
    outputs = [o.name for o in model.graph.output]
    if output not in outputs:
        raise InputError(f"output must be one of the model's, {outputs}; got {output!r}.")
    taken = {name for node in model.graph.node for name in [*node.input, *node.output]} | {
        i.name for i in model.graph.input
    }
    if output_name in taken:
        raise InputError(
            f"output_name must be new to the model; it has {output_name!r}; pass another."
        )
    opset = next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), 0)
    if opset < OPSET:
        raise InputError(
            f"model must be of operator set {OPSET} or later; it is of {opset}; convert it with"
            " onnx.version_converter.convert_version."
        )
    joined = onnx.ModelProto()
    joined.CopyFrom(model)
    graph = _graph(onnx, subject, precision, output, output_name)
    joined.graph.node.extend(graph.nodes)
    joined.graph.initializer.extend(graph.tables)
    shape = ["n", subject.expression.width]
    joined.graph.output.append(
        onnx.helper.make_tensor_value_info(output_name, onnx.TensorProto.FLOAT, shape)
    )
    onnx.checker.check_model(joined)
    return joined


def _onnx() -> Any:
    import_extra("onnx.checker", "the ONNX export", "export")
    return import_extra("onnx", "the ONNX export", "export")


def _graph(onnx: Any, subject: Subject, precision: str, input_name: str, output_name: str) -> Graph:
    require_option("precision", precision, ("float64", "float32"))
    names: Any = (input_name, output_name)
    if not all(isinstance(name, str) and name for name in names) or input_name == output_name:
        raise InputError(
            f"input_name and output_name must be two different texts, not empty; got {names};"
            ' "p" and "calibrated" are usual.'
        )
    graph = Graph(onnx, np.dtype(precision), prefix=f"{output_name}/")
    graph.add(
        "Cast",
        [written(graph, subject.expression, input_name)],
        to=onnx.TensorProto.FLOAT,
        output=output_name,
    )
    return graph
