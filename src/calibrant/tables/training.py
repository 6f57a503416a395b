"""Training rows of a model, read with features of the rows of a table, for distances between the
two.
"""

from pathlib import Path
from typing import Any

import numpy as np

from calibrant.core.labels import is_missing, places
from calibrant.core.reading import CLASSIFICATION
from calibrant.core.text_table import few
from calibrant.errors import InputError, Note, UsageError, warn
from calibrant.tables.columns import event_places, starred
from calibrant.tables.data_file import DataFile
from calibrant.tables.names import ARRAYS, PATTERNS, Columns
from calibrant.tables.opening import open_source
from calibrant.tables.readers import features_of, labelled, large_rows, names_in_option
from calibrant.tables.roles import (
    as_floats,
    key_of,
    missing_in,
    require_all,
)

__all__ = ["training_of"]

#: Number of values by which a column is recognised as one of numbers.
SEEN = 1_000
#: Patterns of columns that hold no features: ids and pandas' index.
NO_FEATURES = ("*_id", "__*", "Unnamed:*")


def training_of(
    data: DataFile,
    columns: Columns,
    path: Path | None,
    features: str | None,
    known: list[str] | None = None,
    others: tuple[str | None, ...] = (),
) -> tuple[list[str] | None, dict[str, Any]]:
    """Read the training rows at ``path`` for the predictions in ``data``; return (names of the
    features, X and reference), and print the names; (None, {}) without a path.

    The features are those of ``features``, of a fitted calibrator (``known``), or all columns of
    numbers that both tables share and that no other option names (``others``).
    """
    if path is None:
        return None, {}
    rows = _source(data, columns, path)
    label = key_of(rows, columns.label, "label")
    if label is None:
        raise InputError(
            f"--reference {path} must hold the labels of the training rows under the name that the"
            f" log uses; it holds {rows.described()}; rename that column, or name it with --label."
        )
    if columns.skip_missing:
        rows = rows.take(np.flatnonzero(~missing_in(rows, label, columns.declared)))
    require_all(missing_in(rows, label, columns.declared), label, path, "a label")
    if features is not None:
        names = names_in_option(data.source, features)
    else:
        named = {label, columns.weight, columns.predicted, *others}
        names = known or _shared(data, rows, named, len(rows.column(label)))
    y = _labels(data, columns, rows.column(label), path)
    warn(
        f"Distances to the {len(y):,} training rows of {path} use the features {few(names)}.", Note
    )
    return names, {
        "X": features_of(data.source, names),
        "reference": (features_of(rows, names), y),
    }


def _source(data: DataFile, columns: Columns, path: Path) -> Any:
    """Open the table of training rows; refuse one that the predictions or the memory rule out."""
    if data.domain is not CLASSIFICATION or data.inputs == "score" or columns.confidence:
        raise UsageError(
            "--reference needs predictions of classes, because distances are measured to training"
            f" rows of the predicted class; {data.path.name} holds"
            f" {'one score or confidence a row' if data.one else data.domain.predictions}; leave it"
            " out."
        )
    count = large_rows(path)
    if count is not None:
        raise UsageError(
            f"--reference {path} has {count:,} rows, more than are held in memory at once; pass a"
            " random sample of the training rows."
        )
    return open_source(path, labelled(path, columns))


def _shared(data: DataFile, rows: Any, named: set[str | None], n_rows: int) -> list[str]:
    """Return the columns of numbers in both tables that are not predictions, outcomes, weights, ids
    or named by an option.
    """
    left = {*data.columns, *data.outcome, *ARRAYS["weight"], "id", "index", *named}
    for pattern in (*PATTERNS["probability"], *PATTERNS["logit"], *NO_FEATURES):
        left |= set(starred(data.source.content, pattern))
    tables = (data.source, len(data.said)), (rows, n_rows)
    names = [
        name
        for name in data.source.content
        if name in rows.content
        and name not in left
        and all(_numeric(source, name, n) for source, n in tables)
    ]
    deep = [name for name in names if getattr(data.source.content[name], "ndim", 1) > 1]
    if len(names) == 0 or (deep and len(names) > 1):
        raise InputError(
            f"{data.path} and {rows.path} must share columns of numbers, or one array of features;"
            f" they share {few(names) if names else 'none'}; name the features with --features."
        )
    return names


def _numeric(source: Any, name: str, n_rows: int) -> bool:
    """Return whether a column or array has a row of numbers for each row of the table."""
    try:
        values = source.column(name)
        if len(values) != n_rows or getattr(values, "ndim", 1) > 1:
            return len(values) == n_rows and values.dtype.kind in "biuf"
        first = [one for one in values[:SEEN] if not is_missing(one) and str(one).strip()]
        return len(as_floats(first, name, source.path)) > 0
    except (InputError, TypeError):
        return False


def _labels(data: Any, columns: Columns, given: Any, path: Path) -> np.ndarray:
    """Return the training labels as classes of the predictions."""
    classes = data.own_classes
    labels = given if isinstance(given, list) else given.tolist()
    if columns.positive is not None and data.one is not None:
        found = [int(one) for one in event_places(labels, columns.positive)]
    else:
        found = places(labels, classes)
    unknown = [label for label, place in zip(labels, found, strict=True) if place < 0]
    if unknown:
        raise InputError(
            f"the labels of --reference {path} must be among the classes {few(classes)} of"
            f" {data.path}; got {few(dict.fromkeys(unknown))}; rename the labels, or drop"
            " those rows."
        )
    return np.array(classes)[found]
