"""Sums by group and bin, and sampled rows; both add up over batches, files, days and machines."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from calibrant.core.extras import import_extra
from calibrant.core.guarantee import plain
from calibrant.core.metric_kinds import Metric
from calibrant.core.saving import Saved
from calibrant.errors import InputError

__all__ = ["Drawn", "GroupState", "Sliced", "require_width", "value_and_limits"]


class GroupState(Saved):
    """One row of sums for each group; a group is (slice values..., predicted class).

    Its size grows with groups times bins, not with rows.

    Attributes
    ----------
    settings : dict that describes the sums; only states with the same settings add up.
    rows : dict from the group to its row.
    bins : (G, B, 3) weight, summed score and summed hits of each bin.
    sums : (G, S) weight, hits, then the other sums.
    """

    def __init__(self, settings: dict[str, Any], n_bins: int, n_sums: int) -> None:
        self.settings: dict[str, Any] = settings
        self.rows: dict[tuple[Any, ...], int] = {}
        self.bins: np.ndarray = np.zeros((0, n_bins, 3))
        self.sums: np.ndarray = np.zeros((0, n_sums))

    @property
    def groups(self) -> list[tuple[Any, ...]]:
        """The groups, in the order of their rows."""
        return list(self.rows)

    def add(
        self, groups: Sequence[tuple[Any, ...]], bins: np.ndarray, sums: np.ndarray | None = None
    ) -> None:
        """Add the sums of distinct groups: ``bins`` (g, B, 3), and ``sums`` (g, S) if any."""
        at = self._rows_of(groups)
        self.bins[at] += bins
        if sums is not None:
            self.sums[at] += sums

    def _rows_of(self, groups: Any) -> np.ndarray:
        """Rows of the groups; new groups are added."""
        new = [group for group in groups if group not in self.rows]
        self.rows.update(zip(new, range(len(self.rows), len(self.rows) + len(new)), strict=True))
        at = np.fromiter(map(self.rows.__getitem__, groups), np.intp, len(groups))
        if len(self.rows) > len(self.bins):
            # The capacity at least doubles, so that the total cost of growing is linear.
            more = max(len(self.rows), 2 * len(self.bins)) - len(self.bins)
            self.bins = np.concatenate([self.bins, np.zeros((more, *self.bins.shape[1:]))])
            self.sums = np.concatenate([self.sums, np.zeros((more, *self.sums.shape[1:]))])
        return at

    def __iadd__(self, other: Any) -> Self:
        if not isinstance(other, GroupState):
            return NotImplemented
        if self.settings != other.settings:
            odd = sorted(
                k
                for k in {*self.settings, *other.settings}
                if self.settings.get(k) != other.settings.get(k)
            )
            raise InputError(
                f"only sums with the same settings can be added; {', '.join(odd)} differ: "
                f"{[self.settings.get(k) for k in odd]} and {[other.settings.get(k) for k in odd]}."
            )
        if other.rows:
            n = len(other.rows)
            self.add(other.groups, other.bins[:n], other.sums[:n])
        return self

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, GroupState):
            return NotImplemented
        out = self._empty()
        out += self
        out += other
        return out

    def __radd__(self, other: Any) -> Any:
        return self if other == 0 else NotImplemented

    def _empty(self) -> "GroupState":
        out = object.__new__(type(self))
        GroupState.__init__(out, self.settings, self.bins.shape[1], self.sums.shape[1])
        return out

    def by(self, part: Callable[..., Any]) -> tuple[list[tuple[Any, ...]], np.ndarray, np.ndarray]:
        """Sums over the groups with the same ``part(group)``.

        Returns (parts in order, bins (P, B, 3), sums (P, S)).
        """
        seen: dict = {}
        to = np.array([seen.setdefault(part(g), len(seen)) for g in self.rows], dtype=np.intp)
        bins, sums = (
            np.zeros((len(seen), *self.bins.shape[1:])),
            np.zeros((len(seen), self.sums.shape[1])),
        )
        np.add.at(bins, to, self.bins[: len(to)])
        np.add.at(sums, to, self.sums[: len(to)])
        parts = list(seen)
        order = sorted(range(len(parts)), key=lambda i: _sortable(parts[i]))
        return [parts[i] for i in order], bins[order], sums[order]


def _sortable(group: tuple[Any, ...]) -> Any:
    return [
        (
            value is None,
            not isinstance(value, int | float),
            value if isinstance(value, int | float) else str(value),
        )
        for value in group
    ]


@dataclass(frozen=True, eq=False)
class Sliced(ABC):
    """Base class of evaluations by slice.

    A subclass defines the slice of a group (``_slice``), the metrics computed from sums
    (``_numbers``), and its bins (``_bins``).
    """

    state: GroupState

    @property
    def by(self) -> list[str]:
        """Names of the columns that define a slice."""
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
        """Column name -> array, one entry per slice."""
        return self._columns(self._slice, self.by)

    def _columns(self, part: Callable[..., Any], names: list[str]) -> Any:
        parts, bins, sums = self.state.by(part)
        return {name: [key[j] for key in parts] for j, name in enumerate(names)} | self._numbers(
            bins, sums
        )

    def overall(self) -> dict[str, float]:
        """The metrics of all rows together."""
        _, bins, sums = self.state.by(lambda g: ())
        return (
            {name: float(values[0]) for name, values in self._numbers(bins, sums).items()}
            if len(bins)
            else {}
        )

    def frame(self, **options: Any) -> Any:
        """A pandas data frame with one row per slice; options are those of ``columns``."""
        return import_extra("pandas", "a data frame of an evaluation", "frames").DataFrame(
            self.columns(**options)
        )

    def to_dict(self) -> dict[str, Any]:
        """A dict for JSON: ``by``, ``overall`` and ``slices`` (one dict each; nan becomes None)."""
        columns = self.columns()
        slices = [
            dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
        ]
        return plain(
            {"by": self.by, "bins": self._bins, "overall": self.overall(), "slices": slices}
        )


def require_width(sums: np.ndarray, width: int) -> None:
    """Raise InputError unless the number of sums is the one that intervals need."""
    if sums.shape[1] != width:
        raise InputError(
            f"a group must have {width} sums; got {sums.shape[1]}; evaluate the rows again."
        )


def value_and_limits(name: str, metric: Metric, totals: np.ndarray) -> dict[str, Any]:
    """Columns of a metric computed from its totals (..., S): the value, ``_low`` and ``_high``.

    The limits are nan if they have no closed form.
    """
    value = metric.finalise(totals)
    low, high = metric.limits(totals) or (np.full_like(value, np.nan),) * 2
    return {name: value, f"{name}_low": low, f"{name}_high": high}


class Drawn:
    """Parts of a sample that add up."""

    def __init__(
        self,
        parts: Iterator[Any] | Sequence[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = (),
    ) -> None:
        self.parts: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = list(parts)

    def __add__(self, other: "Drawn") -> "Drawn":
        return Drawn(self.parts + other.parts)

    def __radd__(self, other: Any) -> Any:
        return self if other == 0 else NotImplemented
