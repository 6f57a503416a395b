"""Logs of several models, paired by item, question and option, whatever the order of each."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from calibrant.core.groups import Groups
from calibrant.errors import InputError
from calibrant.questions.read import as_questions
from calibrant.questions.record import FREE, Questions

__all__ = ["paired", "read_paired"]

#: Largest difference of two numbers that are the same.
SAME = 1e-9


def read_paired(
    logs: Mapping[str, Any], y: Any = None, weight: Any = None, *, labelled: bool = True
) -> dict[str, Questions]:
    """The records of several logs, paired: the rows that are labelled in all of the logs, or all;
    outcomes ``y`` and weights are of the first log's rows.
    """
    first, *others = logs
    records = {first: as_questions(logs[first], y)}
    records |= {name: as_questions(logs[name]) for name in others}
    if y is not None and any((one.kind == FREE).any() for one in records.values()):
        raise InputError(
            "y must be left out where answers are free: each model's are right or wrong for"
            ' themselves; put them into the logs as "correct".'
        )
    found = paired(records)
    records = {name: as_questions(one, sample_weight=weight) for name, one in found.items()}
    if not labelled:
        return records
    known = np.logical_and.reduce([one.labelled for one in records.values()])
    if not known.any():
        raise InputError(
            f"{' and '.join(records)} must have outcomes of the same rows; got none; label some"
            " rows of both."
        )
    first = next(iter(records.values()))
    kept = np.ones(len(first), bool) if first.kept is None else first.kept.copy()
    kept[kept] = known
    kept = None if kept.all() else kept
    return {name: replace(one.take(known), kept=kept) for name, one in records.items()}


def paired(records: Mapping[str, Questions]) -> dict[str, Questions]:
    """The records with the rows and options of the first, in its order, with the same outcomes and
    weights; an outcome or weights that only one has are those of all.
    """
    (name, first), *others = records.items()
    aligned = {name: first}
    for other, record in others:
        aligned[other] = _options_of(first, _rows_of(first, record, name, other), name, other)
    for other in aligned:
        first = _joined(first, aligned[other], name, other)
    return {
        other: first if other == name else _joined(record, first, other, name)
        for other, record in aligned.items()
    }


def _codes(*columns: Groups) -> list[np.ndarray]:
    """(n,) numbers of the names of each column, the same for the same texts."""
    place = dict[str, int]()
    numbers = [
        np.array([place.setdefault(str(name), len(place)) for name in one.names.tolist()], np.intp)
        for one in columns
    ]
    return [own[one.index] for own, one in zip(numbers, columns, strict=True)]


def _row(record: Questions, i: int) -> str:
    """The name of a row, for errors."""
    item, question = (str(one.names[one.index[i]]) for one in (record.item, record.question))
    return f"item {item!r}" + (f", question {question!r}" if question else "")


def _options(record: Questions, i: int) -> dict[str, float]:
    """The probabilities of a row by the names of its options."""
    rows = slice(record.start[i], record.start[i + 1])
    names = map(str, record.option.names[record.option.index[rows]].tolist())
    return dict(zip(names, record.probability[rows].tolist(), strict=True))


def _keys(*records: Questions) -> list[np.ndarray]:
    """(n,) numbers of the item and question of each row, the same for the same names."""
    item = _codes(*(one.item for one in records))
    question = _codes(*(one.question for one in records))
    wide = 1 + max(int(one.max()) for one in question)
    return [a * wide + b for a, b in zip(item, question, strict=True)]


def _rows_of(first: Questions, other: Questions, name: str, called: str) -> Questions:
    """The rows of another record in the order of the first."""
    keys = _keys(first, other)
    for a, b, from_, to in ((0, 1, name, called), (1, 0, called, name)):
        alone = ~np.isin(keys[a], keys[b])
        if alone.any():
            row = _row((first, other)[a], int(alone.argmax()))
            raise InputError(
                f"{name} and {called} must hold the same rows; {int(alone.sum()):,} of {from_} are"
                f" not in {to}, the first is {row}; keep the rows that both have."
            )
    orders = [np.argsort(one, kind="stable") for one in keys]
    ours, theirs = (key[order] for key, order in zip(keys, orders, strict=True))
    for record, key, order, own in zip((first, other), keys, orders, (name, called), strict=True):
        _require_equal_copies(record, key, order, own)
    if not np.array_equal(ours, theirs):
        raise InputError(
            f"{name} and {called} must hold the same rows; got {len(ours):,} and {len(theirs):,},"
            " because some are repeated in one of them; keep each once."
        )
    rows = np.empty(len(theirs), np.intp)
    rows[orders[0]] = orders[1]
    return other if (rows == np.arange(len(rows))).all() else other.take(rows)


def _require_equal_copies(record: Questions, key: np.ndarray, order: np.ndarray, name: str) -> None:
    """Raise InputError if rows of one item and question differ, so that pairs are not known."""
    outcomes = record.outcomes()
    for place in np.flatnonzero(key[order][1:] == key[order][:-1]).tolist():
        i, k = order[place : place + 2].tolist()
        if outcomes[i] != outcomes[k] or _options(record, i) != _options(record, k):
            raise InputError(
                f"{name} must have one row for each item and question, so that its pair is known;"
                f" {_row(record, i)} has several that differ; give its rows questions or ids of"
                " their own."
            )


def _options_of(first: Questions, other: Questions, name: str, called: str) -> Questions:
    """A record of the same rows, with the options of each in the order of the first record."""
    ours, theirs = _codes(first.option, other.option)
    here, there = np.lexsort((ours, first.row)), np.lexsort((theirs, other.row))
    odd = (first.size != other.size) | (first.kind != other.kind)
    if not odd.any():
        odd = np.bincount(first.row, ours[here] != theirs[there], len(first)) > 0.0
    if odd.any():
        i = int(odd.argmax())
        both = [list(_options(one, i)) for one in (first, other)]
        raise InputError(
            f"{name} and {called} must have the same options in a row; {_row(first, i)} has"
            f" {both[0][:8]} in {name} and {both[1][:8]} in {called} ({int(odd.sum()):,} in"
            " all); pass every option in both."
        )
    if np.array_equal(ours, theirs):
        return replace(other, option=first.option)
    place, probability = np.empty(len(ours), np.intp), np.empty(len(ours))
    place[there], probability[here] = here, other.probability[there]
    right = place[other.start[:-1] + np.maximum(other.right, 0)] - first.start[:-1]
    share = other.share
    if share is not None:
        share = np.empty(len(ours))
        share[here] = other.mass[there]
    right = np.where(other.labelled, right, -1)
    return replace(other, probability=probability, option=first.option, right=right, share=share)


def _joined(record: Questions, other: Questions, name: str, called: str) -> Questions:
    """A record with the outcomes and weights that only the other has; others must agree."""
    if record is other:
        return record
    shared = record.kind != FREE
    both = record.labelled & other.labelled & shared
    _refuse_first(both & _apart(record, other), record, other, (name, called))
    weight = record.weight if other.weight is None else other.weight
    if record.weight is not None and other.weight is not None:
        away = np.abs(record.weight - other.weight) > SAME * record.weight
        if away.any():
            i = int(away.argmax())
            raise InputError(
                f"{name} and {called} must have the same weights; {_row(record, i)} has"
                f" {record.weight[i]:g} and {other.weight[i]:g}; give it one weight."
            )
        weight = record.weight
    new = shared & other.labelled & ~record.labelled
    share = record.share
    if new.any() and (share is not None or other.share is not None):
        share = np.where(np.repeat(new, record.size), other.mass, record.mass)
    right = np.where(new, other.right, record.right)
    return replace(record, right=right, share=share, weight=weight)


def _apart(record: Questions, other: Questions) -> np.ndarray:
    """(n,) whether the outcomes of two records of the same rows and options differ."""
    away = np.abs(record.mass - other.mass) > SAME
    return np.bincount(record.row, away, len(record)) > 0.0


def _refuse_first(odd: np.ndarray, record: Questions, other: Questions, names: Any) -> None:
    if odd.any():
        i = int(odd.argmax())
        seen = [one.outcomes()[i] for one in (record, other)]
        raise InputError(
            f"{names[0]} and {names[1]} must have the same outcomes; {_row(record, i)} has"
            f" {seen[0]!r} and {seen[1]!r} ({int(odd.sum()):,} in all); join the labels to both"
            " logs by item and question."
        )
