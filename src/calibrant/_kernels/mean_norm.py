"""The mean length of a normal vector, by one integral."""

import numpy as np

__all__ = ["mean_norm"]

#: Step and reach of the trapezoid rule in log t: the integrand falls as exp(-|u| / 2) and is analytic in a strip about the axis.
STEP, REACH = 0.25, 44.0
#: Numbers in memory at a time.
BLOCK = 2_000_000


def mean_norm(centre: np.ndarray, variance: np.ndarray) -> np.ndarray:
    r"""E ||c + diag(sqrt(variance)) Z|| of each row, Z standard normal: (n, d) each -> (n,).

    .. math:: E \sqrt Q = \frac{1}{2 \sqrt \pi} \int_0^\infty (1 - E e^{-tQ}) t^{-3/2} dt, \qquad
        E e^{-tQ} = \prod_k (1 + 2 v_k t)^{-1/2} \exp\left( -\frac{c_k^2 t}{1 + 2 v_k t} \right)
    """
    square = np.square(centre)
    size = (square + variance).sum(axis=1)
    safe = np.where(size > 0.0, size, 1.0)[:, None]
    u = np.arange(-REACH, REACH + 0.5 * STEP, STEP)
    # Beyond the reach the integrand is E Q e^(u/2) on the left and e^(-u/2) on the right, of Q over its mean.
    tails = 2.0 * (np.exp(0.5 * (u[0] - 0.5 * STEP)) + np.exp(-0.5 * (u[-1] + 0.5 * STEP)))
    out = np.empty(len(centre))
    rows = max(1, BLOCK // (u.size * centre.shape[1]))
    for start in range(0, len(out), rows):
        part = slice(start, start + rows)
        total = _trapezoid(square[part] / safe[part], variance[part] / safe[part], u)
        out[part] = (total + tails) / (2.0 * np.sqrt(np.pi))
    return out * np.sqrt(size)


def _trapezoid(square, variance, u):
    t = np.exp(u)
    spread = variance[..., None] * t
    log_laplace = -(0.5 * np.log1p(2.0 * spread) + square[..., None] * t / (1.0 + 2.0 * spread)).sum(axis=1)
    return STEP * (-np.expm1(log_laplace) @ np.exp(-0.5 * u))
