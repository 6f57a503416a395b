"""A fitted calibrator as a JavaScript module without dependencies, for node and browsers."""

import json
from collections.abc import Sequence
from typing import Any

from calibrant.export.c_source import require_name
from calibrant.export.row_code import Language, program
from calibrant.export.subject import QUANTILES, subject_of

__all__ = ["to_javascript"]

JAVASCRIPT = Language(
    words=dict.fromkeys(("index", "number", "nothing"), "function") | dict.fromkeys(("x", "table", "array", "m"), "")
    | {"i": "let", "v": "let", "math": "Math."},
    array="const {name} = new Float64Array({width});", table="const {name} = [{values}];", index="{x}",
)  # fmt: skip

#: The position of a value among a column's levels, as ``calibrant.levels`` reads it: -1 where it is not known.
POSITION = """\
export function position(j, value) {
  const { name, levels, edges, missing } = groups[j];
  if (value === null || value === undefined || Number.isNaN(value) || /^ *$/.test(value)) return missing;
  if (!levels) {
    if (typeof value !== "number") throw new TypeError(`the column ${name} held numbers in the fit; got ${value}`);
    return edges.filter((edge) => edge < value).length;
  }
  const at = levels.indexOf(value);
  return at < 0 ? levels.findIndex((level) => level !== null && String(level) === String(value)) : at;
}
"""


def to_javascript(fitted: Any, *, name: str = "calibrate", quantiles: Sequence[float] = QUANTILES) -> str:
    """An ES module that exports ``NAME(p)``: one row in, its calibrated row out; and ``classes``, the labels in column order.

    .. versionadded:: 0.2

    Parameters
    ----------
    fitted : Calibrator, RegressionCalibrator (of normal forecasts of one output), or Map
    name : str, default "calibrate"
        Of the function.
    quantiles : levels of the quantiles of error bars, default 5, 50 and 95 %

    Returns
    -------
    str
        The file. ``p`` is an array of K probabilities or logits (a map: one score), the result a Float64Array of K numbers (a map: one).
        Error bars: [mean, std] in; mean, std and the quantiles out, as ``outputs`` names them. With groups the positions of the row's
        levels follow in ``p``: ``position(j, value)`` of column j of ``groups``.

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
    subject, name = subject_of(fitted, quantiles), require_name(name)
    made = program(subject.expression, JAVASCRIPT, name)
    body = "\n".join(f"  {line}" for line in [*made.body, f"return Float64Array.from({made.result});"])
    tables = "\n".join(made.tables)
    labels = json.dumps(subject.classes)
    outputs = "" if subject.outputs is None else f"export const outputs = {json.dumps(subject.outputs)};\n\n"
    groups = f"export const groups = {json.dumps(subject.groups)};\n\n{POSITION}\n" if subject.groups else ""
    head = f"// {subject.note}\n{made.helpers}{tables}\n\nexport const classes = {labels};\n\n{outputs}{groups}"
    return f"{head}export function {name}(p) {{\n{body}\n}}\n"
