"""Typed content of a report, and its conversion to the dictionary that is written."""

from dataclasses import dataclass, field
from typing import Any

from calibrant.core.guarantee import Known, plain
from calibrant.reporting.about import About
from calibrant.reporting.alternatives import Alternative
from calibrant.reporting.before_after import Compared
from calibrant.reporting.by_class import ByClass
from calibrant.reporting.calibrator_given import shown_name
from calibrant.reporting.chance import Chance
from calibrant.reporting.choice import Choice
from calibrant.reporting.compared_scores import Score
from calibrant.reporting.drift import Drift
from calibrant.reporting.miscalibration import Miscalibration
from calibrant.reporting.regions import Place
from calibrant.reporting.since import Since

__all__ = ["SCHEMA", "Method", "Part", "Summary", "Verdict"]

#: Version of the dictionary's keys, raised when a key is renamed, moved or dropped.
SCHEMA = 1


@dataclass(frozen=True)
class Method:
    """Calibrator of a report, and how its numbers were computed.

    ``fold_fits`` is, for numbers out of fold, that of
    :class:`~calibrant.core.folds.OutOfFold`.
    """

    name: str
    class_: str
    status: str | None
    evaluation: str
    n_splits: int | None
    n_fit: float | None
    fold_fits: str | None = None

    @classmethod
    def of(cls, found: Compared, name: str) -> "Method":
        """Describe the calibrator compared; ``name`` is the user's name for it, "" for its own."""
        one = found.calibrator
        return cls(
            name or shown_name(one),
            type(one).__name__,
            getattr(one, "status_", None),
            found.evaluation,
            found.n_splits,
            found.n_fit,
            found.fold_fits,
        )


@dataclass(frozen=True)
class Verdict:
    """Verdict of a report: a state, one or two plain sentences, what to do, and the numbers.

    ``sentence`` and ``action`` are for everybody, ``detail`` has the numbers. ``state`` is one of
    :data:`calibrant.reporting.advice.STATES`. ``model`` is "calibrated", "overconfident",
    "underconfident" or "miscalibrated"; ``calibration`` is "use", "mixed" (one score is better and
    another worse), "do not use", "no clear gain", "unknown" (in-sample) or "none". In-sample
    numbers never enter.
    """

    state: str
    sentence: str
    action: str
    detail: str
    model: str
    calibration: str


@dataclass(frozen=True)
class Part:
    """All that is said of one output; of classes, of all rows (name None).

    ``of`` says whose faults are looked for, "before" or "after"; ``sections`` is the record of what
    only reports of the task have.
    """

    name: str | None
    quality: Known
    cautions: list[str]
    chance: Chance | dict[str, Chance]
    miscalibration: dict[str, Miscalibration | None]
    verdict: Verdict
    of: str
    groups: list[Place] | None
    features: list[Place] | None
    audit: dict[str, Any] | None
    drift: Drift | None
    scores: list[Score]
    sections: Any

    def to_dict(self) -> dict[str, Any]:
        """Its sections beside the rest; the scores are not among them."""
        left_out = ("sections", "scores", *(("name",) if self.name is None else ()))
        return {
            **{name: value for name, value in vars(self).items() if name not in left_out},
            **vars(self.sections),
        }


@dataclass(frozen=True)
class Summary:
    """Content of a report."""

    task: str
    target: str | None
    title: str
    level: float
    about: About
    data: dict[str, Any]
    calibrator: Method
    verdict: Verdict
    cautions: list[str]
    parts: list[Part]
    choice: Choice | None
    alternatives: list[Alternative]
    by_class: ByClass | None = None
    since: Since | None = None
    call: list[str] = field(default_factory=list[str])

    def to_dict(self) -> dict[str, Any]:
        """Only strings, numbers, None, lists and dictionaries, with ``schema``.

        The metrics of all outputs are one list, each with the name of its ``output``; what is said
        of an output is in ``outputs``, or, where there are none, as of classes, beside the rest.
        """
        named = [part for part in self.parts if part.name is not None]
        said = {"outputs": [part.to_dict() for part in named]} if named else self.parts[0].to_dict()
        metrics = [
            {**vars(score), **({} if part.name is None else {"output": part.name})}
            for part in self.parts
            for score in part.scores
        ]
        own = {**vars(self), "metrics": metrics}
        own.pop("parts")
        # The verdict and the cautions are those of all outputs.
        return plain(
            {
                "schema": SCHEMA,
                **own,
                **{name: value for name, value in said.items() if name not in own},
            }
        )
