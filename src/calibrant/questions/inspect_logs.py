"""Logs of Inspect as rows of a log of questions."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from calibrant.questions.values import reading_row

__all__ = ["inspect_samples"]


def inspect_samples(
    log: Mapping[str, Any], *, scorer: str | None = None
) -> Iterator[dict[str, Any]]:
    """Yield a row for each sample of an evaluation log, with the scored answers of all epochs.

    Parameters
    ----------
    log : mapping
        The JSON of an ``EvalLog``, as ``inspect log dump`` prints it.
    scorer : str, optional
        Name of the scorer whose ``answer`` is read; default the first.

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
    ...     {"id": 1, "target": "A", "scores": {"choice": {"value": "C", "answer": one}}}
    ...     for one in "AAAB"
    ... ]
    >>> log = {"eval": {"task": "quiz", "model": "m"}, "samples": epochs}
    >>> read_questions(inspect_samples(log)).of_right.round(2).tolist()
    [0.64]
    """
    votes = defaultdict[tuple[Any, str], list[str]](list)
    with reading_row("log", "the JSON of an EvalLog"):
        samples = list(log["samples"])
        shared = {"question": log["eval"]["task"], "model": log["eval"]["model"]}
    for k, one in enumerate(samples):
        with reading_row(f"sample {k}", "one of an EvalLog"):
            scores: dict[str, Any] = one.get("scores") or {}
            score: Any = scores.get(scorer or next(iter(scores), "")) or {}
            if score.get("answer") is not None:
                target = one["target"] if isinstance(one["target"], str) else one["target"][0]
                votes[one["id"], target].append(score["answer"])
    yield from ({"id": i, "label": y, "samples": own, **shared} for (i, y), own in votes.items())
