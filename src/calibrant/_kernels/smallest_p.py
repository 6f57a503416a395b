"""Several checks as one test: the smallest of their p-values, by its own law under the null."""

import numpy as np

__all__ = ["smallest_p"]


def smallest_p(observed: np.ndarray, drawn: np.ndarray) -> tuple[np.ndarray, float]:
    r"""The p-value of each check and of all as one test, from what the checks are under the null.

    .. math:: p_c = \frac{\#\{b : T_{bc} \ge T_{0c}\}}{B + 1}, \qquad
              p = \frac{\#\{b : \min_c p_{bc} \le \min_c p_{0c}\}}{B + 1}

    over the B draws and what was observed, b = 0, so that p is exact wherever the draws are.

    Parameters
    ----------
    observed : (c,) the checks, larger where more speaks against the null
    drawn : (B, c) the same of draws under the null

    Examples
    --------
    >>> drawn = np.random.default_rng(0).normal(size=(999, 2))
    >>> each, together = smallest_p(np.array([3.0, 0.0]), drawn)
    >>> each.round(3).tolist(), round(together, 3)
    ([0.002, 0.485], 0.003)
    """
    every = np.vstack([observed, drawn])
    less = np.column_stack([np.searchsorted(np.sort(one), one) for one in every.T])
    own = 1.0 - less / len(every)
    smallest = own.min(axis=1)
    return own[0], float((smallest <= smallest[0]).mean())
