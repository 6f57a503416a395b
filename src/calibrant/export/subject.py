"""What is exported: its expression, and what a reader of the result should be told of it."""

from dataclasses import dataclass, field
from typing import Any

from calibrant._version import __version__
from calibrant.contracts.calibrator import Calibrator
from calibrant.contracts.columns import plain
from calibrant.contracts.expression import Expression
from calibrant.contracts.map import Map
from calibrant.errors import InputError

__all__ = ["Subject", "subject_of"]


@dataclass(frozen=True)
class Subject:
    """An expression with its name and meaning.

    Attributes
    ----------
    name : str, of the class
    inputs : {"probability", "logit", "score"}
    classes : list of labels in column order, or None for a map
    expression : Expression
    groups : for each column of groups, whose positions follow the predictions, its name and levels or edges (``GroupLevels.described``)
    """

    name: str
    inputs: str
    classes: list[Any] | None
    expression: Expression
    groups: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    @property
    def width(self) -> int:
        """Numbers a row that go in."""
        return self.n_predictions + len(self.groups)

    @property
    def n_predictions(self) -> int:
        """Probabilities, logits or scores among them."""
        return 1 if self.classes is None else len(self.classes)

    @property
    def note(self) -> str:
        """One line for the head of the file."""
        kinds = "a score" if self.classes is None else f"{self.inputs} of {self.n_predictions} classes"
        if self.groups:
            kinds += f" and positions of levels of {len(self.groups)} columns of groups"
        return f"{self.name}: {kinds} in, {self.expression.width} out; made by calibrant {__version__}"


def subject_of(fitted: Any) -> Subject:
    """The subject of a fitted calibrator of classes or map; InputError where it cannot be exported."""
    if isinstance(fitted, Calibrator):
        expression, levels = fitted.expression(), fitted.group_levels()
        groups = [] if levels is None else levels.described()
        return Subject(type(fitted).__name__, fitted.inputs, plain(fitted.classes_.tolist()), expression, groups)
    if isinstance(fitted, Map):
        return Subject(type(fitted).__name__, "score", None, fitted.expression())
    raise InputError(f"only fitted calibrators of classes and maps are exported; got {type(fitted).__name__}.")
