"""Record of answers to questions, with any number of options in each row; and rows of a log, from
the forms in which tools write them.
"""

import hashlib
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np

from calibrant._numerics.bootstrap import DIGITS, numbered_by_content, row_codes, uniform_of_rows
from calibrant.core.folds import stratified_folds
from calibrant.core.given import PlainRows
from calibrant.core.groups import Groups
from calibrant.core.labels import is_missing
from calibrant.errors import InputError
from calibrant.questions.values import (
    Batch,
    Fields,
    OddValue,
    Places,
    chance_of,
    finite_of,
    is_a,
    is_list,
    label_of,
    number_of,
    options_by_text,
    shown,
    text_of,
    words_of,
)

__all__ = [
    "CHOICE",
    "FORMS",
    "FREE",
    "JUDGED",
    "KINDS",
    "OPTIONS",
    "OTHER",
    "SCORE",
    "SHOWN",
    "TWO_SIDED",
    "YES_NO",
    "Entry",
    "Questions",
    "entries_of",
    "fields_in",
    "nested_in",
    "numeral_of",
]


#: Fields of a nested log that hold several questions about one item.
NESTED = ("decisions", "questions", "answers")
#: Fields of the options of an answer; those by which a mapping is a row of a log, and not one of
#: probabilities.
SHOWN = ("probs", "logprobs", "samples")
FORMS = {*SHOWN, "confidence", "signals", *NESTED}
#: Prior count of an option among samples of an answer, and the name of the options not sampled.
PRIOR, OTHER = 0.5, "(other)"
#: Forms of a row: options, the confidence of a free answer, and one whose outcome is ``correct``.
OPTIONS, FREE_FORM, JUDGED = range(3)
#: Largest logarithm of a probability that was rounded, and the remedy for outcomes that disagree.
ROUNDING, WRONG = 1e-6, "leave the wrong one out"


class Entry(NamedTuple):
    """One row: an answer with its question, the outcome if it is known, and the number of its line.

    ``form`` tells the confidences of free answers from the probabilities of options.
    """

    id: Any
    question: Any
    probs: Mapping[Any, Any] | None
    label: Any
    type: Any
    model: Any
    weight: Any
    at: int
    signals: tuple[float, ...] | None = None
    form: int = OPTIONS


def entries_of(batch: Batch, fields: Fields) -> Iterator[Entry]:
    """The rows of some objects of a log."""
    name, plain = fields.options, not fields.signals
    others = {"correct", fields.confidence, *NESTED}
    for one, at in zip(batch.objects, batch.number, strict=True):
        probs = one.get(name)
        label = one.get(fields.label)
        if plain and type(probs) is dict and label is not None and others.isdisjoint(one):
            yield Entry(
                one.get(fields.id),
                one.get(fields.question),
                probs,
                label,
                one.get(fields.type),
                one.get(fields.model),
                one.get(fields.weight),
                at,
            )
        else:
            yield from _other_forms(one, fields, Places(batch.word, [at]))


def _other_forms(one: Mapping[Any, Any], fields: Fields, place: Places) -> Iterator[Entry]:
    """The rows of an object in any form."""
    forms = _forms(fields)
    form = next((key for key in forms if _given(one.get(key))), None)
    several = nested_in(one, fields)
    if len(held := [*several, *([form] if form and several else [])]) > 1:
        raise InputError(
            f"{place[0]} must hold its answers in one field; it holds some in {held[0]!r} and in"
            f" {held[1]!r}; write those of one field as a row of their own."
        )
    if several:
        inside = _children(one, several[0], fields, place)
        yield from entries_of(Batch(inside, place.word, [*place.number] * len(inside)), fields)
        return
    signals = _signals(one, fields, place) if fields.signals else None
    free = form == fields.confidence or (form is None and signals is not None)
    label, kind = _outcome(one, fields, free, place)
    probs: Mapping[Any, Any] | None = None if signals is None else {"no": 0.5, "yes": 0.5}
    if form is not None:
        (probs,) = place.each(forms[form], form, [one[form]])
    if form != fields.confidence and _given(said := one.get(fields.confidence)):
        # The probabilities of the options count.
        place.each(chance_of, fields.confidence, [said])
    if probs and not free and fields.label and not is_missing(one.get("correct")):
        label = _judged(probs, one, fields, place)
    types, model, weight = (one.get(key) for key in (fields.type, fields.model, fields.weight))
    item, question = one.get(fields.id), one.get(fields.question)
    yield Entry(item, question, probs, label, types, model, weight, place.number[0], signals, kind)


def _children(
    one: Mapping[Any, Any], nested: str, fields: Fields, place: Places
) -> list[dict[Any, Any]]:
    """The questions of one item, with what they share."""
    held: Any = one[nested]
    shared = {key: one[key] for key in (fields.id, fields.model, fields.weight) if key in one}
    named: Any = is_a(held, Mapping)
    values = list(held.values()) if named else held
    for value in values:
        if not is_a(value, Mapping):
            odd = OddValue("hold a mapping for each question", value, "repair or drop that row")
            raise odd.at(nested, place[0])
    none = dict[Any, Any]()
    names = [{fields.question: name} for name in held] if named else [none] * len(values)
    rows = [{**shared, **name, **each} for name, each in zip(names, values, strict=True)]
    for key, name, outcomes in _outer(one, nested, fields, place):
        asked = place.each(text_of, fields.question, [row.get(fields.question) for row in rows])
        beside = dict(zip(place.each(text_of, key, [*outcomes]), outcomes.values(), strict=True))
        twice = any(
            _given(row.get(name)) for row, q in zip(rows, asked, strict=True) if q in beside
        )
        if twice or not {*beside} <= {*asked}:
            rule = "name questions of its row that have no outcome of their own"
            raise OddValue(rule, outcomes, "write each outcome once").at(key, place[0])
        rows = [
            {**row, name: beside[q]} if q in beside else row
            for row, q in zip(rows, asked, strict=True)
        ]
    return rows


def _outer(
    one: Mapping[Any, Any], nested: str, fields: Fields, place: Places
) -> list[tuple[str, str, Mapping[Any, Any]]]:
    """(field, field of a question, outcomes by question) of outcomes beside the questions."""
    names = {fields.label: fields.label, "labels": fields.label, "correct": "correct"}
    outer = [(key, names[key], one[key]) for key in names if fields.label and _given(one.get(key))]
    for key, _, value in outer:
        if not is_a(value, Mapping):
            rule = f"be a mapping by question beside {nested!r}"
            raise OddValue(rule, value, "write each outcome into its question").at(key, place[0])
    return outer


def nested_in(one: Mapping[Any, Any], fields: Fields) -> list[str]:
    """The fields of an object that hold several questions; beside the answer to one, lists of texts
    hold none.
    """
    single = any(_given(one.get(key)) for key in _forms(fields))
    parts = _parts(one)
    full = [
        name
        for name, inside in parts.items()
        if any(is_a(each, Mapping) or not single for each in inside)
    ]
    return full or ([] if single else [*parts][:1])


def fields_in(objects: Sequence[Mapping[Any, Any]]) -> set[str]:
    """The names of the fields of some objects, and of the questions inside them."""
    inside = [
        each
        for one in objects
        for part in _parts(one).values()
        for each in part
        if is_a(each, Mapping)
    ]
    names = {str(name) for one in objects for name in one}
    return names | fields_in(inside) if inside else names


def _parts(one: Mapping[Any, Any]) -> dict[str, list[Any]]:
    """The contents of the fields of an object that may hold several questions."""
    fields = {name: one[name] for name in NESTED if is_a(one.get(name), Mapping, list)}
    return {
        name: [*(inside.values() if is_a(inside, Mapping) else inside)]
        for name, inside in fields.items()
    }


def _forms(fields: Fields) -> dict[str, Callable[[Any], Any]]:
    """Readers of the forms of an answer, by their fields, the first of which counts."""
    return {
        fields.options: _of_options,
        "logprobs": _of_logs,
        "samples": _votes,
        fields.confidence: _of_event,
    }


def _given(value: Any) -> bool:
    return not is_missing(value) and not (
        (is_a(value, Mapping) or is_list(value)) and not len(value)
    )


def _outcome(one: Mapping[Any, Any], fields: Fields, free: bool, place: Places) -> tuple[Any, int]:
    """(the outcome of a row, the form of its answer)."""
    label: Any = one.get(fields.label)
    judged = one.get("correct") if fields.label else None
    if not free:
        return label, OPTIONS
    if is_a(label, bool, np.bool_) and words_of(str(judged)) == 1 - int(label):
        odd = OddValue(f"agree with {fields.label!r}, {label}", judged, WRONG)
        raise odd.at("correct", place[0])
    # The label of a free answer is often the expected text.
    first = fields.label == Fields().label or is_missing(label)
    by_judge = first and not is_missing(judged)
    return judged if by_judge else label, JUDGED if by_judge else FREE_FORM


def _judged(probs: Mapping[Any, Any], one: Mapping[Any, Any], fields: Fields, place: Places) -> Any:
    """The label of options, from whether the most likely one is ``correct``, or its name there."""
    label, correct = one.get(fields.label), one["correct"]
    first = correct if is_missing(label) else label
    if is_a(correct, Mapping) or is_a(label, Mapping):
        return first
    (probs,) = place.each(options_by_text, fields.options, [probs])
    values = place.each(number_of, fields.options, list(probs.values()), [0] * len(probs))
    (text,) = place.each(label_of, "correct", [correct])
    (name,) = place.each(label_of, fields.label, [label])
    judged = words_of(text or "")
    top = [option for option, p in zip(probs, values, strict=True) if p == max(values)]
    if judged < 0 or not top:
        return first
    right = top if judged else [option for option in probs if option not in top]
    sure = len(top) == 1 and (is_a(correct, bool, np.bool_) or text not in probs)
    if name is not None:
        alike = [option for option in probs if 0 <= words_of(option) == words_of(name)]
        named = {name} if name in probs else {*alike}
        if sure and named and not named & {*right}:
            odd = OddValue(f"agree with {fields.label!r}, {shown(name)}", correct, WRONG)
            raise odd.at("correct", place[0])
        return label
    if sure and len(right) == 1:
        return right[0]
    rule = (
        f"be about one most likely answer, not {len(top)} alike"
        if len(top) > 1
        else "be true where several other options could be right, because false names none"
        if sure
        else "be true or false where it is the name of an option too"
    )
    raise OddValue(rule, correct, f"name the right option in {fields.label!r}").at(
        "correct", place[0]
    )


def _signals(one: Mapping[Any, Any], fields: Fields, place: Places) -> tuple[float, ...]:
    held: Any = one.get("signals")
    if held is not None and not is_a(held, Mapping):
        odd = OddValue("be a mapping of scores", held, "name each score")
        raise odd.at("signals", place[0])
    scores: dict[Any, Any] = {**one, **(held or {})}
    return tuple(place.each(finite_of, key, [scores.get(key)])[0] for key in fields.signals)


def _of_options(held: Any) -> Mapping[Any, Any]:
    if is_a(held, Mapping):
        return held
    if is_list(held):
        return {str(k): p for k, p in enumerate(held)}
    if is_a(held, str, bytes):
        raise OddValue("be a mapping, a list or a number", held, "name the options")
    return _of_event(held)


def _of_event(value: Any) -> dict[str, float]:
    p = chance_of(value)
    return {"no": 1.0 - p, "yes": p}


def _of_logs(logs: Any) -> dict[Any, float]:
    if not (is_a(logs, Mapping) or is_list(logs)):
        raise OddValue("be a mapping or a list", logs, "name the options")
    pairs: Any = logs.items() if is_a(logs, Mapping) else enumerate(logs)
    names, values = zip(*((name, number_of(one)) for name, one in pairs), strict=True)
    values = np.array(values)
    if not values.max() < np.inf or values.max() == -np.inf:
        raise OddValue("be numbers, one of them finite", logs, "repair that row")
    if values.max() > ROUNDING:
        raise OddValue("be logs, at most 0", float(values.max()), "write probabilities in 'probs'")
    odds = np.exp(values - values.max())
    return dict(zip(names, (odds / np.sort(odds).sum()).tolist(), strict=True))


def _votes(samples: Any) -> dict[str, float]:
    """Shares of sampled answers with half a vote for each option, and for all others together."""
    if not is_list(samples):
        raise OddValue("be a list of answers", samples, "write one answer in brackets")
    if any(map(is_missing, samples)):
        raise OddValue("hold answers", samples, "leave out those that are missing")
    count = Counter(map(text_of, samples))
    total = sum(count.values()) + PRIOR * (len(count) + 1)
    return {key: (votes + PRIOR) / total for key, votes in count.items()} | {OTHER: PRIOR / total}


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
    def models(self) -> list[str]:
        """The versions of the model in the rows, as texts."""
        return sorted(set(map(str, self.model.names[self.model.index])))

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
