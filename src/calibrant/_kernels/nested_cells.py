"""Cells of [0, 1] so fine, in probability and in log-odds, that rows in them stand for each other; none crosses an edge of a curve's bins.

A cell is where two numbers stay the same: the bin of equal width in the log-odds, and the bin of equal width of a lattice that holds the
edges of all bins shown. Both only rise with the score, so that their sum is a name of its own for each cell.
"""

from math import lcm

import numpy as np

from calibrant._kernels.bins import equal_width_index
from calibrant._kernels.softmax import log_odds

__all__ = ["LOGIT_CELLS", "REACH", "cell_count", "cell_index", "lattice"]

#: Cells in log-odds from -REACH to REACH, and one each for exact 0 and 1; what is beyond is in the outermost.
LOGIT_CELLS, REACH = 4096, 18.0
#: Each of 5, 8, 10, 15, 20, 30 and 50 bins of equal width is made of whole parts of it.
LATTICE = 600


def lattice(n_bins: int) -> int:
    """Bins of equal width of which ``n_bins``, too, are made."""
    return lcm(LATTICE, n_bins)


def cell_count(n_bins: int) -> int:
    """How many cells there are."""
    return LOGIT_CELLS + 2 + lattice(n_bins)


def cell_index(score: np.ndarray, n_bins: int, resolution: float) -> np.ndarray:
    """The cell of each score in [0, 1], (n,) intp, ascending with the score."""
    place = ((log_odds(score) + REACH) * (LOGIT_CELLS / (2.0 * REACH))).astype(np.intp)
    np.clip(place, 0, LOGIT_CELLS - 1, out=place)
    place += 1
    place[score <= 0.0], place[score >= 1.0] = 0, LOGIT_CELLS + 1
    place += equal_width_index(score, lattice(n_bins), resolution)
    return place
