"""Predictions of classes, read from npz, npy, CSV, JSON lines and Parquet into one record; and the
reading of files of predictions of any kind into records.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import click
import numpy as np

from calibrant.cli import columns as table_columns
from calibrant.cli.columns import (
    ARRAYS,
    as_floats,
    as_risk,
    event_last,
    event_of,
    missing_in,
    require_all,
    two_labels,
)
from calibrant.cli.data_file import FILES, DataFile, kind_of
from calibrant.cli.forecasts import OUTCOMES, ForecastFile, QuestionFile
from calibrant.cli.methods import import_extensions
from calibrant.cli.options import Columns
from calibrant.cli.wording import few, say
from calibrant.core.arrays import ArrayLike
from calibrant.core.domain import Domain
from calibrant.core.groups import NamedColumns
from calibrant.core.labels import SoftLabels, label_key, places
from calibrant.core.model_outputs import is_fitted
from calibrant.core.predictions import Predictions, read
from calibrant.core.reading import CLASSIFICATION, REGRESSION
from calibrant.core.stores import located
from calibrant.errors import InputError, warn
from calibrant.tables import sources
from calibrant.tables.columns import class_names, starred, whole_numbers
from calibrant.tables.paths import paths_of

__all__ = [
    "WORDS",
    "PredictionFile",
    "column_of",
    "column_order",
    "columns_of",
    "features_of",
    "key_of",
    "labelled",
    "names_in_option",
    "read_file",
    "read_source",
    "require_inputs",
    "rows_left",
]


WORDS: dict[Any, Any] = {"logit": "logits", "probability": "probabilities"}


@dataclass(frozen=True, kw_only=True)
class PredictionFile(DataFile):
    """File of predictions of classes.

    Attributes
    ----------
    values : (n, K) or (n,)
    inputs : "probability" or "logit", or "score": any real number, higher if the event is likelier
    classes : as ``read`` of ``calibrant.core.predictions`` takes them, or None
    names : list of str
        The arrays or columns that hold ``values``.
    event
        The label of the event among two classes; None if it is not known.
    """

    values: np.ndarray
    inputs: str = "probability"
    classes: Any
    names: list[Any]
    event: Any = None
    domain: ClassVar[Domain] = CLASSIFICATION

    @classmethod
    def named(cls, source: Any, columns: Columns) -> bool:
        """Whether the options name probabilities, logits or risks; an npy file always has them."""
        given = (columns.one, columns.inputs, columns.probabilities, columns.logits)
        return any(name is not None for name in given) or source.kind == "npy"

    @classmethod
    def found_in(cls, source: Any) -> str | None:
        """Find probabilities or logits of several classes by their usual names."""
        arrays = (*ARRAYS["probabilities"], *ARRAYS["logits"])
        stars = {
            name
            for kind in table_columns.PATTERNS.values()
            for pattern in kind
            for name in starred(source.content, pattern)
        }
        return next((name for name in source.content if name in arrays or name in stars), None)

    @classmethod
    def names_in(cls, source: Any, columns: Columns, labels: bool, prefer: str | None) -> list[str]:
        """Return the names of predictions, labels, weights and answers."""
        names = list(_found(source, columns, prefer)[0])
        raters = table_columns.rater_columns(source, columns.label) if labels else {}
        given = (("label", None if raters else columns.label), ("weight", columns.weight))
        keys = (key_of(source, name, what) for what, name in given if labels)
        names += [*raters, *(key for key in keys if key is not None)]
        return names + ([source.require(columns.predicted)] if columns.predicted else [])

    @classmethod
    def classes_in(cls, source: Any, columns: Columns, prefer: str | None) -> list[str]:
        """Return the labels of the options, and those in the names of the columns."""
        return [*columns.declared, *map(str, _found(source, columns, prefer)[2] or ())]

    @classmethod
    def read(
        cls, source: Any, columns: Columns, labels: bool, prefer: str | None
    ) -> "PredictionFile":
        """Read the predictions of a file, and its labels if ``labels``."""
        path = source.path
        if columns.confidence and columns.task is None and "question" in source.content:
            say(f"{path} is read without its questions; --task questions reads them.", err=True)
        names, inputs, classes = _found(source, columns, prefer)
        values = _values(source, names)
        if columns.classes is not None:
            classes = [part.strip() for part in columns.classes.split(",")]
        y = _labels(source, columns, path, classes) if labels else None
        weight = _optional(source, columns.weight, "weight") if labels else None
        if source.kind == "csv" and not (columns.predicted or isinstance(y, SoftLabels)):
            y, classes = table_columns.same_kind(y, classes)
        if weight is not None and source.kind in ("csv", "jsonl"):
            weight = table_columns.as_floats(weight, columns.weight or "weight", path)
        if (
            not isinstance(y, SoftLabels | None)
            and classes is not None
            and columns.classes is None
            and source.kind not in ("npz", "npy")
        ):
            _require_named(y, classes, path)
        outcome = table_columns.rater_columns(source, columns.label) if labels else ()
        if labels and not outcome and source.kind != "npy":
            outcome = [key_of(source, columns.label, "label")]
        data = cls(
            path=path,
            values=values,
            inputs=inputs,
            classes=classes,
            labels=y,
            weight=weight,
            source=source,
            names=names,
            outcome=tuple(outcome),
        )
        return _with_event(data, columns) if values.ndim in (1, 2) else data

    @property
    def said(self) -> np.ndarray:
        """The uncalibrated predictions."""
        return self.values

    @property
    def columns(self) -> list[str]:
        """The columns of predictions, one for each class or one in all."""
        return self.names

    @property
    def one(self) -> str | None:
        """The one column of the risk, if there is one."""
        return self.names[0] if self.values.ndim == 1 and len(self.names) == 1 else None

    def record(self, groups: Any = None, **beside: Any) -> Predictions:
        """Return the rows, with their labels if these were read, with features and training
        rows.
        """
        return read(
            self.values,
            self.labels,
            inputs=self.inputs,
            classes=self.classes,
            sample_weight=self.weight,
            groups=groups,
            **beside,
        )

    def same_outcomes(self, ours: Any, theirs: Any) -> np.ndarray:
        """Compare labels by class, because the two files may order the classes differently."""
        return np.array(places(theirs.classes, ours.classes))[theirs.labels] == ours.labels

    def about(self, record: Any) -> str:
        """Describe the number of classes."""
        return f", {record.n_classes} classes"

    def refuse_target(self, target: str | None) -> None:
        """Accept any target."""

    def asked(self, target: str | None, calibrator: Any = None) -> Any:
        """Resolve --target to "answer", "classes", "event", or the label of a class.

        The default is the event of two classes, the classes if there are more, and the answer if
        the calibrator predicts its confidence only.
        """
        if target is None and calibrator is not None and calibrator.tags.output == "confidence":
            return "answer"
        classes = self.own_classes
        if target is None or target == "event":
            if len(classes) > 2:
                if target is None:
                    return "classes"
                raise click.UsageError(
                    f"--target event needs two classes; {self.path.name} has {len(classes)};"
                    f" name one of {few(classes)}."
                )
            if self.event is None:
                table_columns.refuse_unsaid(classes, self.path)
            return "event" if self.event == classes[1] else self.event
        if target in table_columns.QUESTIONS:
            return target
        found = places([target], classes)[0]
        if found < 0:
            raise click.UsageError(
                f"--target must be {', '.join(table_columns.QUESTIONS)}, or one of the classes"
                f" {few(classes)}; got {target!r}."
            )
        return list(classes)[found]

    def given(self, calibrator: Any) -> dict[str, Any]:
        """Return P, inputs and classes, in the order of a fitted calibrator's classes."""
        if not is_fitted(calibrator):
            return {"P": self.values, "inputs": self.inputs, "classes": self.classes}
        require_inputs(self, calibrator)
        own, event = self.classes, np.asarray(calibrator.classes_).tolist()[-1]
        if self.values.ndim == 1 and own is not None and places([own[-1]], [event])[0] < 0:
            raise InputError(
                f"the column of {self.path} is the risk of {own[-1]!r}, by its labels or by"
                f" --positive or --classes; the calibrator's is that of {event!r}; name the column"
                " of that event, or fit again."
            )
        return {
            "P": self.values[..., column_order(self, calibrator.classes_)],
            "inputs": self.inputs,
            "classes": calibrator.classes_,
        }

    def audited(self, target: str | None) -> dict[str, Any]:
        """Return the arguments of an audit; the default target is the event of two classes, or the
        answer.
        """
        asks = target is not None or len(self.own_classes) == 2
        question = self.asked(target) if asks else "answer"
        options = {"inputs": self.inputs, "classes": self.classes, "target": question}
        return {"P": self.values, **options}

    def said_like(self, first: Self) -> Any:
        """Return the predictions in the order of the other file's classes."""
        order = column_order(self, first.classes) if first.classes is not None else slice(None)
        return self.values[..., order]

    def calibrated(
        self, fitted: Any, columns: Columns, levels: Any, beside: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the calibrated risk, or the calibrated classes with the confidence."""
        usual = _found(self.source, columns, getattr(fitted, "inputs", None))[1]
        if columns.one or columns.inputs or self.unit not in (None, usual):
            return _risk(self, fitted, columns, beside), {}
        return _classes(self, fitted, beside)

    @property
    def own_classes(self) -> list[Any]:
        """The labels in column order; whole numbers if the classes have no names."""
        booleans = not isinstance(self.labels, SoftLabels | None) and {
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


def _values(source, names):
    """Return the columns of predictions as numbers, (n,) or (n, K); arrays are not converted."""
    if source.kind in ("npz", "npy"):
        return source.content[names[0] if names else "values"]
    values = [table_columns.as_floats(source.column(name), name, source.path) for name in names]
    return values[0] if len(names) == 1 else np.column_stack(values)


def _with_event(data, columns):
    """Convert one column to risks, and set the label of the event if it is known."""
    if data.values.ndim == 2:
        if columns.inputs is not None or (
            columns.positive is not None and data.values.shape[1] != 2
        ):
            of_one = columns.inputs is not None
            said = (
                "--inputs needs one column of predictions"
                if of_one
                else "--positive needs two classes"
            )
            other = "" if of_one else ", or select one class with --target LABEL"
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
    unit = columns.unit or data.inputs
    values, inputs = as_risk(data.values, unit, name, data.path)
    data = replace(data, values=values, inputs=inputs, unit=unit)
    if isinstance(data.labels, SoftLabels):
        last = data.labels.names and event_last(data.labels.names, columns.positive, data.path)
        data = replace(data, classes=data.classes or last)
    elif columns.classes is None and data.labels is not None:
        y, classes = two_labels(data.labels, columns.positive, data.path)
        data = replace(data, labels=y, classes=classes)
    return replace(data, event=data.own_classes[1])


def _require_named(y, classes, path):
    """Refuse labels if the columns name none of them, because a table does not show which column is
    class 0.
    """
    seen = list(dict.fromkeys(np.asarray(y).tolist()))
    if all(place < 0 for place in places(seen, classes)):
        raise InputError(
            f"the labels of {path} must be among the classes that its columns name, {few(classes)};"
            f" got {few(seen)}; write them as the columns are named, or pass the order of the"
            " columns with --classes."
        )


def _found(source, columns, prefer):
    """Return (names, inputs, classes) of the predictions; the array of an npy file has no name."""
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
    """Return the name of an array or column of a kind in ``ARRAYS``: the one given, or the first
    usual name in the file.
    """
    return (
        source.require(name)
        if name is not None
        else next((key for key in ARRAYS[what] if key in source.content), None)
    )


def _labels(source, columns, path, classes):
    if source.kind == "npy":
        if columns.label is None:
            raise InputError(
                f"{path} holds no labels; pass the file that does: {columns.label_option}"
                " LABELS.npy."
            )
        found = sources.open_source(located(columns.label)).content["values"]
        return table_columns.of_array(found, path)
    if raters := table_columns.rater_columns(source, columns.label):
        shares = np.column_stack([as_floats(source.column(one), one, path) for one in raters])
        return table_columns.of_raters(shares, class_names(raters.values()), path, few(raters))
    found = _optional(source, columns.label, "label")
    if found is None:
        raise InputError(
            f"{path} must hold the true labels as {', '.join(ARRAYS['label'])}; it holds"
            f" {source.described()}; name yours with {columns.label_option}."
        )
    name = key_of(source, columns.label, "label")
    named = [*columns.declared, *map(str, classes or ())]
    require_all(missing_in(source, name, named), name, path, "a label")
    if columns.predicted is None:
        return table_columns.of_array(found, path)
    return _right(source, name, columns.predicted)


def _right(source, label, predicted):
    """Return (n,) whether the answer of each row equals its label."""
    key = source.require(predicted)
    require_all(missing_in(source, key), key, source.path, "an answer")
    y, answers = (source.column(name) for name in (label, key))
    if source.kind == "csv":
        texts = whole_numbers(text.strip() for text in (*y.distinct, *answers.distinct))
        keys = {label_key(text): place for place, text in enumerate(texts)}
        place = np.array([keys[label_key(text)] for text in texts])
        return place[y.codes] == place[len(y.distinct) :][answers.codes]
    return np.array([label_key(a) == label_key(b) for a, b in zip(y, answers, strict=True)])


def _optional(source, name, what):
    if source.kind == "npy":
        return None if name is None else sources.open_source(located(name)).content["values"]
    key = key_of(source, name, what)
    return None if key is None else source.column(key)


def column_order(data: PredictionFile, classes: ArrayLike) -> Any:
    """Return the file's column of each of ``classes``; the order is unchanged if the file does not
    name them.
    """
    if data.classes is None or data.values.ndim == 1:
        return slice(None) if data.values.ndim == 1 else np.arange(data.values.shape[1])
    order = places(classes, data.classes)
    if sorted(order) != list(range(len(data.classes))):
        raise InputError(
            f"the columns of {data.path} name the classes {few(data.classes)}, not {few(classes)};"
            " name the same classes."
        )
    return np.array(order)


def require_inputs(data: PredictionFile, calibrator: Any) -> None:
    """Refuse probabilities if the fitted calibrator takes logits, and vice versa."""
    if data.inputs != calibrator.inputs:
        raise InputError(
            f"the calibrator was fitted on {WORDS[calibrator.inputs]}; {data.path} holds"
            f" {WORDS[data.inputs]}; name the right ones with --probabilities or --logits, or set"
            " the unit of one column with --inputs."
        )


def _risk(data, fitted, columns, beside):
    """Return the calibrated risk under its column's name; if that column is in another unit, as a
    new column `risk` or `confidence`, or `calibrated_risk` where it has that name itself.
    """
    risk = (
        fitted.predict(data.values)
        if data.inputs == "score"
        else fitted.predict_proba(data.given(fitted)["P"], **beside)[:, 1]
    )
    npy, added = data.source.kind == "npy", "confidence" if columns.confidence else "risk"
    name = "values" if npy else data.names[0]
    if data.unit != "probability" and (npy or name == added or columns.inputs is None):
        added = f"calibrated_{added}" if name == added else added
        place = "is what is written" if npy else f"is added as {added!r}"
        warn(f"{name!r} is in {data.unit}; the calibrated risk, from 0 to 1, {place}.")
    return {name if npy or data.unit == "probability" else added: risk}


def _classes(data, fitted, beside):
    """Return (columns by name, the file's names that they replace)."""
    values = data.given(fitted)["P"]
    Q, confidence = (
        fitted.predict_proba(values, **beside),
        fitted.predict_confidence(values, **beside),
    )
    Q = Q[:, 1] if data.values.ndim == 1 else Q[:, np.argsort(column_order(data, fitted.classes_))]
    if data.source.kind == "npy":
        return {"values": Q}, {}
    if data.source.kind == "npz":
        name = "probabilities" if "logits" in data.names else data.names[0]
        return {name: Q, "confidence": confidence}, {data.names[0]: name}
    renamed = {name: f"p_{name[6:]}" if name.startswith("logit_") else name for name in data.names}
    each = Q[:, None] if Q.ndim == 1 else Q
    made = {renamed[name]: each[:, j] for j, name in enumerate(data.names)}
    return {**made, "confidence": confidence}, renamed


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
    columns = {name: data.source.column(data.source.require(name)) for name in names}
    if option is not None:
        _refuse_judged(data, names, option)
    csv = data.source.kind == "csv"
    return {name: own.levels() if csv else np.asarray(own) for name, own in columns.items()}


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
                f" is missing ({len(missing)} in all); fill it in, drop those rows, or leave"
                " the column out of --features."
            )
    return NamedColumns({name: _feature(source, name, texts) for name in names})


def _feature(source: Any, name: str, texts: bool) -> np.ndarray:
    values = source.column(name)
    try:
        return as_floats(values, name, source.path)
    except InputError as error:
        if texts:
            return values.levels() if source.kind == "csv" else np.asarray(values)
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
