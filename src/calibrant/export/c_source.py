"""Export to C source that needs only the mathematics library."""

import json
from collections.abc import Sequence
from typing import Any

from calibrant.export.names import require_name
from calibrant.export.row_code import Language, program
from calibrant.export.subject import QUANTILES, subject_of

__all__ = ["to_c"]

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
    made = program(subject.expression, C, name)
    body = "\n".join(
        f"  {line}"
        for line in [
            *made.body,
            f"for (int k = 0; k < {subject.expression.width}; k++) q[k] = {made.result}[k];",
        ]
    )
    tables = "\n".join(made.tables)
    # The text of a level must not end the comment.
    about = [
        f"p[{subject.n_predictions + j}]: {json.dumps(column)}".replace("*/", "* /")
        for j, column in enumerate(subject.groups)
    ]
    note = "\n   ".join([subject.note, *about])
    return (
        f"/* {note} */\n#include <math.h>\n\n{made.helpers}{tables}\n\nvoid {name}(const double *p,"
        f" double *q) {{\n{body}\n}}\n"
    )
