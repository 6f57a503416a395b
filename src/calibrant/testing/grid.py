"""One case of the grid of inputs, and what may come of it: a right answer or one clear error of ours, nothing else."""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from calibrant.errors import CalibrationWarning, InputError

__all__ = ["Case", "Outcome", "require_good", "settle"]

#: An error that is longer than this is a dump, no sentence.
LONGEST = 600


@dataclass(frozen=True)
class Case:
    """One input given to one part.

    Attributes
    ----------
    family : str
        Such as "logits" or "masked".
    name : str
    argument : str
        What an error must name; "" for any.
    call : callable of nothing
        Gives the part the input and returns its answer.
    right : callable of the answer
        AssertionError where it is not the right one.
    answered : bool
        Whether an answer is allowed: not where data are missing or contradict each other.
    refused : bool
        Whether a clear error is allowed: not where the input says all that is needed.
    """

    family: str
    name: str
    argument: str
    call: Callable[[], Any]
    right: Callable[[Any], None]
    answered: bool = True
    refused: bool = True


@dataclass(frozen=True)
class Outcome:
    """What came of a case: "right", "clear error", "wrong" (a wrong answer, or one where there is none) or "obscure" (any other error)."""

    kind: str
    detail: str = ""

    @property
    def good(self) -> bool:
        """Whether it is one of the two that are allowed."""
        return self.kind in ("right", "clear error")


def settle(case: Case) -> Outcome:
    """Run a case. Warnings of calibrant are no failure; any other is, for it has leaked from inside."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", CalibrationWarning)
            answer = case.call()
    except InputError as error:
        return _refused(case, str(error))
    except Exception as error:
        return Outcome("obscure", f"{type(error).__name__}: {error}")
    if not case.answered:
        return Outcome("wrong", "answered, where data are missing or contradict each other")
    try:
        case.right(answer)
    except AssertionError as error:
        return Outcome("wrong", str(error))
    return Outcome("right")


def _refused(case, text):
    """A clear error is one sentence that names the argument and, after a semicolon, what was seen or what to do."""
    if "\n" in text or len(text) > LONGEST or case.argument not in text or ";" not in text:
        return Outcome("obscure", f"not one clear sentence on {case.argument or 'the input'}: {text}")
    return Outcome("clear error", text) if case.refused else Outcome("wrong", f"refused: {text}")


def require_good(cases: Iterable[Case]) -> None:
    """AssertionError that names every case which ended otherwise than in a right answer or a clear error."""
    outcomes = [(case, settle(case)) for case in cases]
    if not outcomes:
        raise AssertionError("no case was tried")
    bad = [f"{case.name}: {outcome.kind}, {outcome.detail}" for case, outcome in outcomes if not outcome.good]
    if bad:
        raise AssertionError(f"{len(bad)} of {len(outcomes)} cases: {'; '.join(bad)}")
