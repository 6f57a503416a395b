"""Predictions of classes in files, with the labels: npz, npy, CSV, JSON lines and Parquet."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from calibrant.core.arrays import ArrayLike
from calibrant.core.domain import Domain
from calibrant.core.labels import SoftLabels, array_of, label_key, places
from calibrant.core.model_outputs import is_fitted
from calibrant.core.predictions import Predictions, read
from calibrant.core.reading import CLASSIFICATION
from calibrant.core.stores import located
from calibrant.core.text_table import few
from calibrant.errors import InputError, Note, UsageError, warn
from calibrant.tables.columns import class_names, label_values, starred, whole_numbers
from calibrant.tables.data_file import DataFile
from calibrant.tables.names import ARRAYS, PATTERNS, Columns
from calibrant.tables.opening import open_source
from calibrant.tables.roles import (
    QUESTIONS,
    as_floats,
    as_risk,
    event_last,
    event_of,
    find,
    key_of,
    label_of,
    missing_in,
    of_array,
    of_raters,
    rater_columns,
    refuse_unsaid,
    require_all,
    same_kind,
    two_labels,
)

__all__ = ["WORDS", "PredictionFile", "column_order", "require_inputs"]

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
            for kind in PATTERNS.values()
            for pattern in kind
            for name in starred(source.content, pattern)
        }
        return next((name for name in source.content if name in arrays or name in stars), None)

    @classmethod
    def names_in(cls, source: Any, columns: Columns, labels: bool, prefer: str | None) -> list[str]:
        """Return the names of predictions, labels, weights and answers."""
        names = list(_found(source, columns, prefer)[0])
        raters = rater_columns(source, columns.label) if labels else {}
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
            warn(f"{path} is read without its questions; --task questions reads them.", Note)
        names, inputs, classes = _found(source, columns, prefer)
        values = _values(source, names)
        if columns.classes is not None:
            classes = columns.declared
        y = _labels(source, columns, path, classes) if labels else None
        weight = _optional(source, columns.weight, "weight") if labels else None
        if source.kind == "csv" and not (columns.predicted or isinstance(y, SoftLabels)):
            y, classes = same_kind(y, classes)
        if weight is not None and source.kind in ("csv", "jsonl"):
            weight = as_floats(weight, columns.weight or "weight", path)
        if (
            not isinstance(y, SoftLabels | None)
            and classes is not None
            and columns.classes is None
            and source.kind not in ("npz", "npy")
        ):
            _require_named(y, classes, path)
        outcome = rater_columns(source, columns.label) if labels else ()
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

    @classmethod
    def sliced(cls, source: Any, columns: Columns, target: str | None) -> dict[str, Any]:
        """Return the arguments of ``evaluate``; refuse logits, and shares of raters."""
        names, inputs, classes = find(source, columns, "probability")
        if inputs == "logit":
            raise UsageError(
                "slices need probabilities, or forecasts of one output; leave out --by, --time,"
                " --engine, --resume and -o, or name other columns."
            )
        if raters := rater_columns(source, columns.label):
            raise InputError(
                f"slices need one label a row; {source.path} has shares of raters, {few(raters)};"
                " leave out --by, --time, --engine, --resume and -o, or name a column of labels"
                " with --label."
            )
        named = {"label": label_of(source, columns), "predicted": columns.predicted}
        if columns.confidence:
            if target not in (None, "answer"):
                raise UsageError(
                    "--confidence is the probability that the answer is right, which is --target"
                    " answer; leave out --target."
                )
            return named | {"score": columns.confidence, "target": columns.positive}
        if columns.inputs is not None and len(names) > 1:
            raise _needs_one(columns, source.path, len(names))
        target = _question(source, names, classes, columns, target)
        classes = columns.declared if columns.classes else classes
        return named | {"probabilities": names, "classes": classes, "target": target}

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
                raise UsageError(
                    f"--target event needs two classes; {self.path.name} has {len(classes)};"
                    f" name one of {few(classes)}."
                )
            if self.event is None:
                refuse_unsaid(classes, self.path)
            return "event" if self.event == classes[1] else self.event
        if target in QUESTIONS:
            return target
        found = places([target], classes)[0]
        if found < 0:
            raise UsageError(
                f"--target must be {', '.join(QUESTIONS)}, or one of the classes"
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
    values = [as_floats(source.column(name), name, source.path) for name in names]
    return values[0] if len(names) == 1 else np.column_stack(values)


def _with_event(data, columns):
    """Convert one column to risks, and set the label of the event if it is known."""
    if data.values.ndim == 2:
        if columns.inputs is not None or (
            columns.positive is not None and data.values.shape[1] != 2
        ):
            raise _needs_one(columns, data.path, data.values.shape[1])
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


def _needs_one(columns: Columns, path: Any, count: int) -> InputError:
    of_one = columns.inputs is not None
    rule = "--inputs needs one column of predictions" if of_one else "--positive needs two classes"
    other = "" if of_one else ", or select one class with --target LABEL"
    return InputError(
        f"{rule}; {path} has {count} columns of predictions; name one of them with --risk{other}."
    )


def _question(
    source: Any, names: list[str], classes: Any, columns: Columns, target: str | None
) -> Any:
    """Resolve --target of slices: by default the event of one column, or of two classes."""
    several = len(names) > 2 or source.content[names[0]] == "list"
    if target in ("answer", "classes") or (target is None and several):
        if columns.positive is not None and len(names) == 1 and not several:
            raise UsageError(
                f"--target {target} needs both labels; --positive names only the event; name both,"
                f" the event last: --classes OTHER,{columns.positive}."
            )
        return "answer"
    if target not in (None, "event"):
        usual = target.casefold() in ("1", "true", "yes")
        of_event = target in columns.declared[-1:] or (usual and not columns.declared)
        if len(names) == 1 and not of_event:
            raise UsageError(
                "--target must be the event, because slices read one column as its risk; got"
                f" {target!r}; leave it out, and name the event with --positive."
            )
        return target
    if len(names) == 2 and columns.classes is None:
        if (event := event_of(classes, columns.positive, source.path)) is None:
            refuse_unsaid(classes, source.path)
        return event
    return columns.positive or "event"


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
        return find(source, columns, prefer)
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


def _labels(source, columns, path, classes):
    if source.kind == "npy":
        if columns.label is None:
            raise InputError(
                f"{path} holds no labels; pass the file that does: {columns.label_option}"
                " LABELS.npy."
            )
        found = open_source(located(columns.label)).content["values"]
        return of_array(found, path)
    if raters := rater_columns(source, columns.label):
        shares = np.column_stack([as_floats(source.column(one), one, path) for one in raters])
        return of_raters(shares, class_names(raters.values()), path, few(raters))
    name = label_of(source, columns)
    found = source.column(name)
    named = [*columns.declared, *map(str, classes or ())]
    require_all(missing_in(source, name, named), name, path, "a label")
    if columns.predicted is None:
        if source.kind in ("jsonl", "parquet") and found.dtype.kind in "OU":
            found = array_of(label_values(found.tolist(), named))
        return of_array(found, path)
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
        return None if name is None else open_source(located(name)).content["values"]
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
