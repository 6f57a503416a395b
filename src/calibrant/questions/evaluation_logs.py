"""Logs of other tools as rows of a log of questions: responses of decision models, logs of Inspect,
samples of the Language Model Evaluation Harness, and reports of pydantic-evals.
"""

import json
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from calibrant.errors import InputError
from calibrant.questions.values import Fields, batches, is_a, reading_row
from calibrant.tables.sources import reading_file

__all__ = ["decision_answers", "inspect_samples", "lm_eval_samples", "pydantic_cases"]


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


def inspect_samples(log: Any, *, scorer: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield a row for each sample of an evaluation log, with the scored answers of all epochs.

    Parameters
    ----------
    log : path, or mapping
        A log of Inspect, ``.eval`` or ``.json``, or its JSON as ``inspect log dump`` prints it.
    scorer : str, optional
        Name of the scorer whose ``answer`` is read; default the first. An answer that it calls
        right (value "C" or 1) is the target, also where it is written otherwise.

    Yields
    ------
    dict

    See Also
    --------
    read_questions : reads them.

    Notes
    -----
    Use it for logs of several epochs: one sampled answer alone says little about its confidence.
    Samples that were not scored are left out.

    Examples
    --------
    >>> from calibrant.questions import read_questions
    >>> epochs = [
    ...     {"id": 1, "target": "A", "scores": {"choice": {"value": value, "answer": answer}}}
    ...     for value, answer in zip("CCCI", "AAAB")
    ... ]
    >>> log = {"eval": {"task": "quiz", "model": "m"}, "samples": epochs}
    >>> read_questions(inspect_samples(log)).of_right.round(2).tolist()
    [0.64]
    """
    votes = defaultdict[tuple[Any, str], list[str]](list)
    name, log = ("log", log) if is_a(log, Mapping) else (log, _log_in(log))
    with reading_row(f"{name}", "the JSON of an EvalLog"):
        samples = list(log["samples"])
        shared = {"question": log["eval"]["task"], "model": log["eval"]["model"]}
    for k, one in enumerate(samples):
        with reading_row(f"sample {k} of {name}", "one of an EvalLog"):
            scores: dict[str, Any] = one.get("scores") or {}
            score: Any = scores.get(scorer or next(iter(scores), "")) or {}
            if score.get("answer") is not None:
                target = one["target"] if isinstance(one["target"], str) else one["target"][0]
                right = score.get("value") in ("C", 1)
                votes[one["id"], target].append(target if right else score["answer"])
    yield from ({"id": i, "label": y, "samples": own, **shared} for (i, y), own in votes.items())


def _log_in(path: Any) -> Any:
    """The log in a file: a zip archive with a member for each sample, or JSON."""
    with reading_file(path, "a log of Inspect", "write it with `inspect log convert --to json`"):
        whole = None if zipfile.is_zipfile(path) else Path(path).read_bytes()
        found = _archived(path) if whole is None else json.loads(whole)
    if not (is_a(found, dict) and {"eval", "samples"} <= {*found}):
        fields = ", ".join([*found][:9]) if is_a(found, dict) else f"a {type(found).__name__}"
        raise InputError(
            f"{path} must be a log of Inspect, with the fields eval and samples; it holds {fields};"
            " pass such a log, or name JSON lines .jsonl."
        )
    return found


def _archived(path: Any) -> dict[str, Any]:
    with zipfile.ZipFile(path) as archive:
        # Of two members of one name the later counts. A run that was stopped has no header.
        names = dict.fromkeys(archive.namelist())
        head = "header.json" if "header.json" in names else "_journal/start.json"
        inside = (archive.read(name) for name in names if name.startswith("samples/"))
        # The messages and events of a sample may be long.
        read = ("id", "target", "scores")
        samples = [{k: one[k] for k in read if k in one} for one in map(json.loads, inside)]
        # They are written as they end, in another order in each run.
        samples.sort(key=lambda one: str(one.get("id")).zfill(20))
        return {**json.loads(archive.read(head)), "samples": samples}


def lm_eval_samples(
    source: Any, *, question: str | None = None, model: str | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the rows of ``samples_TASK_DATE.jsonl``, which ``lm_eval --log_samples`` writes.

    Multiple choice becomes the log-probabilities of the options, named by their positions;
    generated text becomes samples of the filtered answer, one for each of ``repeats``, also of
    those that a filter such as take_first leaves out where it does not change the text.

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


#: Whether an option is what the model would have written, as the harness logs it beside the
#: log-probability.
GREEDY = (["True"], ["False"], [True], [False])


def _answer(one: Any) -> dict[str, Any]:
    filtered: list[Any] = one["filtered_resps"]
    parts: list[list[Any]] = [
        cast(list[Any], part) if isinstance(part, list) else [part] for part in filtered
    ]
    if any(part[:1] == [None] for part in parts):
        return {}  # a row without probabilities
    if all(part[1:] in GREEDY for part in parts):
        return {"logprobs": {str(k): float(part[0]) for k, part in enumerate(parts)}}
    texts = [text for part in parts for text in part]
    written: list[str] = [text for part in one["resps"] for text in part]
    if texts[:1] == written[:1]:
        return {"samples": written}
    if len(texts) < len(written):
        raise ValueError("its filter leaves out answers; log it without one such as take_first")
    return {"samples": texts}


def pydantic_cases(
    report: Mapping[str, Any],
    *,
    confidence: str = "confidence",
    correct: str | None = None,
    model: str | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield a row for each case of an evaluation report: a confidence, and whether it was right.

    Parameters
    ----------
    report : mapping
        The JSON of an ``EvaluationReport``, with ``name`` and ``cases``.
    confidence : str, default "confidence"
        A field of the output, or the name of an attribute, metric or score, from 0 to 1.
    correct : str, optional
        Name of the assertion that says whether the answer is right; default: all of them.
    model : str, optional
        The version of the model.

    Yields
    ------
    dict

    See Also
    --------
    read_questions : reads them.

    Notes
    -----
    Use it where the task returns a confidence, or an evaluator such as a judge scores the answer.
    Cases without an assertion have no outcome.

    Examples
    --------
    >>> from calibrant.questions import read_questions
    >>> case = {"name": "a", "output": {"confidence": 0.8}, "assertions": {"ok": {"value": True}}}
    >>> read_questions(pydantic_cases({"name": "capitals", "cases": [case]})).of_right.tolist()
    [0.8]
    """
    with reading_row("report", "the JSON of an EvaluationReport"):
        cases, name = list(report["cases"]), report.get("name")
    for k, case in enumerate(cases):
        with reading_row(f"case {k}", "one of an EvaluationReport"):
            row = _row(case, confidence, correct)
        yield {"question": name, "model": model, **row}


def _row(case: Any, confidence: str, correct: str | None) -> dict[str, Any]:
    output: Any = case.get("output")
    known: dict[str, Any] = {**output} if isinstance(output, dict) else {}
    for place in ("attributes", "metrics", "scores"):
        known |= _values(case.get(place) or {})
    assertions = _values(case.get("assertions") or {})
    told = [one for name, one in assertions.items() if correct in (None, name)]
    return {
        "id": case["name"],
        "confidence": known.get(confidence),
        "correct": all(told) if told else None,
    }


def _values(results: dict[str, Any]) -> dict[str, Any]:
    """The values of results of evaluators by name; a metric is a value itself."""
    return {k: one["value"] if isinstance(one, dict) else one for k, one in results.items()}
