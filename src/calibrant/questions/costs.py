"""Costs of a wrong answer to each question, and of asking about it."""

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from calibrant.core.labels import by_text
from calibrant.errors import InputError
from calibrant.questions.values import is_a

__all__ = ["read_costs"]


def read_costs(costs: Any, questions: set[str]) -> dict[str, tuple[float, float]]:
    """Return the costs by the text of the question's name.

    Parameters
    ----------
    costs : mapping of question -> two finite numbers of at least 0, or None
    questions : the names that are known.

    Raises
    ------
    InputError
        When a pair is no such pair, or its question is unknown.

    Examples
    --------
    >>> read_costs({1: (10.0, 1.0)}, {"1", "2"})
    {'1': (10.0, 1.0)}
    """
    listed = is_a(costs, Mapping)
    pairs: list[Any] = [*costs.values()] if listed else [] if costs is None else [costs]
    for pair in pairs:
        if not (
            (listed and is_a(pair, Sequence, np.ndarray) and len(pair) == 2)
            and all(is_a(one, Real) and 0.0 <= one < math.inf for one in pair)
        ):
            raise InputError(
                "costs must have two finite numbers of at least 0 for each question, the cost of a"
                f' wrong answer and of asking; got {pair!r}; pass {{"topic": (10, 1)}}.'
            )
    named = by_text({} if costs is None else costs, "costs")
    if others := sorted(set(named) - questions):
        raise InputError(
            f"costs must be of questions of the log, {sorted(questions)[:8]}; got {others[0]!r};"
            " leave it out."
        )
    return named
