"""Records of equal-length arrays, which displays draw, and conversion of results to JSON values."""

import math
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Self, cast

import numpy as np

from calibrant.core.extras import import_extra

__all__ = ["Known", "Record", "Result", "plain", "thin"]


@dataclass(frozen=True)
class Record:
    """Base of curve records: named columns of one length."""

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns as lists, ready for JSON."""
        return {f.name: getattr(self, f.name).tolist() for f in fields(self)}

    def thinned(self, most: int) -> Self:
        """At most about ``most`` evenly spaced rows, including the first and the last."""
        rows = thin(len(getattr(self, fields(self)[0].name)), most)
        return replace(self, **{f.name: getattr(self, f.name)[rows] for f in fields(self)})

    def frame(self) -> Any:
        """The columns as a pandas data frame."""
        pandas = import_extra("pandas", "a data frame of a curve", "frames")
        return pandas.DataFrame({f.name: getattr(self, f.name) for f in fields(self)})


def thin(count: int, most: int) -> np.ndarray:
    """At most about ``most`` evenly spaced positions of ``count`` rows, including the first and the
    last.
    """
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))


class Known:
    """Base of results with optional numbers: a dictionary omits those that are None."""

    def to_dict(self) -> dict[str, Any]:
        """The numbers that are not None."""
        return {name: value for name, value in vars(self).items() if value is not None}


class Result:
    """Base of results that are a dictionary of their fields."""

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON: nan and infinity become None."""
        return plain(vars(self))


def plain(value: Any) -> Any:
    """Dataclasses as dictionaries, arrays as lists, NumPy's numbers as Python's, nan and infinity
    as None, others (times) as text.

    A dataclass with ``to_dict`` uses it; a trailing underscore in the name of a field, as in
    ``class_``, is removed.

    Examples
    --------
    >>> plain(
    ...     {"n": np.int64(2), "ece": np.array([0.5, np.nan]), "when": np.datetime64("2026-01-31")}
    ... )
    {'n': 2, 'ece': [0.5, None], 'when': '2026-01-31'}
    """
    if is_dataclass(value) and not isinstance(value, type):
        known = getattr(value, "to_dict", lambda: vars(cast(object, value)))()
        return {k.removesuffix("_"): plain(v) for k, v in cast(dict[str, Any], known).items()}
    found: Any = value
    if isinstance(found, dict):
        return {k: plain(v) for k, v in cast(dict[str, Any], found).items()}
    if isinstance(found, list | tuple | np.ndarray):
        return [plain(v) for v in cast(list[Any], found)]
    if isinstance(found, np.number | np.bool_):
        return plain(cast(Any, found).item())
    if isinstance(found, float) and not math.isfinite(found):
        return None
    return found if found is None or isinstance(found, bool | int | float | str) else str(found)
