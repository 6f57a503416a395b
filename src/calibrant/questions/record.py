"""Record of answers to questions, with any number of options in each row."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np

from calibrant._kernels.draws import numbered_by_content
from calibrant.errors import InputError
from calibrant.folds.splits import stratified_folds
from calibrant.groups import Groups
from calibrant.predictions.plain_rows import PlainRows

__all__ = ["CHOICE", "FREE", "KINDS", "SCORE", "TWO_SIDED", "YES_NO", "Questions"]

#: Kinds of questions, and their numbers in a record; the kinds with one probability of an event.
KINDS = ("yes/no", "choice", "score", "free answer")
YES_NO, CHOICE, SCORE, FREE = range(4)
TWO_SIDED = (YES_NO, FREE)
#: Tolerance of the comparison of two records' probabilities.
SAME = 1e-12


@dataclass(frozen=True)
class Questions(PlainRows):
    """Answers to questions: a probability for each option of each row, in flat arrays.

    Attributes
    ----------
    probability : (m,) of all options; those of row i are at ``start[i]`` to ``start[i + 1]``
        The options of a yes/no row are "no" and "yes"; those of a score ascend. A free answer has
        the probabilities that it is wrong ("no") and right ("yes").
    start : (n + 1,) intp
    option : (m,) Groups, the names of the options
    kind : (n,) int8, positions in ``KINDS``
    question, type, item, model : (n,) Groups
        The question, its type, the item that it was asked about, and the version of the model.
    right : (n,) intp, the position of the true option within its row; -1 where it is unknown
    share : (m,) shares of the raters who chose each option, or None
        The rows with shares have the most frequent option as ``right``.
    signals : (n, S) scores of free answers, nan where missing, or None
    signal_names : tuple of str
    decimals : int or None
        Number of decimals to which the probabilities were rounded; None if they were not.

    See Also
    --------
    read_questions : reads one from a log.
    """

    probability: np.ndarray
    start: np.ndarray
    option: Groups = field(repr=False)
    kind: np.ndarray = field(repr=False)
    question: Groups = field(repr=False)
    type: Groups = field(repr=False)
    item: Groups = field(repr=False)
    model: Groups = field(repr=False)
    right: np.ndarray = field(repr=False)
    share: np.ndarray | None = field(default=None, repr=False)
    signals: np.ndarray | None = field(default=None, repr=False)
    signal_names: tuple[str, ...] = ()
    decimals: int | None = None

    def __repr__(self) -> str:
        kinds = ", ".join(KINDS[k] for k in np.unique(self.kind))
        return (
            f"Questions of {len(self):,} rows ({kinds}): {len(self.question.names):,} questions,"
            f" {len(self.item.names):,} items, {len(self.probability):,} options,"
            f" {int(self.labelled.sum()):,} rows labelled"
        )

    def __len__(self) -> int:
        return len(self.kind)

    @cached_property
    def size(self) -> np.ndarray:
        """(n,) the number of options of each row."""
        return np.diff(self.start)

    @cached_property
    def row(self) -> np.ndarray:
        """(m,) the row of each option."""
        return np.repeat(np.arange(len(self)), self.size)

    @cached_property
    def place(self) -> np.ndarray:
        """(m,) the position of each option within its row."""
        return np.arange(len(self.probability)) - np.repeat(self.start[:-1], self.size)

    def known(self) -> Self:
        """The labelled rows; raises an error if there are none."""
        if not self.labelled.any():
            raise InputError("questions must have outcomes; got none; label some rows.")
        kept = np.ones(len(self), bool) if self.kept is None else self.kept.copy()
        kept[kept] = self.labelled
        return replace(self.take(self.labelled), kept=kept)

    def drawn(self, share: float, random_state: int) -> np.ndarray:
        """(n,) whether each row's item is in a random share of the items."""
        count = int(self.item_number.max()) + 1
        items = np.random.default_rng(random_state).permutation(count)
        return np.isin(self.item_number, items[: int(share * count)])

    def folds(self, cv: int, random_state: int) -> np.ndarray:
        """(n,) folds of items, at most one an item, whatever the order of the rows."""
        count = int(self.item_number.max()) + 1
        folds = stratified_folds(np.zeros(count), min(cv, count), random_state)
        return folds[self.item_number]

    @cached_property
    def item_number(self) -> np.ndarray:
        """(n,) numbers 0..G-1 of the items, in an order that depends on their content."""
        _, index = np.unique(self.item.index, return_inverse=True)
        return numbered_by_content(index, self.mark, self.weights)

    def merged(self) -> Self:
        """Equal rows of an item once, with the sum of their weights, in an order that depends on
        their content.
        """
        content = np.add.reduceat(self.probability * np.sqrt(1.0 + self.place), self.start[:-1])
        codes = [self.item_number, self.mark, content, self.question.index, self.model.index]
        codes += [] if self.signals is None else list(np.nan_to_num(self.signals, nan=-9.0).T)
        rows = np.column_stack(codes)
        _, first, index = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        return replace(self.take(first), weight=np.bincount(index.ravel(), self.weights))

    @cached_property
    def labelled(self) -> np.ndarray:
        """(n,) whether the outcome is known."""
        return self.right >= 0

    @cached_property
    def confidence(self) -> np.ndarray:
        """(n,) the largest probability of each row; of a free answer, that it is right."""
        largest = np.maximum.reduceat(self.probability, self.start[:-1])
        return np.where(self.kind == FREE, self.probability[self.start[1:] - 1], largest)

    @cached_property
    def answer(self) -> np.ndarray:
        """(n,) the position of the most likely option within its row, the first if several are;
        of a free answer, that of "yes, it is right", however unlikely.
        """
        top = self.probability == np.repeat(self.confidence, self.size)
        first = np.where(top, self.place, len(self.probability))
        return np.where(self.kind == FREE, 1, np.minimum.reduceat(first, self.start[:-1]))

    @cached_property
    def mass(self) -> np.ndarray:
        """(m,) the share of the outcome on each option; zeros where it is unknown."""
        if self.share is not None:
            return self.share
        mass = np.zeros(len(self.probability))
        mass[(self.start[:-1] + self.right)[self.labelled]] = 1.0
        return mass

    @cached_property
    def correct(self) -> np.ndarray:
        """(n,) the share of the outcome on the answer; nan where it is unknown."""
        return np.where(self.labelled, self.mass[self.start[:-1] + self.answer], np.nan)

    @cached_property
    def of_right(self) -> np.ndarray:
        """(n,) probability of the true option; nan where it is unknown."""
        own = self.probability[self.start[:-1] + np.maximum(self.right, 0)]
        return np.where(self.labelled, own, np.nan)

    @property
    def mark(self) -> np.ndarray:
        """(n,) a number from the content of each row."""
        return self.probability[self.start[:-1]] + self.right + 1e3 * self.size

    @property
    def digest(self) -> str:
        """Hash of the items, questions, predictions and outcomes, in hexadecimal."""
        parts = (self.probability, self.start, self.right, self.item.index, self.question.index)
        names = repr([self.item.names.tolist(), self.question.names.tolist()]).encode()
        held = b"".join(np.ascontiguousarray(part).tobytes() for part in parts)
        return hashlib.sha256(held + names).hexdigest()

    @property
    def judged(self) -> tuple[np.ndarray, np.ndarray]:
        """((n,) confidence, (n,) 1.0 if the answer is right, else 0.0); an outcome of several
        raters is drawn by their shares.
        """
        drawn = np.random.default_rng(0).random(len(self))
        return self.confidence, (drawn < self.correct).astype(np.float64)

    def flat(self, rows: np.ndarray) -> np.ndarray:
        """Positions of the options of some rows (indices) in the flat arrays."""
        size = self.size[rows]
        before = np.cumsum(size) - size
        return np.arange(int(size.sum())) + np.repeat(self.start[rows] - before, size)

    def _own(self, rows: Any) -> dict[str, Any]:
        rows = np.arange(len(self))[rows]
        flat = self.flat(rows)
        named = {name: getattr(self, name) for name in ("question", "type", "item", "model")}
        return {
            **{name: Groups(one.names, one.index[rows]) for name, one in named.items()},
            "probability": self.probability[flat],
            "start": np.append(0, np.cumsum(self.size[rows])),
            "option": Groups(self.option.names, self.option.index[flat]),
            "kind": self.kind[rows],
            "right": self.right[rows],
            "share": None if self.share is None else self.share[flat],
            "signals": None if self.signals is None else self.signals[rows],
        }

    def gathered(self, parts: Sequence[np.ndarray], rows: Sequence[np.ndarray]) -> np.ndarray:
        """Calibrated probabilities (m,), from those of several fits for ``rows[k]`` each."""
        out = np.empty(len(self.probability))
        for part, own in zip(parts, rows, strict=True):
            out[self.flat(np.arange(len(self))[own])] = part
        return out

    def recalibrated(self, result: np.ndarray, output: str = "probability") -> Self:
        """The same rows with calibrated probabilities (m,), which are not rounded."""
        return replace(self, probability=result, decimals=None)

    def agrees_with(self, other: Any) -> bool:
        """Whether both predict the same, up to rounding."""
        return bool(np.allclose(self.probability, other.probability, rtol=0.0, atol=SAME))

    def outcomes(self) -> list[Any]:
        """The name of the true option of each row, or None."""
        names = self.option.names[self.option.index[self.start[:-1] + np.maximum(self.right, 0)]]
        known = zip(names.tolist(), self.labelled.tolist(), strict=True)
        return [name if seen else None for name, seen in known]

    def shared_outcomes(self) -> list[Any]:
        """The outcomes that other models' answers to the same rows have too: those of free answers
        are None, because an answer is right or wrong for each model.
        """
        rows = zip(self.outcomes(), (self.kind == FREE).tolist(), strict=True)
        return [None if free else name for name, free in rows]

    def answers(self) -> list[dict[str, float]]:
        """The probabilities of each row by the names of its options; the confidence of a free
        answer.
        """
        names = self.option.names[self.option.index].tolist()
        values, ends = self.probability.tolist(), self.start.tolist()
        return [
            {"confidence": values[b - 1]}
            if free
            else dict(zip(names[a:b], values[a:b], strict=True))
            for (a, b), free in zip(pairwise(ends), self.kind == FREE, strict=True)
        ]

    def loss_limits(self) -> tuple[float, float, float]:
        """The mean log loss of the labelled rows with its limits due to rounding.

        A probability rounded to d decimals lies within half of 10^-d. The upper limit is infinite
        if the probability of a true option was rounded to 0.

        Returns
        -------
        tuple of float
            The mean, its lower and its upper limit.
        """
        rows = self.known()
        half = 0.0 if rows.decimals is None else 0.5 * 10.0**-rows.decimals
        p = np.maximum(rows.probability, 0.0)
        floor = half if half > 0.0 else np.finfo(np.float64).tiny
        with np.errstate(divide="ignore"):
            ends = [np.maximum(p, floor), np.minimum(p + half, 1.0), np.maximum(p - half, 0.0)]
            logs = [-np.log(end[rows.mass > 0.0]) for end in ends]
        weight = (rows.mass * np.repeat(rows.weights, rows.size))[rows.mass > 0.0]
        value, low, high = (float(weight @ one / weight.sum()) for one in logs)
        return value, low, high
