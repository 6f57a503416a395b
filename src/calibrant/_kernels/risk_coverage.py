"""Selective prediction: the risk among the most confident share of the rows, as sums over runs of tied confidences."""

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["optimal_area", "ranked", "risk_coverage", "risk_coverage_area", "row_moves"]


def risk_coverage(confidence: np.ndarray, correct: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(confidence, covered weight, wrong weight) down to each distinct confidence, from the highest: three (m,) arrays."""
    unique, sums = ranked(*np.unique(confidence, return_inverse=True))
    rows, covered, wrong = sums(correct, weight)
    return unique[rows], covered, wrong


def ranked(
    unique: np.ndarray, place: np.ndarray
) -> tuple[np.ndarray, Callable[[np.ndarray, np.ndarray], tuple[Any, np.ndarray, np.ndarray]]]:
    """(distinct confidences, ``sums(correct, weight)``: which of them have weight, and their covered and wrong weight), highest first.

    Of the distinct confidences, ascending, and the place of each row among them.
    """
    inverse = len(unique) - 1 - place

    def sums(correct: np.ndarray, weight: np.ndarray):
        mass, wrong = np.bincount(inverse, weights=weight), np.bincount(inverse, weights=weight * (1.0 - correct))
        rows = slice(None) if mass.all() else np.flatnonzero(mass)
        return rows, np.cumsum(mass[rows]), np.cumsum(wrong[rows])

    return unique[::-1], sums


def risk_coverage_area(covered: np.ndarray, wrong: np.ndarray) -> float:
    """Integral of the risk over the coverage from 0 to 1; tied rows enter together, their errors spread evenly."""
    _, step, rate, rest, logs = _runs(covered, wrong)
    return float((rate * step).sum() + rest[1:] @ logs[1:]) / float(covered[-1])


def _runs(covered, wrong):
    """(weight before each run of ties, its own, its risk, what is left of a line at no weight, log of what it multiplies the weight by)."""
    before, wrong_before = np.append(0.0, covered[:-1]), np.append(0.0, wrong[:-1])
    step = covered - before
    rate = (wrong - wrong_before) / step
    # Within a run the wrong weight is linear in the covered one: a line through (before, wrong_before), divided by the coverage.
    return before, step, rate, wrong_before - rate * before, np.append(0.0, np.log(covered[1:] / before[1:]))


def row_moves(place: np.ndarray, correct: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far each row moves the area (its derivative by the row's weight, times the total weight), and how far it would were it wrong.

    ``place`` is that of each row among the distinct confidences, ascending.
    """
    wrong = 1.0 - correct
    covered, lost = (np.bincount(place, weights=mass)[::-1].cumsum() for mass in (weight, weight * wrong))
    before, step, rate, rest, logs = _runs(covered, lost)
    # What lies further down is moved through both ends of its run, the run itself through its lower end and its rate.
    ends = np.append(0.0, rest[1:] * (1.0 / covered[1:] - 1.0 / before[1:]) - rate[1:] * logs[1:])
    any_row = ends[::-1].cumsum()[::-1] - ends + rest / covered + rate * before / step * logs - risk_coverage_area(covered, lost)
    wrong_row = 1.0 - before / step * logs + np.log(covered[-1] / covered)
    any_row, wrong_row = any_row[::-1][place], wrong_row[::-1][place]
    return any_row + wrong * wrong_row, any_row + wrong_row


def optimal_area(risk: float) -> float:
    """The area of a confidence that ranks every right row above every wrong one, at this overall risk."""
    right = 1.0 - risk
    return risk + (right * np.log(right) if right > 0.0 else 0.0)
