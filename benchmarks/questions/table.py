"""Lines of the tables, and goals with what was found."""

from collections.abc import Sequence

import numpy as np

from calibrant.questions import QuestionCalibrator, Questions

__all__ = ["alone", "expected_loss", "goal", "line"]


def line(name: str, values: Sequence[object]) -> None:
    """Print one row of a table."""
    cells = [f"{one:11.4f}" if isinstance(one, float) else f"{one!s:>11}" for one in values]
    print(f"{name[:34]:<34}", *cells, flush=True)


def goal(words: str, found: str, met: bool) -> None:
    """Print a goal, what was found, and whether it is met."""
    print(f"  {'met   ' if met else 'MISSED'} {words}: {found}", flush=True)


def expected_loss(probability: np.ndarray, truth: np.ndarray, rows: int) -> float:
    """Log loss of a row under its true probabilities; a zero of four decimals is half a unit."""
    return float(-(truth @ np.log(np.maximum(probability, 5e-5))) / rows)


def alone(fitted_on: Questions, applied_to: Questions) -> np.ndarray:
    """Probabilities of ``applied_to`` by one calibrator for each question, on its rows alone."""
    found = applied_to.probability.copy()
    known = {str(name): k for k, name in enumerate(fitted_on.question.names)}
    for k, name in enumerate(applied_to.question.names):
        rows = np.flatnonzero(applied_to.question.index == k)
        own = fitted_on.question.index == known.get(str(name), -1)
        if len(rows) and own.any():
            calibrator = QuestionCalibrator(by="one").fit_record(fitted_on.take(own))
            found[applied_to.flat(rows)] = calibrator.predict_record(applied_to.take(rows))
    return found
