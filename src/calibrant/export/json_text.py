"""Export to JSON: the nodes of the expression, which a hundred lines of any language can run."""

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from calibrant.core.estimators import require_count
from calibrant.core.expression import Expression
from calibrant.export.subject import QUANTILES, subject_of

__all__ = ["SCHEMA_VERSION", "to_json"]

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
