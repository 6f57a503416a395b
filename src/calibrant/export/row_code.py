"""One row through an expression, as statements of a language with arrays, loops and ``<math.h>``: C and JavaScript differ in little."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant.contracts.expression import Expression

__all__ = ["Language", "Program", "program"]

#: What a primitive is of the k-th entries x, y and z of its operands.
ENTRYWISE = {
    "add": "{x} + {y}",
    "subtract": "{x} - {y}",
    "multiply": "{x} * {y}",
    "divide": "{x} / {y}",
    "exp": "{m}exp({x})",
    "log": "{m}log({x})",
    "sigmoid": "1.0 / (1.0 + {m}exp(-({x})))",
    "where": "{x} != 0.0 ? {y} : {z}",
}


@dataclass(frozen=True)
class Language:
    """The words that differ.

    Attributes
    ----------
    math : prefix of exp, log, log1p
    counter : how a loop declares its counter
    array, table : templates of a working array, by ``name`` and ``width``, and of constants, by ``name`` and ``values``
    index : template of a float used as a position
    """

    math: str
    counter: str
    array: str
    table: str
    index: str


@dataclass(frozen=True)
class Program:
    """Tables, the statements of the function's body, and the name of the array with the result.

    Attributes
    ----------
    tables, body : lists of lines
    result : str
    """

    tables: list[str]
    body: list[str]
    result: str


def program(expression: Expression, language: Language, name: str) -> Program:
    """The statements for one row: inputs in the array ``p``; helpers ``NAME_line`` and ``NAME_step`` look up tables."""
    writer = _Writer(language, name)
    nodes = list(expression.nodes())
    for j, node in enumerate(nodes):
        writer.add(j, node)
    return Program(writer.tables, writer.body, writer.names[id(nodes[-1])])


class _Writer:
    def __init__(self, language: Language, name: str) -> None:
        self.language, self.name = language, name
        self.names: dict[int, str] = {}
        self.tables: list[str] = []
        self.body: list[str] = []

    def add(self, j: int, node: Expression) -> None:
        if node.op == "input":
            self.names[id(node)] = "p"
        elif node.op == "constant":
            self.names[id(node)] = self.table(j, "c", node.constants["values"])
        else:
            own = f"v{j}"
            self.names[id(node)] = own
            self.body.append(self.language.array.format(name=own, width=node.width))
            self.body.extend(self.statements(j, own, node))

    def table(self, j: int, kind: str, values: np.ndarray) -> str:
        name = f"{self.name}_{kind}{j}"
        text = ", ".join(_number(x) for x in values.ravel().tolist())
        self.tables.append(self.language.table.format(name=name, values=text))
        return name

    def loop(self, n: int, statement: str) -> str:
        return f"for ({self.language.counter} k = 0; k < {n}; k++) {statement}"

    def entry(self, node: Expression) -> str:
        """The k-th entry of a node, or its only one."""
        return f"{self.names[id(node)]}[{'k' if node.width > 1 else '0'}]"

    def statements(self, j: int, own: str, node: Expression) -> Iterator[str]:
        """Lines that fill the array ``own``."""
        if node.op in ENTRYWISE:
            operands = dict(zip("xyz", map(self.entry, node.of), strict=False))
            yield self.loop(node.width, f"{own}[k] = {ENTRYWISE[node.op].format(m=self.language.math, **operands)};")
        else:
            yield from getattr(self, f"write_{node.op}")(j, own, node)

    def write_clip(self, j: int, own: str, node: Expression) -> Iterator[str]:
        x, low, high = self.entry(node.of[0]), node.constants["low"], node.constants["high"]
        text = f"{x} < {_number(low)} ? {_number(low)} : {x}"
        if np.isfinite(high):
            text = f"{x} > {_number(high)} ? {_number(high)} : ({text})"
        yield self.loop(node.width, f"{own}[k] = {text};")

    def write_matrix(self, j: int, own: str, node: Expression) -> Iterator[str]:
        A, b = self.table(j, "a", node.constants["matrix"]), self.table(j, "b", node.constants["shift"])
        x, n = self.names[id(node.of[0])], node.of[0].width
        inner = f"for ({self.language.counter} i = 0; i < {n}; i++) {own}[k] += {A}[k * {n} + i] * {x}[i];"
        yield self.loop(node.width, f"{{ {own}[k] = {b}[k]; {inner} }}")

    def write_interpolate(self, j: int, own: str, node: Expression) -> Iterator[str]:
        c = node.constants
        knots, values = self.table(j, "x", c["knots"]), self.table(j, "y", c["values"])
        ends = f"{_number(c['before'])}, {_number(c['after'])}"
        yield self.loop(node.width, f"{own}[k] = {self.name}_line({self.entry(node.of[0])}, {knots}, {values}, {len(c['knots'])}, {ends});")

    def write_step(self, j: int, own: str, node: Expression) -> Iterator[str]:
        c = node.constants
        edges, values = self.table(j, "x", c["edges"]), self.table(j, "y", c["values"])
        count = f"{self.name}_count({self.entry(node.of[0])}, {edges}, {len(c['edges'])}, {int(c['closed'])})"
        yield self.loop(node.width, f"{own}[k] = {values}[{count}];")

    def write_gather(self, j: int, own: str, node: Expression) -> Iterator[str]:
        table = self.table(j, "t", node.constants["table"])
        row = self.language.index.format(x=f"{self.names[id(node.of[0])]}[0]")
        yield self.loop(node.width, f"{own}[k] = {table}[{row} * {node.width} + k];")

    def write_column(self, j: int, own: str, node: Expression) -> Iterator[str]:
        yield f"{own}[0] = {self.names[id(node.of[0])]}[{node.constants['index']}];"

    def write_join(self, j: int, own: str, node: Expression) -> Iterator[str]:
        start = 0
        for part in node.of:
            yield self.loop(part.width, f"{own}[{start} + k] = {self.names[id(part)]}[k];")
            start += part.width

    def write_sum(self, j: int, own: str, node: Expression) -> Iterator[str]:
        yield f"{own}[0] = 0.0;"
        yield self.loop(node.of[0].width, f"{own}[0] += {self.names[id(node.of[0])]}[k];")

    def write_max(self, j: int, own: str, node: Expression) -> Iterator[str]:
        x = self.names[id(node.of[0])]
        yield f"{own}[0] = {x}[0];"
        yield self.loop(node.of[0].width, f"if ({x}[k] > {own}[0]) {own}[0] = {x}[k];")

    def write_argmax(self, j: int, own: str, node: Expression) -> Iterator[str]:
        x = self.names[id(node.of[0])]
        yield f"{own}[0] = 0;"
        yield self.loop(node.of[0].width, f"if ({x}[k] > {x}[{self.language.index.format(x=f'{own}[0]')}]) {own}[0] = k;")

    def write_softmax(self, j: int, own: str, node: Expression) -> Iterator[str]:
        yield f"{self.name}_softmax({self.names[id(node.of[0])]}, {own}, {node.width});"

    def write_log_softmax(self, j: int, own: str, node: Expression) -> Iterator[str]:
        yield f"{self.name}_log_softmax({self.names[id(node.of[0])]}, {own}, {node.width});"

    def write_log_probabilities(self, j: int, own: str, node: Expression) -> Iterator[str]:
        yield f"{self.name}_log_probabilities({self.names[id(node.of[0])]}, {own}, {node.width});"


def _number(value: Any) -> str:
    """A number as both languages read it back to the same bits."""
    return repr(float(value))
