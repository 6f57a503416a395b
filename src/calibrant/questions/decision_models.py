"""Responses of decision models as rows of a log of questions."""

from collections.abc import Iterator
from typing import Any, cast

from calibrant.questions.lines import Fields, batches
from calibrant.questions.values import reading_row

__all__ = ["decision_answers"]


def decision_answers(source: Any) -> Iterator[dict[str, Any]]:
    """Yield a row for each answer in logged responses of decision models.

    A line is ``{"id": ..., "response": {"model": ..., "answers": {...}}, "labels": {...}}``, or the
    response itself. Answers are a mapping by question, or a list with the field ``name``; their
    types are noul or predicate (yes/no), choice and score.

    Parameters
    ----------
    source : path of JSON lines, or iterable of mappings
        The outcomes, where they are known, are in ``labels``, by question.

    Yields
    ------
    dict

    See Also
    --------
    read_questions : reads them; pass missing="skip" for answers without probabilities.

    Notes
    -----
    Use it for logs of ``/v1/systemone`` and ``/v1/decisions`` endpoints. A decision model's own
    ``confidence`` is not read, because it is no probability of a right answer.

    Examples
    --------
    >>> from calibrant.questions import read_questions
    >>> answers = {"urgent": {"type": "noul", "noul": 0.9}}
    >>> line = {
    ...     "id": 7,
    ...     "response": {"model": "v1", "answers": answers},
    ...     "labels": {"urgent": True},
    ... }
    >>> read_questions(decision_answers([line])).of_right.tolist()
    [0.9]
    """
    for batch in batches(source, Fields()):
        for one, at in zip(batch.objects, batch.number, strict=True):
            with reading_row(f"{batch.word} {at}", "a response of a decision model"):
                rows = list(_rows(one))
            yield from rows


def _rows(one: Any) -> Iterator[dict[str, Any]]:
    response: dict[str, Any] = one.get("response", one)
    for name, answer in _by(response["answers"], "name").items():
        held = answer.get("probabilities", answer.get("noul", answer.get("probability")))
        yield {
            "id": one.get("id"),
            "question": name,
            "type": answer.get("type"),
            "model": response.get("model"),
            "probs": _by(held, "value", "probability"),
            "label": (one.get("labels") or dict[str, Any]()).get(name),
        }


def _by(held: Any, key: str, value: str | None = None) -> Any:
    """A mapping by ``key``, from a list of objects; anything else as it is."""
    return (
        {str(one[key]): one if value is None else one[value] for one in cast(list[Any], held)}
        if isinstance(held, list)
        else held
    )
