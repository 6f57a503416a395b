"""Chosen calibrator, with its alternatives and the code that applies it."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from calibrant.core.domain import Facet, Record, domain_of
from calibrant.core.estimators import explained
from calibrant.core.exports import public_path
from calibrant.core.forecast import NormalForecast
from calibrant.core.reading import CLASSIFICATION, REGRESSION
from calibrant.questions.domain import QUESTIONS
from calibrant.reporting.calibrator_given import shown_name

__all__ = ["Choice", "choice", "made_by"]


@dataclass(frozen=True)
class Choice:
    """Fitted calibrator with its description, its candidates (name, score, standard_error, weight,
    note), and its code.
    """

    name: str
    status: str
    words: str | None
    candidates: list[dict[str, Any]]
    code: list[str]


def choice(calibrator: Any, record: Record) -> Choice | None:
    """Describe the calibrator in words and code, for input in the record's form; None for None."""
    if calibrator is None:
        return None
    candidates, code = (
        _candidates(getattr(calibrator, "table_", None)),
        CODE[domain_of(record)](calibrator, record),
    )
    return Choice(
        shown_name(calibrator), calibrator.status_, explained(calibrator), candidates, code
    )


def _candidates(table: Any) -> Any:
    """Return one list, output by output: pooled candidates by weight; candidates of a single choice
    in the order of trial.
    """
    if not isinstance(table, list) or not table:
        return []
    if isinstance(table[0], list):
        rows = [
            {**row, "name": f"output {j + 1}: {row['name']}"}
            for j, rows in enumerate(table)
            for row in rows
        ]
    else:
        rows = sorted(map(dict, table), key=_rank) if "chosen" not in table[0] else table
    return [{**row, "weight": float(row["chosen"])} if "chosen" in row else row for row in rows]


def _rank(row: dict[str, Any]) -> tuple[float, float]:
    score = row.get("score", np.nan)
    return (-row.get("weight", 0.0), score if np.isfinite(score) else np.inf)


def made_by(calibrator: Any) -> str:
    """Return the expression that makes an unfitted copy, in one line, with calibrant as ``cb``."""
    return re.sub(
        r"\b([A-Z]\w*)(?=\()",
        lambda m: (public_path(m[1]) or m[1]).replace("calibrant.", "cb.", 1),
        " ".join(repr(clone(calibrator)).split()),
    )


def _of_classes(calibrator: Any, record: Any) -> list[str]:
    made = made_by(clone(calibrator).set_params(inputs=record.kind, classes=None))
    tags = calibrator.tags
    # A choice that was given groups is fitted with them again, whether or not it uses them.
    by_group = tags.uses_groups or (tags.takes_groups and record.groups is not None)
    X = (", X=X_new" if tags.uses_features else "") + (", groups=groups_new" if by_group else "")
    fit = X.replace("_new", "_calibration")
    fit += ", reference=(X_train, y_train)" if tags.needs_reference else ""
    confidence = tags.output == "confidence"
    result, method = (
        ("confidence", "predict_confidence") if confidence else ("P_calibrated", "predict_proba")
    )
    return [
        "import calibrant as cb",
        f"calibrator = {made}.fit(P_calibration, y_calibration{fit})",
        f"{result} = calibrator.{method}(P_new{X})",
    ]


def _of_numbers(calibrator: Any, record: Any) -> list[str]:
    normal = isinstance(record.forecast, NormalForecast)
    groups = ", groups=groups_new" if calibrator.tags.uses_groups else ""
    fit = (
        "mean_calibration, y_calibration, std=std_calibration"
        if normal
        else "forecast_calibration, y_calibration"
    )
    new = f"{'mean_new, std_new' if normal else 'forecast_new'}{groups}"
    return [
        "import calibrant as cb",
        f"calibrator = {made_by(calibrator)}.fit({fit}{groups.replace('_new', '_calibration')})",
        f"forecast = calibrator.predict({new})  # .mean .std .interval(0.9) .quantile(q)",
    ]


def _of_questions(calibrator: Any, record: Any) -> list[str]:
    return [
        "import calibrant as cb",
        f"calibrator = {made_by(calibrator)}.fit(questions)",
        "calibrated = calibrator.predict(new_questions)",
    ]


CODE: Facet[Any] = Facet("code to apply a calibrator")
CODE.register(CLASSIFICATION, lambda: _of_classes)
CODE.register(REGRESSION, lambda: _of_numbers)
CODE.register(QUESTIONS, lambda: _of_questions)
