"""The protocol of records of every kind of prediction, used by metrics, folds, comparisons and
reports.
"""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np

__all__ = ["Record"]


@runtime_checkable
class Record(Protocol):
    """Validated rows: predictions and outcomes.

    Rows of weight 0 have been dropped. A record is immutable; derived values may be cached in
    ``derived``.

    Examples
    --------
    >>> from calibrant.core.forecasts_read import read_forecast
    >>> from calibrant.core.predictions_read import read
    >>> isinstance(read([0.2, 0.7], [0, 1]), Record)
    True
    >>> isinstance(read_forecast([0.0], [1.0], [0.3]), Record)
    True
    """

    #: It is a dataclass: use ``dataclasses.replace`` to change weights or clusters.
    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def weight(self) -> np.ndarray | None:
        """(n,) positive, or None where every row counts once."""

    @property
    def weights(self) -> Any:
        """(n,) float64, ones where none were given."""

    @property
    def cluster(self) -> np.ndarray | None:
        """(n,) the cluster of each row, or None."""

    @property
    def kept(self) -> np.ndarray | None:
        """(n given,) mask of the input rows that were kept, or None for all."""

    @property
    def mark(self) -> np.ndarray:
        """(n,) a number from the content of each row, by which clusters are numbered."""
        ...

    @property
    def strata(self) -> np.ndarray:
        """(n,) strata of the folds."""
        ...

    @property
    def shares(self) -> np.ndarray | None:
        """The shares of soft labels; None if there are none."""

    @property
    def several(self) -> bool:
        """Whether it has several outputs."""
        ...

    @property
    def derived(self) -> Any:
        """A ``Derived`` cache of values that several metrics of these rows derive."""

    @property
    def calibrator_params(self) -> dict[str, Any]:
        """Arguments of a calibrator to be fitted on these rows."""
        ...

    def __len__(self) -> int: ...

    def take(self, rows: Any) -> Self:
        """Some of the rows: indices, a mask or a slice."""
        ...

    def blocks(self, size: int = ...) -> Iterable[Self]:
        """The rows in slices that fit a cache."""
        ...

    def per_row(self, values: np.ndarray) -> np.ndarray:
        """The entries of the kept rows, from one entry per input row."""
        ...

    def outputs(self) -> Sequence[Self]:
        """One record for each output."""
        ...

    def one_output(self) -> Self:
        """The record itself; raises an error if it has several outputs."""
        ...

    def other_labels(self, other: Any) -> list[np.ndarray]:
        """Possible labels of these rows, (n,) each; none if unknown."""
        ...

    def without_features(self) -> Self:
        """The record without features, for a calibrator that uses none."""
        ...

    def gathered(self, parts: Any, rows: Sequence[np.ndarray]) -> Any:
        """Calibrated predictions, from those of several fits for ``rows[k]`` each, which are in any
        order.
        """

    def recalibrated(self, result: Any, output: str = ...) -> Self:
        """The same rows with a calibrator's predictions."""
        ...

    def agrees_with(self, other: Any) -> bool:
        """Whether both predict the same for all rows, up to rounding."""
        ...
