"""Record of answers to questions, with any number of options in each row."""

import hashlib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np

from calibrant._numerics.bootstrap import DIGITS, numbered_by_content, row_codes, uniform_of_rows
from calibrant.core.folds import stratified_folds
from calibrant.core.given import PlainRows
from calibrant.core.groups import Groups
from calibrant.errors import InputError

__all__ = ["CHOICE", "FREE", "KINDS", "SCORE", "TWO_SIDED", "YES_NO", "Questions", "numeral_of"]

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
        kinds = ", ".join(KINDS[k] for k in map(int, np.unique(self.kind)))
        return (
            f"Questions(rows={len(self)}, kinds={kinds!r}, questions={len(self.question.names)},"
            f" items={len(self.item.names)}, options={len(self.probability)},"
            f" labelled={int(self.labelled.sum())})"
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
        # Names decide between items of equal numbers only.
        order = np.argsort(index, kind="stable")
        sums = np.add.reduceat(self.code[order], np.flatnonzero(np.diff(index[order], prepend=-1)))
        rank = np.argsort(np.argsort(sums, kind="stable"))
        return numbered_by_content(rank[index], self.mark, self.weights)

    @cached_property
    def code(self) -> np.ndarray:
        """(n,) uint64 from the content and the names of each row, without its item and weight."""
        cells = np.column_stack([self.probability, 2.0 + self.mass, 4.0 + _hashed(self.option)])
        # Sums of integers wrap around, so they do not depend on their order.
        content = np.add.reduceat(_bits(cells), self.start[:-1]).astype(np.float64)
        named = [_hashed(one) for one in (self.question, self.type, self.model)]
        named = [one + 2.0 ** (33 + k) for k, one in enumerate(named)]
        scores = [] if self.signals is None else list(np.nan_to_num(self.signals, nan=-1e9).T)
        return _bits(np.column_stack([content, *named, *scores]))

    def merged(self) -> Self:
        """Equal rows of an item once, with the sum of their weights, in an order that depends on
        their content.
        """
        rows = np.column_stack([self.item_number, self.code])
        _, first, index = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        return replace(self.take(first), weight=np.bincount(index.ravel(), self.weights))

    def in_order(self) -> Self:
        """The same rows in an order that depends on their content only, with sorted names: sums
        over them have the same bits for every order of a log.
        """
        rows = self.take(np.lexsort([self.item_number, self.weights, self.code]))
        names = ("question", "type", "item", "model", "option")
        named = {name: _sorted(getattr(rows, name)) for name in names}
        return replace(rows, **named).by_name()[0]

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
        """(n,) the position of the most likely option within its row; if several are, of the first
        by its name, or the lowest level; of a free answer, that of "yes, it is right", however
        unlikely.
        """
        top = self.probability == np.repeat(self.confidence, self.size)
        rank = np.where(top, self.option_rank, len(self.probability))
        first = np.repeat(np.minimum.reduceat(rank, self.start[:-1]), self.size)
        place = np.where(rank == first, self.place, -1)
        return np.where(self.kind == FREE, 1, np.maximum.reduceat(place, self.start[:-1]))

    @cached_property
    def option_rank(self) -> np.ndarray:
        """(m,) ranks of the options of a choice by their names, numbers first; of others, their
        positions.
        """
        texts = np.unique(self.option.names.astype(object), return_inverse=True)[1]
        numbers = np.array([numeral_of(str(name)) for name in self.option.names])
        rank = np.argsort(np.lexsort((texts, numbers)))[self.option.index]
        return np.where(self.kind[self.row] == CHOICE, rank, self.place)

    def by_name(self) -> tuple[Self, np.ndarray]:
        """(the record with its options in the order of their names, (m,) where they were): their
        order in a log changes no bit of what is computed from it.
        """
        order = np.lexsort((self.option_rank, self.row))
        at = np.argsort(order)[self.start[:-1] + np.maximum(self.right, 0)] - self.start[:-1]
        moved = replace(
            self,
            probability=self.probability[order],
            option=Groups(self.option.names, self.option.index[order]),
            right=np.where(self.labelled, at, -1),
            share=None if self.share is None else self.share[order],
        )
        return moved, order

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
        """(n,) a number from the probabilities and outcomes of each row, whatever their names."""
        cells = np.column_stack([self.probability, 2.0 + self.mass])
        sums = np.add.reduceat(uniform_of_rows(row_codes(cells), 0), self.start[:-1])
        return np.round(sums, DIGITS)

    @property
    def digest(self) -> str:
        """Hash of the items, questions, predictions and outcomes, in hexadecimal, whatever the
        order of the rows and the names of the items.
        """
        rows = self.in_order()
        parts = (rows.probability, rows.start, rows.right, rows.item_number, rows.question.index)
        names = repr([rows.question.names.tolist(), rows.option.names.tolist()]).encode()
        held = b"".join(np.ascontiguousarray(part).tobytes() for part in parts)
        return hashlib.sha256(held + names).hexdigest()

    @property
    def judged(self) -> tuple[np.ndarray, np.ndarray]:
        """((n,) confidence, (n,) 1.0 if the answer is right, else 0.0); an outcome of several
        raters is drawn by their shares.
        """
        drawn = np.empty(len(self))
        drawn[np.argsort(self.code, kind="stable")] = np.random.default_rng(0).random(len(self))
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


def _bits(values: np.ndarray) -> np.ndarray:
    """(n,) uint64 from the numbers of each row, whose columns have ranges of their own."""
    return (uniform_of_rows(row_codes(values), 0) * 2.0**52).astype(np.uint64)


def _hashed(groups: Groups) -> np.ndarray:
    """A number from the name of the group of each row."""
    codes = [zlib.crc32(str(name).encode("utf-8", "surrogatepass")) for name in groups.names]
    return np.array(codes, np.float64)[groups.index]


def _sorted(groups: Groups) -> Groups:
    """The same groups in the order of their names, without those that no row has."""
    used, index = np.unique(groups.index, return_inverse=True)
    names, place = np.unique(groups.names[used].astype(object), return_inverse=True)
    return Groups(names, place[index].astype(np.intp))


def numeral_of(name: str) -> float:
    """The number that a name spells, nan for others."""
    try:
        return np.nan if "_" in name else float(name)
    except ValueError:
        return np.nan
