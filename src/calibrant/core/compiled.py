"""Evaluation of expressions in NumPy: the meaning of the primitives, and a fast function for
serving."""

from collections.abc import Callable
from typing import Any

import numpy as np

from calibrant._numerics.fixed_order import multiply_rows, sum_in_sequence
from calibrant._numerics.isotonic import between_knots
from calibrant._numerics.logistic import log_probabilities, log_softmax, sigmoid, softmax
from calibrant.core.expression import Expression
from calibrant.core.row_function import row_function

__all__ = ["Compiled"]

Function = Callable[..., np.ndarray]


def _sum(x: np.ndarray) -> np.ndarray:
    # Sum from the first class to the last, as records do: a step map needs identical scores.
    return sum_in_sequence(np.ascontiguousarray(x.T))[:, None]


def _max(x: np.ndarray) -> np.ndarray:
    return np.maximum.reduce(x, axis=1, keepdims=True)


def _argmax(x: np.ndarray) -> np.ndarray:
    return x.argmax(axis=1)[:, None]


def _where(x: np.ndarray, yes: np.ndarray, no: np.ndarray) -> np.ndarray:
    return np.where(x != 0.0, yes, no)


def _matrix(c: Any) -> Function:
    A, b = np.ascontiguousarray(c["matrix"].T), c["shift"]

    def function(x: np.ndarray) -> np.ndarray:
        return multiply_rows(x, A) + b

    return function


def _interpolate(c: Any) -> Function:
    knots, values, before, after = c["knots"], c["values"], c["before"], c["after"]

    def inner(x: np.ndarray) -> np.ndarray:
        return between_knots(x.ravel(), knots, values).reshape(x.shape)

    def function(x: np.ndarray) -> np.ndarray:
        return (
            inner(x)
            + before * np.minimum(x - knots[0], 0.0)
            + after * np.maximum(x - knots[-1], 0.0)
        )

    return function if before or after else inner


def _step(c: Any) -> Function:
    edges, values, side = c["edges"], c["values"], "right" if c["closed"] else "left"

    def function(x: np.ndarray) -> np.ndarray:
        return values[edges.searchsorted(x, side=side)]

    return function


def _gather(c: Any) -> Function:
    table = c["table"]

    def function(x: np.ndarray) -> np.ndarray:
        return table[x[:, 0].astype(np.intp)]

    return function


def _column(c: Any) -> Function:
    j = c["index"]

    def function(x: np.ndarray) -> np.ndarray:
        return x[:, j : j + 1]

    return function


def _clip(c: Any) -> Function:
    low, high = c["low"], c["high"]

    def function(x: np.ndarray) -> np.ndarray:
        return np.minimum(np.maximum(x, low), high)

    return function


#: Primitives without constants, and those whose function is made from them.
PLAIN: dict[str, Function] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "exp": np.exp,
    "log": np.log,
    "sigmoid": sigmoid,
    "softmax": softmax,
    "log_softmax": log_softmax,
    "log_probabilities": log_probabilities,
    "sum": _sum,
    "max": _max,
    "argmax": _argmax,
    "where": _where,
}
MADE: dict[str, Callable[[Any], Function]] = {
    "matrix": _matrix,
    "interpolate": _interpolate,
    "step": _step,
    "gather": _gather,
    "column": _column,
    "clip": _clip,
}


class Compiled:
    """``function(P)``: the calibrated rows of one expression, without checks beyond the shape.

    Parameters
    ----------
    expression : Expression

    See Also
    --------
    Calibrator : its ``predict_proba`` computes the same with all checks.

    Notes
    -----
    Use it for serving: one row costs microseconds. Rows are not validated, so invalid
    rows give arbitrary numbers.

    Examples
    --------
    >>> from calibrant import TemperatureScaling
    >>> run = TemperatureScaling().fit([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], [0, 1, 1]).compile()
    >>> run([[0.5, 0.5]]).tolist()
    [[0.5, 0.5]]
    """

    def __init__(self, expression: Expression) -> None:
        expression = expression.shared()
        nodes = list(expression.nodes())
        place = {id(node): j for j, node in enumerate(nodes)}
        self._given: int = next(j for j, node in enumerate(nodes) if node.op == "input")
        self.width: int = nodes[self._given].width
        self.result_width: int = expression.width
        self._values: list[Any] = [
            node.constants["values"][None, :] if node.op == "constant" else None for node in nodes
        ]
        self._row: Any = row_function(expression)
        self._steps: list[tuple[int, Function, tuple[int, ...]]] = [
            (j, _function(node), tuple(place[id(x)] for x in node.of))
            for j, node in enumerate(nodes)
            if node.of
        ]

    def __call__(self, P: Any, out: np.ndarray | None = None) -> np.ndarray:
        """Calibrated rows, (n, K) -> (n, m) float64, or in ``out``, whose dtype it then has."""
        given = np.asarray(P, dtype=np.float64)
        if given.ndim != 2 or given.shape[1] != self.width:
            raise ValueError(f"P must have shape (n, {self.width}); got {given.shape}.")
        alone = len(given) == 1 and self._row is not None
        result = self._alone(given) if alone else self._together(given)
        if out is None:
            return result
        out[...] = result
        return out

    def _alone(self, given: np.ndarray) -> np.ndarray:
        try:
            return np.array([self._row(*given[0].tolist())])
        except (ValueError, OverflowError, ZeroDivisionError):
            # Where floats raise, arrays return a value.
            return self._together(given)

    def _together(self, given: np.ndarray) -> np.ndarray:
        values = self._values.copy()
        values[self._given] = given
        for place, function, operands in self._steps:
            values[place] = function(*[values[j] for j in operands])
        result = values[-1]
        if len(result) != len(given):
            return np.broadcast_to(result, (len(given), self.result_width)).copy()
        return result


def _function(node: Expression) -> Function:
    if node.op == "join":
        return _join
    return PLAIN[node.op] if node.op in PLAIN else MADE[node.op](node.constants)


def _join(*parts: np.ndarray) -> np.ndarray:
    rows = max(len(x) for x in parts)
    # Constants have one row.
    return np.concatenate(
        [x if len(x) == rows else np.repeat(x, rows, axis=0) for x in parts], axis=1
    )
