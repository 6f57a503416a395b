"""One temperature and a bias for each class, fitted together: bias-corrected temperature scaling."""

import numpy as np
from scipy.optimize import minimize

from calibrant._kernels.softmax import log_softmax

__all__ = ["fit_bias_temperature"]

LOG_BETA_BOUND = np.log(1e3)


def fit_bias_temperature(logits, labels, weight):
    """(beta, bias (K,)): least mean log loss of softmax(beta z + bias) plus (1/n) |bias|^2, n the sum of weights."""
    n, K = weight.sum(), logits.shape[1]
    z = (logits - logits.max(axis=1, keepdims=True)).astype(np.float64)
    rows = np.arange(len(z))

    def objective(x):
        beta, bias = np.exp(x[0]), x[1:]
        log_q = log_softmax(beta * z + bias)
        gap = np.exp(log_q)
        gap[rows, labels] -= 1.0
        gap *= (weight / n)[:, None]
        value = -(weight / n) @ log_q[rows, labels] + bias @ bias / n
        return value, np.concatenate([[beta * np.vdot(gap, z)], gap.sum(axis=0) + 2.0 * bias / n])

    bounds = [(-LOG_BETA_BOUND, LOG_BETA_BOUND)] + [(None, None)] * K
    out = minimize(objective, np.zeros(K + 1), jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 500, "ftol": 1e-14})
    return float(np.exp(out.x[0])), out.x[1:]
