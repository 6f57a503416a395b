"""Code for one row of an expression, as C source or as a JavaScript module, and the expression as
JSON.

Any language with arrays, loops and the functions of ``<math.h>`` can have such code. The C source
needs only the mathematics library. The JavaScript module, for node and browsers, has no
dependencies. JSON holds the nodes of the expression, which a hundred lines of any language can run.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant.core.estimators import require_count
from calibrant.core.expression import Expression
from calibrant.export.names import require_name
from calibrant.export.subject import QUANTILES, subject_of

__all__ = ["SCHEMA_VERSION", "Language", "Program", "program", "to_c", "to_javascript", "to_json"]


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
    functions = {part: part.partition("(")[0].split()[-1].replace("NAME", name) for part in parts}
    used = {function for function in functions.values() if f"{function}(" in body}
    used |= {f"{name}_count"} if f"{name}_line" in used else set()
    text = "".join(part for part, function in functions.items() if function in used)
    # In a language without declared types the words are empty, and their space is dropped too.
    spaced = {
        word: f"{spelling} " if spelling and spelling[-1] != "*" else spelling
        for word, spelling in language.words.items()
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
            array = f"v{j}"
            self.names[id(node)] = array
            self.body.append(self.language.array.format(name=array, width=node.width))
            self.body.extend(self.statements(j, array, node))

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

    def statements(self, j: int, array: str, node: Expression) -> Iterator[str]:
        """Yield lines that fill ``array``."""
        if node.op in ENTRYWISE:
            operands = dict(zip("xyz", map(self.entry, node.of), strict=False))
            yield self.loop(
                node.width,
                f"{array}[k] ="
                f" {ENTRYWISE[node.op].format(m=self.language.words['math'], **operands)};",
            )
        elif node.op in BY_HELPER:
            yield f"{self.name}_{node.op}({self.names[id(node.of[0])]}, {array}, {node.width});"
        else:
            yield from getattr(self, f"write_{node.op}")(j, array, node)

    def write_clip(self, j: int, array: str, node: Expression) -> Iterator[str]:
        x, low, high = self.entry(node.of[0]), node.constants["low"], node.constants["high"]
        text = f"{x} < {_number(low)} ? {_number(low)} : {x}"
        if np.isfinite(high):
            text = f"{x} > {_number(high)} ? {_number(high)} : ({text})"
        yield self.loop(node.width, f"{array}[k] = {text};")

    def write_matrix(self, j: int, array: str, node: Expression) -> Iterator[str]:
        A, b = (
            self.table(j, "a", node.constants["matrix"]),
            self.table(j, "b", node.constants["shift"]),
        )
        x, n = self.names[id(node.of[0])], node.of[0].width
        inner = (
            f"for ({self.language.words['i']} i = 0; i < {n}; i++) {array}[k] += {A}[k * {n} + i] *"
            f" {x}[i];"
        )
        yield self.loop(node.width, f"{{ {array}[k] = {b}[k]; {inner} }}")

    def write_interpolate(self, j: int, array: str, node: Expression) -> Iterator[str]:
        c = node.constants
        knots, values = self.table(j, "x", c["knots"]), self.table(j, "y", c["values"])
        ends = f"{_number(c['before'])}, {_number(c['after'])}"
        yield self.loop(
            node.width,
            f"{array}[k] = {self.name}_line({self.entry(node.of[0])}, {knots}, {values},"
            f" {len(c['knots'])}, {ends});",
        )

    def write_step(self, j: int, array: str, node: Expression) -> Iterator[str]:
        c = node.constants
        edges, values = self.table(j, "x", c["edges"]), self.table(j, "y", c["values"])
        count = (
            f"{self.name}_count({self.entry(node.of[0])}, {edges}, {len(c['edges'])},"
            f" {int(c['closed'])})"
        )
        yield self.loop(node.width, f"{array}[k] = {values}[{count}];")

    def write_gather(self, j: int, array: str, node: Expression) -> Iterator[str]:
        table = self.table(j, "t", node.constants["table"])
        row = self.language.index.format(x=f"{self.names[id(node.of[0])]}[0]")
        yield self.loop(node.width, f"{array}[k] = {table}[{row} * {node.width} + k];")

    def write_column(self, j: int, array: str, node: Expression) -> Iterator[str]:
        yield f"{array}[0] = {self.names[id(node.of[0])]}[{node.constants['index']}];"

    def write_join(self, j: int, array: str, node: Expression) -> Iterator[str]:
        start = 0
        for part in node.of:
            yield self.loop(part.width, f"{array}[{start} + k] = {self.names[id(part)]}[k];")
            start += part.width

    def write_sum(self, j: int, array: str, node: Expression) -> Iterator[str]:
        yield f"{array}[0] = 0.0;"
        yield self.loop(node.of[0].width, f"{array}[0] += {self.names[id(node.of[0])]}[k];")

    def write_max(self, j: int, array: str, node: Expression) -> Iterator[str]:
        x = self.names[id(node.of[0])]
        yield f"{array}[0] = {x}[0];"
        yield self.loop(node.of[0].width, f"if ({x}[k] > {array}[0]) {array}[0] = {x}[k];")

    def write_argmax(self, j: int, array: str, node: Expression) -> Iterator[str]:
        x = self.names[id(node.of[0])]
        yield f"{array}[0] = 0;"
        yield self.loop(
            node.of[0].width,
            f"if ({x}[k] > {x}[{self.language.index.format(x=f'{array}[0]')}]) {array}[0] = k;",
        )


def _number(value: Any) -> str:
    """Return a number as text that both languages read back exactly."""
    return repr(float(value))


#: Increased when a reader of the previous version would compute wrong numbers.
SCHEMA_VERSION = 1


def to_json(
    fitted: Any,
    *,
    indent: int | None = None,
    quantiles: Sequence[float] = QUANTILES,
    risk: str | None = None,
) -> str:
    """Return the expression as JSON, with its inputs and outputs.

    Parameters
    ----------
    fitted : Calibrator, RegressionCalibrator (of normal forecasts of one output), or Map
    indent : int, optional
        Indentation of the lines; None: one line.
    quantiles : levels of the quantiles of error bars, default 5, 50 and 95 %
    risk : {"probability", "percent", "log_probability", "logit"}, optional
        Unit of a single input, the risk of the second of two classes. It replaces the K inputs, and
        there is one output risk.

    Returns
    -------
    str
        An object with ``format`` ("calibrant expression"), ``schema`` (1), ``method``, ``inputs``
        ("probability", "logit", "score" or "forecast"), ``classes`` (labels in column order, null
        for maps and error bars), ``outputs`` (for error bars: the names), ``risk`` (the unit of a
        single input of the second class, if there is one), ``groups`` (if they are inputs: for each
        column ``name``, ``levels`` or ``edges``, and ``missing``) and ``nodes``. Each node has
        ``op``, ``of`` (positions of its operands, all before it), ``width`` and the constants of
        its primitive; the last node is the result. An infinite end of "clip" is null.
        ``calibrant.core.expression.PRIMITIVES`` and the page on export define the primitives.

    Raises
    ------
    InputError
        When the calibrator has no expression.

    See Also
    --------
    to_c, to_javascript : export to code instead of data.

    Examples
    --------
    >>> from calibrant import TemperatureScaling
    >>> cal = TemperatureScaling(inputs="logit").fit(
    ...     [[2.0, 0.0], [0.0, 1.0], [1.0, 0.0]], [0, 1, 1]
    ... )
    >>> [node["op"] for node in json.loads(to_json(cal))["nodes"]]
    ['input', 'constant', 'multiply', 'softmax']
    """
    if indent is not None:
        require_count("indent", indent, 0, usual=2)
    subject = subject_of(fitted, quantiles, risk)
    nodes = list(subject.expression.nodes())
    place = {id(node): j for j, node in enumerate(nodes)}
    head = {
        "format": "calibrant expression",
        "schema": SCHEMA_VERSION,
        "method": subject.name,
        "inputs": subject.inputs,
    }
    written = [
        {"op": n.op, "of": [place[id(x)] for x in n.of], "width": n.width, **_constants(n)}
        for n in nodes
    ]
    head |= {"classes": subject.classes} | ({"groups": subject.groups} if subject.groups else {})
    head |= {} if subject.risk is None else {"risk": subject.risk}
    head |= {} if subject.outputs is None else {"outputs": subject.outputs}
    return json.dumps(head | {"nodes": written}, indent=indent, allow_nan=False)


def _constants(node: Expression) -> dict[str, Any]:
    return {name: _plain(value) for name, value in node.constants.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return None if isinstance(value, float) and not math.isfinite(value) else value


C = Language(
    words={
        "index": "static int",
        "number": "static double",
        "nothing": "static void",
        "x": "double",
        "table": "const double *",
        "array": "double *",
        "m": "int",
        "i": "int",
        "v": "double",
        "math": "",
    },
    array="double {name}[{width}];",
    table="static const double {name}[] = {{{values}}};",
    index="(int)({x})",
)


def to_c(
    fitted: Any,
    *,
    name: str = "calibrate",
    quantiles: Sequence[float] = QUANTILES,
    risk: str | None = None,
) -> str:
    """Return C99 source of a function ``void NAME(const double *p, double *q)`` that calibrates one
    row.

    Parameters
    ----------
    fitted : Calibrator, RegressionCalibrator (of normal forecasts of one output), or Map
    name : str, default "calibrate"
        Name of the function, and prefix of every other name in the file.
    quantiles : levels of the quantiles of error bars, default 5, 50 and 95 %
    risk : {"probability", "percent", "log_probability", "logit"}, optional
        Unit of a single input, the risk of the second of two classes. It replaces the K inputs, and
        there is one output risk.

    Returns
    -------
    str
        The file. ``p`` holds K probabilities or logits (a map: one score), ``q`` receives K numbers
        (a map: one; error bars: mean and std in; mean, std and the quantiles out). With groups the
        positions of the row's levels follow in ``p``; the comment at the top lists them.

    Raises
    ------
    InputError
        When the calibrator has no expression.

    See Also
    --------
    to_javascript, to_json : export to other languages.

    Notes
    -----
    All arithmetic is in double precision, so results agree with ``predict_proba`` to about 1e-15; a
    server with float32 scores widens them first. The code does not validate its input: an invalid P
    has an arbitrary result.

    Examples
    --------
    >>> from calibrant import TemperatureScaling
    >>> cal = TemperatureScaling(inputs="logit").fit(
    ...     [[2.0, 0.0], [0.0, 1.0], [1.0, 0.0]], [0, 1, 1]
    ... )
    >>> "void calibrate(const double *p, double *q)" in to_c(cal)
    True
    """
    subject, name = subject_of(fitted, quantiles, risk), require_name(name)
    code = program(subject.expression, C, name)
    body = "\n".join(
        f"  {line}"
        for line in [
            *code.body,
            f"for (int k = 0; k < {subject.expression.width}; k++) q[k] = {code.result}[k];",
        ]
    )
    tables = "\n".join(code.tables)
    # The text of a level must not end the comment.
    about = [
        f"p[{subject.n_predictions + j}]: {json.dumps(column)}".replace("*/", "* /")
        for j, column in enumerate(subject.groups)
    ]
    note = "\n   ".join([subject.note, *about])
    return (
        f"/* {note} */\n#include <math.h>\n\n{code.helpers}{tables}\n\nvoid {name}(const double *p,"
        f" double *q) {{\n{body}\n}}\n"
    )


JAVASCRIPT = Language(
    words=dict.fromkeys(("index", "number", "nothing"), "function")
    | dict.fromkeys(("x", "table", "array", "m"), "")
    | {"i": "let", "v": "let", "math": "Math."},
    array="const {name} = new Float64Array({width});",
    table="const {name} = [{values}];",
    index="{x}",
)

#: Position of a value among a column's levels, as in ``calibrant.core.labels``: -1 where unknown.
POSITION = """\
const NUMBER = /^[+-]?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?$/;
const DAY = "(\\\\d{4}-\\\\d\\\\d-\\\\d\\\\d)[T ](\\\\d\\\\d:\\\\d\\\\d)";
const REST = "(:\\\\d\\\\d)?(?:\\\\.(\\\\d+))?(Z|[+-]\\\\d\\\\d(?::?\\\\d\\\\d)?)?";
const TIME = new RegExp(`^${DAY}${REST}$`);
function read(value) {
  const text = value instanceof Date ? value.toISOString() : value;
  const found = typeof text === "string" && TIME.exec(text);
  if (!found) return text;
  let [, day, minute, second = ":00", fraction = "", zone = "Z"] = found;
  if (zone !== "Z") {
    const away = `${zone.slice(0, 3)}:${zone.replace(":", "").slice(3) || "00"}`;
    const at = new Date(`${day}T${minute}:00${away}`);
    if (Number.isNaN(at.valueOf())) return text;
    [day, minute] = [at.toISOString().slice(0, 10), at.toISOString().slice(11, 16)];
  }
  fraction = fraction.replace(/0+$/, "");
  const clock = `${minute}${second}${fraction && "."}${fraction}`;
  return clock === "00:00:00" ? day : `${day}T${clock}`;
}
function said(value) {
  const level = typeof value === "boolean" ? String(value) : read(value);
  if (typeof level !== "string") return level;
  const text = level.replace(/^ +| +$/g, "");
  if (NUMBER.test(text)) return Number(text);
  return /^(true|false)$/i.test(text) ? text.toLowerCase() : level;
}
export function position(j, value) {
  const { name, levels, edges, missing } = groups[j];
  const none = value === null || value === undefined || Number.isNaN(value);
  if (none || /^ *$/.test(value)) return missing;
  if (!levels) {
    if (typeof said(value) !== "number") {
      throw new TypeError(`the column ${name} held numbers in the fit; got ${value}`);
    }
    return edges.filter((edge) => edge < said(value)).length;
  }
  for (const reading of [(x) => x, read, said]) {
    const key = reading(value);
    const at = levels.findIndex((level) => level !== null && reading(level) === key);
    if (at >= 0) return at;
  }
  return -1;
}
"""


def to_javascript(
    fitted: Any,
    *,
    name: str = "calibrate",
    quantiles: Sequence[float] = QUANTILES,
    risk: str | None = None,
) -> str:
    """Return an ES module with ``NAME(p)``, which calibrates one row, and ``classes``, the labels
    in column order.

    Parameters
    ----------
    fitted : Calibrator, RegressionCalibrator (of normal forecasts of one output), or Map
    name : str, default "calibrate"
        Name of the function.
    quantiles : levels of the quantiles of error bars, default 5, 50 and 95 %
    risk : {"probability", "percent", "log_probability", "logit"}, optional
        Unit of a single input, the risk of the second of two classes. It replaces the K inputs, and
        there is one output risk.

    Returns
    -------
    str
        The file. ``p`` is an array of K probabilities or logits (a map: one score), the result a
        Float64Array of K numbers (a map: one). Error bars: [mean, std] in; mean, std and the
        quantiles out, named in ``outputs``. With groups the positions of the row's levels follow in
        ``p``: ``position(j, value)`` of column j of ``groups``.

    Raises
    ------
    InputError
        When the calibrator has no expression.

    See Also
    --------
    to_c, to_json : export to other languages.

    Notes
    -----
    Numbers in JavaScript are doubles, so results agree with ``predict_proba`` to about 1e-15. The
    code does not validate its input.

    Examples
    --------
    >>> from calibrant import TemperatureScaling
    >>> cal = TemperatureScaling(inputs="logit").fit(
    ...     [[2.0, 0.0], [0.0, 1.0], [1.0, 0.0]], [0, 1, 1]
    ... )
    >>> "export function calibrate(p)" in to_javascript(cal)
    True
    """
    subject, name = subject_of(fitted, quantiles, risk), require_name(name)
    code = program(subject.expression, JAVASCRIPT, name)
    body = "\n".join(
        f"  {line}" for line in [*code.body, f"return Float64Array.from({code.result});"]
    )
    tables = "\n".join(code.tables)
    labels = json.dumps(subject.classes)
    outputs = (
        ""
        if subject.outputs is None
        else f"export const outputs = {json.dumps(subject.outputs)};\n\n"
    )
    groups = (
        f"export const groups = {json.dumps(subject.groups)};\n\n{POSITION}\n"
        if subject.groups
        else ""
    )
    head = (
        f"// {subject.note}\n{code.helpers}{tables}\n\nexport const classes ="
        f" {labels};\n\n{outputs}{groups}"
    )
    return f"{head}export function {name}(p) {{\n{body}\n}}\n"
