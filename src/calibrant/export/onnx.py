"""ONNX graph of a calibrator, separate or at the end of the model's own, and the translation of
each primitive to ONNX operators.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

import numpy as np

from calibrant._numerics.isotonic import line_segments
from calibrant.core.estimators import require_option
from calibrant.core.expression import Expression
from calibrant.core.extras import import_extra
from calibrant.errors import InputError
from calibrant.export.subject import QUANTILES, Subject, subject_of

__all__ = ["Graph", "Target", "append_to_onnx", "to_onnx", "write_expression"]


#: Tables with more entries are searched block by block, because otherwise each row is compared with
#: all entries at once.
BLOCK = 64


class Target(Protocol):
    """Receiver of operators and tables: our graph, or the container of another converter.

    Attributes
    ----------
    onnx : the module
    dtype : type of the arithmetic and of tables
    """

    onnx: Any
    dtype: np.dtype

    def add(
        self, kind: str, inputs: Sequence[str], output: str | None = None, **attributes: Any
    ) -> str:
        """Add one operator and return the name of its output."""
        ...

    def table(self, values: Any, dtype: Any = None) -> str:
        """Add a constant and return its name."""
        ...


class Graph:
    """Nodes and tables of an ONNX graph in progress, with their own names; a ``Target``."""

    def __init__(self, onnx: Any, dtype: np.dtype, prefix: str) -> None:
        self.onnx: Any = onnx
        self.dtype: np.dtype = dtype
        self.prefix: str = prefix
        self.nodes: list[Any] = []
        self.tables: list[Any] = []

    def add(
        self, kind: str, inputs: Sequence[str], output: str | None = None, **attributes: Any
    ) -> str:
        name = output or f"{self.prefix}{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def table(self, values: Any, dtype: Any = None) -> str:
        name = f"{self.prefix}t{len(self.tables)}"
        array = np.asarray(values, dtype=dtype or self.dtype)
        self.tables.append(self.onnx.numpy_helper.from_array(array, name))
        return name


def write_expression(graph: Target, expression: Expression, tensor: str) -> str:
    """Write the operators of an expression of ``tensor``, and return the name of the
    result, of the target's dtype.
    """
    names: dict[int, str] = {}
    nodes = list(expression.nodes())
    for node in nodes:
        x = [names[id(part)] for part in node.of]
        if node.op == "input":
            names[id(node)] = graph.add(
                "Cast", [tensor], to=graph.onnx.helper.np_dtype_to_tensor_dtype(graph.dtype)
            )
        elif node.op in DIRECT:
            kind, attributes = DIRECT[node.op]
            names[id(node)] = graph.add(kind, x, **attributes)
        elif node.op in REDUCED:
            names[id(node)] = graph.add(REDUCED[node.op], [x[0], _last_axis(graph)], keepdims=1)
        else:
            names[id(node)] = WRITERS[node.op](graph, node, x)
    return names[id(nodes[-1])]


def _last_axis(graph: Target) -> str:
    """Return the last axis as an operator's input."""
    return graph.table([-1], np.int64)


#: Primitives that are single ONNX operators, with their attributes.
DIRECT: dict[str, tuple[str, dict[str, Any]]] = {
    "add": ("Add", {}),
    "subtract": ("Sub", {}),
    "multiply": ("Mul", {}),
    "divide": ("Div", {}),
    "exp": ("Exp", {}),
    "log": ("Log", {}),
    "sigmoid": ("Sigmoid", {}),
    "softmax": ("Softmax", {"axis": -1}),
    "log_softmax": ("LogSoftmax", {"axis": -1}),
    "argmax": ("ArgMax", {"axis": -1, "keepdims": 1}),
}
#: Primitives that reduce the last axis.
REDUCED = {"sum": "ReduceSum", "max": "ReduceMax"}


def _constant(graph: Target, node: Expression, x: list[str]) -> str:
    return graph.table(node.constants["values"][None, :])


def _matrix(graph: Target, node: Expression, x: list[str]) -> str:
    product = graph.add("MatMul", [x[0], graph.table(node.constants["matrix"].T)])
    return graph.add("Add", [product, graph.table(node.constants["shift"])])


def _clip(graph: Target, node: Expression, x: list[str]) -> str:
    out = graph.add("Max", [x[0], graph.table(node.constants["low"])])
    high = node.constants["high"]
    return graph.add("Min", [out, graph.table(high)]) if np.isfinite(high) else out


def _gather(graph: Target, node: Expression, x: list[str]) -> str:
    # The position is (n, 1) and the selected rows are (n, m).
    index = graph.add("Cast", [x[0]], to=graph.onnx.TensorProto.INT64)
    position = graph.add("Squeeze", [index, _last_axis(graph)])
    return graph.add("Gather", [graph.table(node.constants["table"]), position], axis=0)


def _column(graph: Target, node: Expression, x: list[str]) -> str:
    return graph.add("Gather", [x[0], graph.table([node.constants["index"]], np.int64)], axis=1)


def _where(graph: Target, node: Expression, x: list[str]) -> str:
    is_zero = graph.add("Equal", [x[0], graph.table(0.0)])
    return graph.add("Where", [is_zero, x[2], x[1]])


def _join(graph: Target, node: Expression, x: list[str]) -> str:
    return graph.add("Concat", _as_many_rows(graph, node, x), axis=1)


def _as_many_rows(graph: Target, node: Expression, x: list[str]) -> list[str]:
    """Repeat the single row of constants for use beside others."""
    moving = next(
        (name for name, part in zip(x, node.of, strict=True) if part.op != "constant"), None
    )
    if moving is None:
        return x
    zero = graph.add("Mul", [_first_column(graph, moving), graph.table(0.0)])
    return [
        graph.add("Add", [name, zero]) if part.op == "constant" else name
        for name, part in zip(x, node.of, strict=True)
    ]


def _first_column(graph: Target, x: str) -> str:
    return graph.add("Gather", [x, graph.table([0], np.int64)], axis=1)


def _count(graph: Target, x: str, edges: np.ndarray, closed: bool) -> str:
    """Count the increasing ``edges`` at or below x (below, unless ``closed``), as int64 in the
    shape of x.
    """
    kind = "GreaterOrEqual" if closed else "Greater"
    edges = _edges_in_dtype(edges, graph.dtype, closed)
    if len(edges) <= BLOCK:
        return _compared(graph, kind, x, graph.table(edges))
    blocks = -(-len(edges) // BLOCK)
    padded = np.append(edges, np.full(blocks * BLOCK - len(edges), np.inf)).reshape(blocks, BLOCK)
    # Count the full blocks below x, then the edges within the next one.
    full = _compared(graph, kind, x, graph.table(padded[:-1, -1]))
    within = graph.add("Gather", [graph.table(padded), full], axis=0)
    inside = _compared(graph, kind, x, within)
    return graph.add("Add", [graph.add("Mul", [full, graph.table(BLOCK, np.int64)]), inside])


def _compared(graph: Target, kind: str, x: str, edges: str) -> str:
    wide = graph.add("Unsqueeze", [x, _last_axis(graph)])
    hits = graph.add("Cast", [graph.add(kind, [wide, edges])], to=graph.onnx.TensorProto.INT64)
    return graph.add("ReduceSum", [hits, _last_axis(graph)], keepdims=0)


def _edges_in_dtype(edges: np.ndarray, dtype: np.dtype, closed: bool) -> np.ndarray:
    """Return edges in ``dtype`` such that every number of that dtype stays on its side: rounded up
    for x >= t, else down.
    """
    out = edges.astype(dtype)
    misplaced = out < edges if closed else out > edges
    return np.where(misplaced, np.nextafter(out, dtype.type(np.inf if closed else -np.inf)), out)


def _step(graph: Target, node: Expression, x: list[str]) -> str:
    c = node.constants
    return graph.add(
        "Gather", [graph.table(c["values"]), _count(graph, x[0], c["edges"], c["closed"])], axis=0
    )


def _interpolate(graph: Target, node: Expression, x: list[str]) -> str:
    place = _count(graph, x[0], node.constants["knots"], True)
    start, level, slope = (
        graph.add("Gather", [graph.table(t), place], axis=0)
        for t in line_segments(**node.constants)
    )
    return graph.add("Add", [level, graph.add("Mul", [slope, graph.add("Sub", [x[0], start])])])


def _log_probabilities(graph: Target, node: Expression, x: list[str]) -> str:
    zero, unit, two = graph.table(0.0), graph.table(1.0), graph.table(2.0)
    nonpositive = graph.add("LessOrEqual", [x[0], zero])
    least = graph.add(
        "ReduceMin", [graph.add("Where", [nonpositive, two, x[0]]), _last_axis(graph)], keepdims=1
    )
    lifted = graph.add("Where", [nonpositive, graph.add("Min", [least, graph.table(1e-12)]), x[0]])
    logs = graph.add("Log", [lifted])
    # Compute the largest from the remainder of the others, which keeps its precision near 1.
    width = np.eye(node.width)
    top = graph.add(
        "Gather", [graph.table(width), graph.add("ArgMax", x, axis=-1, keepdims=0)], axis=0
    )
    remainder = graph.add(
        "ReduceSum",
        [graph.add("Mul", [x[0], graph.add("Sub", [unit, top])]), _last_axis(graph)],
        keepdims=1,
    )
    peak = graph.add("ReduceMax", [x[0], _last_axis(graph)], keepdims=1)
    top_log = graph.add("Neg", [_log1p(graph, graph.add("Div", [remainder, peak]))])
    return graph.add("Where", [graph.add("Greater", [top, zero]), top_log, logs])


def _log1p(graph: Target, x: str) -> str:
    """Return log(1 + x) for x >= 0, exact for small x too: log(w) x / (w - 1), w = 1 + x rounded; x
    if w is 1.
    """
    unit = graph.table(1.0)
    w = graph.add("Add", [x, unit])
    gap = graph.add("Sub", [w, unit])
    flat = graph.add("Equal", [gap, graph.table(0.0)])
    ratio = graph.add("Div", [x, graph.add("Where", [flat, unit, gap])])
    return graph.add("Where", [flat, x, graph.add("Mul", [graph.add("Log", [w]), ratio])])


WRITERS: dict[str, Callable[[Target, Expression, list[str]], str]] = {
    "constant": _constant,
    "log_probabilities": _log_probabilities,
    "matrix": _matrix,
    "clip": _clip,
    "gather": _gather,
    "column": _column,
    "where": _where,
    "join": _join,
    "step": _step,
    "interpolate": _interpolate,
}


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
    onnx_graph = helper.make_graph(
        graph.nodes,
        subject.name,
        [helper.make_tensor_value_info(input_name, float32, ["n", subject.width])],
        [helper.make_tensor_value_info(output_name, float32, ["n", subject.expression.width])],
        graph.tables,
        doc_string=subject.note,
    )
    model = helper.make_model(
        onnx_graph,
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
    names = {name for node in model.graph.node for name in [*node.input, *node.output]} | {
        i.name for i in model.graph.input
    }
    if output_name in names:
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
        [write_expression(graph, subject.expression, input_name)],
        to=onnx.TensorProto.FLOAT,
        output=output_name,
    )
    return graph
