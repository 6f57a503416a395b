"""Export to a JavaScript module without dependencies, for node and browsers."""

import json
from collections.abc import Sequence
from typing import Any

from calibrant.export.names import require_name
from calibrant.export.row_code import Language, program
from calibrant.export.subject import QUANTILES, subject_of

__all__ = ["to_javascript"]

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
    made = program(subject.expression, JAVASCRIPT, name)
    body = "\n".join(
        f"  {line}" for line in [*made.body, f"return Float64Array.from({made.result});"]
    )
    tables = "\n".join(made.tables)
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
        f"// {subject.note}\n{made.helpers}{tables}\n\nexport const classes ="
        f" {labels};\n\n{outputs}{groups}"
    )
    return f"{head}export function {name}(p) {{\n{body}\n}}\n"
