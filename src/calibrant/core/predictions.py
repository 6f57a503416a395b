"""Predictions of classes: their validation, the record with everything derived from it, and several
predictions of the same rows, with their classes by name and the order of their rows.

All public functions of classification predictions validate them here, once; other code trusts the
record.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, get_args

import numpy as np

from calibrant._numerics import logistic as _softmax
from calibrant._numerics.fixed_order import sum_in_sequence
from calibrant._numerics.threads import row_blocks
from calibrant.core.arrays import (
    FLOAT32_EPSILON,
    ArrayLike,
    column_names,
    resolution,
    rows_named,
    to_array,
    weights,
)
from calibrant.core.given import Given, Inputs
from calibrant.core.given import check_values as refuse_values
from calibrant.core.groups import groups_given
from calibrant.core.labels import (
    SoftLabels,
    class_array,
    encode_labels,
    is_indicator,
    label_key,
    places,
    soft_refused,
)
from calibrant.errors import InputError

__all__ = [
    "PLURALS",
    "Predictions",
    "read",
    "reference_pair",
    "require_row_order",
    "shared_classes",
]


#: Up to this many classes, the argmax is faster class by class than row by row.
FEW_CLASSES = 32
#: Floor for an exact 0; chosen on naive Bayes of the digits, where 1e-45 to 1e-12 are nearly as
#: good.
FAINTEST = 1e-20
#: Values derived without logarithms.
KEPT = (
    "probabilities",
    "row_sums",
    "by_class",
    "predicted",
    "confidence",
    "weights",
    "correct",
    "one_hot",
    "ranks",
    "smallest",
)
#: Those of them that depend on the labels.
OF_LABELS = ("correct", "one_hot")
#: Decimals of probabilities by which classes are put in order, free of rounding.
MARKED = 9
#: Up to this many classes every label is tried in place of the true one.
FEW_LABELS = 4
#: Targets other than classes; the last is the old name of the first.
QUESTIONS = ("answer", "event")


class Predictions(Given):
    """Validated predictions of n rows over K classes from :func:`read`: the input, and everything
    derived from it.

    Attributes
    ----------
    values, kind, classes, labels, shares, weight, X, reference, resolution, checked, own,
    workspace, cluster, groups
        The input; see :class:`Given`.
    """

    @cached_property
    def probabilities(self) -> np.ndarray:
        """(n, K) float64, rows summing to 1; in C order, so that NumPy's sums over the classes of
        a row have the same bits in any batch and from any layout.
        """
        return (
            np.ascontiguousarray(_softmax.softmax(self.values))
            if self.kind == "logit"
            else np.divide(self.values, self.row_sums[:, None], dtype=np.float64, order="C")
        )

    @cached_property
    def log_probabilities(self) -> np.ndarray:
        """(n, K) float64, finite: entries below ``least`` are raised to it, so that a 0 never ranks
        above a small positive number.
        """
        if self.kind == "logit":
            found = _softmax.log_softmax(self.values)
            # Predictions, as opposed to losses, are in C order too.
            return found if self.labels is not None else np.ascontiguousarray(found)
        if self.workspace is not None and _softmax.working_dtype(self.values) == np.float32:
            # In blocks: three arrays of this size would not stay in the cache.
            out = np.empty_like(self.values)
            for part in row_blocks(len(self), self._block_rows):
                P = self.values[part] / self.row_sums[part, None].astype(np.float32)
                out[part] = _softmax.log_probabilities(np.maximum(P, self._floor))
            return out
        return _softmax.log_probabilities(np.maximum(self.probabilities, self._floor))

    @property
    def _floor(self) -> float:
        return np.finfo(np.float64).tiny if self.least is None else self.least

    @cached_property
    def smallest(self) -> float:
        """The smallest positive probability of these rows, at most 1e-12: a fit replaces an exact 0
        by it. If there is an exact 0, it is at least 1e-20: zeros come from rounding or from models
        of independent features, and a single observed one would dominate the fit.
        """
        if self.kind == "logit":
            return _softmax.ZERO_FLOOR
        least, lowest = _softmax.ZERO_FLOOR, np.inf
        # The probabilities of many rows in float64 would take twice the memory of the input.
        many = self.values.size >= _softmax.SINGLE_ENTRIES
        for P in (block.probabilities for block in (self.blocks() if many else [self])):
            low = float(P.min())
            positive = low if low > 0.0 else float(P.min(initial=least, where=P > 0.0))
            least, lowest = min(least, positive), min(lowest, low)
        return least if lowest > 0.0 else max(least, FAINTEST)

    def above(self, least: float) -> "Predictions":
        """The same rows with probabilities of at least ``least`` in logarithms."""
        if self.kind == "logit" or self.least == least:
            return self
        out = self.changed(least=least)
        self._share(out, KEPT)
        return out

    def _share(self, other: "Predictions", names: Iterable[str]) -> None:
        """Copy derived values of these names to another record of these rows."""
        own = vars(self)
        vars(other).update({name: own[name] for name in names if name in own})

    @cached_property
    def class_number(self) -> np.ndarray:
        """(n,) number of the true class of each row, in an order of the classes that depends on
        what is predicted, not on their names or columns, nor on the labels.
        """
        moments = np.zeros((2, self.n_classes))
        for block in self.blocks():
            mass, P = block.weights / self.weights.sum(), block.probabilities
            moments += mass @ P, np.einsum("n,nk,nk->k", mass, P, P)
        rank = np.empty(self.n_classes, dtype=np.intp)
        rank[np.lexsort(np.round(moments, MARKED))] = np.arange(len(rank))
        return rank[self.strata]

    @property
    def mark(self) -> np.ndarray:
        """(n,) a number from the content of each row, by which rows are put in order and clusters
        are numbered.
        """
        return self.confidence if self.labels is None else self.own_probability + self.class_number

    def with_labels(self, labels: np.ndarray) -> "Predictions":
        """The same predictions with other true labels, (n,)."""
        out = replace(self, labels=labels, shares=None)
        self._share(out, {*KEPT, "log_probabilities"}.difference(OF_LABELS))
        return out

    def one_label_each(self) -> tuple["Predictions", np.ndarray]:
        """(rows of soft labels, once for every class with a share; index of the original row).
        Weights are multiplied by the shares, and copies of one row are clustered.
        """
        assert self.shares is not None
        row, label = np.nonzero(self.shares)
        cluster = row if self.cluster is None else self.cluster[row]
        weight = self.weights[row] * self.shares[row, label]
        part = replace(self.take(row), labels=label, shares=None, weight=weight, cluster=cluster)
        return part, row

    def other_labels(self, other: "Predictions") -> list[np.ndarray]:
        """Possible labels of these rows, (n,) each: every class if they are few, else those on
        which the two differ most.
        """
        if self.n_classes <= FEW_LABELS:
            return [np.full(len(self), k) for k in range(self.n_classes)]
        found = []
        for mine, its in zip(self.blocks(), other.blocks(), strict=True):
            ratio, gap = (
                its.log_probabilities - mine.log_probabilities,
                its.probabilities - mine.probabilities,
            )
            found.append(
                [ratio.argmin(axis=1), ratio.argmax(axis=1), gap.argmin(axis=1), gap.argmax(axis=1)]
            )
        return [np.concatenate(one) for one in zip(*found, strict=True)]

    @property
    def logits(self) -> np.ndarray:
        """(n, K): the logits as given, or the log-probabilities, which are logits too."""
        return self.values if self.kind == "logit" else self.log_probabilities

    @cached_property
    def own_probability(self) -> np.ndarray:
        """(n,) probability of the true class."""
        if self.kind == "logit":
            return self.probabilities[np.arange(len(self)), self.labels]
        return self.values[np.arange(len(self)), self.labels].astype(np.float64) / self.row_sums

    @cached_property
    def by_class(self) -> np.ndarray:
        """(K, n) float64 copy of the values, class by class: sums and maxima over the classes are
        then fast. For blocks.
        """
        return np.array(self.values.T, dtype=np.float64, order="C")

    @cached_property
    def row_sums(self) -> np.ndarray:
        """(n,) float64 sums of the values as given (of probabilities: 1 to the rounding of their
        dtype).
        """
        return self._in_blocks(lambda block: sum_in_sequence(block.by_class))

    @cached_property
    def predicted(self) -> np.ndarray:
        """(n,) position of the model's own label: argmax of the values, the first on ties."""
        return self._in_blocks(_first_largest).astype(np.intp) if self.own is None else self.own

    @cached_property
    def confidence(self) -> np.ndarray:
        """(n,) probability of the predicted label."""
        if self.own is not None:
            return self.probabilities[np.arange(len(self)), self.own]
        return self._in_blocks(_largest_probability)

    @cached_property
    def ranks(self) -> tuple[np.ndarray, np.ndarray]:
        """(distinct confidences, ascending; index of each row among them): sorted once for all that
        needs their order.
        """
        return np.unique(self.confidence, return_inverse=True)

    def ranks_of(self, target: Any) -> tuple[np.ndarray, np.ndarray]:
        """The ranks of the scores of ``pair(target)``."""
        score = self.pair(target)[0]
        alike = self.own is not None and np.array_equal(score, self.confidence)
        if alike or score is self.confidence:
            return self.ranks
        return np.unique(score, return_inverse=True)

    def _in_blocks(self, function: Any) -> np.ndarray:
        """``function(block)`` by block, concatenated, so that intermediate arrays stay small."""
        return (
            function(self)
            if len(self) <= self._block_rows
            else np.concatenate([function(block) for block in self.blocks()])
        )

    @cached_property
    def true_and_rest(self) -> tuple[np.ndarray, np.ndarray]:
        """Probability of the true class and the sum of all others, as given (before division by the
        row sum), each (n,) float64.

        The rest is summed separately, so it is precise where the true class is near 1. For
        probabilities only.
        """
        others, rows = self.by_class.copy(), np.arange(len(self))
        own = others[self.labels, rows]
        others[self.labels, rows] = 0.0
        return own, sum_in_sequence(others)

    @cached_property
    def correct(self) -> np.ndarray:
        """(n,) float64, 1 where the predicted label is the true one; for soft labels its share."""
        if self.shares is not None:
            return self.shares[np.arange(len(self)), self.predicted]
        return (self.predicted == self.labels).astype(np.float64)

    @cached_property
    def one_hot(self) -> np.ndarray:
        """(n, K) float64 indicator of the true class; for soft labels their shares."""
        if self.shares is not None:
            return self.shares
        out = np.zeros(self.values.shape)
        out[np.arange(len(self)), self.labels] = 1.0
        return out

    def pair(self, target: Any) -> tuple[np.ndarray, np.ndarray]:
        """(score, hit), (n,) each: was the answer right ("answer"), did class 1 of two happen
        ("event"), or this class (its label)?
        """
        if isinstance(target, str) and target == "answer" and target not in self.classes.tolist():
            return self.confidence, self.correct
        k = self.position(target)
        return self.probabilities[:, k], self.hits_of(k)

    def hits_of(self, k: int) -> np.ndarray:
        """(n,) float64, 1 in the rows of class k; for soft labels its share."""
        return (self.labels == k).astype(np.float64) if self.shares is None else self.shares[:, k]

    @property
    def default_target(self) -> str:
        """The default target: "event" for two classes, "answer" for more, as in displays."""
        return "event" if self.n_classes == 2 else "answer"

    def position(self, target: Any) -> int:
        """The column of the class that a target means: "event", class 1 of two, or a class's
        label.
        """
        classes = self.classes.tolist()
        # An array compares item by item, and is no label.
        match = [k for k, c in enumerate(classes) if isinstance(target, Hashable) and c == target]
        if match and target in QUESTIONS:
            raise InputError(
                f'target="{target}" is both a keyword and a class; give the class another name.'
            )
        if match:
            return match[0]
        if not (isinstance(target, str) and target == "event"):
            raise InputError(
                f'target must be "answer", "event" or one of the classes {classes}; got {target!r}.'
            )
        if len(classes) != 2:
            raise InputError(
                f'target="event" takes two classes; got {len(classes)}; name one of {classes} or'
                ' "answer".'
            )
        return 1

    def as_pair(self, target: Any) -> "Predictions":
        """The same rows with the target as class 1 and the predicted label 1 in every row. Its
        ``confidence`` is therefore the predicted probability and ``correct`` the observed outcome,
        as in ``pair``; a metric of the answer becomes one of the target. It has neither features
        nor reference.
        """
        score, hit = self.pair(target)
        # Two classes are kept as given: 1 - p is imprecise where p is near 1.
        whole = (
            {}
            if target == "event"
            else {"values": np.column_stack([1.0 - score, score]), "kind": "probability"}
        )
        # One number, which takes no memory.
        own = np.broadcast_to(np.intp(1), len(self))
        out = replace(
            self,
            **whole,
            classes=np.arange(2),
            labels=hit.astype(np.intp) if whole or self.labels is None else self.labels,
            X=None,
            reference=None,
            own=own,
        )
        if not whole:
            self._share(out, ("probabilities", "row_sums", "weights"))
        ordered = self.derived.ordered
        if ordered is not None and not whole and self.X is None and self.shares is None:
            # The content of the rows, and so their order, is the same.
            out.derived.order(out if ordered is self else ordered.as_pair(target))
        return out

    @property
    def several(self) -> bool:
        """Whether there are several outputs: never for classes."""
        return False

    def outputs(self) -> list["Predictions"]:
        """The record itself, for the protocol shared with forecasts of several outputs."""
        return [self]

    def one_output(self) -> "Predictions":
        """The record itself."""
        return self

    @property
    def strata(self) -> np.ndarray:
        """(n,) the true labels, by which folds are stratified."""
        if self.labels is None:
            raise InputError("y must be the true labels, one per row; got None.")
        return self.labels

    @property
    def calibrator_params(self) -> dict[str, Any]:
        """Arguments of a calibrator for these rows: the kind of input, and the classes."""
        return {"inputs": self.kind, "classes": self.classes}

    def gathered(self, parts: Sequence[np.ndarray], rows: Sequence[np.ndarray]) -> np.ndarray:
        """(n, K) calibrated probabilities from those of several fits, ``parts[k]`` of
        ``rows[k]``; NaN in the rows of none.
        """
        out = np.full(self.values.shape, np.nan)
        for part, held_out in zip(parts, rows, strict=True):
            out[held_out] = part
        return out

    def recalibrated(self, result: ArrayLike, output: str = "probability") -> "Predictions":
        """The same rows with calibrated probabilities, (n, K); where the ``output`` is
        "confidence" they keep the model's own label.
        """
        own = self.predicted if output == "confidence" else None
        return replace(
            self,
            values=np.asarray(result, dtype=np.float64),
            kind="probability",
            resolution=FLOAT32_EPSILON,
            own=own,
            least=None,
        )

    def agrees_with(self, other: "Predictions") -> bool:
        """Whether both predict the same for all rows, up to rounding."""
        return bool(np.abs(self.probabilities - other.probabilities).max() < 1e-12)


def _first_largest(block: Predictions) -> np.ndarray:
    """(n,) argmax of the values, the first on ties."""
    if block.n_classes > FEW_CLASSES:
        return block.values.argmax(axis=1)
    columns = block.by_class
    best = columns.max(axis=0)
    out = np.zeros(len(block), dtype=np.int8)
    for k in range(block.n_classes - 1, -1, -1):
        np.putmask(out, columns[k] == best, k)
    return out


def _largest_probability(block: Predictions) -> np.ndarray:
    if block.kind == "logit":
        return _softmax.softmax(block.values)[np.arange(len(block)), block.predicted]
    return block.by_class.max(axis=0) / block.row_sums


# -- Several predictions of the same rows ----------------------------------------------------------


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


# -- Validation ------------------------------------------------------------------------------------

INPUTS = get_args(Inputs)
#: Other words for them.
PLURALS: dict[str, Any] = {"probabilities": "probability", "logits": "logit"}


def read(
    P: ArrayLike,
    y: ArrayLike | None = None,
    *,
    inputs: Inputs = "probability",
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    X: Any = None,
    reference: Any = None,
    groups: Any = None,
    check_values: bool = True,
    soft: bool = False,
) -> Predictions:
    """Validate predictions (and labels) and return a :class:`Predictions` record.

    Parameters
    ----------
    P : (n, K), or (n,) for binary: probability (or log-odds) of the second class
        Lists, NumPy, pandas, polars, pyarrow tables or CPU torch tensors. A data frame's column
        names are class names.
    y : (n,) labels, optional
        Positions 0..K-1, or any hashable labels when ``classes`` or class-named columns define
        their order. If classes are numbers, numbers in y are labels, not positions.
    inputs : {"probability", "logit"}
    classes : (K,) labels in column order, optional
    sample_weight : (n,), optional
        Weight 2 means the row twice, weight 0 removes the row.
    X : (n, ...) features, optional
    reference : (X_train, y_train), optional
    groups : (n,) labels, (n, c) of them, or a frame of n rows, optional
    check_values : bool, default True
        False leaves the check of the numbers in P to ``Predictions.blocks``; for code that makes
        one pass over large data.
    soft : bool, default False
        Whether ``y`` may be :class:`SoftLabels`, which give ``shares`` and no ``labels``.

    Returns
    -------
    Predictions

    Raises
    ------
    InputError
        The message names the argument, the rule, the value seen and the remedy.

    Examples
    --------
    >>> record = read([[0.9, 0.1], [0.4, 0.6]], ["cat", "dog"], classes=["cat", "dog"])
    >>> record.labels.tolist(), record.confidence.tolist()
    ([0, 1], [0.9, 0.6])
    """
    inputs = PLURALS.get(inputs, inputs) if isinstance(inputs, str) else inputs
    if not (isinstance(inputs, str) and inputs in INPUTS):
        raise InputError(f'inputs must be "probability" or "logit"; got {inputs!r}.')
    if isinstance(y, SoftLabels) and not soft:
        raise soft_refused("this function")
    if P is None:
        raise InputError("P must be the predictions, (n, K), or (n,) for binary; got None.")
    if y is not None and _dimensions(y) == 2 and _dimensions(P) == 1 and not is_indicator(y):
        raise InputError(
            "the predictions have 1 dimension and the labels 2: the two look swapped; pass them the"
            " other way."
        )
    names, values = column_names(P), to_array(P, "P")
    epsilon = resolution(P, values)
    if values.dtype == np.float16 or (
        check_values and (y is None or values.size < _softmax.SINGLE_ENTRIES)
    ):
        # Large labelled float32 arrays stay float32: fits on them are more precise than the data.
        values = values.astype(np.float64, copy=False)
    if y is None:
        values = np.ascontiguousarray(values)
    values, one_column = _two_columns(values, inputs)
    if names is not None and classes is not None and not one_column:
        values = _reorder(values, names, classes)
    known = class_array(classes if classes is not None else names, values.shape[1])
    if len(values) == 0:
        raise InputError("P has no rows; pass at least one prediction.")
    weight, kept = weights(sample_weight, len(values))
    checked = check_values or kept is not None
    within = checked and refuse_values(values, inputs, epsilon)
    if inputs == "logit" and not within:
        values = _softmax.bounded_logits(values)
    swapped = _looks_like_labels(values, one_column)
    hints = {"swapped_hint": swapped, "positions": classes is not None}
    labels, shares, known = _truth(y, known, values.shape, **hints)
    record = Predictions(
        values=values,
        kind=inputs,
        classes=np.arange(values.shape[1]) if known is None else known,
        labels=labels,
        weight=weight,
        X=rows_named(X, "X", len(values)),
        groups=groups_given(groups, len(values)),
        resolution=epsilon,
        checked=checked,
        shares=shares,
    )
    if reference is not None:
        record = replace(record, reference=_reference(reference, record))
    return (
        record
        if kept is None
        else replace(replace(record, weight=None).take(kept), weight=weight, kept=kept)
    )


def _truth(
    y: Any, known: np.ndarray | None, shape: tuple[int, int], **hints: Any
) -> tuple[Any, ...]:
    """(labels or None, shares of soft labels or None, classes or None)."""
    if isinstance(y, SoftLabels):
        return None, y.in_order(known, *shape), known
    if y is None:
        return None, None, known
    labels, known = encode_labels(y, known, *shape, **hints)
    return labels, None, known


def _dimensions(values: Any) -> int:
    try:
        return np.ndim(values)
    except ValueError:  # rows of different lengths raise a separate error
        return 0


def _two_columns(values: np.ndarray, inputs: str) -> tuple[np.ndarray, bool]:
    """(n,) binary predictions as (n, 2) in float64, which keeps 1 - p exact for small p."""
    if values.ndim == 1:
        second = values.astype(np.float64)
        return (
            np.column_stack(
                [1.0 - second if inputs == "probability" else np.zeros_like(second), second]
            ),
            True,
        )
    if values.ndim != 2:
        raise InputError(
            f"P must be (n, K), or (n,) for binary predictions; got shape {values.shape}."
        )
    if values.shape[1] == 1:
        raise InputError(
            "P has one column; pass P[:, 0] for binary predictions, or one column for each class."
        )
    return values, False


def _reorder(values: np.ndarray, names: Any, classes: Any) -> np.ndarray:
    """Columns of a class-named frame in the order of ``classes``; positional names are in that
    order already.
    """
    known, in_order = class_array(classes, len(names)), list(range(len(names)))
    order = places(known, names)
    if sorted(order) == in_order:
        return values if order == in_order else values[:, order]
    if [label_key(name) for name in names] == in_order:
        return values
    raise InputError(
        f"the columns of P must be named by the classes {known.tolist()}; got {names}; "
        "rename them, or pass P.to_numpy() if its columns are in that order."
    )


def _looks_like_labels(values: np.ndarray, one_column: bool) -> bool:
    return one_column and bool(np.isin(values[:, 1], (0.0, 1.0)).all())


def reference_pair(reference: Any) -> tuple[Any, Any]:
    """(X_train, y_train) from the model's training data."""
    if not (isinstance(reference, tuple | list) and len(reference) == 2):
        raise InputError(
            "reference must be the pair (X_train, y_train) of the model's own training data."
        )
    return reference[0], reference[1]


def _reference(reference: Any, record: Predictions) -> Any:
    X, y = reference_pair(reference)
    labels, _ = encode_labels(y, record.classes, None, record.n_classes, name="reference labels")
    return rows_named(X, "reference[0]", len(labels)), labels
