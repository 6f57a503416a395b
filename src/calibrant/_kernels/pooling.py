"""Convex pools of probability forecasts: weights by evidence, and the weights with the least mean score."""

import numpy as np
from scipy.optimize import minimize

__all__ = ["exponential_weights", "stacking_weights"]


def exponential_weights(losses, row_weight, rate, random_state, *, prior=None, n_draws=100):
    """Weights (J,) proportional to prior * exp(-rate * total loss), averaged over draws of the Bayesian bootstrap of the rows.

    ``losses`` is (J, n), ``prior`` (J,) positive (None: equal). A row of weight w counts as w rows, whose shares of the bootstrap's
    Dirichlet law are one gamma(w).
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


def stacking_weights(own, gram, row_weight):
    """Weights (J,) on the simplex with which a linear pool has the least mean score, a convex problem.

    ``own`` is (J, n), the probability that each gives to the true class. The score is the log loss where ``gram`` is None; else the Brier
    score, and ``gram`` (J, J) holds the weighted means over rows of sum_k P_ik P_jk.
    """
    share, J = row_weight / row_weight.sum(), len(own)
    loss = _log_loss(own, share) if gram is None else _brier(gram, own @ share)
    one = {"type": "eq", "fun": lambda w: w.sum() - 1.0, "jac": lambda w: np.ones(J)}
    options = {"maxiter": 100, "ftol": 1e-9}
    result = minimize(loss, np.full(J, 1.0 / J), jac=True, method="SLSQP", bounds=[(0.0, 1.0)] * J, constraints=one, options=options)
    weights = np.clip(result.x, 0.0, None)
    return weights / weights.sum()


def _log_loss(own, share):
    def loss(w):
        mixed = np.maximum(w @ own, 1e-300)
        return -float(share @ np.log(mixed)), -own @ (share / mixed)

    return loss


def _brier(gram, hits):
    def loss(w):
        return float(w @ gram @ w - 2.0 * hits @ w + 1.0), 2.0 * (gram @ w - hits)

    return loss
