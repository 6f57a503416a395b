r"""The formula of a fitted calibrator or map, as a small expression for other languages.

A node stands for n rows of ``width`` numbers. The primitives are few (``PRIMITIVES``), each with
its one meaning in float64; an emitter (:mod:`calibrant.export`) has one line for each of them.
Nodes are shared, so an expression is a graph: common subexpressions are computed once.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant._numerics.bins import ROUNDING

__all__ = [
    "ABOVE_ONE",
    "LOWEST",
    "PRIMITIVES",
    "Expression",
    "constant",
    "join",
    "source",
    "weighted_sum",
]

#: Below any logit, and finite in float32 too.
LOWEST = -1e30
#: Factor that keeps the largest entry of a row the largest, and separates ties.
ABOVE_ONE = 1.0 + 2.0**-52

#: Meaning of each primitive for operands x and y, row by row. Binary ones broadcast a width of 1.
PRIMITIVES: dict[str, str] = {
    "input": "the predictions as given, (n, K)",
    "constant": "the row `values` in every row",
    "add": "x + y",
    "subtract": "x - y",
    "multiply": "x y",
    "divide": "x / y",
    "matrix": "x A' + b, `matrix` A of shape (m, width of x), `shift` b",
    "exp": "e^x",
    "log": "natural logarithm of x",
    "sigmoid": "1 / (1 + e^-x)",
    "softmax": "e^x over the row's sum of them",
    "log_softmax": "x less the logarithm of the row's sum of e^x",
    "log_probabilities": (
        "log x of rows that sum to 1; an exact 0 reads 1e-12, or the row's smallest positive entry"
        " where that is smaller"
    ),
    "clip": "x kept from `low` to `high`",
    "interpolate": (
        "straight lines through (`knots`, `values`), beyond them with slopes `before` and `after`"
    ),
    "step": "`values`[number of `edges` below x], or with `closed` of those at or below x",
    "sum": "the row's sum of x, width 1",
    "max": "the row's largest x, width 1",
    "argmax": "position of the row's first largest x, width 1",
    "gather": "row x of `table`, x a position",
    "column": "column `index` of x, width 1",
    "join": "the columns of all operands",
    "where": "y where x is not 0, else z",
}


@dataclass(frozen=True, eq=False, repr=False)
class Expression:
    """One node: a primitive, its operands, and its constants.

    Attributes
    ----------
    op : str, a key of ``PRIMITIVES``
    of : tuple of Expression, the operands
    width : int, numbers per row
    constants : dict of float64 arrays, floats and booleans, by the names in ``PRIMITIVES``

    See Also
    --------
    Calibrator, Map : their ``expression()`` makes one.

    Notes
    -----
    Operators ``+ - * /`` take numbers, rows of numbers and expressions. Use it to
    export your own calibrator: implement ``_expression(record)`` in addition to
    ``_predict_proba(record)``, with the symbolic record in place of the record.

    Examples
    --------
    >>> from calibrant import TemperatureScaling
    >>> cal = TemperatureScaling(inputs="logit").fit(
    ...     [[2.0, 0.0], [0.0, 1.0], [1.0, 0.0]], [0, 1, 1]
    ... )
    >>> [node.op for node in cal.expression().nodes()]
    ['input', 'constant', 'multiply', 'softmax']
    """

    op: str
    of: tuple["Expression", ...]
    width: int
    constants: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __repr__(self) -> str:
        return f"Expression({self.op!r}, width={self.width}, of {[x.op for x in self.of]})"

    def nodes(self) -> Iterator["Expression"]:
        """Every node once, operands before their users, this one last."""
        seen: set[int] = set()
        stack: list[tuple[Expression, bool]] = [(self, False)]
        while stack:
            node, ready = stack.pop()
            if id(node) in seen:
                continue
            if ready:
                seen.add(id(node))
                yield node
                continue
            stack.append((node, True))
            stack.extend((x, False) for x in reversed(node.of) if id(x) not in seen)

    def shared(self) -> "Expression":
        """The same with equal parts computed once, and without an exponential of a logarithm."""
        made: dict[Any, Expression] = {}
        kept: dict[int, Expression] = {}
        for node in self.nodes():
            of = tuple(kept[id(x)] for x in node.of)
            if node.op == "exp" and of[0].op == "log":
                kept[id(node)] = of[0].of[0]
                continue
            constants = tuple(
                (name, np.shape(value), np.asarray(value).tobytes())
                for name, value in node.constants.items()
            )
            key = (node.op, tuple(map(id, of)), node.width, constants)
            kept[id(node)] = made.setdefault(key, replace(node, of=of))
        return kept[id(self)]

    def __add__(self, other: Any) -> "Expression":
        return _binary("add", self, other)

    def __sub__(self, other: Any) -> "Expression":
        return _binary("subtract", self, other)

    def __mul__(self, other: Any) -> "Expression":
        return _binary("multiply", self, other)

    def __truediv__(self, other: Any) -> "Expression":
        return _binary("divide", self, other)

    def __radd__(self, other: Any) -> "Expression":
        return _binary("add", other, self)

    def __rsub__(self, other: Any) -> "Expression":
        return _binary("subtract", other, self)

    def __rmul__(self, other: Any) -> "Expression":
        return _binary("multiply", other, self)

    def __rtruediv__(self, other: Any) -> "Expression":
        return _binary("divide", other, self)

    # NumPy arrays on the left must defer the operator to this class.
    __array_ufunc__ = None

    def matrix(self, matrix: ArrayLike, shift: ArrayLike) -> "Expression":
        """x A' + b, A (m, width) and b (m,)."""
        A = np.asarray(matrix, dtype=np.float64)
        return Expression(
            "matrix", (self,), len(A), {"matrix": A, "shift": np.asarray(shift, dtype=np.float64)}
        )

    def exp(self) -> "Expression":
        return self._same("exp")

    def log(self) -> "Expression":
        return self._same("log")

    def sigmoid(self) -> "Expression":
        return self._same("sigmoid")

    def softmax(self) -> "Expression":
        return self._same("softmax")

    def log_softmax(self) -> "Expression":
        return self._same("log_softmax")

    def log_probabilities(self) -> "Expression":
        return self._same("log_probabilities")

    def normalised(self) -> "Expression":
        """Rows divided by their sums."""
        return self / self.sum()

    def clip(self, low: float, high: float) -> "Expression":
        return self._same("clip", low=float(low), high=float(high))

    def log_odds(self, low: float, high: float) -> "Expression":
        """log x - log(1 - x), x kept ``low`` from 0 and ``high`` from 1."""
        inside = self.clip(low, 1.0 - high)
        return inside.log() - (1.0 - inside).log()

    def interpolate(
        self, knots: ArrayLike, values: ArrayLike, before: float = 0.0, after: float = 0.0
    ) -> "Expression":
        """Straight lines between ``knots`` (m,), increasing, through ``values`` (m,); beyond
        them with the slopes given.
        """
        table = {
            "knots": np.asarray(knots, dtype=np.float64),
            "values": np.asarray(values, dtype=np.float64),
        }
        return self._same("interpolate", **table, before=float(before), after=float(after))

    def step(self, edges: ArrayLike, values: ArrayLike, *, closed: bool = True) -> "Expression":
        """``values`` (m + 1,) by the number of ``edges`` (m,), increasing, at or below x; not
        ``closed``: below x.
        """
        table = {
            "edges": np.asarray(edges, dtype=np.float64),
            "values": np.asarray(values, dtype=np.float64),
        }
        return self._same("step", **table, closed=bool(closed))

    def settled(self) -> "Expression":
        """x, with differences from 0 by rounding set to 0, as in
        ``calibrant._numerics.bins.settled``.
        """
        return (self * self).step([ROUNDING**2], [0.0, 1.0]).where(self, 0.0)

    def sum(self) -> "Expression":
        return Expression("sum", (self,), 1)

    def max(self) -> "Expression":
        return Expression("max", (self,), 1)

    def argmax(self) -> "Expression":
        return Expression("argmax", (self,), 1)

    def gather(self, table: ArrayLike) -> "Expression":
        """Row x of ``table`` (rows, m), x a position."""
        values = np.asarray(table, dtype=np.float64)
        return Expression("gather", (self,), values.shape[1], {"table": values})

    def column(self, index: int) -> "Expression":
        return self if self.width == 1 else Expression("column", (self,), 1, {"index": int(index)})

    def where(self, yes: Any, no: Any) -> "Expression":
        """``yes`` where this is not 0, else ``no``; numbers, rows or expressions."""
        yes, no = _node(yes), _node(no)
        return Expression("where", (self, yes, no), max(self.width, yes.width, no.width))

    def _same(self, op: str, **constants: Any) -> "Expression":
        return Expression(op, (self,), self.width, constants)


def source(width: int) -> Expression:
    """The input predictions."""
    return Expression("input", (), width)


def constant(values: ArrayLike) -> Expression:
    """A row of numbers, or one."""
    row = np.atleast_1d(np.asarray(values, dtype=np.float64))
    return Expression("constant", (), len(row), {"values": row})


def join(parts: Sequence[Expression]) -> Expression:
    """The columns of all ``parts``, side by side."""
    return (
        parts[0]
        if len(parts) == 1
        else Expression("join", tuple(parts), sum(x.width for x in parts))
    )


def weighted_sum(parts: Sequence[Expression], weights: Iterable[float]) -> Expression:
    """The sum of ``parts`` times numbers."""
    first, *others = (part * float(weight) for part, weight in zip(parts, weights, strict=True))
    return sum(others, first)


def _node(value: Any) -> Expression:
    return value if isinstance(value, Expression) else constant(value)


def _binary(op: str, left: Any, right: Any) -> Expression:
    left, right = _node(left), _node(right)
    if left.op == right.op == "constant":
        return constant(getattr(np, op)(left.constants["values"], right.constants["values"]))
    return Expression(op, (left, right), max(left.width, right.width))
