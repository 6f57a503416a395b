"""Parts of the rows, numbered by what they hold: draws for them then follow neither their names nor the order of the rows."""

import numpy as np

from calibrant._kernels.row_draws import row_codes, uniform_of_rows

__all__ = ["numbered_by_content"]

#: Digits of a part's mark that rounding leaves alone.
DIGITS = 9


def numbered_by_content(part: np.ndarray, mark: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(n,) numbers of the same parts, in the order of a sum over the rows of each.

    ``part`` is (n,) numbers 0..G-1, ``mark`` (n,) a number that follows what a row holds, ``weight`` (n,) how often it does. Parts that
    hold the same keep the order that they had.
    """
    # Numbers that only look random tell parts apart whose marks have one sum.
    sums = np.bincount(part, weights=weight * uniform_of_rows(row_codes(mark[:, None]), 0))
    rank = np.empty(len(sums), dtype=np.intp)
    rank[np.argsort(np.round(sums, DIGITS), kind="stable")] = np.arange(len(sums))
    return rank[part]
