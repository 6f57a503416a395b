"""Rows of a log, checked and numbered as they come, and their record."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from calibrant.core.arrays import weights
from calibrant.core.groups import Groups
from calibrant.errors import CalibrationWarning, InputError, warn
from calibrant.questions.record import (
    CHOICE,
    FREE,
    JUDGED,
    KINDS,
    OPTIONS,
    OTHER,
    SCORE,
    TWO_SIDED,
    YES_NO,
    Questions,
    entries_of,
)
from calibrant.questions.tables import Ranks, decimals_of, refuse_sums
from calibrant.questions.values import (
    Batch,
    Fields,
    OddValue,
    Places,
    finite_of,
    is_a,
    label_of,
    number_of,
    options_by_text,
    shown,
    text_of,
    words_of,
)

__all__ = ["Column", "Log", "right_of", "unshared", "weighted", "with_shares"]

#: Words for kinds in the types of a log.
WORDS = {
    **dict.fromkeys(
        ("yes_no", "yes/no", "yesno", "binary", "bool", "boolean", "noul", "predicate"), YES_NO
    ),
    **dict.fromkeys(("score", "rating", "ordinal", "scale", "grade", "likert"), SCORE),
    **dict.fromkeys(("choice", "multiple_choice", "classification", "intent"), CHOICE),
    **dict.fromkeys(("free answer", "free_answer", "free", "open"), FREE),
}
#: Characters of the name of an option in an error.
LONG = 40
#: Largest error of a sum that is rounding of the addition.
EXACT = 1e-12


def weighted(record: Questions, sample_weight: Any, each: int = 1) -> Questions:
    """The record with weights (n,) of its rows, or of every ``each`` of them, without those of
    weight 0; itself for None.
    """
    if sample_weight is None:
        return record
    weight, kept = weights(sample_weight, len(record) // each)
    weight = np.repeat(np.asarray(weight), each)
    if kept is None:
        return replace(record, weight=weight)
    kept = np.repeat(kept, each)
    return replace(record.take(kept), weight=weight, kept=kept)


def unshared(labels: Sequence[Any]) -> list[Any]:
    """Labels, None for shares of raters."""
    return [None if is_a(one, Mapping) else one for one in labels]


class Column:
    """Texts that are numbered as they come."""

    def __init__(self) -> None:
        self.codes: defaultdict[Any, int] = defaultdict()
        self.codes.default_factory = self.codes.__len__
        self.parts: list[np.ndarray] = []

    def add(self, names: Sequence[Any]) -> None:
        """Add the names of some rows."""
        self.parts.append(np.fromiter(map(self.codes.__getitem__, names), np.int32, len(names)))

    def groups(self) -> Groups:
        """The names and their numbers."""
        return Groups(np.array([*self.codes] or [""], dtype=object), np.concatenate(self.parts))


class Log:
    """Rows of a log in any form that ``entries_of`` takes, checked and numbered as they come."""

    def __init__(self, fields: Fields) -> None:
        self.fields = fields
        names = ("id", "question", "type", "model", "label", "option")
        self.columns: dict[str, Column] = {name: Column() for name in names}
        self.values: list[np.ndarray] = []
        self.sizes: list[np.ndarray] = []
        self.weight: list[float] = []
        self.signals: list[Any] = []
        self.soft: list[Any] = []
        self.forms: list[int] = []
        self.at: list[int] = []
        self.kept: list[bool] = []
        self.all: list[int] = []
        self.word: str = "row"

    def add(self, batch: Batch) -> None:
        """Add the rows of some objects."""
        try:
            rows = list(entries_of(batch, self.fields))
        except RecursionError:
            raise InputError("rows of a log must not be nested so deeply; flatten them.") from None
        valid = [one for one in rows if one.probs]
        self.kept += [bool(one.probs) for one in rows]
        self.all += [one.at for one in rows]
        places = Places(batch.word, [one.at for one in valid])
        self.at += places.number
        self.word = batch.word
        for name in ("id", "question", "type", "model"):
            names = [getattr(one, name) for one in valid]
            self.columns[name].add(places.each(text_of, getattr(self.fields, name), names))
        labels = [one.label for one in valid]
        self.soft += [one if is_a(one, Mapping) else None for one in labels]
        label = self.fields.label or "label"
        self.columns["label"].add(places.each(label_of, label, unshared(labels)))
        self._add_options([one.probs for one in valid], places)
        self.weight += places.each(_weight, self.fields.weight, [one.weight for one in valid])
        self.signals += [one.signals for one in valid if one.signals is not None]
        self.forms += [one.form for one in valid]

    def _add_options(self, probs: list[Any], places: Places) -> None:
        field = self.fields.options
        probs = places.each(options_by_text, field, probs)
        size = np.fromiter(map(len, probs), np.intp, len(probs))
        self.sizes.append(size)
        self.columns["option"].add([name for one in probs for name in one])
        flat = [p for one in probs for p in one.values()]
        rows = np.repeat(np.arange(len(size)), size)
        try:
            # Booleans, texts and None would become numbers.
            if not {*map(type, flat)} <= {float, int}:
                raise OverflowError
            p = np.array(flat, np.float64)
        except OverflowError:
            p = np.array(places.each(number_of, field, flat, rows), np.float64)
        odd = ~(np.isfinite(p) & (p >= 0.0))
        if odd.any():
            remedy = "pass probabilities, or their logs as logprobs"
            error = OddValue("be finite and at least 0", float(p[odd][0]), remedy)
            raise error.at(field, places[rows[odd.argmax()]])
        self.values.append(p)

    def record(self, ordered: Any, missing: str) -> Questions:
        """The record of all rows that have probabilities."""
        if not self.at:
            raise InputError("source has no rows with probabilities; pass at least one.")
        held = np.array(self.kept)
        _told_missing(held, missing, Places(self.word, self.all))
        places = Places(self.word, self.at)
        record = _assembled(self, ordered, places)
        record = replace(record, right=right_of(record, self.columns["label"], self.soft, places))
        record = with_shares(record, self.soft, places)
        if self.signals:
            scores = np.array(self.signals, dtype=np.float64)
            record = replace(record, signals=scores, signal_names=self.fields.signals)
        record = record if held.all() else replace(record, kept=held)
        weight = np.array(self.weight)
        absent = np.isnan(weight)
        if absent.any() and not absent.all():
            odd = OddValue("be a number in every row, or in none", None, "weigh rows by 1")
            raise odd.at(self.fields.weight, places[absent.argmax()])
        return weighted(record, None if absent.any() else weight)


def _weight(value: Any) -> float:
    if not (weight := finite_of(value)) < 0.0:
        return weight
    raise OddValue("be at least 0", value, "use 0 to leave a row out")


def _told_missing(held: np.ndarray, missing: str, places: Places) -> None:
    absent = int((~held).sum())
    if absent and missing == "raise":
        raise InputError(
            f"every row must have probabilities or a confidence; {absent:,} of {len(held):,} rows"
            f' have none, the first is {places[(~held).argmax()]}; pass missing="skip" to leave'
            " them out."
        )
    if absent:
        warn(f"{absent:,} of {len(held):,} rows have no probabilities.", CalibrationWarning)


def _assembled(log: Log, ordered: Any, places: Places) -> Questions:
    """A record without outcomes, its options in the order of their kind."""
    values, size = np.concatenate(log.values), np.concatenate(log.sizes)
    start = np.append(0, np.cumsum(size))
    # Sums of the sorted values: the order of the options changes no bit.
    row = np.repeat(np.arange(len(size)), size)
    total = np.add.reduceat(values[np.lexsort((values, row))], start[:-1])
    total[np.abs(total - 1.0) < EXACT] = 1.0
    refuse_sums(values, start, total, places)
    option, types = log.columns["option"].groups(), log.columns["type"].groups()
    ranks = Ranks.of(option.names.tolist(), ordered)
    kind = _kinds(option, types, start, np.array(log.forms), ranks, places)
    order = _order(option, kind, start, ranks, places)
    items = log.columns["id"].groups()
    # Rows without an id are items of their own.
    alone = np.isin(items.index, np.flatnonzero(items.names == ""))
    texts = [f"row {i}" for i in np.flatnonzero(alone).tolist()]
    index = items.index.astype(np.intp)
    index[alone] = len(items.names) + np.arange(len(texts))
    used, index = np.unique(index, return_inverse=True)
    names = np.array([*items.names.tolist(), *texts], dtype=object)[used]
    return Questions(
        (values / np.repeat(total, size))[order],
        start,
        Groups(option.names, option.index[order]),
        kind,
        log.columns["question"].groups(),
        _typed(types, kind),
        Groups(names, index),
        log.columns["model"].groups(),
        np.full(len(size), -1),
        decimals=decimals_of(values),
        cluster=None if len(used) == len(size) else index,
    )


def _typed(types: Groups, kind: np.ndarray) -> Groups:
    """The type of each row; that of a row without one is its kind."""
    names = [*dict.fromkeys([*KINDS, *types.names.tolist()])]
    place = np.array([names.index(name) for name in types.names])
    untyped = np.isin(types.index, np.flatnonzero(types.names == ""))
    return Groups(np.array(names, dtype=object), np.where(untyped, kind, place[types.index]))


def _kinds(
    option: Groups,
    types: Groups,
    start: np.ndarray,
    forms: np.ndarray,
    ranks: Ranks,
    places: Places,
) -> np.ndarray:
    """(n,) the kind of each row: by its type, by its form, or else by the names of its options. The
    confidence of a yes/no question is that of "yes", any other that the answer is right.
    """
    size = np.diff(start)
    named = np.array([WORDS.get(name.strip().lower(), -1) for name in types.names])
    kind = named[types.index]
    twofold = (kind == YES_NO) & (forms == JUDGED)
    if twofold.any():
        raise InputError(
            f"the confidence of a yes/no question is that of yes, and 'correct' is of an answer;"
            f" {places[twofold.argmax()]} has both; name the outcome 'label', or drop the type."
        )
    kind = np.where((forms != OPTIONS) & (kind != YES_NO), FREE, kind)
    words = np.array([words_of(name) for name in option.names])[option.index]
    opposite = (size == 2) & (np.minimum.reduceat(words, start[:-1]) == 0)
    opposite &= np.maximum.reduceat(words, start[:-1]) == 1
    kind = np.where(kind < 0, _levels(option, start, ranks), kind)
    kind = np.where((kind < 0) & opposite, YES_NO, kind)
    odd = (np.isin(kind, TWO_SIDED) & ~opposite) | (size < 2)
    if odd.any():
        raise InputError(
            "a row must have two options or more, and those of yes/no be yes and no;"
            f" {places[odd.argmax()]} has {_names_in(option, start, odd.argmax())}; name its"
            " options, or set its type to choice."
        )
    return np.where(kind < 0, CHOICE, kind).astype(np.int8)


def _levels(option: Groups, start: np.ndarray, ranks: Ranks) -> np.ndarray:
    """(n,) SCORE for rows whose options are levels, else -1: all of them in the list, or, without
    one, three numbers or more.
    """
    by_list, by_number = (
        np.logical_and.reduceat(np.isfinite(rank)[option.index], start[:-1])
        for rank in (ranks.listed, ranks.number)
    )
    several = (np.diff(start) > 2) & ranks.by_number
    return np.where(by_list | (by_number & several), SCORE, -1)


def _names_in(option: Groups, start: np.ndarray, row: Any) -> list[str]:
    """The names of some options of a row."""
    names = option.names[option.index[start[row] : start[row + 1]]][:8].tolist()
    return [name if len(name) <= LONG else f"{name[: LONG - 3]}..." for name in names]


def _order(
    option: Groups, kind: np.ndarray, start: np.ndarray, ranks: Ranks, places: Places
) -> np.ndarray:
    """The order of the flat arrays in which "yes" follows "no", and levels ascend."""
    row = np.repeat(np.arange(len(kind)), np.diff(start))
    own = kind[row]
    words = np.array([float(words_of(name)) for name in option.names])[option.index]
    level = _level(option, kind, start, ranks, places)
    place = np.arange(len(row)) - np.repeat(start[:-1], np.diff(start))
    key = np.where(own == SCORE, level, np.where(own == CHOICE, place, words))
    order = np.lexsort((key, row))
    twice = (np.diff(key[order]) == 0.0) & (np.diff(row[order]) == 0)
    if twice.any():
        i = row[order[twice.argmax()]]
        raise InputError(
            f"the levels of a score must differ; {places[i]} has {_names_in(option, start, i)};"
            " drop those that are alike."
        )
    return order


def _level(
    option: Groups, kind: np.ndarray, start: np.ndarray, ranks: Ranks, places: Places
) -> np.ndarray:
    """(m,) the rank of each option as a level."""
    listed = np.logical_or.reduceat(np.isfinite(ranks.listed)[option.index], start[:-1])
    level = np.where(
        np.repeat(listed, np.diff(start)), ranks.listed[option.index], ranks.number[option.index]
    )
    odd = (kind == SCORE) & ~np.logical_and.reduceat(np.isfinite(level), start[:-1])
    if odd.any():
        own = _names_in(option, start, odd.argmax())
        raise InputError(
            f"the levels of a score must be numbers, or be in the list ordered;"
            f" {places[odd.argmax()]} has {own}; pass ordered={own} in ascending order."
        )
    return level


def right_of(record: Questions, labels: Column, soft: list[Any], places: Places) -> np.ndarray:
    """(n,) positions of the labels among the options of each row, -1 where missing."""
    names, option = list(labels.codes), record.option
    known = {name: code for code, name in enumerate(option.names.tolist())}
    exact = np.array([-1 if one is None else known.get(one, -2) for one in names] or [-1])
    words = np.array([-1 if one is None else words_of(one) for one in names] or [-1])
    code = np.concatenate(labels.parts)
    hit = option.index == np.repeat(exact[code], record.size)
    found = np.where(hit, record.place, -1)
    right = np.maximum.reduceat(found, record.start[:-1])
    event = np.isin(record.kind, TWO_SIDED) & (right < 0) & (words[code] >= 0)
    right = np.where(event, words[code], right)
    # Options that were not sampled are one option.
    others = option.index == known.get(OTHER, -1)
    other = np.maximum.reduceat(np.where(others, record.place, -1), record.start[:-1])
    right = np.where((right < 0) & (exact[code] != -1), other, right)
    absent = (right < 0) & (exact[code] != -1)
    if absent.any():
        i = int(absent.argmax())
        rule = f"one of its options {_names_in(option, record.start, i)}"
        remedy = "correct them, or add the option, with probability 0 if it has none"
        if record.kind[i] == FREE:
            rule = "true or false, because the confidence is that an answer is right"
            remedy = "write in the field 'correct' whether it is, true or false"
        raise InputError(
            f"label {shown(names[code[i]])} of {places[i]} must be {rule}; {int(absent.sum()):,}"
            f" such rows; {remedy}."
        )
    return right


def with_shares(record: Questions, soft: list[Any], places: Places) -> Questions:
    """The record with the shares of raters in the rows that have them."""
    rows = [i for i, one in enumerate(soft) if one is not None]
    if not rows:
        return record
    share, right = record.mass.copy(), record.right.copy()
    for i in rows:
        own = slice(record.start[i], record.start[i + 1])
        place = {name: k for k, name in enumerate(record.option.names[record.option.index[own]])}
        names = places.each(text_of, "label", list(soft[i]), [i] * len(soft[i]))
        parts, given = np.zeros(len(place)), list(soft[i].values())
        numbers = places.each(number_of, "label", given, [i] * len(given))
        if record.kind[i] in TWO_SIDED:
            names = [
                name if name in place else ("no", "yes", name)[words_of(name)] for name in names
            ]
        if not (min(numbers, default=-1.0) >= 0.0 and 0.0 < sum(numbers) < np.inf) or set(
            names
        ) - set(place):
            raise InputError(
                f"shares of raters must be of the row's options, not negative, not all 0;"
                f" {places[i]} has {shown(dict(soft[i]))}; repair it."
            )
        parts[[place[name] for name in names]] = numbers
        share[own], right[i] = parts / parts.sum(), int(parts.argmax())
    return replace(record, share=share, right=right)
