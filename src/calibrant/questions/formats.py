"""Endings of the files of other tools, which are opened as logs of answers."""

from pathlib import Path
from typing import Any

from calibrant.errors import InputError
from calibrant.questions.evaluation_logs import inspect_samples
from calibrant.tables.opening import KINDS
from calibrant.tables.sources import JsonlSource

__all__ = ["open_inspect"]


def open_inspect(path: Path, _: Any) -> JsonlSource:
    """Open a log of Inspect as rows of JSON lines, one a sample."""
    if not (rows := list(inspect_samples(path))):
        raise InputError(
            f"{path} must have samples with an answer of the first scorer; it has none; choose"
            " another in Python, inspect_samples(log, scorer=NAME)."
        )
    return JsonlSource.of_objects(rows, [*range(1, len(rows) + 1)], path)


KINDS.update({".eval": open_inspect, ".json": open_inspect})
