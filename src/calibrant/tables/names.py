"""Usual names of columns and arrays, and the names that options give."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from calibrant.errors import InputError

__all__ = ["ARRAYS", "OUTCOMES", "PATTERNS", "SINGLE", "Columns", "require_different"]

#: The usual names of arrays, and of the columns beside the predictions.
ARRAYS: dict[Any, Any] = {
    "probabilities": ("probabilities", "probs", "P"),
    "logits": ("logits",),
    "label": ("labels", "label", "y", "y_true", "target"),
    "weight": ("sample_weight", "weight"),
    "classes": ("classes", "class_names"),
}
PATTERNS: dict[Any, Any] = {
    "probability": ("p_*", "prob_*", "probability_*"),
    "logit": ("logit_*",),
}
SINGLE = ("p", "risk", "probability", "prob", "score")
OUTCOMES = ("y", "y_true", "target", "label", "labels", "outcome")


@dataclass(frozen=True)
class Columns:
    """Names of columns or arrays from the options; None means the usual names."""

    label: str | None = None
    risk: str | None = None
    confidence: str | None = None
    predicted: str | None = None
    inputs: str | None = None
    positive: str | None = None
    probabilities: str | None = None
    logits: str | None = None
    weight: str | None = None
    classes: str | None = None
    task: str | None = None
    mean: str | None = None
    std: str | None = None
    quantiles: str | None = None
    skip_missing: bool = False
    model_version: str | None = None
    allow_other_version: bool = False
    #: The unit stored in a saved calibrator, for one column without --inputs.
    stored_unit: str | None = None
    #: The option that names the outcomes, for messages.
    label_option: str = "--label"

    @property
    def unit(self) -> str | None:
        """The unit of one column: by --inputs, or as stored in a calibrator."""
        return self.inputs or self.stored_unit

    @property
    def declared(self) -> list[str]:
        """The labels that --classes or --positive names as classes."""
        named = [] if self.positive is None else [self.positive]
        return [part.strip() for part in self.classes.split(",")] if self.classes else named

    @property
    def one(self) -> str | None:
        """The one column of predictions, by --risk or --confidence."""
        return self.risk or self.confidence


def require_different(names: Sequence[Any], what: str) -> None:
    """Refuse a name of a column that is given twice."""
    twice = next((name for name in names if names.count(name) > 1 and name is not None), None)
    if twice is not None:
        raise InputError(f"{what} must name different columns; got {twice!r} twice; leave one out.")
