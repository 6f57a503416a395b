"""Scores of many rows merged into narrow cells of the log-odds: a curve of a few coefficients cannot tell the difference."""

import numpy as np

from calibrant._kernels.softmax import ZERO_FLOOR, log_odds

__all__ = ["in_cells"]

#: Width of a cell: this times 2 in log-odds at a score of 1/2, and up to ten times wider far out.
WIDTH = 0.01
#: Fewer rows than this stay as they are.
FEWEST_ROWS = 1_000


def in_cells(score, correct, weight):
    """(mean score, outcome, summed weight) of the cells of each outcome; exact 0 and 1, and what is nearest to them, stay apart.

    A fit to the cells misses that to the rows by the square of the width: its log loss is off by about 1e-9.
    """
    if len(score) < FEWEST_ROWS:
        return score, correct.astype(np.float64), weight
    place = np.floor(np.arcsinh(0.5 * log_odds(score)) / WIDTH).astype(np.intp)
    place += 4 - place.min()
    inner = (score > 1.5 * ZERO_FLOOR) & (score < 1.0 - 1.5 * ZERO_FLOOR)
    least, most = score.min(where=inner, initial=1.0), score.max(where=inner, initial=0.0)
    for k, own in enumerate((score < least, score == least, score == most, score > most)):
        place[own] = k
    place = 2 * place + correct.astype(np.intp)
    mass = np.bincount(place, weight)
    cell = np.flatnonzero(mass)
    return np.bincount(place, weight * score)[cell] / mass[cell], (cell % 2).astype(np.float64), mass[cell]
