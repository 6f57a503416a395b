"""Simulated two-class calibration tasks for ``benchmarks.experiments.amortised``.

A task draws true log-odds t of a population (normal, bimodal, heavy-tailed, uniform, skewed, or
near-perfect) with an event rate from .5 to 99.5 %, and a model that reports a distorted, noisy and
perhaps rounded version of t: slopes of .05 to 3, offsets, bends, powers, steps, the extreme
log-odds of naive Bayes, the ties of forests (hundredths) and nearest neighbours (fifteenths). The
true probability of the event given the reported score follows from the population by weighing, so
that the expected log loss of any map is exact up to the population's 1,500 members.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

MEMBERS, SMALLEST = 1_500, 1e-12


@dataclass(frozen=True)
class Task:
    """Calibration rows ``p``, ``y``, and new rows ``p_new`` with their true probability."""

    p: np.ndarray
    y: np.ndarray
    p_new: np.ndarray
    truth: np.ndarray


def _population(rng):
    """(MEMBERS,) true log-odds with a drawn shape, spread and event rate."""
    z, kind = rng.normal(size=MEMBERS), rng.choice(6, p=[0.35, 0.2, 0.12, 0.13, 0.12, 0.08])
    side = np.where(rng.random(MEMBERS) < rng.uniform(0.1, 0.9), 1.0, -1.0)
    if kind == 1:
        z = z * rng.uniform(0.2, 0.7) + side
    elif kind == 2:
        z = rng.standard_t(3.0, MEMBERS)
    elif kind == 3:
        z = rng.uniform(-1.7, 1.7, MEMBERS)
    elif kind == 4:
        z = (rng.gamma(rng.uniform(0.5, 3.0), size=MEMBERS) - 1.0) * rng.choice([-1.0, 1.0])
    spread = np.exp(rng.normal(0.3, 0.7))
    if kind == 5:
        z, spread = side + 0.3 * z, rng.uniform(3.0, 8.0)
    return shifted_to(np.clip(spread * z, -14.0, 14.0), _rate(rng))


def _rate(rng):
    if rng.random() < 0.55:
        return rng.uniform(0.1, 0.9)
    rare = np.exp(rng.uniform(np.log(0.005), np.log(0.12)))
    return rare if rng.random() < 0.75 else 1.0 - rare


def shifted_to(x, rate):
    """``x`` plus the offset at which its mean probability is ``rate``."""
    low, high = -45.0, 45.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if expit(x + middle).mean() < rate else (low, middle)
    return x + 0.5 * (low + high)


def _reported(rng, t):
    """(MEMBERS,) noisy distorted log-odds that the model means to report."""
    u = t - np.median(t)
    if rng.random() < 0.3:
        k = rng.normal(0.0, 0.4)
        u = np.exp(k) * np.logaddexp(0.0, u) - np.exp(-k) * np.logaddexp(0.0, -u)
    if rng.random() < 0.25:
        u = np.sign(u) * np.abs(u) ** np.exp(rng.normal(0.0, 0.3))
    if rng.random() < 0.12:
        u = u + rng.uniform(0.3, 2.0) * u.std() * expit(8.0 * (u - rng.choice(u)) / u.std())
    noise = 0.0 if rng.random() < 0.3 else rng.uniform(0.05, 0.9)
    shrunk = 1.0 + noise**2 if rng.random() < 0.6 else 1.0
    u = (u + noise * u.std() * rng.normal(size=MEMBERS)) / shrunk
    kind = rng.choice(4, p=[0.45, 0.38, 0.09, 0.08])
    stretch = (
        rng.normal(0.0, 0.12),
        rng.normal(0.25, 0.45),
        rng.uniform(np.log(0.35), np.log(4.0)),
        rng.uniform(np.log(2.0), np.log(20.0)),
    )[kind]
    u = np.clip(u * np.exp(stretch), -60.0, 60.0)
    if kind == 3 and rng.random() < 0.6:
        return u + np.median(t) + rng.normal(0.0, 0.3 * u.std())
    wrong = rng.normal(0.0, 0.1 if rng.random() < 0.65 else 0.7)
    return shifted_to(u, expit(logit(expit(t).mean()) + wrong))


def _scores(rng, x):
    """((MEMBERS,) reported probabilities, their levels)."""
    p, kind = expit(x), rng.choice(4, p=[0.6, 0.17, 0.17, 0.06])
    if kind == 1:
        p = rng.binomial(100, p) / 100.0 if rng.random() < 0.5 else np.round(p, 2)
    elif kind == 2:
        k = int(rng.choice([5, 10, 15, 15, 15, 25]))
        p = rng.binomial(k, p) / k
    elif kind == 3:
        p = np.round(p, 1)
    return np.clip(p, SMALLEST, 1.0 - SMALLEST)


def _truth(p, t):
    """(MEMBERS,) probability of the event given the score: means over equal scores, and over
    neighbours in a window where there are no ties; monotone or not.
    """
    order = np.argsort(p, kind="stable")
    level, place, counts = np.unique(p, return_inverse=True, return_counts=True)
    if len(level) < MEMBERS // 4:
        return (np.bincount(place, expit(t)) / counts)[place]
    kernel, out = np.hanning(27), np.empty(MEMBERS)
    sums = [np.convolve(v, kernel, "same") for v in (expit(t)[order], np.ones(MEMBERS))]
    out[order] = np.clip(sums[0] / sums[1], 1e-5, 1.0 - 1e-5)
    return out


def simulated(rng, n, n_new=64):
    """A ``Task`` of ``n`` rows."""
    t = _population(rng)
    p = _scores(rng, _reported(rng, t))
    truth = _truth(p, t)
    rows, new = rng.integers(0, MEMBERS, n), rng.integers(0, MEMBERS, n_new)
    return Task(p[rows], (rng.random(n) < truth[rows]).astype(float), p[new], truth[new])
