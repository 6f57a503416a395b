"""An expression as a Python function of one row: for a few classes plain floats are several times
faster than arrays of one row.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from struct import Struct
from typing import Any

import numpy as np

from calibrant._numerics.isotonic import line_segments
from calibrant.core.expression import Expression

__all__ = ["row_function"]

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
