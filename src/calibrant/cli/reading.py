"""Read files of predictions of any kind into records."""

from pathlib import Path
from typing import Any

import numpy as np

from calibrant.cli.columns import ARRAYS, as_floats, missing_in
from calibrant.cli.data_file import FILES, DataFile, kind_of
from calibrant.cli.forecasts import OUTCOMES, ForecastFile
from calibrant.cli.methods import import_extensions
from calibrant.cli.options import Columns
from calibrant.cli.predictions import PredictionFile
from calibrant.cli.question_file import QuestionFile
from calibrant.cli.wording import few, say
from calibrant.core.groups import NamedColumns
from calibrant.core.reading import CLASSIFICATION, REGRESSION
from calibrant.errors import InputError
from calibrant.tables import sources
from calibrant.tables.paths import paths_of
from calibrant.tables.row_text import typed

__all__ = [
    "column_of",
    "columns_of",
    "features_of",
    "labelled",
    "names_in_option",
    "read_file",
    "read_source",
    "rows_left",
]

#: Kinds of files of which a table may have several, and the number of values in the part that shows
#: whether one has labels.
TABLES = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson")
HEAD = 2**13


def read_file(
    path: Path, columns: Columns | None = None, *, labels: bool = True, prefer: str | None = None
) -> DataFile:
    """Read predictions of classes, or forecasts of a number, and their labels if ``labels``.

    Parameters
    ----------
    path : Path ending in .npz, .npy, .csv or .parquet
    columns : Columns, optional
    labels : bool
        Whether the file must have true labels.
    prefer : "probability" or "logit", optional
        The one to read if the file holds both.
    """
    columns = Columns() if columns is None else columns
    return read_source(
        sources.open_source(path, labelled(path, columns) if labels else None),
        columns,
        labels=labels,
        prefer=prefer,
    )


def labelled(path: Path, columns: Columns) -> list[Path]:
    """Return the files of a table; of several, leave out those that have no labels yet, and print
    their names.
    """
    files = paths_of(path)
    names = [*ARRAYS["label"], *OUTCOMES] if columns.label is None else [columns.label]
    lost = [file for file in files if len(files) > 1 and _unlabelled(file, columns, names)]
    if not 0 < len(lost) < len(files):
        return files
    say(
        f"{few(lost)} {'has' if len(lost) == 1 else 'have'} no labels yet and"
        f" {'is' if len(lost) == 1 else 'are'} left out; `calibrant estimate {lost[-1]}"
        f" --reference {path}` estimates how good the model is there.",
        err=True,
    )
    return [file for file in files if file not in lost]


def _unlabelled(file: Path, columns: Columns, names: list[str]) -> bool:
    """Whether no row of a file has an outcome; False for logs of questions, whose rows differ."""
    if not file.name.lower().removesuffix(".gz").endswith(TABLES):
        return False
    return not any(
        QuestionFile.named(part, columns)
        or any(
            name in part.content and not missing_in(part, name, columns.declared).all()
            for name in names
        )
        for part in sources.parts_of([file], HEAD)
    )


def read_source(
    source: Any, columns: Columns, *, labels: bool = True, prefer: str | None = None
) -> DataFile:
    """Read predictions from an open file, which may hold several."""
    import_extensions()
    kind = kind_of(source, columns)
    if columns.skip_missing:
        source = _without_missing(source, columns, labels, prefer)
    return kind.read(source, columns, labels, prefer)


def rows_left(source: Any, columns: Columns, labels: bool, prefer: str | None = None) -> np.ndarray:
    """Return (n,) whether each row has a prediction, and a label and a weight if these are read."""
    if source.kind == "npy":
        raise InputError(
            f"--skip-missing needs a table; {source.path} has predictions only; save them with"
            " their labels, as .npz."
        )
    return kind_of(source, columns).complete(source, columns, labels, prefer)


def _without_missing(source, columns, labels, prefer):
    """Drop rows that lack a prediction, a label or a weight, and print their number."""
    left = rows_left(source, columns, labels, prefer)
    if left.all():
        return source
    if not left.any():
        raise InputError(
            f"{source.path} must have a row with a prediction{' and a label' if labels else ''};"
            f" all {len(left):,} rows lack one; name other columns."
        )
    say(
        f"{source.path}: {np.sum(~left):,} of {len(left):,} rows are left out, because they lack a"
        " prediction, label or weight.",
        err=True,
    )
    return source.take(np.flatnonzero(left))


def column_of(data: DataFile, name: str) -> Any:
    """Return one further array or column of a file without conversion; None for None."""
    return None if name is None else np.asarray(data.source.column(data.source.require(name)))


def columns_of(data: DataFile, names: str | list[str], option: str | None = None) -> dict[str, Any]:
    """Return columns of groups by their names, separated by commas unless a name has one. Texts
    become numbers, and empty ones missing values.

    Columns named in an ``option`` must not be the outcome or, for --groups, a prediction.
    """
    if isinstance(names, str):
        names = names_in_option(data.source, names)
    found = {name: column_of(data, name) for name in names}
    if option is not None:
        _refuse_judged(data, names, option)
    return (
        {name: typed(values) for name, values in found.items()}
        if data.source.kind == "csv"
        else found
    )


def names_in_option(source: Any, text: str) -> list[str]:
    """Split the names of an option at commas, unless a column has the whole text as its name."""
    if text in source.content:
        return [text]
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise InputError(
            f"{text!r} names no column of {source.path}; name one of {source.described()}."
        )
    return names


def features_of(source: Any, names: list[str], texts: bool = False) -> Any:
    """Return columns of features as numbers, or one array of several dimensions unchanged. With
    ``texts``, columns that hold other values are levels.
    """
    found = {name: source.column(source.require(name)) for name in names}
    deep = [values for values in found.values() if getattr(values, "ndim", 1) > 1]
    if deep and len(found) == 1:
        return deep[0]
    if deep or not found:
        raise InputError(
            f"--features must name columns of numbers, or one array of several dimensions; got"
            f" {', '.join(names) or 'no name'} in {source.path}; name that array alone."
        )
    for name in names:
        missing = np.flatnonzero(missing_in(source, name))
        if len(missing):
            raise InputError(
                f"{source.path}: the feature {name!r} must be known in every row; row {missing[0]}"
                f" is missing ({len(missing)} such rows); fill it in, drop those rows, or leave"
                " the column out of --features."
            )
    return NamedColumns({name: _feature(source, name, texts) for name in names})


def _feature(source: Any, name: str, texts: bool) -> np.ndarray:
    values = source.column(name)
    try:
        return as_floats(values, name, source.path)
    except InputError as error:
        if texts:
            return typed(values) if source.kind == "csv" else np.asarray(values)
        raise InputError(
            f"--features must name columns of numbers: {str(error).rstrip('.')}, or name others."
        ) from None


def _refuse_judged(data: DataFile, names: list[str], option: str) -> None:
    """Refuse the outcome among groups or features, because it would leak, and predictions among
    groups.
    """
    judged = (
        dict.fromkeys(data.columns, "a prediction") if option == "--groups" else {}
    ) | dict.fromkeys(data.outcome, "the outcome")
    found = next((name for name in names if name in judged), None)
    if found is not None:
        raise InputError(
            f"{option} must name columns that are known before the outcome; {found!r} is"
            f" {judged[found]} of {data.path}; leave it out."
        )


FILES.register(CLASSIFICATION, lambda: PredictionFile)
FILES.register(REGRESSION, lambda: ForecastFile)
FILES.register(QuestionFile.domain, lambda: QuestionFile)
