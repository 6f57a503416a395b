"""Reports of pydantic-evals as rows of a log of questions."""

from collections.abc import Iterator, Mapping
from typing import Any

from calibrant.questions.values import reading_row

__all__ = ["pydantic_cases"]


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
