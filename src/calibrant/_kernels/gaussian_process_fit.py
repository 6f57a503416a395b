"""Maximising the Gaussian process's evidence bound: parameters as one vector, L-BFGS with the analytic gradient."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from calibrant._kernels.gaussian_process import Hyper, Posterior, bound

__all__ = ["Fit", "best_of", "maximise", "starts", "trial_steps"]


@dataclass(frozen=True)
class Fit:
    """What was learned, and how the search ended."""

    inducing: np.ndarray
    hyper: Hyper
    posterior: Posterior
    value: float
    status: str


def starts(low, high, n_inducing, hyper):
    """Where to begin: inducing points evenly over the scores' range, the prior as the posterior, a long and a short length scale.

    The bound has several optima; scores that crowd in a part of their range want the short one. (k-means centres, as in the authors'
    code, led to worse bounds on crowded scores.)
    """
    inducing = np.linspace(low, high, n_inducing) if high > low else np.array([low])
    short = min(hyper.length, 0.25 * (high - low))
    lengths = [hyper.length, short] if 0.0 < short < hyper.length else [hyper.length]
    return [_begin(inducing, Hyper(hyper.variance, length, hyper.noise)) for length in lengths]


def _begin(inducing, hyper):
    return Fit(inducing, hyper, Posterior(np.zeros(len(inducing)), np.eye(len(inducing))), -np.inf, "start")


def trial_steps(n_components):
    """How long to try each start: few rows tell the starts apart at once."""
    return 15 if n_components <= 1_000 else 60


def best_of(begins, run, steps):
    """Run each start for a few steps, the best one to the end; ``run(begin, max_steps)`` gives a Fit."""
    tried = [run(begin, steps) for begin in begins]
    leader = max(tried, key=lambda fit: fit.value)
    return leader if leader.status == "converged" else run(leader, 250)


class Packing:
    """Between one flat vector and (hyper, inducing, posterior): logs of positive things, the lower triangle of the root."""

    def __init__(self, begin, learn_kernel):
        self.begin, self.learn_kernel, self.size = begin, learn_kernel, len(begin.inducing)
        self.lower = np.tril_indices(self.size)
        self.on_diagonal = self.lower[0] == self.lower[1]

    def pack(self):
        h, q = self.begin.hyper, self.begin.posterior
        root = q.root[self.lower].copy()
        root[self.on_diagonal] = np.log(root[self.on_diagonal])
        kernel = [np.log([h.variance, h.length, h.noise]), self.begin.inducing] if self.learn_kernel else []
        return np.concatenate([*kernel, q.mean, root])

    def unpack(self, x):
        hyper, inducing = self.begin.hyper, self.begin.inducing
        if self.learn_kernel:
            variance, length, noise = np.exp(x[:3]).tolist()
            hyper, inducing, x = Hyper(variance, length, noise), x[3 : 3 + self.size], x[3 + self.size :]
        packed = x[self.size :].copy()
        packed[self.on_diagonal] = np.exp(packed[self.on_diagonal])
        root = np.zeros((self.size, self.size))
        root[self.lower] = packed
        return hyper, inducing, Posterior(x[: self.size], root)

    def gradient(self, g, hyper, posterior):
        root = g["root"][self.lower]
        root[self.on_diagonal] *= posterior.root.diagonal()
        kernel = [[g["variance"] * hyper.variance, g["length"] * hyper.length, g["noise"] * hyper.noise], g["inducing"]]
        return np.concatenate([*(kernel if self.learn_kernel else []), g["mean"], root])

    def box(self, limits, n):
        if not self.learn_kernel:
            return None
        return [(float(np.log(a)), float(np.log(b))) for a, b in limits] + [(None, None)] * (n - len(limits))


def maximise(layout, log_prior_own, weight, begin, prior, full, limits, max_steps, learn_kernel=True):
    """Maximise the bound per unit of weight from ``begin``; ``limits`` bounds (variance, length, noise).

    With ``learn_kernel`` False only the posterior moves, as an online update needs.
    """
    packing, total = Packing(begin, learn_kernel), weight.sum()

    def objective(x):
        hyper, inducing, posterior = packing.unpack(x)
        try:
            value, g = bound(layout, log_prior_own, weight, inducing, hyper, posterior, prior, full)
        except np.linalg.LinAlgError:
            return 1e300, np.zeros_like(x)
        if not np.isfinite(value):
            return 1e300, np.zeros_like(x)
        return -value / total, -packing.gradient(g, hyper, posterior) / total

    x0 = packing.pack()
    options = {"maxiter": max_steps, "maxfun": 4 * max_steps, "ftol": 1e-8, "gtol": 1e-7}
    # A trial step may overflow far from the data; the line search then backs off from the huge value it sees.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        result = minimize(objective, x0, jac=True, method="L-BFGS-B", bounds=packing.box(limits, len(x0)), options=options)
    hyper, inducing, posterior = packing.unpack(result.x)
    status = "converged" if result.status == 0 else "max steps" if result.status == 1 else "line search ended"
    return Fit(inducing, hyper, posterior, -float(result.fun) * total, status)
