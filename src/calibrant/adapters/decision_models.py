"""Responses of decision models as rows of a log of questions."""

from collections.abc import Iterator, Mapping
from typing import Any

from calibrant.questions.entries import Fields, batches

__all__ = ["decision_answers"]

#: Types of questions in the responses -> those of a log.
TYPES = {"noul": "yes/no", "predicate": "yes/no", "choice": "choice", "score": "score"}


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
    for one in (one for batch in batches(source, Fields()) for one in batch):
        response, labels = one.get("response", one), one.get("labels") or {}
        answers = response["answers"]
        named = (
            answers if isinstance(answers, Mapping) else {each["name"]: each for each in answers}
        )
        for name, answer in named.items():
            probs = answer.get("probabilities")
            yield {
                "id": one.get("id"),
                "question": name,
                "type": TYPES.get(answer.get("type")),
                "model": response.get("model"),
                "probs": {str(each["value"]): each["probability"] for each in probs}
                if isinstance(probs, list)
                else probs,
                "confidence": answer.get("noul", answer.get("probability")),
                "label": labels.get(name),
            }
