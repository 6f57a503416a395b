"""Interface of a file of predictions, and the choice of its kind."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from calibrant.core.domain import DOMAINS, Domain, Facet, Record, domains
from calibrant.errors import InputError, UsageError
from calibrant.tables.names import Columns
from calibrant.tables.roles import missing_in

__all__ = ["FILES", "DataFile", "kind_of"]


@dataclass(frozen=True, kw_only=True)
class DataFile(ABC):
    """Predictions read from a file, and the file's whole content, so that it can be written again
    with other predictions.

    A kind defines how its columns are found and read (``found_in``, ``names_in``, ``read``), its
    predictions (``said``) and its record; commands use no more than this interface.

    Attributes
    ----------
    path : Path
    labels, weight : outcomes and weights, as the kind's ``read`` function takes them, or None
    source : Source
        The content, by kind of file.
    outcome : tuple of str
        The columns or arrays that ``labels`` are read from, if they have names.
    inputs
        The scale of the predictions, if the kind has several.
    unit
        The unit in which one column of predictions is written, a value of --inputs.
    """

    path: Path
    labels: Any
    weight: Any
    source: Any
    outcome: tuple[str, ...] = ()
    inputs: Any = None
    unit: str | None = None
    domain: ClassVar[Domain]
    #: Whether only some rows may have the column of the outcome.
    rows_differ: ClassVar[bool] = False

    @classmethod
    def named(cls, source: Any, columns: Columns) -> bool:
        """Whether the options name columns of this kind."""
        return False

    @classmethod
    @abstractmethod
    def found_in(cls, source: Any) -> str | None:
        """Return a column or array that looks like predictions of this kind, if there is one."""

    @classmethod
    @abstractmethod
    def names_in(cls, source: Any, columns: Columns, labels: bool, prefer: str | None) -> list[str]:
        """Return the columns or arrays of the predictions, and of outcomes and weights if
        ``labels``.
        """

    @classmethod
    def classes_in(cls, source: Any, columns: Columns, prefer: str | None) -> list[str]:
        """Return the labels that options or names of columns declare to be classes."""
        return columns.declared

    @classmethod
    def complete(
        cls, source: Any, columns: Columns, labels: bool, prefer: str | None
    ) -> np.ndarray:
        """Return (n,) whether each row has a prediction, and what else is read."""
        names = dict.fromkeys(cls.names_in(source, columns, labels, prefer))
        classes = cls.classes_in(source, columns, prefer)
        return ~np.any([missing_in(source, name, classes) for name in names], axis=0)

    @classmethod
    @abstractmethod
    def read(cls, source: Any, columns: Columns, labels: bool, prefer: str | None) -> Self:
        """Read an open source, with its outcomes if ``labels``; ``prefer`` "probability" or "logit"
        if it holds both.
        """

    @classmethod
    def sliced(cls, source: Any, columns: Columns, target: str | None) -> dict[str, Any]:
        """Return the arguments of ``evaluate`` that name the columns of predictions and outcomes,
        and the target, from the names of the columns.
        """
        raise UsageError(
            f"slices need predictions of classes or forecasts of a number; {source.path} holds"
            f" {cls.domain.predictions}; leave out --by, --time, --engine, --resume and -o."
        )

    @property
    @abstractmethod
    def said(self) -> Any:
        """The predictions, as the library's functions take them."""

    @abstractmethod
    def record(self, groups: Any = None, **beside: Any) -> Record:
        """Return the rows, with their outcomes if these were read, and for predictions of classes
        with features and training rows.
        """

    @abstractmethod
    def same_outcomes(self, ours: Any, theirs: Any) -> np.ndarray:
        """Return (n,) whether the outcomes of two files' records agree."""

    @property
    def columns(self) -> list[str]:
        """The columns or arrays that hold the predictions."""
        return []

    @property
    def one(self) -> str | None:
        """The one column of the risk, if there is one."""
        return None

    def about(self, record: Any) -> str:
        """Describe the rows beyond their number."""
        return ""

    def refuse_target(self, target: str | None) -> None:
        """Refuse --target if the predictions are not of classes."""
        if target is not None:
            raise UsageError(
                f"--target needs predictions of classes; {self.path.name} holds"
                f" {self.domain.predictions}; leave it out."
            )

    def asked(self, target: str | None, calibrator: Any = None) -> Any:
        """Resolve --target for the file."""
        self.refuse_target(target)

    def given(self, calibrator: Any) -> dict[str, Any]:
        """Return the arguments of a report beside the outcomes."""
        return {"P": self.said}

    def audited(self, target: str | None) -> dict[str, Any]:
        """Return the arguments of an audit beside the outcomes."""
        self.refuse_target(target)
        return {"P": self.said}

    def said_like(self, first: Self) -> Any:
        """Return the predictions in the order of another file's."""
        return self.said

    def calibrated(
        self, fitted: Any, columns: Columns, levels: Any, beside: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """Return (columns of calibrated predictions by name, the file's columns they replace), from
        the predictions and what the calibrator uses beside them.
        """
        raise InputError(
            f"{self.domain.predictions} cannot be written to files; calibrate them in Python."
        )


#: Kinds of files by domain.
FILES: Facet[type[DataFile]] = Facet("files")


def kind_of(source: Any, columns: Columns) -> type[DataFile]:
    """Return the kind of a file: by --task, by the options, or by its columns; refuse one that
    could be of several kinds.
    """
    if (asked := columns.task) is not None:
        kind = FILES[DOMAINS[asked]]
        if columns.one is not None and not kind.named(source, columns):
            one = "risk" if columns.risk else "confidence"
            raise UsageError(f"--{one} and --task {asked} exclude each other; pass one.")
        return kind
    kinds = [FILES[one] for one in reversed(domains()) if one in FILES]
    named = next((kind for kind in kinds if kind.named(source, columns)), None)
    if named is not None:
        return named
    found = {kind: name for kind in kinds if (name := kind.found_in(source)) is not None}
    if len(found) > 1:
        (first, second), name = [kind.domain for kind in found][:2], list(found.values())[1]
        raise InputError(
            f"{source.path} has both {first.predictions} and {second.predictions} ({name}); choose"
            f" with --task {first.name} or --task {second.name}."
        )
    return next(iter(found), kinds[-1])
