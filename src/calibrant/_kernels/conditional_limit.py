"""The limit of a new row's score by a quantile regression that counts the row itself, one small linear program a row."""

import numpy as np
from scipy.optimize import linprog

__all__ = ["conditional_limits"]

#: What keeps a dual variable off its bound, so that of several limits the least is found; costs a millionth of the share missed.
OFF_BOUND = 1e-6
#: Rows near the fit that the first program of a row counts, for each column of the features and besides.
NEAR, BESIDES = 20, 50
#: Rows of the first fit of all: of more, every so many-th.
FIRST = 2_000
#: What rounding may take from a limit, in parts of it.
ROUNDING = 1e-9


def conditional_limits(
    points: np.ndarray, scores: np.ndarray, weight: np.ndarray, new: np.ndarray, level: float, u: np.ndarray | None = None
) -> np.ndarray:
    r"""(m,) the largest score of each new row that keeps its dual variable below the bound; infinite where nothing bounds it.

    The dual of the regression of n + 1 scores at the level is :math:`\max \sum_i \eta_i s_i` with :math:`\sum_i \eta_i \phi_i = 0` and
    :math:`(\text{level} - 1) w_i \le \eta_i \le \text{level}\, w_i`. That of the new row rises with its score; where it is h, the score is
    the slope of the others' optimum: :math:`\phi^T \beta` of the regression of n scores with :math:`-h\,\phi^T \beta` added.

    Parameters
    ----------
    points, scores, weight : (n, d), (n,) and (n,) of the calibration rows
    new : (m, d) of the new rows
    u : (m,) draws in (0, 1), optional
        h is u - (1 - level); None: the bound, ``level``.
    """
    scale = np.abs(points).max(axis=0, initial=0.0)
    scale[scale == 0.0] = 1.0
    points, new = points / scale, new / scale
    h = np.full(len(new), level - OFF_BOUND) if u is None else u - (1.0 - level)
    fit = _Regression(points, scores, weight, level)
    rows, place = np.unique(np.column_stack([new, h]), axis=0, return_inverse=True)
    return np.array([fit.limit(row[:-1], float(row[-1])) for row in rows]).reshape(-1)[place.ravel()]


class _Regression:
    """The regression of the calibration rows, from which that with one row more is not far."""

    def __init__(self, points: np.ndarray, scores: np.ndarray, weight: np.ndarray, level: float) -> None:
        self.points, self.scores, self.weight, self.level = points, scores, weight, level
        some, none = slice(None, None, 1 + len(points) // FIRST), np.zeros(points.shape[1])
        start = _solved(points[some], scores[some], weight[some], none, level)
        self._order_by(none if start is None else start)
        if len(points) > FIRST and (start := self.coefficients(none)) is not None:
            self._order_by(start)

    def limit(self, phi: np.ndarray, h: float) -> float:
        """Of one new row: the score at which its dual variable is h."""
        beta = self.coefficients(-h * phi)
        if beta is None:
            return np.inf if h > 0.0 else -np.inf
        limit = float(phi @ beta)
        return limit + ROUNDING * max(1.0, abs(limit))

    def coefficients(self, total: np.ndarray) -> np.ndarray | None:
        """(d,) where the duals times the points sum to ``total``: by rows near the fit, until the others lie where they should."""
        size = NEAR * len(total) + BESIDES
        while True:
            left = total - self.bound[size:] @ self.points[size:]
            beta = _solved(self.points[:size], self.scores[:size], self.weight[:size], left, self.level)
            if size >= len(self.points) or (beta is not None and self._stay_beyond(size, beta)):
                return beta
            size *= 4

    def _order_by(self, beta: np.ndarray) -> None:
        order = np.argsort(np.abs(self.scores - self.points @ beta), kind="stable")
        self.points, self.scores, self.weight = self.points[order], self.scores[order], self.weight[order]
        self.bound = np.where(self.scores > self.points @ beta, self.level, self.level - 1.0) * self.weight

    def _stay_beyond(self, size: int, beta: np.ndarray) -> bool:
        return bool((np.sign(self.bound[size:]) * (self.scores[size:] - self.points[size:] @ beta)).min() >= 0.0)


def _solved(points: np.ndarray, scores: np.ndarray, weight: np.ndarray, total: np.ndarray, level: float) -> np.ndarray | None:
    """(d,) the coefficients of the regression whose duals, times the points, sum to ``total``; None where none do."""
    bounds = np.column_stack([(level - 1.0) * weight, level * weight])
    found = linprog(-scores, A_eq=points.T, b_eq=total, bounds=bounds, method="highs-ds")
    return -found.eqlin.marginals if found.status == 0 else None
