"""Rules of ``calibrant decide``, applied to a file: the columns that they add to it."""

from typing import Any

import numpy as np

import calibrant
from calibrant.cli.choosing import arranged
from calibrant.cli.options import Columns
from calibrant.contracts.reading import REGRESSION
from calibrant.errors import InputError

__all__ = ["RULES", "rule_columns"]

#: Class of a rule -> (column that it adds, method that answers on predictions, and on scores).
RULES: dict[type, tuple[str, str, str]] = {
    calibrant.SelectiveClassifier: ("accept", "accept", "accept_scores"),
    calibrant.NeymanPearsonClassifier: ("decision", "decide", "decide_scores"),
    calibrant.ConformalSets: ("set", "predict_set", ""),
}
#: Between the labels of a set in a column of text.
SEPARATOR = "|"


def rule_columns(rule: Any, data: Any, columns: Columns) -> dict[str, np.ndarray]:
    """The column that a saved rule adds to the rows of a file, whose predictions are in the ``columns`` named."""
    name, of_predictions, of_scores = RULES[type(rule)]
    if data.domain is REGRESSION:
        raise InputError(f"{data.path} holds forecasts of a number, and the saved {type(rule).__name__} decides on classes.")
    # A rule of scores takes any one column, as its threshold is in the units of the one that it was fitted on.
    scores = not hasattr(rule, "classes_")
    if scores and (columns.one is None or data.values.ndim > 1) and data.source.kind != "npy":
        raise InputError(f"the saved {type(rule).__name__} was fitted on one column of scores; name it with --confidence, or --risk.")
    if not scores and data.inputs == "score":
        raise InputError(f"the saved {type(rule).__name__} was fitted on predictions; name those with --probabilities.")
    found = getattr(rule, of_scores)(data.values) if scores else getattr(rule, of_predictions)(arranged(data, rule)["P"])
    if name == "set" and data.source.kind not in ("npy", "npz"):
        texts = [SEPARATOR.join(str(label) for label in rule.classes_[row].tolist()) for row in found]
        found = np.array(texts, dtype=object)
    return {"values" if data.source.kind == "npy" else name: found}
