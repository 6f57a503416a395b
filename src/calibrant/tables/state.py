"""Sums by group and bin, and sampled rows; both add up over batches, files, days and machines."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from calibrant._numerics.bins import grouped_sums
from calibrant.core.extras import import_extra
from calibrant.core.guarantee import plain
from calibrant.core.metric_kinds import Metric
from calibrant.core.saving import Saved
from calibrant.errors import InputError
from calibrant.tables.columns import distinct, of_one_kind, present

__all__ = ["Drawn", "GroupState", "Sliced", "require_width", "value_and_limits"]

#: At most this many bins of slices are laid out in full at once, 24 bytes each.
MOST_BINS = 2**21


@dataclass(eq=False, repr=False)
class GroupState(Saved):
    """One row of sums for each group; a group is (slice values..., predicted class).

    Its size grows with the groups and their bins that occur, not with rows.

    Attributes
    ----------
    settings : dict that describes the sums; only states with the same settings add up.
    n_bins, n_sums : int
    levels : the values of each column of a group.
    codes : (G, C) positions of each group's values among the levels.
    sums : (G, S) weight, hits, then the other sums.
    at : (M,) row of the group times ``n_bins`` plus the bin, of each bin that occurs, ascending.
    cells : (M, 3) weight, summed score and summed hits of these bins.
    """

    settings: dict[str, Any]
    n_bins: int
    n_sums: int

    def __post_init__(self) -> None:
        n_columns = len(self.settings["by"]) + (self.settings["mode"] != "forecast")
        self.levels: list[list[Any]] = [[] for _ in range(n_columns)]
        self.codes: np.ndarray = np.zeros((0, n_columns), dtype=np.int32)
        self.sums: np.ndarray = np.zeros((0, self.n_sums))
        self.at: np.ndarray = np.zeros(0, dtype=np.int64)
        self.cells: np.ndarray = np.zeros((0, 3))

    @property
    def groups(self) -> list[tuple[Any, ...]]:
        """The groups, in the order of their rows."""
        columns = [self.column(j) for j in range(len(self.levels))]
        return list(zip(*columns, strict=True)) if columns else [()] * len(self.codes)

    @property
    def bins(self) -> np.ndarray:
        """(G, B, 3) weight, summed score and summed hits of each bin."""
        return self.dense(0, len(self.codes))

    def column(self, j: int) -> list[Any]:
        """The values of one column of the groups."""
        return list(map(self.levels[j].__getitem__, self.codes[:, j].tolist()))

    def dense(self, start: int, stop: int) -> np.ndarray:
        """``bins`` of the groups from ``start`` to before ``stop``."""
        out = np.zeros((stop - start, self.n_bins, 3))
        first, last = np.searchsorted(self.at, [start * self.n_bins, stop * self.n_bins])
        out.reshape(-1, 3)[self.at[first:last] - start * self.n_bins] = self.cells[first:last]
        return out

    def add(
        self,
        levels: Sequence[Sequence[Any]],
        codes: np.ndarray,
        at: np.ndarray,
        cells: np.ndarray,
        sums: np.ndarray,
    ) -> None:
        """Add sums; the arguments are as in a state, in any order, with groups and bins that may
        be equal.
        """
        own, new, known = len(self.codes), np.zeros_like(codes, dtype=np.int32), []
        old = np.zeros_like(self.codes)
        for j, values in enumerate(levels):
            used, code = present(codes[:, j], len(values))
            names = [*self.levels[j], *map(values.__getitem__, used.tolist())]
            place: dict[Any, int] = {}
            alike = of_one_kind(names) if j < len(self.settings["by"]) else names
            to = [place.setdefault(name, len(place)) for name in alike]
            old[:, j], new[:, j] = (
                np.array(part, dtype=np.int32)[index]
                for part, index in (
                    (to[: len(self.levels[j])], self.codes[:, j]),
                    (to[len(self.levels[j]) :], code),
                )
            )
            known.append(list(place))
        self.take(
            known,
            np.concatenate([old, new]),
            np.concatenate([self.at, at + own * self.n_bins]),
            np.concatenate([self.cells, cells]),
            np.concatenate([self.sums, sums]),
        )

    def take(
        self,
        levels: list[list[Any]],
        codes: np.ndarray,
        at: np.ndarray,
        cells: np.ndarray,
        sums: np.ndarray,
    ) -> None:
        """Hold these sums instead; equal groups become one, in the order of their codes."""
        self.levels = levels
        self.codes, row = distinct(list(zip(levels, codes.T, strict=True)), len(codes))
        self.sums = grouped_sums(row, len(self.codes), sums.T)[:, 1:]
        at = row[at // self.n_bins] * self.n_bins + at % self.n_bins
        self.at, index = np.unique(at, return_inverse=True)
        self.cells = grouped_sums(index, len(self.at), cells.T)[:, 1:]

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
        if len(self.codes):
            self.add(other.levels, other.codes, other.at, other.cells, other.sums)
        else:
            vars(self).update(vars(other), levels=[*other.levels])
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
        return GroupState(self.settings, self.n_bins, self.n_sums)

    def merged(self, part: Callable[..., Any]) -> "GroupState":
        """Sums over the groups with the same ``part(group)``, in order.

        ``part`` picks some of a group's elements, in any order. It is called once, with their
        positions.
        """
        columns = part(tuple(range(len(self.levels))))
        out, levels, codes = self._empty(), [], self.codes[:, columns]
        for j, column in enumerate(columns):
            order = _order(self.levels[column])
            levels.append([self.levels[column][i] for i in order])
            codes[:, j] = np.argsort(order)[codes[:, j]]
        out.take(levels, codes, self.at, self.cells, self.sums)
        return out

    def by(self, part: Callable[..., Any]) -> tuple[list[tuple[Any, ...]], np.ndarray, np.ndarray]:
        """``merged`` as (parts in order, bins (P, B, 3), sums (P, S))."""
        out = self.merged(part)
        return out.groups, out.bins, out.sums


def _order(values: list[Any]) -> list[int]:
    """Positions of the values in order: numbers, then others by their text, then None."""
    kinds = set(map(type, values))
    if not (kinds <= {int, float} or kinds == {str}):
        values = [
            (v is None, not isinstance(v, int | float), v if isinstance(v, int | float) else str(v))
            for v in values
        ]
    return sorted(range(len(values)), key=values.__getitem__)


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

    def _columns(self, part: Callable[..., Any], names: list[str]) -> dict[str, Any]:
        state = self.state.merged(part)
        n, step = len(state.codes), max(1, MOST_BINS // state.n_bins)
        # Fine bins of all slices at once may take more memory than there is.
        blocks = [
            self._numbers(state.dense(i, min(i + step, n)), state.sums[i : i + step])
            for i in range(0, max(n, 1), step)
        ]
        twice = [name for name in names if names.count(name) > 1 or name in blocks[0]]
        if twice:
            raise InputError(
                f"a column of slices must not have the name of another column of the result; got"
                f" {twice[0]!r}; rename it."
            )
        keys = {name: state.column(j) for j, name in enumerate(names)}
        return keys | {
            name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]
        }

    def overall(self) -> dict[str, float]:
        """The metrics of all rows together."""
        columns = self._columns(lambda g: (), [])
        return {name: float(values[0]) for name, values in columns.items() if len(values)}

    def frame(self, **options: Any) -> Any:
        """A pandas data frame with one row per slice; options are those of ``columns``."""
        return import_extra("pandas", "a data frame of an evaluation", "frames").DataFrame(
            self.columns(**options)
        )

    def to_dict(self) -> dict[str, Any]:
        """A dict for JSON: ``by``, ``overall`` and ``slices`` (one dict each; nan becomes None)."""
        columns = {
            name: np.where(np.isfinite(values), values, np.array(None)).tolist()
            if isinstance(values, np.ndarray)
            else plain([str(v) if isinstance(v, float) and np.isinf(v) else v for v in values])
            for name, values in self.columns().items()
        }
        slices = [
            dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
        ]
        whole = {"by": self.by, "bins": self._bins, "overall": self.overall()}
        return plain(whole) | {"slices": slices}


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
