r"""The top label's binary log loss under awards and temperatures, and its exact minimisation.

With z the logits less that of the predicted class k, u(beta) = log sum_{j != k} exp(beta z_j), an award a and beta = 1/T, the
confidence is sigmoid(a - u(beta)): a logistic regression in a, convex, solved inside; ln beta is bracketed on a grid, then the root
of its gradient found.
"""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from calibrant._kernels.fixed_order import sum_rows

__all__ = ["LOG_BETA_BOUNDS", "fit_top_label", "log_rest", "other_logits", "refine_brier"]

LOG_BETA_BOUNDS = (np.log(1e-3), np.log(1e3))
GRID = 25
#: How far past the scores an award may go when nothing holds it: confidence 1 - 2e-9.
AWARD_ROOM = 20.0
BLOCK_CELLS = 65_536


def other_logits(logits, predicted):
    """Logits of the other classes less that of the predicted one, (n, K) -> (n, K - 1)."""
    rows = np.arange(len(logits))
    shifted = logits - logits[rows, predicted][:, None]
    keep = np.ones(shifted.shape, dtype=bool)
    keep[rows, predicted] = False
    return shifted[keep].reshape(len(logits), -1)


def log_rest(others, beta):
    """(u, du/dbeta), each (n,), for one beta a row."""
    u, slope = np.empty(len(others)), np.empty(len(others))
    rows = max(BLOCK_CELLS // others.shape[1], 1)
    for start in range(0, len(others), rows):
        z, b = others[start : start + rows], beta[start : start + rows]
        peak = z.max(axis=1)
        e = np.exp((z - peak[:, None]) * b[:, None].astype(z.dtype))
        total = sum_rows(e.astype(np.float64, copy=False))
        u[start : start + rows] = b * peak + np.log(total)
        slope[start : start + rows] = np.einsum("ij,ij->i", e, z, dtype=np.float64) / total
    return u, slope


def _profile(t, others, correct, weight, temperature_of, n_temperatures, award_of, n_awards, ridge, centre):
    """(loss, d loss / dt, awards) at t = ln beta, the first two for each temperature, the awards at their best for this t."""
    beta = np.exp(t)[temperature_of]
    u, slope = log_rest(others, beta)
    award = np.zeros(n_awards)
    margin = -u
    if n_awards:
        award = _awards(u, correct, weight, award_of, n_awards, ridge)
        margin = award[award_of] - u
    loss = weight * (np.logaddexp(0.0, -margin) + (1.0 - correct) * margin)
    pull = weight * (expit(margin) - correct) * -slope * beta
    value = np.bincount(temperature_of, weights=loss, minlength=n_temperatures)
    value += ridge * ((award**2 if n_awards == n_temperatures else (award**2).sum()) + (t - centre) ** 2)
    gradient = np.bincount(temperature_of, weights=pull, minlength=n_temperatures) + 2.0 * ridge * (t - centre)
    return value, gradient, award


def _awards(u, correct, weight, group, n_groups, ridge, tolerance=1e-12, max_steps=100):
    """The award of each group, the root of an increasing function: Newton's steps inside a bracket that shrinks."""
    low, high = np.zeros(n_groups), np.zeros(n_groups)
    np.minimum.at(low, group, u - AWARD_ROOM)
    np.maximum.at(high, group, u + AWARD_ROOM)
    award = np.zeros(n_groups)
    right = np.bincount(group, weights=weight * correct, minlength=n_groups)
    for _ in range(max_steps):
        p = expit(award[group] - u)
        value = np.bincount(group, weights=weight * p, minlength=n_groups) - right + 2.0 * ridge * award
        curvature = np.bincount(group, weights=weight * p * (1.0 - p), minlength=n_groups) + 2.0 * ridge
        low, high = np.where(value < 0.0, award, low), np.where(value > 0.0, award, high)
        step = award - np.divide(value, curvature, out=np.full(n_groups, np.inf), where=curvature > 0.0)
        step = np.where((step > low) & (step < high), step, 0.5 * (low + high))
        step = np.where(value == 0.0, award, step)
        moved = np.abs(step - award)
        award = step
        if (moved <= tolerance * np.maximum(1.0, np.abs(award))).all():
            break
    return award


def fit_top_label(others, correct, weight, temperature_of, n_temperatures, *, award_of=None, n_awards=0, ridge=0.0, centre=0.0):
    """Least top-label loss plus ridge (sum of award^2 + (ln beta - centre)^2), the loss summed over rows.

    Returns (beta (n_temperatures,), award (n_awards,), at_bound (n_temperatures,) bool). ``correct`` may hold targets between 0 and 1.
    """
    given = (others, correct, weight, temperature_of, n_temperatures, award_of, n_awards, ridge, centre)
    grid = np.linspace(*LOG_BETA_BOUNDS, GRID)
    table = [_profile(np.full(n_temperatures, t), *given)[:2] for t in grid]
    values, slopes = (np.stack(column) for column in zip(*table, strict=True))
    best, every = values.argmin(axis=0), np.arange(n_temperatures)
    slope = slopes[best, every]
    low = grid[np.where(slope > 0.0, np.maximum(best - 1, 0), best)]
    high = grid[np.where(slope < 0.0, np.minimum(best + 1, GRID - 1), best)]
    t = _roots(lambda t: _profile(t, *given)[1], low, high)
    flat = np.isclose(values.min(axis=0), values.max(axis=0), rtol=0.0, atol=1e-12)
    t = np.where(flat, centre, t)
    at_bound = ~flat & ((t <= LOG_BETA_BOUNDS[0] + 1e-9) | (t >= LOG_BETA_BOUNDS[1] - 1e-9))
    return np.exp(t), _profile(t, *given)[2], at_bound


def _roots(gradient, low, high, tolerance=1e-11, max_steps=80):
    """Where each gradient turns from negative to positive in [low, high]: regula falsi (Illinois), every fourth step a halving.

    The end itself where the gradient does not change sign.
    """
    left, right = gradient(low), gradient(high)
    t = np.where(left >= 0.0, low, high)
    open_ = (left < 0.0) & (right > 0.0)
    side = np.zeros(len(t))
    for step in range(max_steps):
        if not open_.any():
            break
        slope = np.where(right > left, right - left, 1.0)
        new = np.where(open_, 0.5 * (low + high) if step % 4 == 3 else (low * right - high * left) / slope, t)
        value = gradient(new)
        up, down = open_ & (value > 0.0), open_ & (value <= 0.0)
        left, right = np.where(up & (side > 0), 0.5 * left, left), np.where(down & (side < 0), 0.5 * right, right)
        high, right = np.where(up, new, high), np.where(up, value, right)
        low, left = np.where(down, new, low), np.where(down, value, left)
        side = np.where(up, 1.0, -1.0)
        still = step % 4 == 3 or np.abs(new - t) > tolerance
        t, open_ = new, open_ & (high - low > tolerance) & (value != 0.0) & still
    return t


def refine_brier(beta, award, others, correct, weight, temperature_of, *, award_of=None, ridge=0.0, centre=0.0):
    """The minimum of sum w (correct - confidence)^2 plus the ridge that is nearest downhill from (beta, award); the same two."""
    n = len(beta)

    def objective(x):
        t, a = x[:n], x[n:]
        each = np.exp(t)[temperature_of]
        u, slope = log_rest(others, each)
        p = expit((a[award_of] if len(a) else 0.0) - u)
        pull = 2.0 * weight * (p - correct) * p * (1.0 - p)
        value = weight @ (p - correct) ** 2 + ridge * (a @ a + ((t - centre) ** 2).sum())
        gradient = np.bincount(temperature_of, weights=-pull * slope * each, minlength=n) + 2.0 * ridge * (t - centre)
        if len(a):
            gradient = np.append(gradient, np.bincount(award_of, weights=pull, minlength=len(a)) + 2.0 * ridge * a)
        return value, gradient

    start = np.concatenate([np.log(beta), award])
    bounds = [LOG_BETA_BOUNDS] * n + [(None, None)] * len(award)
    out = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 500, "ftol": 1e-14, "gtol": 1e-8})
    return np.exp(out.x[:n]), out.x[n:]
