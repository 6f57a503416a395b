"""Exported calibrator, with its expression and a description for readers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from calibrant.core.calibrator import DomainCalibrator
from calibrant.core.domain import Facet
from calibrant.core.estimators import require_option
from calibrant.core.exports import __version__
from calibrant.core.expression import RISKS, Expression, symbolic
from calibrant.core.guarantee import plain
from calibrant.core.map import Map
from calibrant.core.reading import CLASSIFICATION, REGRESSION
from calibrant.errors import InputError

__all__ = ["QUANTILES", "Subject", "subject_of"]

#: Default quantiles of error bars.
QUANTILES = (0.05, 0.5, 0.95)


@dataclass(frozen=True)
class Subject:
    """Expression with its name and meaning.

    Attributes
    ----------
    name : str, of the class
    inputs : {"probability", "logit", "score", "forecast"}
    classes : list of labels in column order, or None for a map and for error bars
    expression : Expression
    groups : name and levels or edges of each column of groups, whose positions follow the
        predictions (``GroupLevels.described``)
    outputs : names of the outputs of error bars: "mean", "std" and the quantiles, "q0.05"; None for
        the others
    risk : unit of the single input of the second class, whose result is one risk; None if each
        class has an input
    """

    name: str
    inputs: str
    classes: list[Any] | None
    expression: Expression
    groups: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    outputs: list[str] | None = None
    risk: str | None = None

    @property
    def width(self) -> int:
        """Number of inputs for each row."""
        return self.n_predictions + len(self.groups)

    @property
    def n_predictions(self) -> int:
        """Number of inputs that are predictions: probabilities, logits, scores, or mean and std."""
        if self.classes is None or self.risk is not None:
            return 1 if self.outputs is None else 2
        return len(self.classes)

    @property
    def note(self) -> str:
        """One-line description for the head of the file."""
        kinds = (
            "a score" if self.classes is None else f"{self.inputs} of {self.n_predictions} classes"
        )
        kinds = kinds if self.risk is None else f"{self.risk} of the second class"
        if self.outputs is not None:
            return (
                f"{self.name}: mean and std in, {', '.join(self.outputs)} out; made by calibrant"
                f" {__version__}"
            )
        if self.groups:
            kinds += f" and positions of levels of {len(self.groups)} columns of groups"
        return (
            f"{self.name}: {kinds} in, {self.expression.width} out; made by calibrant {__version__}"
        )


def subject_of(
    fitted: Any, quantiles: Sequence[float] = QUANTILES, risk: str | None = None
) -> Subject:
    """Return the subject of a fitted calibrator or map; InputError if it cannot be exported.

    ``quantiles`` are those of error bars; ``risk`` is the unit of the single input of a calibrator
    of two classes.
    """
    if risk is not None:
        _check_risk(fitted, risk)
    if isinstance(fitted, Map):
        return Subject(type(fitted).__name__, "score", None, fitted.expression())
    if isinstance(fitted, DomainCalibrator):
        return SUBJECTS[fitted.domain](fitted, quantiles, risk)
    raise InputError(
        f"only fitted calibrators and maps can be exported; got {type(fitted).__name__}."
    )


def _of_classes(fitted: Any, quantiles: Sequence[float], risk: str | None) -> Subject:
    levels = fitted.group_levels()
    groups: list[Any] = [] if levels is None else levels.described()
    expression = fitted.expression()
    if risk is not None:
        expression = fitted.express(symbolic(2, fitted.inputs, len(groups), risk)).column(1)
    classes = plain(fitted.classes_.tolist())
    return Subject(type(fitted).__name__, fitted.inputs, classes, expression, groups, risk=risk)


def _of_numbers(fitted: Any, quantiles: Sequence[float], risk: str | None) -> Subject:
    expression = fitted.expression(quantiles)
    outputs = ["mean", "std", *(f"q{level:g}" for level in quantiles)]
    return Subject(type(fitted).__name__, "forecast", None, expression, outputs=outputs)


#: (fitted calibrator, quantiles, unit of the single input) -> subject of the export, by domain.
SUBJECTS: Facet[Callable[..., Subject]] = Facet("exports")
SUBJECTS.register(CLASSIFICATION, lambda: _of_classes)
SUBJECTS.register(REGRESSION, lambda: _of_numbers)


def _check_risk(fitted: Any, risk: str) -> None:
    """Raise InputError for a calibrator without a single risk, or a unit that it does not read."""
    require_option("risk", risk, tuple(RISKS))
    if len(getattr(fitted, "classes_", ())) != 2:
        raise InputError(
            f"risk is for calibrators of two classes; got {type(fitted).__name__}; leave it out."
        )
    if (risk == "logit") != (fitted.inputs == "logit"):
        units = [unit for unit in RISKS if (unit == "logit") == (fitted.inputs == "logit")]
        raise InputError(
            f"risk must be one of {units} for a calibrator fitted on {fitted.inputs} inputs; got"
            f" {risk!r}; pass the unit of the input."
        )
