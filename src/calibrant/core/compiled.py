"""Evaluation of expressions in NumPy: the meaning of the primitives, and a fast function for
serving. For a few classes, plain floats of one row are several times faster than arrays of one row.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from struct import Struct
from typing import Any

import numpy as np

from calibrant._numerics.fixed_order import multiply_rows, sum_in_sequence
from calibrant._numerics.isotonic import between_knots, line_segments
from calibrant._numerics.logistic import log_probabilities, log_softmax, sigmoid, softmax
from calibrant.core.expression import Expression

__all__ = ["Compiled", "row_function"]


#: Above this many statements arrays are faster.
MOST_STATEMENTS = 3_000
#: Larger matrices are multiplied by NumPy.
LARGE_MATRIX = 60
ENTRYWISE = {
    "add": "{0} + {1}",
    "subtract": "{0} - {1}",
    "multiply": "{0} * {1}",
    "divide": "{0} / {1}",
    "exp": "exp({0})",
    "log": "log({0})",
    "sigmoid": "1.0 / (1.0 + exp(-{0})) if {0} > -700.0 else 0.0",
    "where": "{1} if {0} != 0.0 else {2}",
}


def row_function(expression: Expression) -> Callable[..., tuple[float, ...]] | None:
    """``function(*row)``, which returns the calibrated row; None if it would be too long.

    Where arrays would give infinity or nan, it raises ValueError, OverflowError or
    ZeroDivisionError.
    """
    writer, nodes = _Writer(), list(expression.nodes())
    last_use = {id(part): j for j, node in enumerate(nodes) for part in node.of}
    for j, node in enumerate(nodes):
        if len(writer.lines) + node.width > MOST_STATEMENTS:
            return None
        writer.add(node)
        writer.forget({id(part) for part in node.of if last_use[id(part)] == j})
    body = "".join(f"    {line}\n" for line in writer.lines)
    source = (
        f"def function({', '.join(writer.inputs)}):\n{body}    return"
        f" ({', '.join(writer.result)},)\n"
    )
    # The source contains only numbers and names created here; no text of a file reaches it.
    exec(compile(source, "<calibrant row>", "exec"), writer.namespace)
    return writer.namespace["function"]


class _Writer:
    """Statements over floats: every node's entries are atoms, names or numbers.

    Names are reused when free: the frame of a function with thousands of names would be allocated
    at each call.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.inputs: list[str] = []
        self.result: list[str] = []
        self.atoms: dict[int, list[str]] = {}
        self.users: dict[str, int] = {}
        self.free: list[str] = []
        self.fresh: list[str] = []
        self.namespace: dict[str, Any] = {"exp": math.exp, "log": math.log, "log1p": math.log1p}
        self.namespace |= {"bisect_left": bisect_left, "bisect_right": bisect_right}

    def define(self, text: str) -> str:
        name = self.free.pop() if self.free else f"v{len(self.users)}"
        self.users[name] = 0
        self.fresh.append(name)
        self.lines.append(f"{name} = {text}")
        return name

    def forget(self, nodes: set[int]) -> None:
        """Free the names that only these nodes' entries, or none, still use."""
        held = {name for key in nodes for name in self.names_of(key)}
        for key in nodes:
            for name in self.names_of(key):
                self.users[name] -= 1
        gone = {name for name in [*held, *self.fresh] if self.users[name] == 0}
        self.free.extend(sorted(gone))
        self.fresh = []

    def names_of(self, key: int) -> set[str]:
        """The generated names among a node's entries."""
        return {
            name
            for name in (atom.partition("[")[0] for atom in self.atoms[key])
            if name in self.users
        }

    def table(self, values: np.ndarray) -> str:
        name = f"t{len(self.namespace)}"
        self.namespace[name] = values.tolist()
        return name

    def add(self, node: Expression) -> None:
        x = [self.atoms[id(part)] for part in node.of]
        if node.op in ENTRYWISE:
            wide = [part if len(part) == node.width else part * node.width for part in x]
            out = [
                self.define(ENTRYWISE[node.op].format(*entry)) for entry in zip(*wide, strict=True)
            ]
        else:
            out = getattr(self, f"write_{node.op}")(
                node.constants, *([x] if node.op == "join" else x), **_width(node)
            )
        self.atoms[id(node)] = self.result = out
        for name in self.names_of(id(node)):
            self.users[name] += 1

    def write_input(self, c: Any, width: int) -> list[str]:
        self.inputs = [f"p{k}" for k in range(width)]
        return self.inputs

    def write_constant(self, c: Any) -> list[str]:
        return [_number(v) for v in c["values"].tolist()]

    def write_matrix(self, c: Any, x: list[str]) -> list[str]:
        if c["matrix"].size > LARGE_MATRIX:
            held = f"t{len(self.namespace)}"
            self.namespace[held] = _product(c["matrix"], c["shift"])
            row = self.define(f"{held}({', '.join(x)})")
            return [f"{row}[{k}]" for k in range(len(c["shift"]))]
        rows = zip(c["matrix"].tolist(), c["shift"].tolist(), strict=True)
        return [
            self.define(
                " + ".join(
                    [_number(b), *(f"{_number(a)} * {v}" for a, v in zip(A, x, strict=True))]
                )
            )
            for A, b in rows
        ]

    def write_clip(self, c: Any, x: list[str]) -> list[str]:
        low, high = _number(c["low"]), _number(c["high"]) if np.isfinite(c["high"]) else None
        over = "{0}" if high is None else f"({{0}} if {{0}} < {high} else {high})"
        return [self.define(f"{over.format(v)} if {v} > {low} else {low}") for v in x]

    def write_sum(self, c: Any, x: list[str]) -> list[str]:
        return [self.define(" + ".join(x))]

    def write_max(self, c: Any, x: list[str]) -> list[str]:
        return [self.define(f"max({', '.join(x)})") if len(x) > 1 else x[0]]

    def write_argmax(self, c: Any, x: list[str]) -> list[str]:
        row = self.define(f"[{', '.join(x)}]")
        return [self.define(f"{row}.index(max({row}))")]

    def write_gather(self, c: Any, x: list[str]) -> list[str]:
        row = self.define(f"{self.table(c['table'])}[int({x[0]})]")
        return [f"{row}[{k}]" for k in range(c["table"].shape[1])]

    def write_column(self, c: Any, x: list[str]) -> list[str]:
        return [x[c["index"]]]

    def write_join(self, c: Any, parts: list[list[str]]) -> list[str]:
        return [atom for part in parts for atom in part]

    def write_softmax(self, c: Any, x: list[str]) -> list[str]:
        _, powers, total = self.powers(x)
        return [self.define(f"{v} / {total}") for v in powers]

    def write_log_softmax(self, c: Any, x: list[str]) -> list[str]:
        top, _, total = self.powers(x)
        shift = self.define(f"{top} + log({total})")
        return [self.define(f"{v} - {shift}") for v in x]

    def powers(self, x: list[str]) -> tuple[str, list[str], str]:
        """The largest, e^(x - largest), and their sum."""
        top = self.define(f"max({', '.join(x)})" if len(x) > 1 else x[0])
        powers = [self.define(f"exp({v} - {top})") for v in x]
        return top, powers, self.define(" + ".join(powers))

    def write_log_probabilities(self, c: Any, x: list[str]) -> list[str]:
        self.namespace["log_row"] = _log_row
        row = self.define(f"log_row([{', '.join(x)}])")
        return [f"{row}[{k}]" for k in range(len(x))]

    def write_step(self, c: Any, x: list[str]) -> list[str]:
        edges, values = self.table(c["edges"]), self.table(c["values"])
        count = "bisect_right" if c["closed"] else "bisect_left"
        return [self.define(f"{values}[{count}({edges}, {v})]") for v in x]

    def write_interpolate(self, c: Any, x: list[str]) -> list[str]:
        knots = self.table(c["knots"])
        lines = line_segments(c["knots"], c["values"], c["before"], c["after"])
        start, level, slope = map(self.table, lines)
        out: list[str] = []
        for v in x:
            i = self.define(f"bisect_right({knots}, {v})")
            out.append(self.define(f"{level}[{i}] + {slope}[{i}] * ({v} - {start}[{i}])"))
        return out


def _width(node: Expression) -> dict[str, int]:
    return {"width": node.width} if node.op == "input" else {}


def _product(matrix: np.ndarray, shift: np.ndarray) -> Callable[..., list[float]]:
    whole = np.column_stack([matrix, shift])
    # NumPy reads packed numbers in less time than a list of them.
    pack = Struct(f"{whole.shape[1]}d").pack

    def product(*row: float) -> list[float]:
        return whole.dot(np.frombuffer(pack(*row, 1.0))).tolist()

    return product


def _number(value: float) -> str:
    return f"({value!r})" if value < 0.0 else repr(value)


def _log_row(row: list[float]) -> list[float]:
    """``_numerics.softmax.log_probabilities`` of one row."""
    peak = max(row)
    top = row.index(peak)
    try:
        out = list(map(math.log, row))
    except ValueError:
        least = min([1e-12, *(v for v in row if v > 0.0)])
        out = [math.log(v if v > 0.0 else least) for v in row]
    row[top] = 0.0
    out[top] = -math.log1p(sum(row) / peak)
    return out


# -- Expressions in NumPy --------------------------------------------------------------------------

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
