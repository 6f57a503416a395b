"""Offsets of overlapping families of cells, each family shrunk by a variance of its own that the rows choose: of log-odds, of normal scores
and of the log of their spread.

What is fitted is said by its slopes: from eta (n, C) the derivative of each row's log likelihood, its expected curvature, and a bound on
that where C columns move at once.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from calibrant._kernels.softmax import softmax

__all__ = [
    "Family", "FittedFamily", "fit_families", "held_out_scores", "outcome_slopes", "prior_variance", "shares_of", "shift_slopes",
    "spread_slopes",
]  # fmt: skip

#: Sweeps over the families, and the root mean square change of log-odds (weighed by information) at which they end.
SWEEPS, TOLERANCE = 100, 5e-4
#: Widest step of one offset: Newton's method overshoots where probabilities are near 0 and 1.
WIDEST = 1.0
#: Log standard deviations on the way.
FARTHEST = 30.0
#: Variances of the prior that are tried before the best is refined.
VARIANCES = np.geomspace(1e-5, 1e2, 57)


@dataclass(frozen=True)
class Family:
    """Disjoint cells of rows.

    Attributes
    ----------
    index : (n,) the cell of each row, ``n_cells`` for none.
    n_cells : int
    x : (n,) what the cell's coefficient is multiplied by; None for 1.
    """

    index: np.ndarray
    n_cells: int
    x: np.ndarray | None = None

    def sums(self, values):
        """(n_cells, C) sums of (n, C) values."""
        return np.column_stack([np.bincount(self.index, column, self.n_cells + 1)[:-1] for column in values.T])

    def of_rows(self, values):
        """(n, C) each row's entry of (n_cells, C) values, 0 for rows of none."""
        out = np.vstack([values, np.zeros(values.shape[1])])[self.index]
        return out if self.x is None else out * self.x[:, None]


@dataclass(frozen=True)
class FittedFamily:
    """What is learned of a family: coefficients and their posterior variances, (n_cells, C) each, and the prior's variance."""

    effect: np.ndarray
    spread: np.ndarray
    variance: float


def shares_of(eta):
    """(n, C) probabilities: of the event from its log-odds, (n, 1), or of the classes from their logits."""
    if eta.shape[1] > 1:
        return softmax(eta)
    return 1.0 / (1.0 + np.exp(-np.clip(eta, -700.0, 700.0)))


Slopes = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]


def outcome_slopes(hit: np.ndarray) -> Slopes:
    """Of outcomes of 0 and 1, (n, C), at logits."""

    def slopes(eta):
        p = shares_of(eta)
        return hit - p, p * (1.0 - p), p * (1.0 - p) if p.shape[1] == 1 else p

    return slopes


def shift_slopes(score: np.ndarray, log_spread: np.ndarray) -> Slopes:
    """Of normal scores (n, 1) whose log standard deviations are known, at their means."""
    worth = np.exp(-2.0 * np.clip(log_spread, -FARTHEST, FARTHEST))
    return lambda eta: ((score - eta) * worth, worth, worth)


def spread_slopes(score: np.ndarray, shift: np.ndarray) -> Slopes:
    """Of normal scores (n, 1) whose means are known, at their log standard deviations."""
    square = np.square(score - shift)
    two = np.full(square.shape, 2.0)
    return lambda eta: (square * np.exp(-2.0 * np.clip(eta, -FARTHEST, FARTHEST)) - 1.0, two, two)


def prior_variance(score, information):
    r"""The variance :math:`\tau^2 \ge 0` of most likelihood where effects are N(0, tau^2) and their scores N(I b, I) given them.

    .. math:: \sum_g -\tfrac12 \ln(1 + \tau^2 I_g) + \tfrac12 \frac{U_g^2 \tau^2}{1 + \tau^2 I_g}
    """
    score, information = score.ravel(), information.ravel()

    def loss(variance):
        ratio = 1.0 + variance * information
        return 0.5 * float((np.log(ratio) - score**2 * variance / ratio).sum())

    losses = [loss(v) for v in VARIANCES]
    best = int(np.argmin(losses))
    if not losses[best] < 0.0:
        return 0.0
    low, high = np.log(VARIANCES[max(best - 1, 0)]), np.log(VARIANCES[min(best + 1, len(VARIANCES) - 1)])
    found = minimize_scalar(lambda v: loss(np.exp(v)), bounds=(low, high), method="bounded", options={"xatol": 1e-6})
    return float(np.exp(found.x))


def fit_families(eta, slopes, weight, families):
    """(fitted families, status, eta with the effects of all), for eta (n, C) before them.

    Families take turns: given the others, a family's score and information at no effect give its prior's variance and one shrunken Newton
    step. Of several classes, which share a family's variance, the step is that of the bound diag(p) of the curvature, so that all may move
    at once.
    """
    eta, weight = eta.copy(), weight[:, None]
    n_columns = eta.shape[1]
    effects = [np.zeros((family.n_cells, n_columns)) for family in families]
    spreads, variances = [np.zeros_like(e) for e in effects], [0.0] * len(families)
    total, status, every = float(weight.sum()), "max steps", True
    for _ in range(SWEEPS):
        moved = 0.0
        for j, family in enumerate(families):
            if not (every or variances[j] > 0.0):
                continue
            slope, curvature, most = slopes(eta)
            x = 1.0 if family.x is None else family.x[:, None]
            score, information = family.sums(weight * x * slope), family.sums(weight * x**2 * curvature)
            variances[j] = prior_variance(score + information * effects[j], information)
            bound = information if n_columns == 1 else family.sums(weight * x**2 * most)
            step = _step(score, bound, effects[j], variances[j])
            spreads[j] = np.zeros_like(information) if variances[j] == 0.0 else 1.0 / (information + 1.0 / variances[j])
            effects[j] = effects[j] + step
            eta += family.of_rows(step)
            moved = max(moved, float((information * step**2).sum()) / total)
        near = moved <= TOLERANCE**2
        if near and every:
            status = "converged"
            break
        # Families at rest are asked again once the others have settled.
        every = near
    return [FittedFamily(*each) for each in zip(effects, spreads, variances, strict=True)], status, eta


def _step(score, bound, effect, variance):
    """The step of a family's coefficients towards their mode, at most 1 each."""
    if variance == 0.0:
        return -effect
    return np.clip((score - effect / variance) / (bound + 1.0 / variance), -WIDEST, WIDEST)


def held_out_scores(eta, slopes, families, fitted):
    """(n, C) what is fitted at each row as if it had been left out: its own pull on its cells is taken out, to first order."""
    pull = np.zeros_like(eta)
    for family, found in zip(families, fitted, strict=True):
        own = family.of_rows(found.spread)
        pull += own if family.x is None else own * family.x[:, None]
    slope, curvature, _ = slopes(eta)
    return eta - pull * slope / np.maximum(1.0 - pull * curvature, 0.05)
