"""A fitted calibrator as a JavaScript module without dependencies, for node and browsers."""

import json
from typing import Any

from calibrant.export.c_source import require_name
from calibrant.export.row_code import Language, program
from calibrant.export.subject import subject_of

__all__ = ["to_javascript"]

JAVASCRIPT = Language(
    math="Math.", counter="let", array="const {name} = new Float64Array({width});", table="const {name} = [{values}];", index="{x}"
)

HELPERS = """\
function NAME_count(x, t, m, closed) {
  let low = 0, high = m;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (t[mid] < x || (closed && t[mid] === x)) low = mid + 1; else high = mid;
  }
  return low;
}
function NAME_line(x, t, y, m, before, after) {
  const i = NAME_count(x, t, m, 1);
  if (i === 0) return y[0] + before * (x - t[0]);
  if (i === m) return y[m - 1] + after * (x - t[m - 1]);
  return y[i - 1] + (y[i] - y[i - 1]) * ((x - t[i - 1]) / (t[i] - t[i - 1]));
}
function NAME_log_softmax(x, v, n) {
  let top = x[0], sum = 0.0;
  for (let k = 1; k < n; k++) if (x[k] > top) top = x[k];
  for (let k = 0; k < n; k++) sum += Math.exp(x[k] - top);
  for (let k = 0; k < n; k++) v[k] = x[k] - top - Math.log(sum);
}
function NAME_softmax(x, v, n) {
  let top = x[0], sum = 0.0;
  for (let k = 1; k < n; k++) if (x[k] > top) top = x[k];
  for (let k = 0; k < n; k++) { v[k] = Math.exp(x[k] - top); sum += v[k]; }
  for (let k = 0; k < n; k++) v[k] /= sum;
}
function NAME_log_probabilities(x, v, n) {
  let top = 0, rest = 0.0, least = 1e-12;
  for (let k = 0; k < n; k++) {
    if (x[k] > x[top]) top = k;
    if (x[k] > 0.0 && x[k] < least) least = x[k];
  }
  for (let k = 0; k < n; k++) if (k !== top) rest += x[k];
  for (let k = 0; k < n; k++) v[k] = Math.log(x[k] > 0.0 ? x[k] : least);
  v[top] = -Math.log1p(rest / x[top]);
}
"""


def to_javascript(fitted: Any, *, name: str = "calibrate") -> str:
    """An ES module that exports ``NAME(p)``: one row in, its calibrated row out; and ``classes``, the labels in column order.

    .. versionadded:: 0.2

    Parameters
    ----------
    fitted : Calibrator of classes, or Map
    name : str, default "calibrate"
        Of the function.

    Returns
    -------
    str
        The file. ``p`` is an array of K probabilities or logits (a map: one score), the result a Float64Array of K numbers (a map: one).

    Raises
    ------
    InputError
        Where the calibrator cannot be said as an expression.

    See Also
    --------
    to_c, to_json : the same for other places.

    Notes
    -----
    Numbers of JavaScript are doubles, so results agree with ``predict_proba`` to about 1e-15. Nothing is checked.

    Examples
    --------
    >>> from calibrant import TemperatureScaling
    >>> cal = TemperatureScaling(inputs="logit").fit([[2.0, 0.0], [0.0, 1.0], [1.0, 0.0]], [0, 1, 1])
    >>> "export function calibrate(p)" in to_javascript(cal)
    True
    """
    subject, name = subject_of(fitted), require_name(name)
    made = program(subject.expression, JAVASCRIPT, name)
    body = "\n".join(f"  {line}" for line in [*made.body, f"return Float64Array.from({made.result});"])
    tables = "\n".join(made.tables)
    labels = json.dumps(subject.classes)
    return (
        f"// {subject.note}\n{HELPERS.replace('NAME', name)}{tables}\n\n"
        f"export const classes = {labels};\n\nexport function {name}(p) {{\n{body}\n}}\n"
    )
