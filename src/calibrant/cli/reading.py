"""Files of predictions: npz, npy, csv and parquet, each to the same record."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from calibrant.cli import columns as table_columns
from calibrant.cli import sources
from calibrant.cli.columns import ARRAYS, as_risk, event_of, missing_in, require_all, two_labels
from calibrant.cli.forecasts import (
    ForecastFile,
    holds_forecasts,
    names_of_forecasts,
    read_forecasts,
)
from calibrant.cli.options import Columns
from calibrant.cli.row_text import typed
from calibrant.cli.wording import few, say
from calibrant.contracts.domain import Domain
from calibrant.contracts.reading import CLASSIFICATION
from calibrant.errors import InputError
from calibrant.labels import label_key, places
from calibrant.predictions import Predictions, read

__all__ = [
    "PredictionFile",
    "column_of",
    "column_order",
    "columns_of",
    "key_of",
    "read_file",
    "read_source",
    "rows_left",
]


@dataclass(frozen=True)
class PredictionFile:
    """Predictions read from a file, and the file's whole content, so that it can be written again
    with other predictions.

    Attributes
    ----------
    values : (n, K) or (n,)
    inputs : "probability" or "logit", or "score": any real number of which higher means likelier
    classes, labels, weight : as ``calibrant.predictions.read`` takes them, or None
    source : Source
        The content, by kind of file.
    names : list of str
        The arrays or columns that hold ``values``.
    event
        The label of the event, of two classes; None where it is not known.
    outcome : tuple of str
        The array or column that ``labels`` are read from, if it has a name.
    """

    path: Path
    values: np.ndarray
    inputs: str
    classes: Any
    labels: Any
    weight: Any
    source: Any
    names: list[Any]
    event: Any = None
    outcome: tuple[str, ...] = ()
    domain: ClassVar[Domain] = CLASSIFICATION

    def record(self, groups: Any = None) -> Predictions:
        """The rows, with their labels where these were read."""
        return read(
            self.values,
            self.labels,
            inputs=self.inputs,
            classes=self.classes,
            sample_weight=self.weight,
            groups=groups,
        )

    @property
    def own_classes(self) -> list[Any]:
        """The labels in column order; numbers where nothing names them."""
        booleans = self.labels is not None and {
            type(label) for label in np.asarray(self.labels).tolist()
        } == {bool}
        n_classes = 2 if self.values.ndim == 1 else self.values.shape[1]
        return (
            [False, True]
            if booleans and n_classes == 2
            else list(range(n_classes))
            if self.classes is None
            else list(self.classes)
        )


def read_file(
    path: Path, columns: Columns | None = None, *, labels: bool = True, prefer: str | None = None
) -> PredictionFile | ForecastFile:
    """Read predictions of classes, or forecasts of a number, and labels where wanted.

    Parameters
    ----------
    path : Path ending in .npz, .npy, .csv or .parquet
    columns : Columns, optional
    labels : bool
        Whether true labels must be there.
    prefer : "probability" or "logit", optional
        Which to take where the file holds both.
    """
    return read_source(
        sources.open_source(path),
        Columns() if columns is None else columns,
        labels=labels,
        prefer=prefer,
    )


def read_source(
    source: Any, columns: Columns, *, labels: bool = True, prefer: str | None = None
) -> PredictionFile | ForecastFile:
    """The same of a file that is open, of which several predictions may be read."""
    path, forecasts = source.path, holds_forecasts(source, columns)
    if columns.skip_missing:
        source = _without_missing(source, columns, labels, prefer)
    if forecasts:
        return read_forecasts(source, columns, labels=labels)
    names, inputs, classes = _found(source, columns, prefer)
    values = _values(source, names)
    if columns.classes is not None:
        classes = [part.strip() for part in columns.classes.split(",")]
    y = _labels(source, columns, path) if labels else None
    weight = _optional(source, columns.weight, "weight") if labels else None
    if source.kind == "csv":
        y, classes = (y, classes) if columns.predicted else table_columns.same_kind(y, classes)
        weight = (
            None
            if weight is None
            else table_columns.as_floats(weight, columns.weight or "weight", path)
        )
    if (
        y is not None
        and classes is not None
        and columns.classes is None
        and source.kind not in ("npz", "npy")
    ):
        _require_named(y, classes, path)
    outcome = key_of(source, columns.label, "label") if labels and source.kind != "npy" else None
    data = PredictionFile(
        path,
        values,
        inputs,
        classes,
        y,
        weight,
        source,
        names,
        outcome=() if outcome is None else (outcome,),
    )
    return _with_event(data, columns) if values.ndim in (1, 2) else data


def rows_left(source: Any, columns: Columns, labels: bool, prefer: str | None = None) -> np.ndarray:
    """(n,) which rows have a prediction, and a label and a weight where these are read."""
    if source.kind == "npy":
        raise InputError(
            f"{source.path} holds predictions alone, and --skip-missing is for tables; save them"
            " with their labels, as .npz."
        )
    forecasts = holds_forecasts(source, columns)
    names = (
        names_of_forecasts(source, columns, labels)
        if forecasts
        else list(_found(source, columns, prefer)[0])
    )
    given = (("label", columns.label), ("weight", columns.weight)) if labels else ()
    names += [key for what, name in given if (key := key_of(source, name, what)) is not None]
    names += [source.require(columns.predicted)] if columns.predicted else []
    return ~np.any([missing_in(source, name) for name in dict.fromkeys(names)], axis=0)


def _without_missing(source, columns, labels, prefer):
    """The source without rows that lack a prediction, a label or a weight; says how many."""
    left = rows_left(source, columns, labels, prefer)
    if left.all():
        return source
    if not left.any():
        raise InputError(
            f"{source.path} must have a row with a prediction{' and a label' if labels else ''};"
            f" all {len(left):,} lack one."
        )
    say(
        f"{source.path}: {np.sum(~left):,} of {len(left):,} rows lack a prediction, label or weight"
        " and are left out.",
        err=True,
    )
    return source.take(np.flatnonzero(left))


def _values(source, names):
    """The columns of predictions as numbers, (n,) or (n, K); arrays as they are."""
    if source.kind in ("npz", "npy"):
        return source.content[names[0] if names else "values"]
    values = [table_columns.as_floats(source.column(name), name, source.path) for name in names]
    return values[0] if len(names) == 1 else np.column_stack(values)


def _with_event(data, columns):
    """The file with its one column as risks, and the label of the event where it is known."""
    if data.values.ndim == 2:
        if columns.inputs is not None or (
            columns.positive is not None and data.values.shape[1] != 2
        ):
            of_one = columns.inputs is not None
            said = (
                "--inputs says what one column holds" if of_one else "--positive is for two classes"
            )
            other = "" if of_one else ", or ask for one class with --target LABEL"
            raise InputError(
                f"{said}; {data.path} has {data.values.shape[1]} columns of predictions; name one"
                f" of them with --risk{other}."
            )
        return (
            replace(data, event=event_of(data.own_classes, columns.positive, data.path))
            if data.values.shape[1] == 2
            else data
        )
    name = data.names[0] if data.names else "values"
    values, inputs = as_risk(data.values, columns.inputs or data.inputs, name, data.path)
    data = replace(data, values=values, inputs=inputs)
    if columns.classes is None and data.labels is not None:
        y, classes = two_labels(data.labels, columns.positive, data.path)
        data = replace(data, labels=y, classes=classes)
    return replace(data, event=data.own_classes[1])


def _require_named(y, classes, path):
    """Refuse labels of which none is a class that the columns name: a table does not say which
    of its columns is 0.
    """
    seen = list(dict.fromkeys(np.asarray(y).tolist()))
    if all(place < 0 for place in places(seen, classes)):
        raise InputError(
            f"the labels of {path} must be among the classes that its columns name, {few(classes)};"
            f" got {few(seen)}; write them as the columns are named, or say the order of the"
            " columns with --classes."
        )


def _found(source, columns, prefer):
    """(names, inputs, classes) of the predictions in a file; the one array of an npy file has no
    name.
    """
    if source.kind not in ("npz", "npy"):
        return table_columns.find(source, columns, prefer)
    if source.kind == "npy":
        return (
            [],
            "logit" if columns.logits is not None or prefer == "logit" else "probability",
            None,
        )
    wanted = [
        ("probability", "probabilities", columns.one or columns.probabilities),
        ("logit", "logits", columns.logits),
    ]
    if (
        columns.one is None
        and columns.probabilities is None
        and (columns.logits is not None or prefer == "logit")
    ):
        wanted.reverse()
    for inputs, what, name in wanted:
        key = key_of(source, name, what)
        if key is not None:
            classes = key_of(source, None, "classes")
            return [key], inputs, None if classes is None else source.content[classes].tolist()
    raise InputError(
        f"{source.path} must hold an array named probabilities or logits; it holds"
        f" {', '.join(source.content)}; name yours with --probabilities or --logits."
    )


def key_of(source: Any, name: str | None, what: str) -> str | None:
    """The name of the array or column of a kind of ``ARRAYS``: as given, or the usual one that
    is there, if any.
    """
    return (
        source.require(name)
        if name is not None
        else next((key for key in ARRAYS[what] if key in source.content), None)
    )


def _labels(source, columns, path):
    if source.kind == "npy":
        if columns.label is None:
            raise InputError(f"{path} holds no labels; pass the file that does: --label LABELS.npy")
        return sources.open_source(Path(columns.label)).content["values"]
    found = _optional(source, columns.label, "label")
    if found is None:
        raise InputError(
            f"{path} must hold the true labels as {', '.join(ARRAYS['label'])}; it holds"
            f" {source.described()}; name yours with --label."
        )
    name = key_of(source, columns.label, "label")
    require_all(missing_in(source, name), name, path, "a label")
    return found if columns.predicted is None else _right(source, name, columns.predicted)


def _right(source, label, predicted):
    """(n,) whether the answer of each row is its label."""
    key = source.require(predicted)
    require_all(missing_in(source, key), key, source.path, "an answer")
    y, answers = (source.column(name) for name in (label, key))
    if source.kind == "csv":
        y, answers = table_columns.same_kind(
            [text.strip() for text in y], [text.strip() for text in answers]
        )
    return np.array([label_key(a) == label_key(b) for a, b in zip(y, answers, strict=True)])


def _optional(source, name, what):
    if source.kind == "npy":
        return None if name is None else sources.open_source(Path(name)).content["values"]
    key = key_of(source, name, what)
    return None if key is None else source.column(key)


def column_of(data: PredictionFile, name: str) -> Any:
    """One further array or column of a file, as it is; None for None."""
    return None if name is None else np.asarray(data.source.column(data.source.require(name)))


def columns_of(
    data: PredictionFile, names: str | list[str], option: str | None = None
) -> dict[str, Any]:
    """Columns of groups by their names, which commas part where none holds one; numbers in text are
    numbers, and nothing is missing.

    Asked for by an ``option``, they may not be what the rows are judged by.
    """
    if isinstance(names, str):
        names = (
            [names]
            if names in data.source.content
            else [name.strip() for name in names.split(",") if name.strip()]
        )
    found = {name: column_of(data, name) for name in names}
    if option is not None:
        _refuse_judged(data, names, option)
    return (
        {name: typed(values) for name, values in found.items()}
        if data.source.kind == "csv"
        else found
    )


def _refuse_judged(data, names, option):
    """Refuse the outcome among columns of groups or features, which would tell it, and
    predictions among groups.
    """
    each = (
        [name for several in data.names.values() for name in several]
        if isinstance(data.names, dict)
        else data.names
    )
    judged = (dict.fromkeys(each, "a prediction") if option == "--groups" else {}) | dict.fromkeys(
        data.outcome, "the outcome"
    )
    found = next((name for name in names if name in judged), None)
    if found is not None:
        raise InputError(
            f"{option} must name columns that are known before anything comes true; {found!r} is"
            f" {judged[found]} of {data.path}; leave it out."
        )


def column_order(data: PredictionFile, classes: ArrayLike) -> Any:
    """Where each of ``classes`` is among the file's columns; all as they are where the file does
    not name them.
    """
    if data.classes is None or data.values.ndim == 1:
        return slice(None) if data.values.ndim == 1 else np.arange(data.values.shape[1])
    order = places(classes, data.classes)
    if sorted(order) != list(range(len(data.classes))):
        raise InputError(
            f"the columns of {data.path} are of classes {few(data.classes)}, not {few(classes)};"
            " they must be the same."
        )
    return np.array(order)
