"""Samples of the Language Model Evaluation Harness as rows of a log of questions."""

from collections.abc import Iterator
from typing import Any

from calibrant.questions.lines import Fields, batches
from calibrant.questions.values import reading_row

__all__ = ["lm_eval_samples"]


def lm_eval_samples(
    source: Any, *, question: str | None = None, model: str | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the rows of ``samples_TASK_DATE.jsonl``, which ``lm_eval --log_samples`` writes.

    Multiple choice becomes the log-probabilities of the options, named by their positions;
    generated text becomes samples of the answer.

    Parameters
    ----------
    source : path of the file, or iterable of its objects
    question, model : str, optional
        The task and the version of the model, which the file does not name.

    Yields
    ------
    dict

    See Also
    --------
    read_questions : reads them.

    Notes
    -----
    Use it for tasks of ``output_type: multiple_choice`` or with ``repeats``. Format: the harness's
    ``evaluator.py``, keys doc_id, target, filtered_resps and resps.

    Examples
    --------
    >>> from calibrant.questions import read_questions
    >>> sample = {
    ...     "doc_id": 0,
    ...     "target": "1",
    ...     "filtered_resps": [["-4.1", "False"], ["-0.1", "True"]],
    ... }
    >>> read_questions(lm_eval_samples([sample], question="arc")).of_right.round(2).tolist()
    [0.98]
    """
    for batch in batches(source, Fields()):
        for one, at in zip(batch.objects, batch.number, strict=True):
            with reading_row(f"{batch.word} {at}", "a sample of lm-eval"):
                row = {"id": one["doc_id"], "label": one["target"]} | _answer(one)
            yield {"question": question, "model": model, **row}


def _answer(one: Any) -> dict[str, Any]:
    found = one["filtered_resps"]
    if isinstance(found[0], str):
        return {"samples": [text for texts in one["resps"] for text in texts]}
    return {"logprobs": {str(k): float(pair[0]) for k, pair in enumerate(found)}}
