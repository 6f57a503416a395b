"""Code for one row of an expression, in a language with arrays, loops and ``<math.h>``, such as C
and JavaScript.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant.core.expression import Expression

__all__ = ["Language", "Program", "program"]

#: Functions that the bodies call: look-ups in tables, and sums over a row. ``$words`` are keys of
#: ``Language.words``.
HELPERS = """\
$index NAME_count($x x, $table t, $m m, $m closed) {
  $i low = 0, high = m;
  while (low < high) {
    $i mid = (low + high) >> 1;
    if (t[mid] < x || (closed && t[mid] == x)) low = mid + 1; else high = mid;
  }
  return low;
}
$number NAME_line($x x, $table t, $table y, $m m, $x before, $x after) {
  $i i = NAME_count(x, t, m, 1);
  if (i == 0) return y[0] + before * (x - t[0]);
  if (i == m) return y[m - 1] + after * (x - t[m - 1]);
  return y[i - 1] + (y[i] - y[i - 1]) * ((x - t[i - 1]) / (t[i] - t[i - 1]));
}
$nothing NAME_log_softmax($table x, $array v, $m n) {
  $v top = x[0], sum = 0.0;
  for ($i k = 1; k < n; k++) if (x[k] > top) top = x[k];
  for ($i k = 0; k < n; k++) sum += ${math}exp(x[k] - top);
  for ($i k = 0; k < n; k++) v[k] = x[k] - top - ${math}log(sum);
}
$nothing NAME_softmax($table x, $array v, $m n) {
  $v top = x[0], sum = 0.0;
  for ($i k = 1; k < n; k++) if (x[k] > top) top = x[k];
  for ($i k = 0; k < n; k++) { v[k] = ${math}exp(x[k] - top); sum += v[k]; }
  for ($i k = 0; k < n; k++) v[k] /= sum;
}
$nothing NAME_log_probabilities($table x, $array v, $m n) {
  $i top = 0;
  $v rest = 0.0, least = 1e-12;
  for ($i k = 0; k < n; k++) {
    if (x[k] > x[top]) top = k;
    if (x[k] > 0.0 && x[k] < least) least = x[k];
  }
  for ($i k = 0; k < n; k++) if (k != top) rest += x[k];
  for ($i k = 0; k < n; k++) v[k] = ${math}log(x[k] > 0.0 ? x[k] : least);
  v[top] = -${math}log1p(rest / x[top]);
}
"""

#: Formula of each primitive for the k-th entries x, y and z of its operands.
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
#: Primitives whose rows are filled by a helper.
BY_HELPER = ("softmax", "log_softmax", "log_probabilities")


@dataclass(frozen=True)
class Language:
    """Syntax that differs between the languages.

    Attributes
    ----------
    words : keywords that declare functions (``index``, ``number``, ``nothing``, by return type),
        parameters (``x``, ``table``, ``array``, ``m``) and variables (``i``, ``v``), and ``math``,
        the prefix of exp, log, log1p
    array, table : templates of a working array, by ``name`` and ``width``, and of constants, by
        ``name`` and ``values``
    index : template of a float as a position
    """

    words: Mapping[str, str]
    array: str
    table: str
    index: str


@dataclass(frozen=True)
class Program:
    """Helpers that the body calls, tables, the statements of the function's body, and the name of
    the array with the result.

    Attributes
    ----------
    helpers : str
    tables, body : lists of lines
    result : str
    """

    helpers: str
    tables: list[str]
    body: list[str]
    result: str


def program(expression: Expression, language: Language, name: str) -> Program:
    """Return the statements for one row, with inputs in the array ``p``."""
    writer = _Writer(language, name)
    nodes = list(expression.nodes())
    for j, node in enumerate(nodes):
        writer.add(j, node)
    return Program(
        _helpers(language, name, "\n".join(writer.body)),
        writer.tables,
        writer.body,
        writer.names[id(nodes[-1])],
    )


def _helpers(language: Language, name: str, body: str) -> str:
    """Return the helpers that the body calls; unused ones would cause compiler warnings."""
    parts = [part for part in re.split(r"(?m)^(?=\$(?:index|number|nothing) )", HELPERS) if part]
    called = {part: part.partition("(")[0].split()[-1].replace("NAME", name) for part in parts}
    wanted = {own for own in called.values() if f"{own}(" in body}
    wanted |= {f"{name}_count"} if f"{name}_line" in wanted else set()
    text = "".join(part for part, own in called.items() if own in wanted)
    # In a language without declared types the words are empty, and their space is dropped too.
    spaced = {
        word: f"{said} " if said and said[-1] != "*" else said
        for word, said in language.words.items()
        if word != "math"
    }
    text = re.sub(r"\$(\w+) ", lambda word: spaced[word[1]], text)
    return text.replace("${math}", language.words["math"]).replace("NAME", name)


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
        return f"for ({self.language.words['i']} k = 0; k < {n}; k++) {statement}"

    def entry(self, node: Expression) -> str:
        """Return the k-th entry of a node, or its only one."""
        return f"{self.names[id(node)]}[{'k' if node.width > 1 else '0'}]"

    def statements(self, j: int, own: str, node: Expression) -> Iterator[str]:
        """Yield lines that fill the array ``own``."""
        if node.op in ENTRYWISE:
            operands = dict(zip("xyz", map(self.entry, node.of), strict=False))
            yield self.loop(
                node.width,
                f"{own}[k] ="
                f" {ENTRYWISE[node.op].format(m=self.language.words['math'], **operands)};",
            )
        elif node.op in BY_HELPER:
            yield f"{self.name}_{node.op}({self.names[id(node.of[0])]}, {own}, {node.width});"
        else:
            yield from getattr(self, f"write_{node.op}")(j, own, node)

    def write_clip(self, j: int, own: str, node: Expression) -> Iterator[str]:
        x, low, high = self.entry(node.of[0]), node.constants["low"], node.constants["high"]
        text = f"{x} < {_number(low)} ? {_number(low)} : {x}"
        if np.isfinite(high):
            text = f"{x} > {_number(high)} ? {_number(high)} : ({text})"
        yield self.loop(node.width, f"{own}[k] = {text};")

    def write_matrix(self, j: int, own: str, node: Expression) -> Iterator[str]:
        A, b = (
            self.table(j, "a", node.constants["matrix"]),
            self.table(j, "b", node.constants["shift"]),
        )
        x, n = self.names[id(node.of[0])], node.of[0].width
        inner = (
            f"for ({self.language.words['i']} i = 0; i < {n}; i++) {own}[k] += {A}[k * {n} + i] *"
            f" {x}[i];"
        )
        yield self.loop(node.width, f"{{ {own}[k] = {b}[k]; {inner} }}")

    def write_interpolate(self, j: int, own: str, node: Expression) -> Iterator[str]:
        c = node.constants
        knots, values = self.table(j, "x", c["knots"]), self.table(j, "y", c["values"])
        ends = f"{_number(c['before'])}, {_number(c['after'])}"
        yield self.loop(
            node.width,
            f"{own}[k] = {self.name}_line({self.entry(node.of[0])}, {knots}, {values},"
            f" {len(c['knots'])}, {ends});",
        )

    def write_step(self, j: int, own: str, node: Expression) -> Iterator[str]:
        c = node.constants
        edges, values = self.table(j, "x", c["edges"]), self.table(j, "y", c["values"])
        count = (
            f"{self.name}_count({self.entry(node.of[0])}, {edges}, {len(c['edges'])},"
            f" {int(c['closed'])})"
        )
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
        yield self.loop(
            node.of[0].width,
            f"if ({x}[k] > {x}[{self.language.index.format(x=f'{own}[0]')}]) {own}[0] = k;",
        )


def _number(value: Any) -> str:
    """Return a number as text that both languages read back exactly."""
    return repr(float(value))
