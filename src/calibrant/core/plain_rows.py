"""Base of the records of a further kind of prediction."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from calibrant.core.workspace import Derived
from calibrant.errors import InputError

__all__ = ["PlainRows"]


@dataclass(frozen=True)
class PlainRows:
    """Validated rows of one output, without features: a record that metrics read.

    A subclass adds the predictions and the outcomes, and implements ``__len__``, ``mark`` and
    ``_own(rows)``. If calibrators are fitted on its rows, it also implements ``recalibrated`` and
    ``gathered``. Rows of weight 0 have been dropped.

    Attributes
    ----------
    weight : (n,) positive, or None where every row counts once
    kept : (n given,) mask of the rows kept, or None
    cluster : (n,) intp, which rows are dependent, or None
    """

    weight: np.ndarray | None = field(default=None, kw_only=True)
    kept: np.ndarray | None = field(default=None, repr=False, kw_only=True)
    cluster: np.ndarray | None = field(default=None, repr=False, kw_only=True)

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    @abstractmethod
    def mark(self) -> np.ndarray:
        """(n,) a number from the content of each row, by which clusters are numbered."""

    @abstractmethod
    def _own(self, rows: Any) -> dict[str, Any]:
        """The record's own fields, for some of the rows."""

    @cached_property
    def weights(self) -> np.ndarray:
        """(n,) float64, ones where no weights were given."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @cached_property
    def derived(self) -> Derived:
        """Cache of values that several metrics of these rows derive."""
        return Derived()

    @property
    def shares(self) -> None:
        """None: there are no soft labels."""

    @property
    def several(self) -> bool:
        """False: there is one output."""
        return False

    @property
    def strata(self) -> np.ndarray:
        """(n,) zeros: folds are not stratified."""
        return np.zeros(len(self), dtype=np.intp)

    @property
    def calibrator_params(self) -> dict[str, Any]:
        """Nothing."""
        return {}

    def take(self, rows: Any) -> Self:
        """The same record for some of the rows (indices, mask or slice)."""
        weight, cluster = (None if v is None else v[rows] for v in (self.weight, self.cluster))
        return replace(self, weight=weight, cluster=cluster, kept=None, **self._own(rows))

    def blocks(self, size: int = 0) -> list[Self]:
        """The record itself."""
        return [self]

    def per_row(self, values: np.ndarray) -> np.ndarray:
        """The entries of the kept rows, from one entry per input row."""
        return values if self.kept is None else values[self.kept]

    def outputs(self) -> list[Self]:
        """The record itself."""
        return [self]

    def one_output(self) -> Self:
        """The record itself."""
        return self

    def other_labels(self, other: Any) -> list[np.ndarray]:
        """None: other outcomes are not known."""
        return []

    def without_features(self) -> Self:
        """The record itself."""
        return self

    def agrees_with(self, other: Any) -> bool:
        """Whether both have the same rows and content."""
        return len(self) == len(other) and bool(np.allclose(self.mark, other.mark))

    def gathered(self, parts: Any, rows: Sequence[np.ndarray]) -> Any:
        """Refused, unless a subclass has calibrators."""
        raise _refused(self)

    def recalibrated(self, result: Any, output: str = "") -> Any:
        """Refused, unless a subclass has calibrators."""
        raise _refused(self)


def _refused(record: PlainRows) -> InputError:
    return InputError(
        f"{type(record).__name__} can only be scored; pass predictions of classes or"
        " forecasts to fit a calibrator."
    )
