"""Confidence of free answers from several signals, some of which may be missing."""

from dataclasses import dataclass

import numpy as np

from calibrant._numerics.logistic import sigmoid
from calibrant.calibrators.stacked_confidence import Rows, SignalCurve
from calibrant.core.saving import Saved
from calibrant.questions.pooled_map import Leaves
from calibrant.questions.record import YES_NO, Questions

__all__ = ["SignalStack"]

#: Penalties with few rows, and the number of rows from which they are chosen.
STRONG, ENOUGH = (100.0, 1e4), 20


@dataclass
class SignalStack(Saved):
    """Log-odds of a right answer: a level for each question, and a rising curve of each signal.

    A missing signal adds a level of its own.

    Attributes
    ----------
    curves : list of SignalCurve, one for each signal
    questions : dict of (question, type, levels) -> position of its level
    slopes : (d,) of the curves and of missing signals; level : float; levels : (G,)
    penalties : of the bends of the curves and of the levels, chosen by held-out log loss
    """

    curves: list[SignalCurve]
    questions: dict[tuple[str, str, int], int]
    slopes: np.ndarray
    level: float
    levels: np.ndarray
    penalties: tuple[float, float]

    @classmethod
    def fit(cls, record: Questions, cv: int = 5, random_state: int = 0) -> "SignalStack":
        """Fit on labelled rows of yes/no questions, or of free answers, with signals."""
        assert record.signals is not None
        hit, weight = record.mass[1::2], record.weights
        curves = [SignalCurve.learn(*_present(column, hit, weight)) for column in record.signals.T]
        names, index = Leaves.keys(record, YES_NO)
        columns, part = _columns(curves, record.signals)
        rows = Rows(columns, part, index, hit, weight, len(names))
        penalties = STRONG
        if len(record) >= ENOUGH:
            penalties = rows.penalties(record.folds(cv, random_state))[:2]
        slopes, level, levels, _ = rows.fit(*penalties)
        questions = {name: k for k, name in enumerate(names)}
        return cls(curves, questions, slopes, level, levels, penalties)

    def predict(self, record: Questions) -> np.ndarray:
        """(m,) probabilities of "no" and "yes"."""
        assert record.signals is not None
        names, index = Leaves.keys(record, YES_NO)
        place = np.array([self.questions.get(name, len(self.levels)) for name in names])[index]
        level = self.level + np.append(self.levels, 0.0)[place]
        # A matrix product has other bits for other numbers of rows.
        along = (_columns(self.curves, record.signals)[0] * self.slopes).sum(axis=1)
        p = sigmoid(along + level)
        return np.column_stack([1.0 - p, p]).ravel()


def _present(
    column: np.ndarray, hit: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, str]:
    """The rows that have a signal, one row of 0 if none has; and the signal's domain."""
    seen = np.isfinite(column)
    if not seen.any():
        return np.zeros(1), np.zeros(1), np.ones(1), "unit"
    own = column[seen]
    return own, hit[seen], weight[seen], "unit" if own.min() >= 0.0 >= own.max() - 1.0 else "real"


def _columns(curves: list[SignalCurve], signals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n, d) columns of the curves, 0 where missing, with two opposite ones that say so; and the
    signal of each, (d,).
    """
    columns, part = list[np.ndarray](), list[int]()
    for s, (curve, column) in enumerate(zip(curves, signals.T, strict=True)):
        missing = ~np.isfinite(column)
        own = curve.columns(np.where(missing, 0.0, column))
        own[missing] = 0.0
        found = np.column_stack([own, missing, -1.0 * missing])
        columns.append(found)
        part += [s] * found.shape[1]
    return np.column_stack(columns), np.array(part)
