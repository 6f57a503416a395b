"""Validation of predictions and labels, which become one record.

All public functions of classification predictions validate them here, once; other code trusts the
record.
"""

from dataclasses import replace
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from calibrant._numerics import logistic as _softmax
from calibrant.core.arrays import column_names, resolution, rows_named, to_array, weights
from calibrant.core.given import Inputs
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
from calibrant.core.predictions_record import Predictions
from calibrant.errors import InputError

__all__ = ["PLURALS", "read", "reference_pair"]

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
