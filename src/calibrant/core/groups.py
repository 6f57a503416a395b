"""Groups of rows, and rows picked from whatever holds them.

Labels of groups of any kind, including missing ones and crossings of several columns, become names
and numbers. Rows are taken from containers of features, labels or fit arguments, and ordered by
their content, in which folds and draws are made.
"""

import hashlib
from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

import numpy as np
import scipy

from calibrant._numerics.bootstrap import (
    entry_codes,
    level_codes,
    mixed_codes,
    numbered_by_content,
    row_codes,
    table_codes,
)
from calibrant.core.arrays import column_names, plain_array, rows_named
from calibrant.core.labels import array_of, by_text, is_missing, label_array, label_key, levels_of
from calibrant.errors import CalibrationWarning, InputError, SparseDataWarning, warn

__all__ = [
    "Groups",
    "NamedColumns",
    "WeightKind",
    "cluster_numbers",
    "cluster_ways",
    "clustered",
    "coded",
    "codes_of",
    "crossed",
    "distinct",
    "feature_codes",
    "group_columns",
    "groups_given",
    "in_clusters",
    "in_order",
    "label_columns",
    "labelled_codes",
    "n_clusters",
    "n_rows",
    "order_of",
    "read_clusters",
    "read_groups",
    "require_names",
    "rows_apart",
    "take_optional",
    "take_rows",
]


#: Kinds of weights: repetitions of a row, or one row that represents others.
WeightKind = Literal["frequency", "sampling"]
WEIGHT_KINDS = get_args(WeightKind)
NOT_WHOLE = 1e-9
NO_REPETITIONS = (
    "sample_weight holds numbers that are not whole, and intervals and tests treat a weight as a"
    ' number of rows; for sampling or importance weights pass weight_kind="sampling".'
)
#: Below this many clusters intervals and tests are rough.
FEW_CLUSTERS = 10


@dataclass(frozen=True)
class Groups:
    """The group of each row.

    Attributes
    ----------
    names : (G,) in sorted order: numbers, then texts, then others; None, the last, for rows without
        a label
        Tuples where several columns are crossed.
    index : (n,) intp, the position of each row's group in ``names``.
    """

    names: np.ndarray
    index: np.ndarray

    def __len__(self) -> int:
        return len(self.names)

    @property
    def texts(self) -> list[str]:
        """The names as distinct texts: 1 and "1" would be equal."""
        plain = [_text(name) for name in self.names.tolist()]
        count = Counter(plain)
        return [
            text if count[text] == 1 else repr(name)
            for text, name in zip(plain, self.names.tolist(), strict=True)
        ]


class NamedColumns:
    """Columns of groups by name, from a mapping: the form that a record holds without a data frame
    library.

    Attributes
    ----------
    columns : list of the names.
    shape : (n, c)
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._held: dict[str, np.ndarray] = {
            name: _labels(values, "groups") for name, values in by_text(given, "groups").items()
        }
        shapes = {column.shape for column in self._held.values()}
        if len(shapes) != 1 or len(next(iter(shapes))) != 1:
            raise InputError(
                f"groups must have columns of one length; got shapes {sorted(shapes)}; give each"
                " row one label a column."
            )
        self.columns: list[str] = list(self._held)
        self.shape: tuple[int, int] = (*shapes.pop(), len(self.columns))

    def __getitem__(self, key: Any) -> Any:
        """A column by its name; some columns by a list of theirs; or the rows at positions,
        (m,).
        """
        if isinstance(key, str):
            return self._held[key]
        if isinstance(key, list):
            return NamedColumns({name: self._held[name] for name in key})
        return NamedColumns({name: column[key] for name, column in self._held.items()})

    def to_numpy(self) -> np.ndarray:
        """(n, c) labels."""
        return np.column_stack([column.astype(object) for column in self._held.values()])


def groups_given(groups: Any, n_rows: int) -> Any:
    """Groups as a record keeps them: unchanged after a check of their rows; lists and mappings
    become arrays of labels.
    """
    if isinstance(groups, Mapping):
        groups = NamedColumns(groups)
    if isinstance(groups, list | tuple):
        rows = bool(groups) and all(isinstance(row, list) for row in groups)
        groups = np.array(groups, dtype=object) if rows else label_array(groups, "groups")
    return rows_named(groups, "groups", n_rows)


def read_groups(groups: Any, record: Any, name: str = "groups") -> Groups:
    """Return the groups of a record's rows.

    Parameters
    ----------
    groups : (n,) labels of any kind, or (n, c) or a frame of c columns, whose combinations are the
        groups. Rows without a label form a separate group; ``calibrant.core.labels`` defines how
        labels are read.
    record : Predictions or ForecastRecord
        Rows that it dropped are dropped here.
    name : str
        Name of the argument in errors.

    Returns
    -------
    Groups

    Raises
    ------
    InputError
        When there is not one label per row, or one is not hashable.

    Examples
    --------
    >>> from calibrant.core.predictions import read
    >>> read_groups(["b", 1, None, "1", "b"], read([0.5] * 5)).names.tolist()
    [1, '1', 'b', None]
    >>> read_groups([["f", "old"], ["m", "old"], ["f", "old"]], read([0.5] * 3)).names.tolist()
    [('f', 'old'), ('m', 'old')]
    """
    return crossed([coded(column, name) for _, column in label_columns(groups, record, name)])


def crossed(parts: list[Groups]) -> Groups:
    """The observed combinations of the groups of several columns; one column is unchanged."""
    if len(parts) == 1:
        return parts[0]
    code = np.zeros(len(parts[0].index), dtype=np.intp)
    for part in parts:
        code = code * len(part) + part.index
    found, index = np.unique(code, return_inverse=True)
    names = []
    for part in reversed(parts):
        found, digit = np.divmod(found, len(part))
        names.append(part.names[digit].tolist())
    return Groups(array_of(list(zip(*reversed(names), strict=True))), index)


def cluster_ways(cluster: Any) -> list[np.ndarray]:
    """The columns of ``cluster``: one of labels, or two crossed ones; none if it is None."""
    ways = [] if cluster is None else [column for _, column in group_columns(cluster, "cluster")]
    if len(ways) > 2:
        raise InputError(
            f"cluster must be one column of labels, or two crossed ones; got {len(ways)}; leave out"
            " those nested within another."
        )
    return ways


def cluster_numbers(cluster: Any, record: Any) -> np.ndarray:
    """(n,) numbers 0..G-1 of the clusters of a record's rows, from labels as ``read_groups`` takes
    them; every row must be named.
    """
    found = read_groups(cluster, record, "cluster")
    require_names(found, "cluster")
    return found.index


def require_names(found: Groups, name: str) -> None:
    """Raise InputError if rows have no name, as these need not belong together."""
    parts = (label if isinstance(label, tuple) else (label,) for label in found.names.tolist())
    rows = np.array([None in each for each in parts], dtype=bool)[found.index]
    if rows.any():
        raise InputError(
            f"{name} must name every row; {rows.sum():,} of {len(rows):,} have no name; give each"
            " its own name, or drop these rows."
        )


def read_clusters(cluster: Any, record: Any) -> np.ndarray:
    """(n,) numbers 0..G-1 of the clusters of a record's rows, from labels as ``read_groups`` takes
    them; warns if they are few.
    """
    if len(cluster_ways(cluster)) > 1:
        raise InputError(
            "cluster must be one column of labels here; got two; only the intervals of means and"
            " of ratios of sums (metric.interval) take two; pass one of them."
        )
    index = cluster_numbers(cluster, record)
    count = len(np.unique(index))
    if count < 2:
        raise InputError(
            "cluster must name two clusters or more; got one; leave it out if rows are independent."
        )
    if count < FEW_CLUSTERS:
        warn(
            f"cluster names {count} clusters; with fewer than {FEW_CLUSTERS} an interval or a test"
            " is rough; collect more clusters.",
            SparseDataWarning,
        )
    return index


def n_clusters(record: Any) -> int | None:
    """The number of clusters of a record; None if its rows are independent."""
    count = 0 if record.cluster is None else len(np.unique(record.cluster))
    return count if 0 < count < len(record) else None


def rows_apart(record: Any) -> bool:
    """Whether each row of a record is its own cluster, as with sampling weights."""
    return record.cluster is not None and n_clusters(record) is None


def clustered(record: Any, cluster: Any, weight_kind: WeightKind | None = None) -> Any:
    """The record with its rows' clusters, for intervals and tests; unchanged if ``cluster`` is
    None.

    Rows with sampling weights are clusters of unequal size, each of one row. Without a kind,
    weights raise no warning.
    """
    if not (weight_kind is None or (isinstance(weight_kind, str) and weight_kind in WEIGHT_KINDS)):
        raise InputError(f"weight_kind must be one of {list(WEIGHT_KINDS)}; got {weight_kind!r}.")
    if record.weight is not None and weight_kind == "sampling":
        record = replace(record, weight=record.weight * (len(record) / record.weight.sum()))
        if cluster is None:
            return replace(record, cluster=np.arange(len(record)))
    elif (
        record.weight is not None
        and weight_kind == "frequency"
        # Weights that sum to one row raise a separate error.
        and record.weight.sum() > 1.0
        and np.any(np.abs(record.weight - np.rint(record.weight)) > NOT_WHOLE * record.weight)
    ):
        warn(NO_REPETITIONS, CalibrationWarning)
    if cluster is None:
        return record
    return in_clusters(record, read_clusters(cluster, record))


def in_clusters(record: Any, index: np.ndarray) -> Any:
    """The record in clusters 0..G-1, (n,), renumbered by their content, so that draws do not depend
    on their names.
    """
    return replace(record, cluster=numbered_by_content(index, record.mark, record.weights))


def label_columns(
    groups: Any, record: Any, name: str = "groups"
) -> list[tuple[str | None, np.ndarray]]:
    """(name or None, labels of the record's rows (n,)) of each column of a frame, a mapping or an
    (n, c) array, or of one column of labels."""
    return [(called, _kept(column, record, name)) for called, column in group_columns(groups, name)]


def group_columns(groups: Any, name: str = "groups") -> list[tuple[str | None, np.ndarray]]:
    """``label_columns`` without a record: for every input row; at least one."""
    columns = _columns_of(groups, name)
    if not columns:
        raise InputError(
            f"{name} must have a column or more; got none; leave it out where there is none."
        )
    if odd := [column.shape for _, column in columns if column.ndim > 1]:
        raise InputError(
            f"{name} must have one label in each row of a column; got a column of shape {odd[0]};"
            " pass (n,) labels, or (n, c) for c columns."
        )
    return columns


def _columns_of(groups: Any, name: str) -> list[tuple[str | None, np.ndarray]]:
    column_names(groups, name)
    if isinstance(groups, Mapping):
        return [(text, _labels(values, name)) for text, values in by_text(groups, name).items()]
    if hasattr(groups, "columns") and hasattr(groups, "shape"):
        columns = getattr(groups, "column_names", groups.columns)
        columns = by_text({column: groups[column] for column in columns}, name)
        return [(text, _labels(values, name)) for text, values in columns.items()]
    labels = _labels(groups, name)
    called = getattr(groups, "name", None)
    called = called if isinstance(called, str) else None
    return (
        [(f"column {j + 1}", labels[:, j]) for j in range(labels.shape[1])]
        if labels.ndim > 1
        else [(called, labels)]
    )


def _labels(values: Any, name: str) -> np.ndarray:
    """Labels as an array that keeps each unchanged, except times, which become levels."""
    labels = (
        label_array(values, name) if isinstance(values, list | tuple) else plain_array(values, name)
    )
    if labels.dtype.kind not in "mM":
        return label_array(labels, name)
    found, index = np.unique(labels, return_inverse=True)
    return np.array(levels_of(found), dtype=object)[index].reshape(labels.shape)


def _kept(column: np.ndarray, record: Any, name: str) -> np.ndarray:
    n_rows = len(record) if record.kept is None else len(record.kept)
    if column.shape != (n_rows,):
        rule = f"{name} must have {n_rows} rows, as the predictions or labels it belongs to"
        raise InputError(
            f"{rule}; got shape {column.shape}; pass one label per row, or a frame of several"
            " columns."
        )
    return column if record.kept is None else column[record.kept]


def coded(labels: np.ndarray, name: str = "groups") -> Groups:
    """The groups named by labels (n,) of any kind, each read by ``levels.level_of``."""
    found = distinct(labels, name)
    if found.names.dtype.kind in "biuf":
        return found
    levels = levels_of(found.names)
    return found if levels == found.names.tolist() else _in_order(levels, found.index)


#: Labels are sorted only where more than so many names, or others, are among so many of them.
FEW_NAMES, LOOKED_AT = 2_000, 20_000


def distinct(labels: np.ndarray, name: str = "groups") -> Groups:
    """The distinct labels (n,), unchanged; missing values count as one."""
    if labels.dtype.kind in "biuUS" or (labels.dtype.kind == "f" and not np.isnan(labels).any()):
        names = np.unique(labels[:: 1 + len(labels) // LOOKED_AT])
        if 0 < len(names) <= FEW_NAMES:
            index = np.minimum(np.searchsorted(names, labels), len(names) - 1)
            if (names[index] == labels).all():
                return Groups(names, index)
        return Groups(*np.unique(labels, return_inverse=True))
    seen, values = dict[Hashable, int](), labels.tolist()
    try:
        number = {v: seen.setdefault(_identity(v), len(seen)) for v in dict.fromkeys(values)}
        index = np.fromiter(map(number.__getitem__, values), np.intp, len(labels))
    except TypeError:
        odd = next(type(v).__name__ for v in values if not isinstance(v, Hashable))
        raise InputError(
            f"{name} must be hashable labels; got a {odd} among them; pass texts or numbers."
        ) from None
    return _in_order(list(seen), index)


def _in_order(labels: Any, index: np.ndarray) -> Groups:
    """The sorted groups of rows (n,), from the index of each row's label."""
    found = list(dict.fromkeys(labels))
    order = sorted(range(len(found)), key=lambda i: _place(found[i]))
    place = {found[i]: k for k, i in enumerate(order)}
    to = np.array([place[label] for label in labels], dtype=np.intp)
    return Groups(array_of([found[i] for i in order]), to[index])


def _identity(label: float) -> Any:
    """Key of the group of a label: equal labels, and missing ones, share a key."""
    if isinstance(label, tuple):
        return tuple(map(_identity, label))
    return None if is_missing(label) else label_key(label)


def _place(label: Any) -> tuple[Any, ...]:
    """Sort key of a label among labels of any kind."""
    if label is None:
        return (3,)
    if isinstance(label, tuple):
        return (2, "tuple", *map(_place, label))
    if isinstance(label, int | float):
        return (0, label)
    return (1, label) if isinstance(label, str) else (2, type(label).__name__, str(label))


def _text(name: int) -> str:
    if isinstance(name, tuple):
        return ", ".join(map(_text, name))
    return "(missing)" if name is None else str(name)


# -- Rows of any container -------------------------------------------------------------------------

#: Fields of a record that are no content of its rows, or whose numbers depend on names.
NO_CONTENT = ("weight", "labels", "own", "kept", "cluster", "start", "decimals")
#: Decimals of the first key of the order, which is free of rounding.
DECIMALS = 9
#: Normal scores of the levels at which forecasts are compared.
LEVELS: np.ndarray = np.array([-3.0, -1.5, -0.5, 0.0, 0.5, 1.5, 3.0])


def n_rows(X: Any) -> int:
    """Number of rows of an array, sparse matrix, data frame or list."""
    return X.shape[0] if hasattr(X, "shape") and len(X.shape) else len(X)


def take_rows(X: Any, rows: np.ndarray) -> Any:
    """Some rows, by position, of an array, sparse matrix, pandas or polars object, pyarrow
    table, or list; the same kind of object.
    """
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if scipy.sparse.issparse(X):
        return X.tocsr()[rows]
    if hasattr(X, "schema") and hasattr(X, "take"):
        return X.take(rows)
    if hasattr(X, "shape"):
        return X[rows]
    return [X[i] for i in np.asarray(rows).tolist()]


def take_optional(values: dict[str, Any], rows: np.ndarray, total: int) -> dict[str, Any]:
    """Fit arguments for some rows: those with one entry per row are subset, the others are passed
    unchanged.
    """
    out = {}
    for name, value in values.items():
        sized = hasattr(value, "__len__") or hasattr(value, "shape")
        per_row = (
            sized
            and not isinstance(value, str | bytes | dict)
            and getattr(value, "shape", None) != ()
        )
        out[name] = take_rows(value, rows) if per_row and n_rows(value) == total else value
    return out


def feature_codes(X: Any, weight: np.ndarray | None = None) -> np.ndarray:
    """(n,) uint64 from the content of each row of features in any container; equal rows have equal
    codes. The order and the names of the columns do not count; a row of weight 2 counts as two.
    """
    if scipy.sparse.issparse(X):
        return _sparse_codes(X.tocsr(), weight)
    if isinstance(X, NamedColumns | dict) or hasattr(X, "columns"):
        columns = [column for _, column in group_columns(X, "X")]
        return table_codes(np.column_stack([_numbers(c) for c in columns]), weight)
    numbers = _numbers(X)
    return table_codes(numbers.reshape(len(numbers), -1), weight)


def _numbers(X: Any) -> np.ndarray:
    """X as numbers; where it is not, a number for each row's text."""
    try:
        values = np.asarray(X)
    except ValueError:
        values = np.array([repr(row) for row in X], dtype=object)
    if values.dtype.kind in "biuf":
        return _single(values)
    rows = list(map(repr, values.tolist()))
    known = {text: _text_code(text) >> 11 for text in set(rows)}
    return np.array([known[row] for row in rows], dtype=np.float64)


def _sparse_codes(X: Any, weight: np.ndarray | None) -> np.ndarray:
    """The codes of ``table_codes`` for a sparse matrix, from its entries."""
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    return entry_codes(X.shape, rows, X.indices, _single(X.data), weight)


def _single(values: np.ndarray) -> np.ndarray:
    """Numbers in single precision: last bits, which differ between processors, do not count."""
    with np.errstate(over="ignore"):
        return values.astype(np.float32)


def labelled_codes(X: Any, y: np.ndarray, stratify: bool) -> np.ndarray:
    """(n,) uint64 from features and, where rows of equal features are to be told apart, outcomes.
    Classes count by their rows, not by their names.
    """
    codes = feature_codes(X)
    if not stratify:
        _, index, count = np.unique(codes, return_inverse=True, return_counts=True)
        return np.where(count[index] > 1, mixed_codes(codes, feature_codes(y)), codes)
    number = numbered_by_content(np.unique(y, return_inverse=True)[1], codes, np.ones(len(y)))
    return mixed_codes(codes, number.astype(np.uint64))


def _text_code(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def codes_of(record: Any) -> np.ndarray:
    """(n,) uint64 from the content of each row of a record: predictions, outcome, features and
    groups. The names and the order of its classes do not count.
    """
    if hasattr(record, "code"):
        return record.code
    out = row_codes(np.round(record.mark[:, None], DECIMALS))
    for field in fields(record):
        value = getattr(record, field.name)
        value = value.at(LEVELS) if field.name == "forecast" else value
        of_rows = isinstance(value, np.ndarray) and len(value) == len(out)
        if value is None or field.name in NO_CONTENT:
            continue
        if field.name == "groups":
            columns = [named_rows(column) for _, column in group_columns(value, "groups")]
            levels = [level_codes(column, out, record.weights) for column in columns]
            out = mixed_codes(out, np.add.reduce(levels))
        elif of_rows or field.name == "X":
            out = mixed_codes(out, feature_codes(value))
    return out


def named_rows(values: Any) -> np.ndarray:
    """(n,) number of each row's distinct value."""
    return np.unique([repr(value) for value in values.tolist()], return_inverse=True)[1]


def order_of(record: Any, *beside: np.ndarray) -> np.ndarray:
    """(n,) positions of a record's rows in the order of their content, and of numbers ``beside``
    them (n,); only equal rows keep theirs.

    Folds and draws are made in this order, so that no result depends on that of the rows passed.
    """
    cluster = () if record.cluster is None else np.atleast_2d(record.cluster.T)
    weight = () if record.weight is None else (record.weight,)
    keys = (*beside, *cluster, *weight, codes_of(record))
    mark = np.round(record.mark, DECIMALS)
    order = np.argsort(mark, kind="stable")
    # Most rows are told apart by their mark, or by nothing.
    alike = ~_changes(mark[order])
    if any((alike & _changes(key[order])).any() for key in keys):
        tied = np.flatnonzero(np.append(alike, False) | np.append(False, alike))
        rows = order[tied]
        order[tied] = rows[np.lexsort((*(key[rows] for key in keys), mark[rows]))]
    return order


def _changes(values: np.ndarray) -> np.ndarray:
    """(n - 1,) whether each value is another than the one before."""
    return values[1:] != values[:-1]


def in_order(record: Any) -> Any:
    """The record with its rows in the order of their content."""
    held = record.derived
    if held.ordered is None:
        order = order_of(record)
        held.order(record if (np.diff(order) > 0).all() else record.take(order))
    return held.ordered
