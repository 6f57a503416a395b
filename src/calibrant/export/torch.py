"""Export to a torch module, with tables as buffers and the gradient of the map."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from calibrant._numerics.isotonic import line_segments
from calibrant.core.estimators import require_option
from calibrant.core.expression import Expression
from calibrant.core.extras import import_extra
from calibrant.export.subject import QUANTILES, subject_of

__all__ = ["to_torch"]


def to_torch(
    fitted: Any,
    *,
    precision: Literal["float64", "float32"] = "float64",
    quantiles: Sequence[float] = QUANTILES,
    risk: str | None = None,
) -> Any:
    """Return a ``torch.nn.Module`` with ``forward(p)`` for the calibrated rows, (n, K) -> (n, K).

    Parameters
    ----------
    fitted : Calibrator, RegressionCalibrator (of normal forecasts of one output), or Map
    precision : {"float64", "float32"}, default "float64"
        Precision of the arithmetic and of the result.
    quantiles : levels of the quantiles of error bars, default 5, 50 and 95 %
    risk : {"probability", "percent", "log_probability", "logit"}, optional
        Unit of a single input, the risk of the second of two classes. It replaces the K inputs, and
        there is one output risk.

    Returns
    -------
    torch.fx.GraphModule
        For error bars p is (n, 2), mean and std, and the result (n, 2 + m): mean, std and the
        quantiles. With c columns of groups p is (n, K + c): the positions of the rows' levels,
        ``fitted.group_levels().codes(groups)``, follow the predictions. Tables are buffers, so
        ``.to(device)`` moves them and ``state_dict`` includes them; ``torch.jit.script`` accepts
        it.

    Raises
    ------
    InputError
        When the calibrator has no expression.
    MissingDependencyError
        Without torch.

    See Also
    --------
    to_onnx, to_c : export to other languages.

    Notes
    -----
    It is differentiable in ``p`` (steps have a gradient of 0) and has no parameters to train,
    because it is fitted.
    """
    require_option("precision", precision, ("float64", "float32"))
    subject = subject_of(fitted, quantiles, risk)
    torch = import_extra("torch", "the torch export", "torch")
    fx = import_extra("torch.fx", "the torch export", "torch")
    writer = _Writer(torch, fx, getattr(torch, precision))
    names: dict[int, Any] = {}
    nodes = list(subject.expression.nodes())
    for node in nodes:
        names[id(node)] = writer.write(node, [names[id(x)] for x in node.of])
    writer.graph.output(names[id(nodes[-1])])
    return fx.GraphModule(writer.root, writer.graph, class_name=subject.name)


class _Writer:
    """Nodes of a torch.fx graph, and the module that holds the buffers."""

    def __init__(self, torch: Any, fx: Any, dtype: Any) -> None:
        self.torch, self.dtype = torch, dtype
        self.root: Any = torch.nn.Module()
        self.graph: Any = fx.Graph()
        self.count = 0

    def call(self, function: Any, *arguments: Any, **options: Any) -> Any:
        return self.graph.call_function(function, arguments, options)

    def method(self, name: str, *arguments: Any, **options: Any) -> Any:
        return self.graph.call_method(name, arguments, options)

    def buffer(self, values: Any) -> Any:
        name = f"table_{self.count}"
        self.count += 1
        self.root.register_buffer(name, self.torch.tensor(np.asarray(values), dtype=self.dtype))
        return self.graph.get_attr(name)

    def write(self, node: Expression, x: list[Any]) -> Any:
        torch = self.torch
        if node.op == "input":
            return self.method("to", self.graph.placeholder("p"), self.dtype)
        if node.op in ENTRYWISE:
            return self.call(getattr(torch, ENTRYWISE[node.op]), *x)
        if node.op in ("softmax", "log_softmax"):
            return self.call(getattr(torch, node.op), x[0], dim=-1)
        return WRITERS[node.op](self, node, x)


ENTRYWISE = {
    "add": "add",
    "subtract": "sub",
    "multiply": "mul",
    "divide": "div",
    "exp": "exp",
    "log": "log",
    "sigmoid": "sigmoid",
}


def _constant(w: _Writer, node: Expression, x: list[Any]) -> Any:
    return w.buffer(node.constants["values"][None, :])


def _matrix(w: _Writer, node: Expression, x: list[Any]) -> Any:
    return w.call(
        w.torch.nn.functional.linear,
        x[0],
        w.buffer(node.constants["matrix"]),
        w.buffer(node.constants["shift"]),
    )


def _clip(w: _Writer, node: Expression, x: list[Any]) -> Any:
    high = node.constants["high"]
    return w.call(
        w.torch.clamp, x[0], min=node.constants["low"], max=high if np.isfinite(high) else None
    )


def _sum(w: _Writer, node: Expression, x: list[Any]) -> Any:
    return w.call(w.torch.sum, x[0], dim=[-1], keepdim=True)


def _max(w: _Writer, node: Expression, x: list[Any]) -> Any:
    return w.call(w.torch.amax, x[0], dim=[-1], keepdim=True)


def _argmax(w: _Writer, node: Expression, x: list[Any]) -> Any:
    return w.call(w.torch.argmax, x[0], dim=-1, keepdim=True)


def _gather(w: _Writer, node: Expression, x: list[Any]) -> Any:
    position = w.method("to", w.call(w.torch.squeeze, x[0], -1), w.torch.int64)
    return w.call(w.torch.nn.functional.embedding, position, w.buffer(node.constants["table"]))


def _column(w: _Writer, node: Expression, x: list[Any]) -> Any:
    return w.call(w.torch.narrow, x[0], -1, node.constants["index"], 1)


def _where(w: _Writer, node: Expression, x: list[Any]) -> Any:
    return w.call(w.torch.where, w.call(w.torch.ne, x[0], 0), x[1], x[2])


def _join(w: _Writer, node: Expression, x: list[Any]) -> Any:
    moving = next(
        (name for name, part in zip(x, node.of, strict=True) if part.op != "constant"), None
    )
    if moving is not None:
        # Constants have one row, which is repeated beside others.
        zero = w.call(w.torch.mul, w.call(w.torch.narrow, moving, -1, 0, 1), 0.0)
        x = [
            w.call(w.torch.add, name, zero) if part.op == "constant" else name
            for name, part in zip(x, node.of, strict=True)
        ]
    return w.call(w.torch.cat, x, dim=-1)


def _entries(w: _Writer, table: Any, place: Any) -> Any:
    """Return entries of a table at positions of any shape."""
    return w.call(w.torch.take, w.buffer(table), place)


def _step(w: _Writer, node: Expression, x: list[Any]) -> Any:
    c = node.constants
    edges = w.buffer(c["edges"])
    place = w.call(w.torch.searchsorted, edges, w.method("contiguous", x[0]), right=c["closed"])
    return _entries(w, c["values"], place)


def _interpolate(w: _Writer, node: Expression, x: list[Any]) -> Any:
    place = w.call(
        w.torch.searchsorted,
        w.buffer(node.constants["knots"]),
        w.method("contiguous", x[0]),
        right=True,
    )
    start, level, slope = (_entries(w, table, place) for table in line_segments(**node.constants))
    return w.call(w.torch.addcmul, level, slope, w.call(w.torch.sub, x[0], start))


def _log_probabilities(w: _Writer, node: Expression, x: list[Any]) -> Any:
    torch = w.torch
    nonpositive = w.call(torch.le, x[0], 0.0)
    least = w.call(
        torch.amin, w.call(torch.masked_fill, x[0], nonpositive, 2.0), dim=[-1], keepdim=True
    )
    lifted = w.call(torch.where, nonpositive, w.call(torch.clamp, least, max=1e-12), x[0])
    top = w.call(
        torch.nn.functional.embedding,
        w.call(torch.argmax, x[0], dim=-1),
        w.buffer(np.eye(node.width)),
    )
    remainder = w.call(
        torch.sum, w.call(torch.mul, x[0], w.call(torch.rsub, top, 1.0)), dim=[-1], keepdim=True
    )
    ratio = w.call(torch.div, remainder, w.call(torch.amax, x[0], dim=[-1], keepdim=True))
    top_log = w.call(torch.neg, w.call(torch.log1p, ratio))
    return w.call(torch.where, w.call(torch.gt, top, 0.0), top_log, w.call(torch.log, lifted))


WRITERS: dict[str, Callable[[_Writer, Expression, list[Any]], Any]] = {
    "constant": _constant,
    "log_probabilities": _log_probabilities,
    "matrix": _matrix,
    "clip": _clip,
    "sum": _sum,
    "max": _max,
    "argmax": _argmax,
    "gather": _gather,
    "column": _column,
    "where": _where,
    "join": _join,
    "step": _step,
    "interpolate": _interpolate,
}
