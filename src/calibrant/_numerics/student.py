"""Student's distribution by normal scores, exact in both tails at any degrees of freedom, and its
CRPS.

Far out, where SciPy's functions underflow, the tail is that of an incomplete beta integral: with a
half the degrees of freedom, r = df / t^2 and x = r / (1 + r), ``P(T > t) = x^a sqrt(1 + r) S(r) /
(2 a B(a, 1/2))``, S an asymptotic series in r / (a + 1) <= 2 / t^2.
"""

import numpy as np
from scipy import special

__all__ = ["crps", "log_density", "scores", "values"]

#: Tails below it and values beyond it are by the series, whose error there is below 1e-9.
FAINT, FAR = 1e-290, 1e6
#: Within this distance of one degree of freedom a difference is replaced by its expansion.
NEAR_ONE = 1e-4
ZETA_3 = float(special.zeta(3.0))


def scores(t: np.ndarray, df: np.ndarray) -> np.ndarray:
    """Normal scores of t, Phi^-1(P(T <= t)), of the shape of t and df."""
    size = np.abs(t)
    tail = special.stdtr(df, -size)
    far = (tail < FAINT) | (size > FAR)
    d, t_far = df[far], size[far]
    with np.errstate(divide="ignore"):
        log_tail = np.log(tail)
    log_x = -np.log1p(np.square(t_far) / d)
    log_tail[far] = 0.5 * d * log_x + _correction(d / np.square(t_far), d) - _log_scale(d)
    return np.sign(t) * -special.ndtri_exp(np.minimum(log_tail, np.log(0.5)))


def values(z: np.ndarray, df: np.ndarray) -> np.ndarray:
    """The t with normal score z, of the shape of z and df; infinite beyond the largest number."""
    size = np.abs(z)
    tail = special.ndtr(-size)
    out = np.abs(special.stdtrit(df, tail))
    far = (tail < FAINT) | ~(out < FAR)
    if far.any():
        out[far] = _far_values(special.log_ndtr(-size[far]), df[far])
    return np.sign(z) * out


def _far_values(log_tail: np.ndarray, df: np.ndarray) -> np.ndarray:
    """The t with log P(T > t), by steps that each leave a thousandth of the error or less."""
    log_scale, r, log_x = _log_scale(df), np.zeros(df.shape), np.zeros(df.shape)
    with np.errstate(over="ignore", divide="ignore"):
        for _ in range(8):
            log_x = 2.0 / df * (log_tail + log_scale - _correction(r, df))
            r = 1.0 / np.expm1(-log_x)
        return np.sqrt(df * np.expm1(-log_x))


def log_density(t: np.ndarray, df: np.ndarray) -> np.ndarray:
    """Log density of T at t."""
    return -0.5 * (df + 1.0) * np.log1p(t * t / df) - _log_peak(df)


def crps(t: np.ndarray, df: np.ndarray) -> np.ndarray:
    """CRPS of T with outcome t: Jordan, Krüger and Lerch (2019), appendix A, whose formula for df
    > 1 holds down to 1/2 with its limit at 1; infinite at 1/2 and below.
    """
    e = df - 1.0
    near, low = np.abs(e) < NEAR_ONE, df <= 0.5
    # The two terms of the formula that cancel at df = 1, each over e.
    d = np.where(near | low, 2.0, df)
    ratio = (_log_beta(d - 0.5) - _log_beta(0.5 * d)) / (d - 1.0)
    ratio = np.where(near, -np.log(2.0) + np.pi**2 / 8.0 * e - 1.75 * ZETA_3 * e * e, ratio)
    spread = -0.5 * np.log1p(t * t / df)
    between = special.exprel(e * spread) * spread - special.exprel(e * ratio) * ratio
    inside = t * (1.0 - 2.0 * special.stdtr(df, -t))
    return np.where(low, np.inf, inside + 2.0 * df * np.exp(-_log_peak(df)) * between)


def _log_beta(a: np.ndarray) -> np.ndarray:
    """Log of B(1/2, a); SciPy's ``betaln`` has an error of 4e-10 at 5e5."""
    return 0.5 * np.log(np.pi) - np.log(special.poch(a, 0.5))


def _log_peak(df: np.ndarray) -> np.ndarray:
    return _log_beta(0.5 * df) + 0.5 * np.log(df)


def _log_scale(df: np.ndarray) -> np.ndarray:
    """Log of 2 a B(a, 1/2)."""
    return np.log(df) + _log_beta(0.5 * df)


def _correction(r: np.ndarray, df: np.ndarray) -> np.ndarray:
    """Log of sqrt(1 + r) S(r)."""
    q1, q2, q3 = (r / (0.5 * df + k) for k in (1.0, 2.0, 3.0))
    return 0.5 * np.log1p(r) + np.log1p(-0.5 * q1 * (1.0 - 1.5 * q2 * (1.0 - 2.5 * q3)))
