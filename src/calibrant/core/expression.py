"""The formula of a fitted calibrator or map, as a small expression for other languages.

A node stands for n rows of ``width`` numbers. The primitives are few (``PRIMITIVES``), each with
its one meaning in float64; an emitter (:mod:`calibrant.export`) has one line for each of them.
Nodes are shared, so an expression is a graph: common subexpressions are computed once. A calibrator
builds its own expression from a record of predictions in symbols, or from a normal forecast as
expressions of mean and std.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from calibrant._numerics.bins import ROUNDING
from calibrant.core.arrays import ArrayLike
from calibrant.core.conformal_forecast import AveragedForecast
from calibrant.core.forecast import Forecast, NormalForecast
from calibrant.core.given import Inputs
from calibrant.errors import InputError

__all__ = [
    "ABOVE_ONE",
    "LOWEST",
    "PRIMITIVES",
    "RISKS",
    "STANDARD",
    "Expression",
    "SymbolicAverage",
    "SymbolicBins",
    "SymbolicForecast",
    "SymbolicRecord",
    "constant",
    "join",
    "source",
    "symbolic",
    "symbolic_forecast",
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


# -- Predictions of classes in symbols -------------------------------------------------------------

#: Forms of one number for the second class, and the input of the calibrator.
RISKS: dict[str, Callable[[Expression], Expression]] = {
    "probability": lambda x: x,
    "percent": lambda x: x / 100.0,
    "log_probability": Expression.exp,
    "logit": lambda x: x,
}


@dataclass(frozen=True)
class SymbolicRecord:
    """The derived values of ``Predictions`` in symbols, with the same names.

    Attributes
    ----------
    values : Expression, (n, K): probabilities or logits, as given
    kind : {"probability", "logit"}
    groups : tuple of Expression, width 1 each: the positions of the row's levels of each column of
        groups, -1 for unknown levels
    least : float, the floor of probabilities in logarithms

    See Also
    --------
    Expression : the nodes.
    """

    values: Expression
    kind: Inputs
    groups: tuple[Expression, ...] = ()
    least: float = float(np.finfo(np.float64).tiny)

    @property
    def n_classes(self) -> int:
        return self.values.width

    def above(self, least: float) -> "SymbolicRecord":
        """The same rows with probabilities of at least ``least`` in logarithms."""
        return self if least == self.least else replace(self, least=least)

    @cached_property
    def probabilities(self) -> Expression:
        """(n, K), rows that sum to 1."""
        return self.values.softmax() if self.kind == "logit" else self.values.normalised()

    @cached_property
    def log_probabilities(self) -> Expression:
        """(n, K), finite."""
        return (
            self.values.log_softmax()
            if self.kind == "logit"
            else self.probabilities.clip(self.least, np.inf).log_probabilities()
        )

    @property
    def logits(self) -> Expression:
        """(n, K): the logits as given, or the log-probabilities."""
        return self.values if self.kind == "logit" else self.log_probabilities

    @cached_property
    def predicted(self) -> Expression:
        """Position of the first largest value, width 1."""
        return self.values.argmax()

    @cached_property
    def is_predicted(self) -> Expression:
        """(n, K): 1 at the predicted class, else 0."""
        return self.predicted.gather(np.eye(self.n_classes))

    @cached_property
    def confidence(self) -> Expression:
        """The largest probability, width 1."""
        return self.probabilities.max()

    def tempered(self, temperature: float, mixing: float) -> Expression:
        """log((1 - mixing) softmax(logits / T) + mixing / K), the input of structured scalings."""
        scaled = self.logits * (1.0 / temperature)
        if not mixing:
            return scaled.log_softmax()
        return (scaled.softmax() * (1.0 - mixing) + mixing / self.n_classes).log()

    def with_confidence(
        self, confidence: Expression, probabilities: Expression | None = None
    ) -> Expression:
        """Rows with ``confidence`` at the predicted class and the rest shared as in the
        probabilities (default: the row's own), equally where they have none.
        """
        shared = self.probabilities if probabilities is None else probabilities
        rest = self.is_predicted.where(0.0, shared)
        total = rest.sum()
        even = constant(np.full(self.n_classes, 1.0 / max(self.n_classes - 1, 1)))
        share = total.where(rest / total.where(total, 1.0), even)
        return self.is_predicted.where(confidence, share * (1.0 - confidence))


def symbolic(
    n_classes: int, kind: Inputs, n_groups: int = 0, risk: str | None = None
) -> SymbolicRecord:
    """The symbolic record of input predictions, (n, K), or followed by the positions of levels, (n,
    K + n_groups).

    With ``risk``, one of ``RISKS``, one number of the second of two classes replaces the K.
    """
    width = n_classes if risk is None else 1
    if not n_groups and risk is None:
        return SymbolicRecord(source(n_classes), kind)
    given = source(width + n_groups)
    columns = [given.column(j) for j in range(given.width)]
    values = join(columns[:width])
    if risk is not None:
        second = RISKS[risk](values)
        values = join([second * 0.0 if kind == "logit" else 1.0 - second, second])
    return SymbolicRecord(values, kind, tuple(columns[width:]))


# -- Normal forecasts in symbols -------------------------------------------------------------------

STANDARD = NormalForecast(np.zeros(1), np.ones(1))


@dataclass(frozen=True)
class SymbolicForecast:
    """The distribution of location + scale Z, where only location and scale differ from row to row.

    Attributes
    ----------
    location, scale : Expression, width 1
    shape : Forecast, one row: the distribution of Z

    See Also
    --------
    SymbolicRecord : the same for predictions of classes.
    """

    location: Expression
    scale: Expression
    shape: Forecast

    @property
    def mean(self) -> Expression:
        """Mean of each row's distribution."""
        mean = float(self.shape.mean[0])
        return self.location + self.scale * mean if mean else self.location

    @property
    def std(self) -> Expression:
        """Standard deviation of each row's distribution."""
        std = float(self.shape.std[0])
        return self.scale if std == 1.0 else self.scale * std

    def reshaped(self, shape: Forecast) -> "SymbolicForecast":
        """With another distribution of Z, for methods that do not depend on location and scale."""
        return replace(self, shape=shape)

    def stretched(self, factor: Expression | float) -> "SymbolicForecast":
        """About its mean."""
        mean = float(self.shape.mean[0])
        location = self.location + self.scale * (1.0 - factor) * mean if mean else self.location
        return replace(self, location=location, scale=self.scale * factor)

    def unscaled(self) -> "SymbolicForecast":
        """Standard normal about its mean."""
        return SymbolicForecast(self.mean, constant(1.0), STANDARD)

    def alone(self) -> "SymbolicForecast":
        """Itself: it has one shape, so that another calibrator can use it."""
        return self

    def said(self, levels: Sequence[float]) -> Expression:
        """Mean, std and the quantiles of ``levels``, side by side."""
        ends = self.shape.quantile(np.asarray(levels, dtype=np.float64))[0]
        if not np.isfinite(ends).all():
            raise InputError(
                "quantiles must be finite to be exported; that of"
                f" {levels[int(np.argmin(np.isfinite(ends)))]} is infinite; request others."
            )
        return join(
            [self.mean, self.std, *(self.location + self.scale * float(end) for end in ends)]
        )


@dataclass(frozen=True)
class SymbolicAverage:
    """The mean of several such forecasts, quantile by quantile, as ``AveragedForecast``.

    Attributes
    ----------
    members : sequence of SymbolicForecast
    weights : (m,), which sum to 1
    """

    members: Sequence[SymbolicForecast]
    weights: np.ndarray

    def alone(self) -> SymbolicForecast:
        """Raise InputError: it has no single shape."""
        raise InputError(
            "forecasts that are averaged cannot be calibrated on in an expression; keep them in"
            " Python."
        )

    def said(self, levels: Sequence[float]) -> Expression:
        """Mean, std and the quantiles of ``levels``, side by side."""
        total = weighted_sum([member.said(levels) for member in self.members], self.weights)
        return join(
            [total.column(0), self._std(), *(total.column(j) for j in range(2, total.width))]
        )

    def _std(self) -> Expression:
        """Quantiles rise together, so that the variance of their mean is that of a sum with
        these covariances.
        """
        scales = [
            member.scale * float(weight)
            for member, weight in zip(self.members, self.weights, strict=True)
        ]
        variance: Expression | None = None
        for j, (a, left) in enumerate(zip(scales, self.members, strict=True)):
            for k, (b, right) in enumerate(zip(scales[: j + 1], self.members, strict=False)):
                part = a * b * ((1.0 if j == k else 2.0) * _covariance(left.shape, right.shape))
                variance = part if variance is None else variance + part
        assert variance is not None
        return (variance.log() * 0.5).exp()


@dataclass(frozen=True)
class SymbolicBins:
    """One of several such forecasts in each row, by how many ``edges``, increasing, are below a
    number of the row.
    """

    by: Expression
    edges: np.ndarray
    members: Sequence[SymbolicForecast]

    def alone(self) -> SymbolicForecast:
        """Raise InputError: it has no single shape."""
        raise InputError(
            "forecasts in bins cannot be calibrated on in an expression; keep them in Python."
        )

    def said(self, levels: Sequence[float]) -> Expression:
        """Mean, std and the quantiles of ``levels``, side by side."""
        out = self.members[-1].said(levels)
        for edge, member in zip(self.edges[::-1], self.members[-2::-1], strict=True):
            out = self.by.step([edge], [1.0, 0.0], closed=False).where(member.said(levels), out)
        return out


def _covariance(a: Forecast, b: Forecast) -> float:
    """Covariance of two distributions whose quantiles rise together, by their mean's variance."""
    alone = [float(AveragedForecast([one], np.ones(1)).std[0]) ** 2 for one in (a, b)]
    return 2.0 * float(AveragedForecast([a, b], np.full(2, 0.5)).std[0]) ** 2 - 0.5 * sum(alone)


def symbolic_forecast() -> SymbolicForecast:
    """A normal forecast as an input (n, 2): mean and std."""
    given = source(2)
    return SymbolicForecast(given.column(0), given.column(1), STANDARD)
