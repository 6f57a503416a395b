"""A fitted calibrator as C source without dependencies but the mathematics library."""

import re
from typing import Any

from calibrant.errors import InputError
from calibrant.export.row_code import Language, program
from calibrant.export.subject import subject_of

__all__ = ["require_name", "to_c"]

C = Language(
    math="", counter="int", array="double {name}[{width}];", table="static const double {name}[] = {{{values}}};", index="(int)({x})"
)

#: Words that name no function in C or in JavaScript, and what the code itself calls.
RESERVED = {
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern", "float", "for", "goto",
    "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch",
    "typedef", "union", "unsigned", "void", "volatile", "while", "await", "catch", "class", "debugger", "delete", "export", "extends",
    "false", "finally", "function", "implements", "import", "in", "instanceof", "interface", "let", "new", "null", "package",
    "private", "protected", "public", "super", "this", "throw", "true", "try", "typeof", "var", "with", "yield", "arguments", "eval",
    "classes", "Math", "Float64Array", "exp", "log", "log1p", "main", "p", "q", "k", "i",
}  # fmt: skip

HELPERS = """\
static int NAME_count(double x, const double *t, int m, int closed) {
  int low = 0, high = m;
  while (low < high) {
    int mid = low + (high - low) / 2;
    if (t[mid] < x || (closed && t[mid] == x)) low = mid + 1; else high = mid;
  }
  return low;
}
static double NAME_line(double x, const double *t, const double *y, int m, double before, double after) {
  int i = NAME_count(x, t, m, 1);
  if (i == 0) return y[0] + before * (x - t[0]);
  if (i == m) return y[m - 1] + after * (x - t[m - 1]);
  return y[i - 1] + (y[i] - y[i - 1]) * ((x - t[i - 1]) / (t[i] - t[i - 1]));
}
static void NAME_log_softmax(const double *x, double *v, int n) {
  double top = x[0], sum = 0.0;
  for (int k = 1; k < n; k++) if (x[k] > top) top = x[k];
  for (int k = 0; k < n; k++) sum += exp(x[k] - top);
  for (int k = 0; k < n; k++) v[k] = x[k] - top - log(sum);
}
static void NAME_softmax(const double *x, double *v, int n) {
  double top = x[0], sum = 0.0;
  for (int k = 1; k < n; k++) if (x[k] > top) top = x[k];
  for (int k = 0; k < n; k++) { v[k] = exp(x[k] - top); sum += v[k]; }
  for (int k = 0; k < n; k++) v[k] /= sum;
}
static void NAME_log_probabilities(const double *x, double *v, int n) {
  int top = 0;
  double rest = 0.0, least = 1e-12;
  for (int k = 0; k < n; k++) {
    if (x[k] > x[top]) top = k;
    if (x[k] > 0.0 && x[k] < least) least = x[k];
  }
  for (int k = 0; k < n; k++) if (k != top) rest += x[k];
  for (int k = 0; k < n; k++) v[k] = log(x[k] > 0.0 ? x[k] : least);
  v[top] = -log1p(rest / x[top]);
}
"""


def require_name(name: object) -> str:
    """The name, if it is one that the languages take for a function's."""
    if not (isinstance(name, str) and re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name)):
        raise InputError(f'name must be letters, digits and underscores, a letter first; got {name!r}; "calibrate" is usual.')
    if name in RESERVED:
        raise InputError(f'name must not be a word of the language; got {name!r}; "calibrate" is usual.')
    return name


def to_c(fitted: Any, *, name: str = "calibrate") -> str:
    """C99 source of a function ``void NAME(const double *p, double *q)``: one row in, its calibrated row out.

    .. versionadded:: 0.2

    Parameters
    ----------
    fitted : Calibrator of classes, or Map
    name : str, default "calibrate"
        Of the function, and the head of every other name in the file.

    Returns
    -------
    str
        The file. ``p`` holds K probabilities or logits (a map: one score), ``q`` takes K numbers (a map: one).

    Raises
    ------
    InputError
        Where the calibrator cannot be said as an expression.

    See Also
    --------
    to_javascript, to_json : the same for other places.

    Notes
    -----
    All arithmetic is in double precision, so results agree with ``predict_proba`` to about 1e-15; a server with float32 scores widens
    them first. Nothing is checked: P that no door has read gives whatever the arithmetic gives.

    Examples
    --------
    >>> from calibrant import TemperatureScaling
    >>> cal = TemperatureScaling(inputs="logit").fit([[2.0, 0.0], [0.0, 1.0], [1.0, 0.0]], [0, 1, 1])
    >>> "void calibrate(const double *p, double *q)" in to_c(cal)
    True
    """
    subject, name = subject_of(fitted), require_name(name)
    made = program(subject.expression, C, name)
    body = "\n".join(f"  {line}" for line in [*made.body, f"for (int k = 0; k < {subject.expression.width}; k++) q[k] = {made.result}[k];"])
    helpers = _used(HELPERS.replace("NAME", name), "\n".join(made.body), name)
    tables = "\n".join(made.tables)
    return f"/* {subject.note} */\n#include <math.h>\n\n{helpers}{tables}\n\nvoid {name}(const double *p, double *q) {{\n{body}\n}}\n"


def _used(helpers: str, body: str, name: str) -> str:
    """The helpers that the body calls, so that compilers have nothing to warn of."""
    parts = {part.partition("(")[0].split()[-1]: part for part in re.split(r"(?m)^(?=static )", helpers) if part}
    wanted = {key for key in parts if f"{key}(" in body}
    wanted |= {f"{name}_count"} if f"{name}_line" in wanted else set()
    return "".join(part for key, part in parts.items() if key in wanted)
