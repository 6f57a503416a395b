"""The answer of a sample size calculation."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from calibrant.contracts.columns import plain

__all__ = ["Criterion", "SampleSize", "sample_size"]


@dataclass(frozen=True)
class Criterion:
    """The rows that one measure needs for an interval of the stated width.

    Attributes
    ----------
    name : str
        The measure, such as "calibration slope".
    rows : int
        The rows it needs.
    value : float
        The value it is expected to have.
    standard_error : float
        The standard error it then has (of log(O/E) for "O/E").
    width : float
        The width of its interval, upper limit minus lower limit.

    See Also
    --------
    SampleSize : all criteria, and the rows that satisfy every one.
    """

    name: str
    rows: int
    value: float
    standard_error: float
    width: float


@dataclass(frozen=True)
class SampleSize:
    """The rows and events that a study needs, with the rows for each criterion; printing it gives a sentence.

    Attributes
    ----------
    rows : int
        The largest number of rows that any criterion needs.
    events : int
        The events expected among them, rounded up.
    prevalence : float
        The expected share of rows with the event.
    level : float
        The level of the intervals whose widths were stated.
    criteria : tuple of Criterion
        One for each measure.
    caution : str or None
        A doubt about the inputs, as a sentence.

    See Also
    --------
    validation_size : rows to validate a model.
    updating_size : rows to recalibrate one.
    """

    rows: int
    events: int
    prevalence: float
    level: float
    criteria: tuple[Criterion, ...]
    caution: str | None = None

    @property
    def driver(self) -> Criterion:
        """The criterion that needs the most rows."""
        return max(self.criteria, key=lambda one: one.rows)

    def to_dict(self) -> dict[str, Any]:
        """All numbers as plain values, ready for JSON; ``criteria`` is by name."""
        names = ("rows", "events", "prevalence", "level", "caution")
        criteria = {one.name: {k: v for k, v in vars(one).items() if k != "name"} for one in self.criteria}
        return plain({**{name: getattr(self, name) for name in names}, "criteria": criteria})

    def __str__(self) -> str:
        top = self.driver
        said = (
            f"{self.rows:,} rows with {self.events:,} events ({self.prevalence:.3g} of the rows) are needed: the {self.level:.0%} interval "
            f"of the {top.name} (expected {top.value:.3g}) is then {top.width:.3g} wide."
        )
        others = [f"{one.rows:,} for the {one.name} (width {one.width:.3g})" for one in self.criteria if one is not top]
        fewer = [f"The other measures need fewer rows: {', '.join(others)}."] if others else []
        return " ".join([said, *fewer, *([self.caution] if self.caution else [])])


def sample_size(
    criteria: Sequence[tuple[str, float, float, float, float]], prevalence: float, level: float, caution: str | None
) -> SampleSize:
    """The answer from (name, rows that need not be whole, value, standard error, width) of each criterion."""
    # A whole number that arithmetic misses by a rounding is that number.
    found = tuple(Criterion(name, math.ceil(rows - 1e-9 * rows), *map(float, rest)) for name, rows, *rest in criteria)
    rows = max(one.rows for one in found)
    return SampleSize(rows, math.ceil(rows * prevalence - 1e-9), prevalence, level, found, caution)
