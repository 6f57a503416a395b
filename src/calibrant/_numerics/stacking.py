"""Pools of forecasts: weights by evidence, and logistic regression that rises in every column."""

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import minimize, nnls

__all__ = ["exponential_weights", "fit_monotone_additive", "stacking_weights"]


def exponential_weights(
    losses: np.ndarray,
    row_weight: np.ndarray,
    rate: float,
    random_state: int,
    *,
    prior: np.ndarray | None = None,
    n_draws: int = 100,
) -> np.ndarray:
    """Weights (J,) proportional to prior * exp(-rate * total loss), averaged over draws of the
    Bayesian bootstrap of the rows.

    ``losses`` is (J, n), ``prior`` (J,) positive (None: equal). A row of weight w counts as w rows,
    whose shares of the bootstrap's Dirichlet law are one gamma(w).
    """
    rng, total = np.random.default_rng(random_state), row_weight.sum()
    weights = np.zeros(len(losses))
    ahead = np.zeros(len(losses)) if prior is None else np.log(prior) / rate
    for _ in range(n_draws):
        share = rng.standard_gamma(row_weight)
        sums = losses @ (share * (total / share.sum())) - ahead
        draw = np.exp(rate * (sums.min() - sums))
        weights += draw / draw.sum()
    return weights / n_draws


def stacking_weights(
    own: np.ndarray, gram: np.ndarray | None, row_weight: np.ndarray
) -> np.ndarray:
    """Weights (J,) on the simplex with which a linear pool has the least mean score, a convex
    problem.

    ``own`` is (J, n), the probability that each gives to the true class. The score is the log loss
    where ``gram`` is None; else the Brier score, and ``gram`` (J, J) holds the weighted means over
    rows of sum_k P_ik P_jk.
    """
    share, J = row_weight / row_weight.sum(), len(own)
    loss = _log_loss(own, share) if gram is None else _brier(gram, own @ share)
    one = {"type": "eq", "fun": lambda w: w.sum() - 1.0, "jac": lambda w: np.ones(J)}
    options = {"maxiter": 100, "ftol": 1e-9}
    result = minimize(
        loss,
        np.full(J, 1.0 / J),
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * J,
        constraints=one,
        options=options,
    )
    weights = np.clip(result.x, 0.0, None)
    return weights / weights.sum()


def _log_loss(own: np.ndarray, share: np.ndarray) -> Any:
    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        mixed = np.maximum(w @ own, 1e-300)
        return -float(share @ np.log(mixed)), -own @ (share / mixed)

    return loss


def _brier(gram: np.ndarray, hits: np.ndarray) -> Any:
    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        return float(w @ gram @ w - 2.0 * hits @ w + 1.0), 2.0 * (gram @ w - hits)

    return loss


MAX_STEPS = 60


def fit_monotone_additive(
    design: np.ndarray,
    group: np.ndarray,
    n_groups: int,
    target: np.ndarray,
    weight: np.ndarray,
    ridge: np.ndarray,
    group_ridge: float,
) -> tuple[np.ndarray, float, np.ndarray, str]:
    """Coefficients (d,) at least 0, the level c, the groups' levels (n_groups,), and the status.

    Parameters
    ----------
    design : (n, d); group : (n,) in 0..n_groups-1; target : (n,) in [0, 1]; weight : (n,) positive
    ridge : (d,) and group_ridge : float, the positive penalties
    """
    d = design.shape[1]
    order = np.argsort(group, kind="stable")
    rows = (
        np.column_stack([design[order], np.ones(len(order))]),
        group[order],
        target[order],
        weight[order],
    )
    theta = np.zeros(d + 1 + n_groups)
    penalty = np.concatenate([ridge, [0.0], np.full(n_groups, group_ridge)])
    status = "max steps"
    value = _loss(theta, rows, penalty)
    for _ in range(MAX_STEPS):
        gradient, newton = _quadratic_model(theta, rows, penalty)
        step = newton - theta
        decrease = -float(gradient @ step)
        if decrease <= 1e-12 * (1.0 + abs(value)):
            status = "converged"
            break
        found = _descend(theta, step, value, decrease, rows, penalty)
        if found is None:
            status = "stalled"
            break
        theta, value = found
    return theta[:d], float(theta[d]), theta[d + 1 :], status


def _scores(theta: np.ndarray, X: np.ndarray, group: np.ndarray) -> np.ndarray:
    return X @ theta[: X.shape[1]] + theta[X.shape[1] :][group]


def _loss(
    theta: np.ndarray,
    rows: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    penalty: np.ndarray,
) -> float:
    X, group, target, weight = rows
    z = _scores(theta, X, group)
    return float(
        weight @ (np.maximum(z, 0.0) + np.log1p(np.exp(-np.abs(z))) - target * z)
        + 0.5 * penalty @ theta**2
    )


def _descend(
    theta: np.ndarray,
    step: np.ndarray,
    value: float,
    decrease: float,
    rows: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    penalty: np.ndarray,
) -> Any:
    """The first of the steps 1, 1/2, 1/4, ... that descends enough, with the loss there; None
    when rounding allows none.
    """
    size = 1.0
    for _ in range(40):
        trial = theta + size * step
        reached = _loss(trial, rows, penalty)
        if reached <= value - 1e-4 * size * decrease:
            return trial, reached
        size *= 0.5
    return None


def _quadratic_model(
    theta: np.ndarray,
    rows: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    penalty: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Gradient at theta, and the minimum of the quadratic model under the bounds."""
    X, group, target, weight = rows
    p = X.shape[1]
    n_groups = len(theta) - p
    z = _scores(theta, X, group)
    e = np.exp(-np.abs(z))
    residual = weight * (np.where(z >= 0.0, 1.0, e) / (1.0 + e) - target)
    curvature = weight * e / (1.0 + e) ** 2
    bent = X * curvature[:, None]
    gradient = (
        np.concatenate([residual @ X, np.bincount(group, residual, n_groups)]) + penalty * theta
    )
    own = np.bincount(group, curvature, n_groups) + penalty[p:]
    cross = np.zeros((n_groups, p))
    present, first = np.unique(group, return_index=True)
    cross[present] = np.add.reduceat(bent, first, axis=0)
    top = np.diag(penalty[:p]) + X.T @ bent
    # The model in t = the new theta: half t' H t - pull' t.
    pull = (
        np.concatenate([top @ theta[:p] + theta[p:] @ cross, cross @ theta[:p] + own * theta[p:]])
        - gradient
    )
    shared = top - cross.T @ (cross / own[:, None])
    solved = _bounded_minimum(shared, pull[:p] - cross.T @ (pull[p:] / own))
    return gradient, np.concatenate([solved, (pull[p:] - cross @ solved) / own])


def _bounded_minimum(hessian: np.ndarray, pull: np.ndarray) -> np.ndarray:
    """The minimum of half t' H t - pull' t over t at least 0, the last entry free."""
    last, edge = hessian[-1, -1], hessian[:-1, -1]
    # A small ridge keeps the level defined if every row is certain, and the factor if columns
    # repeat.
    last = last + 1e-12 * (1.0 + last)
    inner = hessian[:-1, :-1] - np.outer(edge, edge) / last
    inner[np.diag_indices_from(inner)] += 1e-12 * inner.diagonal().max(initial=1.0)
    factor = np.linalg.cholesky(inner)
    right = pull[:-1] - edge * (pull[-1] / last)
    t, _ = nnls(factor.T, solve_triangular(factor, right, lower=True), maxiter=100 * len(right))
    return np.append(t, (pull[-1] - edge @ t) / last)
