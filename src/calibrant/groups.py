"""Groups of rows: labels of any kind, missing ones and crossings of several columns among them, become names and numbers."""

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant.arrays import column_names, plain_array
from calibrant.errors import InputError, SparseDataWarning, warn
from calibrant.labels import array_of, is_missing, label_array, label_key

__all__ = ["Groups", "clustered", "coded", "group_columns", "label_columns", "n_clusters", "read_clusters", "read_groups"]

#: Below so many clusters what is said of them is rough.
FEW_CLUSTERS = 10


@dataclass(frozen=True)
class Groups:
    """Which group each row is of.

    Attributes
    ----------
    names : (G,) in sorted order: numbers, then texts, then others; None, the last, for rows without a label
        Tuples where several columns are crossed.
    index : (n,) intp, the position of each row's group in ``names``.
    """

    names: np.ndarray
    index: np.ndarray

    def __len__(self) -> int:
        return len(self.names)

    @property
    def texts(self) -> list[str]:
        """The names to be read, no two the same: 1 and "1" would be."""
        plain = [_text(name) for name in self.names.tolist()]
        count = Counter(plain)
        return [text if count[text] == 1 else repr(name) for text, name in zip(plain, self.names.tolist(), strict=True)]


def read_groups(groups: Any, record: Any, name: str = "groups") -> Groups:
    """The groups of a record's rows.

    Parameters
    ----------
    groups : (n,) labels of any kind, or (n, c) or a frame of c columns, whose combinations are the groups
        None, NaN, NaT and NA mean that a row has no label; such rows are a group of their own.
    record : Predictions or ForecastRecord
        Rows that it has left out are left out here.
    name : str
        Of the argument, for the errors.

    Returns
    -------
    Groups

    Raises
    ------
    InputError
        When there is not one label a row, or one is not hashable.

    Examples
    --------
    >>> from calibrant.predictions import read
    >>> read_groups(["b", 1, None, "1", "b"], read([0.5] * 5)).names.tolist()
    [1, '1', 'b', None]
    >>> read_groups([["f", "old"], ["m", "old"], ["f", "old"]], read([0.5] * 3)).names.tolist()
    [('f', 'old'), ('m', 'old')]
    """
    parts = [coded(column, name) for _, column in label_columns(groups, record, name)]
    if len(parts) == 1:
        return parts[0]
    code = np.zeros(len(record), dtype=np.intp)
    for part in parts:
        code = code * len(part) + part.index
    found, index = np.unique(code, return_inverse=True)
    names = []
    for part in reversed(parts):
        found, digit = np.divmod(found, len(part))
        names.append(part.names[digit].tolist())
    return Groups(array_of(list(zip(*reversed(names), strict=True))), index)


def read_clusters(cluster: Any, record: Any) -> np.ndarray:
    """(n,) numbers 0..G-1 of the clusters of a record's rows, from labels as ``read_groups`` takes them; few of them warn."""
    index = read_groups(cluster, record, "cluster").index
    count = len(np.unique(index))
    if count < 2:
        raise InputError("cluster must name two clusters or more; got one; leave it out if rows do not hang together.")
    if count < FEW_CLUSTERS:
        warn(
            f"cluster names {count} clusters; from fewer than {FEW_CLUSTERS} an interval or a test is rough; have more of them measured.",
            SparseDataWarning,
        )
    return index


def n_clusters(record: Any) -> int | None:
    """How many clusters a record's rows are of; None where they do not hang together."""
    return None if record.cluster is None else len(np.unique(record.cluster))


def clustered(record: Any, cluster: Any) -> Any:
    """The record with its rows' clusters, for intervals and tests to count them; as it is where ``cluster`` is None."""
    return record if cluster is None else replace(record, cluster=read_clusters(cluster, record))


def label_columns(groups: Any, record: Any, name: str = "groups") -> list[tuple[str | None, np.ndarray]]:
    """(its name, None where it has none; labels of the record's rows, (n,)) of each column of a frame, a mapping or an (n, c) array, or of
    the one that labels are."""
    return [(called, _kept(column, record, name)) for called, column in group_columns(groups, name)]


def group_columns(groups: Any, name: str = "groups") -> list[tuple[str | None, np.ndarray]]:
    """``label_columns`` of what has no record yet: every row given."""
    column_names(groups, name)
    if isinstance(groups, Mapping):
        return [(str(column), _labels(values, name)) for column, values in groups.items()]
    if hasattr(groups, "columns") and hasattr(groups, "shape"):
        columns = getattr(groups, "column_names", groups.columns)
        return [(str(column), _labels(groups[column], name)) for column in columns]
    labels = _labels(groups, name)
    called = getattr(groups, "name", None)
    called = called if isinstance(called, str) else None
    return [(f"column {j + 1}", column) for j, column in enumerate(labels.T)] if labels.ndim == 2 else [(called, labels)]


def _labels(values, name):
    """Labels as an array that keeps each as it is; times are ISO texts, as in ``calibrant.evaluate``."""
    labels = label_array(values, name) if isinstance(values, list | tuple) else plain_array(values, name)
    if labels.dtype.kind != "M":
        return label_array(labels, name)
    days = labels.astype("datetime64[D]")
    missing = np.isnat(labels)
    texts = (days if (days == labels)[~missing].all() else labels).astype(str).astype(object)
    texts[missing] = None
    return texts


def _kept(column, record, name):
    n_rows = len(record) if record.kept is None else len(record.kept)
    if column.shape != (n_rows,):
        rule = f"{name} must have {n_rows} rows, as the predictions or labels it belongs to"
        raise InputError(f"{rule}; got shape {column.shape}; pass one label a row, or a frame of several columns.")
    return column if record.kept is None else column[record.kept]


def coded(labels: np.ndarray, name: str = "groups") -> Groups:
    """The groups that labels (n,) of any kind name."""
    if labels.dtype.kind in "biuUS" or (labels.dtype.kind == "f" and not np.isnan(labels).any()):
        return Groups(*np.unique(labels, return_inverse=True))
    seen: dict[Hashable, int] = {}
    try:
        index = np.fromiter((seen.setdefault(_identity(v), len(seen)) for v in labels.tolist()), np.intp, len(labels))
    except TypeError:
        odd = next(type(v).__name__ for v in labels.tolist() if not isinstance(v, Hashable))
        raise InputError(f"{name} must be hashable labels; got a {odd} among them; pass texts or numbers.") from None
    found = list(seen)
    order = sorted(range(len(found)), key=lambda i: _place(found[i]))
    place = np.empty(len(found), dtype=np.intp)
    place[order] = np.arange(len(found))
    return Groups(array_of([found[i] for i in order]), place[index])


def _identity(label):
    """Labels that are one group share it: those that compare equal, and those that are missing."""
    if isinstance(label, tuple):
        return tuple(map(_identity, label))
    return None if is_missing(label) else label_key(label)


def _place(label):
    """Where a label stands among others of any kind."""
    if label is None:
        return (3,)
    if isinstance(label, tuple):
        return (2, "tuple", *map(_place, label))
    if isinstance(label, int | float):
        return (0, label)
    return (1, label) if isinstance(label, str) else (2, type(label).__name__, str(label))


def _text(name):
    if isinstance(name, tuple):
        return ", ".join(map(_text, name))
    return "(missing)" if name is None else str(name)
