"""Several predictions of the same rows: their classes by name, and the order of their rows."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from calibrant.core.arrays import column_names
from calibrant.core.labels import label_key
from calibrant.errors import InputError

__all__ = ["require_row_order", "shared_classes"]


def shared_classes(named: Mapping[str, Any]) -> list[Any] | None:
    """Return the classes by which several predictions are read, from the names of their columns.

    Frames are matched by name, whatever the order of their columns: in the order that all of them
    have, else in that of the sorted names, as labels without names are. Arrays have that order too.
    None where no columns are named.
    """
    columns = {name: _classes_of(one) for name, one in named.items()}
    orders = [one for one in columns.values() if one is not None]
    if not orders:
        return None
    if len(orders) == len(columns) and all(one == orders[0] for one in orders):
        return orders[0]
    in_order = _sorted(orders[0])
    bare = next((name for name, one in columns.items() if one is None), None)
    two = next((n for n, one in named.items() if columns[n] is None and np.ndim(one) == 2), bare)
    if bare is not None and any(one != in_order for one in orders):
        raise InputError(
            f"the columns of {two!r} must be named, because those of others are {orders[0]}; name"
            " them, or pass arrays alone with classes=."
        )
    return in_order


def _classes_of(one: Any) -> list[Any] | None:
    """The names of the columns of a frame of classes; None if they are positions or a single
    one.
    """
    names = column_names(one)
    if names is None or len(names) < 2:
        return None
    keys = [label_key(name) for name in names]
    return None if keys == list(range(len(keys))) else keys


def _sorted(names: list[Any]) -> list[Any]:
    try:
        return sorted(names)
    except TypeError:
        return sorted(names, key=str)


def require_row_order(named: Mapping[str, Any]) -> None:
    """Raise InputError if two pandas objects have the same row labels in another order: rows are
    paired by their order, and no other pairing is meant.
    """
    rows = {name: one.index for name, one in named.items() if hasattr(one, "iloc")}
    for name, index in list(rows.items())[1:]:
        first, other = next(iter(rows.items()))
        if len(index) != len(other) or index.equals(other):
            continue
        places = other.get_indexer(index) if other.is_unique and index.is_unique else np.array([-1])
        if (places >= 0).all():
            at = int((places != np.arange(len(places))).argmax())
            raise InputError(
                f"{name} must have its rows in the order of {first}; row {at} of {name} is labelled"
                f" {index[at]!r} and that of {first} {other[at]!r}; pass {name}.loc[{first}.index],"
                " or reset the index of both if their rows are in one order."
            )
