"""What the rows of every kind of prediction can do: the protocol that metrics, folds, comparisons
and reports rely on.
"""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np

__all__ = ["Record"]


@runtime_checkable
class Record(Protocol):
    """Rows that were read once: what was said of each, and what came true.

    Rows of weight 0 have been dropped. A record is never changed; what is derived of it may be
    kept in ``derived``.

    Examples
    --------
    >>> from calibrant.forecasts.read import read_forecast
    >>> from calibrant.predictions import read
    >>> isinstance(read([0.2, 0.7], [0, 1]), Record)
    True
    >>> isinstance(read_forecast([0.0], [1.0], [0.3]), Record)
    True
    """

    #: It is a dataclass: rows with other weights or clusters are made by ``dataclasses.replace``.
    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def weight(self) -> np.ndarray | None:
        """(n,) positive, or None where every row counts once."""

    @property
    def weights(self) -> Any:
        """(n,) float64, ones where none were given."""

    @property
    def cluster(self) -> np.ndarray | None:
        """(n,) which rows hang together, or None."""

    @property
    def kept(self) -> np.ndarray | None:
        """(n given,) which of the rows given are held, or None where all are."""

    @property
    def mark(self) -> np.ndarray:
        """(n,) a number that follows what each row says and is, by which clusters are numbered."""
        ...

    @property
    def strata(self) -> np.ndarray:
        """(n,) what folds keep in balance."""
        ...

    @property
    def shares(self) -> np.ndarray | None:
        """Of labels that are shared out among classes, these shares; None where none are."""

    @property
    def several(self) -> bool:
        """Whether it has several outputs."""
        ...

    @property
    def derived(self) -> Any:
        """A ``Derived`` for what several measurements of these very rows derive from them."""

    @property
    def calibrator_params(self) -> dict[str, Any]:
        """What a calibrator must be told of the rows before it is fitted on them."""
        ...

    def __len__(self) -> int: ...

    def take(self, rows: Any) -> Self:
        """Some of the rows: indices, a mask or a slice."""
        ...

    def blocks(self, size: int = ...) -> Iterable[Self]:
        """The rows in slices that fit a cache."""
        ...

    def per_row(self, values: np.ndarray) -> np.ndarray:
        """Of something said of each row given, what is of the rows kept."""
        ...

    def outputs(self) -> Sequence[Self]:
        """One record for each output."""
        ...

    def one_output(self) -> Self:
        """The record itself, refused where it has several outputs."""
        ...

    def other_labels(self, other: Any) -> list[np.ndarray]:
        """Labels that these rows might have had, (n,) each; none where that is not known."""
        ...

    def without_features(self) -> Self:
        """For a calibrator that uses none."""
        ...

    def gathered(self, parts: Any, rows: Sequence[np.ndarray]) -> Any:
        """What calibrators said, from what several fits said of ``rows[k]`` each."""

    def recalibrated(self, result: Any, output: str = ...) -> Self:
        """The same rows with what a calibrator says of them."""
        ...

    def agrees_with(self, other: Any) -> bool:
        """Whether both say the same of all rows, up to rounding."""
        ...
