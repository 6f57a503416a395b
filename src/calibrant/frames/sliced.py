"""Numbers by slice from sums: what every kind of evaluation shares."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._support.extras import import_extra
from calibrant.contracts.columns import plain
from calibrant.contracts.metric import Metric
from calibrant.errors import InputError
from calibrant.frames.state import GroupState

__all__ = ["Sliced", "require_width", "value_and_limits"]


@dataclass(frozen=True, eq=False)
class Sliced(ABC):
    """Template: an evaluation says what is a slice of a group (``_slice``), which numbers follow from sums (``_numbers``), and its bins."""

    state: GroupState

    @property
    def by(self) -> list[str]:
        """Names of what the rows are sliced by."""
        return list(self.state.settings["by"])

    @property
    @abstractmethod
    def _bins(self) -> dict[str, Any]: ...

    @abstractmethod
    def _slice(self, group) -> tuple: ...

    @abstractmethod
    def _numbers(self, bins, sums) -> dict[str, Any]:
        """Column name -> array, from the sums of P slices: bins (P, B, 3), sums (P, S)."""

    def columns(self) -> dict[str, Any]:
        """Column name -> array, one entry a slice."""
        return self._columns(self._slice, self.by)

    def _columns(self, part, names):
        parts, bins, sums = self.state.by(part)
        return {name: [key[j] for key in parts] for j, name in enumerate(names)} | self._numbers(bins, sums)

    def overall(self) -> dict[str, float]:
        """The metrics of all rows together."""
        _, bins, sums = self.state.by(lambda g: ())
        return {name: float(values[0]) for name, values in self._numbers(bins, sums).items()} if len(bins) else {}

    def frame(self, **options: Any) -> Any:
        """One row a slice, as a pandas data frame; options are those of ``columns``."""
        return import_extra("pandas", "a data frame of an evaluation", "frames").DataFrame(self.columns(**options))

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON: ``by``, ``overall`` and ``slices`` (one dict each; nan becomes None)."""
        columns = self.columns()
        slices = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return plain({"by": self.by, "bins": self._bins, "overall": self.overall(), "slices": slices})


def require_width(sums: np.ndarray, width: int) -> None:
    """InputError unless there are as many sums as intervals need."""
    if sums.shape[1] != width:
        raise InputError(f"a group must have {width} sums; got {sums.shape[1]}; evaluate the rows again.")


def value_and_limits(name: str, metric: Metric, totals: np.ndarray) -> dict[str, Any]:
    """Columns of a sum over rows from its totals (..., S): the value, ``_low`` and ``_high``, nan where no closed form is known."""
    value = metric.finalise(totals)
    low, high = metric.limits(totals) or (np.full_like(value, np.nan),) * 2
    return {name: value, f"{name}_low": low, f"{name}_high": high}
