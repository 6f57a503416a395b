"""A file of predictions of some kind: what commands ask of it, and how its kind is found."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from calibrant.contracts.domain import DOMAINS, Domain, Facet
from calibrant.contracts.record import Record
from calibrant.errors import InputError

if TYPE_CHECKING:
    from calibrant.cli.options import Columns

__all__ = ["FILES", "DataFile", "kind_of"]


@dataclass(frozen=True, kw_only=True)
class DataFile(ABC):
    """Predictions read from a file, and the file's whole content, so that it can be written again
    with other predictions.

    A kind says how its columns are found and read (``found_in``, ``names_in``, ``read``), what is
    said and which record that makes; commands ask for no more.

    Attributes
    ----------
    path : Path
    labels, weight : what came true and weights, as the kind's door takes them, or None
    source : Source
        The content, by kind of file.
    outcome : tuple of str
        The columns or arrays that ``labels`` are read from, where they have names.
    inputs
        What the predictions are numbers of, where the kind knows several.
    """

    path: Path
    labels: Any
    weight: Any
    source: Any
    outcome: tuple[str, ...] = ()
    inputs: Any = None
    domain: ClassVar[Domain]

    @classmethod
    def named(cls, source: Any, columns: "Columns") -> bool:
        """Whether the options name columns of this kind."""
        return False

    @classmethod
    @abstractmethod
    def found_in(cls, source: Any) -> str | None:
        """A column or array that looks like predictions of this kind, if there is one."""

    @classmethod
    @abstractmethod
    def names_in(
        cls, source: Any, columns: "Columns", labels: bool, prefer: str | None
    ) -> list[str]:
        """The columns or arrays of the predictions, and where wanted of what came true and
        weights.
        """

    @classmethod
    @abstractmethod
    def read(cls, source: Any, columns: "Columns", labels: bool, prefer: str | None) -> Self:
        """The file of an open source, with ``labels`` where wanted; ``prefer`` "probability" or
        "logit" where it holds both.
        """

    @property
    @abstractmethod
    def said(self) -> Any:
        """The predictions, as functions take them."""

    @abstractmethod
    def record(self, groups: Any = None) -> Record:
        """The rows, with what came true where it was read."""

    @abstractmethod
    def same_outcomes(self, ours: Any, theirs: Any) -> np.ndarray:
        """(n,) in which rows the records of two files say that the same came true."""

    @property
    def columns(self) -> list[str]:
        """The columns or arrays that hold the predictions."""
        return []

    @property
    def one(self) -> str | None:
        """The one column of the risk, where one holds it."""
        return None

    def about(self, record: Any) -> str:
        """What is said of its rows beside their number."""
        return ""

    def refuse_target(self, target: str | None) -> None:
        """Refuse --target where nothing is asked of classes."""
        if target is not None:
            import click  # here, so that a kind can be registered without the command line

            raise click.UsageError(
                f"--target is for predictions of classes; {self.path.name} holds"
                f" {self.domain.predictions}; leave it out."
            )

    def asked(self, target: str | None, calibrator: Any = None) -> Any:
        """The question that --target asks of the file."""
        self.refuse_target(target)

    def given(self, calibrator: Any) -> dict[str, Any]:
        """What a report is given beside what came true."""
        return {"P": self.said}

    def audited(self, target: str | None) -> dict[str, Any]:
        """What an audit is given beside what came true."""
        return {"P": self.said}

    def said_like(self, first: Self) -> Any:
        """The predictions, in the order of another file's."""
        return self.said

    def calibrated(
        self, fitted: Any, columns: "Columns", levels: Any, groups: Any
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """(columns with calibrated predictions by name, which of the file's they replace)."""
        raise InputError(
            f"{self.domain.predictions} are not written to files; calibrate them in Python."
        )


#: How files of a domain are read.
FILES: Facet[type[DataFile]] = Facet("files")


def kind_of(source: Any, columns: "Columns") -> type[DataFile]:
    """The kind of a file: by --task, by the names given, or by its columns; one that could be of
    several is refused.
    """
    if (asked := columns.task) is not None:
        kind = FILES[DOMAINS[asked]]
        if columns.one is not None and not kind.named(source, columns):
            import click

            one = "risk" if columns.risk else "confidence"
            raise click.UsageError(f"--{one} and --task {asked} exclude each other; pass one.")
        return kind
    kinds = [FILES[one] for one in reversed(DOMAINS.values()) if one in FILES]
    named = next((kind for kind in kinds if kind.named(source, columns)), None)
    if named is not None:
        return named
    found = {kind: name for kind in kinds if (name := kind.found_in(source)) is not None}
    if len(found) > 1:
        (first, second), name = [kind.domain for kind in found][:2], list(found.values())[1]
        raise InputError(
            f"{source.path} has both {first.predictions} and {second.predictions} ({name}); say"
            f" which with --task {first.name} or --task {second.name}."
        )
    return next(iter(found), kinds[-1])
