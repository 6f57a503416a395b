"""The record of predictions of classes: what was checked once, and all that is derived from it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from calibrant._kernels import softmax as _softmax
from calibrant._kernels.temperature import inverse_temperature, is_separable, tilted_losses, tilted_root, tilts
from calibrant.errors import InputError
from calibrant.predictions.values import check_values, sound
from calibrant.rows import take_rows

__all__ = ["Inputs", "Predictions"]

#: What predictions of classes are given as.
Inputs = Literal["probability", "logit"]

#: Entries of P in one block of ``Predictions.blocks``: small enough for the block and what is derived from it to stay in the cache.
BLOCK_ENTRIES = 131_072
#: Up to this many classes, looking for the largest class by class is faster than row by row.
FEW_CLASSES = 32
#: What parts of a record with a memory take over.
HANDED_ON = ("log_probabilities", "row_sums", "_tilts")
#: Relative change of 1 / T up to which a Taylor series of four terms is exact to about nine digits.
WIDEST_TILT = 0.02
#: Targets that are questions, not classes; the last is the old name of the first.
QUESTIONS = ("answer", "event", "top")


@dataclass(frozen=True)
class Predictions:
    """Checked predictions of n rows over K classes, made by :func:`read`.

    Attributes
    ----------
    values : (n, K) float32 or float64
        Probabilities as given (rows sum to 1 within the tolerance of their dtype) or logits.
    kind : {"probability", "logit"}
    classes : (K,) array, in column order.
    labels : (n,) intp or None
        Position of the true class in ``classes``.
    weight : (n,) float64 or None
        Positive weights; None means every row counts once. Rows of weight 0 have been dropped.
    X, reference
        Features of the rows, and (X_train, y_train) with labels as positions in ``classes``, or None.
    resolution : float
        Machine epsilon of the dtype the values came in.
    checked : bool
        False where the numbers are checked by the first pass over ``blocks``, as ``read(check_values=False)`` asks.
    memory : dict or None
        What a fit leaves for fits on nearly the same rows, such as those of folds, to begin from; None: every fit begins anew.
    own : (n,) intp or None
        Labels taken for the model's own instead of those of the largest values, with their probabilities as confidence: a calibrator of
        the confidence alone is measured on the label it speaks of, even where that is no longer the most probable one.
    cluster : (n,) intp or None
        Which rows hang together: intervals and tests then count clusters, not rows.
    groups : (n,) labels, or a frame of n rows, or None
        The groups that rows are of, as given, for calibrators that set each group right.
    """

    task: ClassVar[str] = "classification"

    values: np.ndarray
    kind: Inputs
    classes: np.ndarray
    labels: np.ndarray | None = None
    weight: np.ndarray | None = None
    X: Any = None
    reference: Any = None
    resolution: float = 2.0**-52
    kept: np.ndarray | None = field(default=None, repr=False)
    checked: bool = field(default=True, repr=False)
    own: np.ndarray | None = field(default=None, repr=False)
    memory: dict[str, Any] | None = field(default=None, repr=False, compare=False)
    cluster: np.ndarray | None = field(default=None, repr=False)
    groups: Any = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def n_classes(self) -> int:
        return self.values.shape[1]

    @cached_property
    def probabilities(self) -> np.ndarray:
        """(n, K) float64, rows summing to 1."""
        return _softmax.softmax(self.values) if self.kind == "logit" else np.divide(self.values, self.row_sums[:, None], dtype=np.float64)

    @cached_property
    def log_probabilities(self) -> np.ndarray:
        """(n, K) float64, finite; see :func:`calibrant._kernels.softmax.log_probabilities` for exact zeros."""
        if self.kind == "logit":
            return _softmax.log_softmax(self.values)
        if self.memory is not None and _softmax.working_dtype(self.values) == np.float32:
            return _softmax.log_probabilities(self.values / self.row_sums[:, None].astype(np.float32))
        return _softmax.log_probabilities(self.probabilities)

    @property
    def logits(self) -> np.ndarray:
        """(n, K): the logits as given, or the log-probabilities, which are logits too."""
        return self.values if self.kind == "logit" else self.log_probabilities

    @cached_property
    def inverse_temperature(self) -> tuple[float, str]:
        """(1 / T, status) of least log loss of softmax(logits / T), what many calibrators begin with: found once."""
        kept = self.memory_of("temperature")
        start = None if kept is None else kept.get("end")
        near = self.__dict__.get("_tilts")
        if near is not None and not is_separable(self.logits, self.labels):
            change = tilted_root(near, self.weights, WIDEST_TILT * start)
            if change is not None:
                return start + change, "converged"
        found = inverse_temperature(self.logits, self.labels, self.weights, start=start)
        if kept is not None and not kept and found[1] == "converged":
            # Losses and their derivatives at this temperature, row by row: parts of the record keep theirs, and need no search.
            kept["end"], self.__dict__["_tilts"] = found[0], tilts(found[0], self.logits, self.labels)
        return found

    @cached_property
    def own_tempered(self) -> np.ndarray:
        """(n,) probability of the true class after temperature scaling of these rows."""
        beta, _ = self.inverse_temperature
        near, kept = self.__dict__.get("_tilts"), self.memory_of("temperature")
        if near is not None and kept and abs(beta - kept["end"]) <= WIDEST_TILT * beta:
            return np.exp(-tilted_losses(near, beta - kept["end"]))
        return _softmax.softmax(self.logits * beta)[np.arange(len(self)), self.labels]

    @cached_property
    def own_probability(self) -> np.ndarray:
        """(n,) probability of the true class."""
        if self.kind == "logit":
            return self.probabilities[np.arange(len(self)), self.labels]
        return self.values[np.arange(len(self)), self.labels].astype(np.float64) / self.row_sums

    @cached_property
    def derived(self) -> dict[Any, Any]:
        """A place for what several fits on these very rows derive from them."""
        return {}

    def memory_of(self, key: Any) -> dict[str, Any] | None:
        """The part of the memory that one search has for itself."""
        return None if self.memory is None else self.memory.setdefault(key, {})

    @cached_property
    def by_class(self) -> np.ndarray:
        """(K, n) float64 copy of the values, class by class: sums and maxima over the classes are then quick. For blocks."""
        return np.array(self.values.T, dtype=np.float64, order="C")

    @cached_property
    def row_sums(self) -> np.ndarray:
        """(n,) float64 sums of the values as given (of probabilities: 1 to the rounding of their dtype)."""
        return self._in_blocks(lambda block: block.by_class.sum(axis=0))

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
        """(distinct confidences, ascending; place of each row among them): sorted once for all that ranks."""
        return np.unique(self.confidence, return_inverse=True)

    def _in_blocks(self, function):
        """``function(block)`` for each block, joined, so that what is derived on the way stays small."""
        return function(self) if len(self) <= self._block_rows else np.concatenate([function(block) for block in self.blocks()])

    @property
    def _block_rows(self):
        return max(1024, BLOCK_ENTRIES // self.n_classes)

    @cached_property
    def true_and_rest(self) -> tuple[np.ndarray, np.ndarray]:
        """Probability of the true class and the sum of all others, as given (before division by the row sum), each (n,) float64.

        The rest is summed by itself, so it keeps its precision where the true class is near 1. For probabilities only.
        """
        others, rows = self.by_class.copy(), np.arange(len(self))
        own = others[self.labels, rows]
        others[self.labels, rows] = 0.0
        return own, others.sum(axis=0)

    @cached_property
    def correct(self) -> np.ndarray:
        """(n,) float64, 1 where the predicted label is the true one."""
        return (self.predicted == self.labels).astype(np.float64)

    @cached_property
    def weights(self) -> np.ndarray:
        """(n,) float64, ones where no weights were given."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @cached_property
    def one_hot(self) -> np.ndarray:
        """(n, K) float64 indicator of the true class."""
        out = np.zeros(self.values.shape)
        out[np.arange(len(self)), self.labels] = 1.0
        return out

    def take(self, rows: Any) -> "Predictions":
        """The same record for some of the rows (indices, mask or slice)."""
        part = replace(
            self,
            values=self.values[rows],
            labels=None if self.labels is None else self.labels[rows],
            weight=None if self.weight is None else self.weight[rows],
            X=self._rows_of(self.X, rows),
            groups=self._rows_of(self.groups, rows),
            kept=None,
            own=None if self.own is None else self.own[rows],
            cluster=None if self.cluster is None else self.cluster[rows],
        )
        self._hand_on(part, rows)
        return part

    def _rows_of(self, table, rows):
        """Some rows of what came beside the predictions, None where nothing did."""
        if table is None or isinstance(table, np.ndarray):
            return table if table is None else table[rows]
        return take_rows(table, np.arange(len(self))[rows])

    def weighted(self, weight: np.ndarray) -> "Predictions":
        """The same rows with other weights, (n,), none of them 0."""
        out = replace(self, weight=weight)
        self._hand_on(out, slice(None))
        return out

    def _hand_on(self, part, rows):
        """Give what was derived row by row to a part of the record, where fits share a memory."""
        for name in HANDED_ON if self.memory is not None else ():
            if name in self.__dict__:
                part.__dict__[name] = self.__dict__[name][rows]

    def pair(self, target: Any) -> tuple[np.ndarray, np.ndarray]:
        """(score, hit), (n,) each: was the answer right ("answer"), did class 1 of two happen ("event"), or this class (its label)?"""
        if target == "answer" and target not in self.classes.tolist():
            return self.confidence, self.correct
        k = self.position(target)
        return self.probabilities[:, k], (self.labels == k).astype(np.float64)

    @property
    def default_target(self) -> str:
        """The question asked where none is named: "event" of two classes, "answer" of more, as displays have it."""
        return "event" if self.n_classes == 2 else "answer"

    def position(self, target: Any) -> int:
        """The column of the class that a target means: "event", class 1 of two, or a class's label."""
        classes = self.classes.tolist()
        match = [k for k, c in enumerate(classes) if c == target]
        if match and target in QUESTIONS:
            raise InputError(f'target="{target}" is the name of a question and of a class; give the class another name.')
        if match:
            return match[0]
        if target != "event":
            raise InputError(f'target must be "answer", "event" or one of the classes {classes}; got {target!r}.')
        if len(classes) != 2:
            raise InputError(f'target="event" takes two classes; got {len(classes)}; name one of {classes} or "answer".')
        return 1

    def as_pair(self, target: Any) -> "Predictions":
        """The same rows as a question of yes (class 1) or no (class 0), with yes for the label of every row.

        So its ``confidence`` is the probability said and ``correct`` whether it happened, both as ``pair`` has them; a metric of the answer
        on it is one of the target. It has neither features nor reference.
        """
        score, hit = self.pair(target)
        # Two classes are kept as given: 1 - p has no digits left where p is near 1.
        whole = {} if target == "event" else {"values": np.column_stack([1.0 - score, score]), "kind": "probability"}
        own = np.ones(len(self), dtype=np.intp)
        return replace(self, **whole, classes=np.arange(2), labels=hit.astype(np.intp), X=None, reference=None, own=own)

    def blocks(self, size: int | None = None) -> Iterator["Predictions"]:
        """The record in slices of at most ``size`` rows (by default as many as fit the cache), checked on the way if it is not yet."""
        size = self._block_rows if size is None else size
        for start in range(0, max(len(self), 1), size):
            block = self if len(self) <= size else self.take(slice(start, start + size))
            if not (self.checked or sound(block)):
                check_values(self.values, self.kind, self.resolution)
            yield block

    @property
    def several(self) -> bool:
        """Whether there are several outputs: never, of classes."""
        return False

    def outputs(self) -> list["Predictions"]:
        """The record itself: the protocol that it shares with forecasts of several outputs."""
        return [self]

    def one_output(self) -> "Predictions":
        """The record itself."""
        return self

    @property
    def strata(self) -> np.ndarray:
        """(n,) what folds are dealt out by: the true labels."""
        if self.labels is None:
            raise InputError("y must be the true labels, one a row; got None.")
        return self.labels

    @property
    def calibrator_params(self) -> dict[str, Any]:
        """What a calibrator must be told of the rows it is fitted on: the kind of input, and the classes."""
        return {"inputs": self.kind, "classes": self.classes}

    def without_features(self) -> "Predictions":
        """The record without ``X``, for a calibrator that does not use it."""
        return replace(self, X=None)

    def gathered(self, parts: Sequence[np.ndarray], rows: Sequence[np.ndarray]) -> np.ndarray:
        """(n, K) calibrated probabilities from those of several fits, ``parts[k]`` of ``rows[k]``; NaN in the rows of none."""
        out = np.full(self.values.shape, np.nan)
        for part, held_out in zip(parts, rows, strict=True):
            out[held_out] = part
        return out

    def recalibrated(self, result: ArrayLike, output: str = "probability") -> "Predictions":
        """The same rows with calibrated probabilities, (n, K); where the ``output`` is "confidence" they keep the model's own label."""
        own = self.predicted if output == "confidence" else None
        return replace(self, values=np.asarray(result, dtype=np.float64), kind="probability", resolution=2.0**-52, own=own)

    def agrees_with(self, other: "Predictions") -> bool:
        """Whether both say the same of all rows, up to rounding."""
        return bool(np.abs(self.probabilities - other.probabilities).max() < 1e-12)

    def per_row(self, values: np.ndarray) -> np.ndarray:
        """An array given for the rows of the input, without the rows of weight 0 that were dropped."""
        return values if self.kept is None else values[self.kept]


def _first_largest(block):
    """(n,) argmax of the values, the first on ties."""
    if block.n_classes > FEW_CLASSES:
        return block.values.argmax(axis=1)
    columns = block.by_class
    best = columns.max(axis=0)
    out = np.zeros(len(block), dtype=np.int8)
    for k in range(block.n_classes - 1, -1, -1):
        np.putmask(out, columns[k] == best, k)
    return out


def _largest_probability(block):
    if block.kind == "logit":
        return _softmax.softmax(block.values)[np.arange(len(block)), block.predicted]
    return block.by_class.max(axis=0) / block.row_sums
