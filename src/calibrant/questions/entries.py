"""Rows of a log, from the forms in which tools write them."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from calibrant.core.labels import is_missing
from calibrant.errors import InputError
from calibrant.questions.lines import Batch, Fields
from calibrant.questions.values import (
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
    "FORMS",
    "JUDGED",
    "OPTIONS",
    "OTHER",
    "SHOWN",
    "Entry",
    "entries_of",
    "fields_in",
    "nested_in",
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
