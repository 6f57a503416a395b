"""Rows needed for a stated precision, and the smallest miscalibration that a sample would show."""

import math
from typing import Any

import numpy as np
from scipy import special
from scipy.optimize import brentq
from scipy.special import ndtri

from calibrant._numerics.logistic import log_odds, sigmoid

__all__ = [
    "auroc_rows",
    "benefit_rows",
    "beta_law",
    "class_laws",
    "detectable_shift",
    "normal_law",
    "offset_rows",
    "ratio_rows",
    "ratio_standard_error",
    "recalibration_information",
    "slope_rows",
    "true_rates",
]

#: Grid points of the log-odds, and their range in standard deviations: the trapezoid rule is then
#: exact to rounding.
POINTS, NORMAL_REACH, BETA_REACH = 20_001, 12.0, 30.0


def normal_law(mean: float, deviation: float) -> tuple[np.ndarray, np.ndarray]:
    """(log-odds (m,), their shares (m,)) of a normal distribution."""
    z = np.linspace(-NORMAL_REACH, NORMAL_REACH, POINTS)
    share = np.exp(-0.5 * z * z)
    return mean + deviation * z, share / share.sum()


def beta_law(a: float, b: float) -> tuple[np.ndarray, np.ndarray]:
    """(log-odds (m,), their shares (m,)) of risks with a beta distribution."""
    mean = special.digamma(a) - special.digamma(b)
    reach = BETA_REACH * math.sqrt(special.polygamma(1, a) + special.polygamma(1, b))
    odds = np.linspace(mean - reach, mean + reach, POINTS)
    log_density = -a * np.logaddexp(0.0, -odds) - b * np.logaddexp(0.0, odds)
    share = np.exp(log_density - log_density.max())
    return odds, share / share.sum()


def class_laws(prevalence: float, auroc: float) -> tuple[np.ndarray, np.ndarray]:
    """The same of calibrated risks whose log-odds are normal with one variance among events and
    among the others.
    """
    variance = 2.0 * float(special.ndtri(auroc)) ** 2
    deviation = math.sqrt(variance)

    def law(mean: float) -> tuple[np.ndarray, np.ndarray]:
        (others, share), (events, _) = (
            normal_law(mean, deviation),
            normal_law(mean + variance, deviation),
        )
        return np.concatenate([others, events]), np.concatenate(
            [(1.0 - prevalence) * share, prevalence * share]
        )

    def surplus(mean: float) -> float:
        odds, share = law(mean)
        return float(share @ sigmoid(odds)) - prevalence

    return law(brentq(surplus, -60.0, 60.0))


def recalibration_information(
    odds: np.ndarray, share: np.ndarray, intercept: float = 0.0, slope: float = 1.0
) -> tuple[float, float, float]:
    """(I_a, I_ab, I_b): Fisher's information of one row on intercept and slope of logit P(y = 1)
    = a + b odds.
    """
    p = sigmoid(intercept + slope * odds)
    held = share * p * (1.0 - p)
    return float(held.sum()), float(held @ odds), float(held @ odds**2)


def slope_rows(information: tuple[float, float, float], standard_error: float) -> float:
    """Rows at which the slope, fitted with the intercept, has this standard error."""
    both, mixed, own = information
    return both / (standard_error**2 * (both * own - mixed**2))


def offset_rows(information: tuple[float, float, float], standard_error: float) -> float:
    """The same of the shift: alone, or beside a slope at the mean of the log-odds weighted by p
    (1 - p), where both are uncorrelated.
    """
    return 1.0 / (standard_error**2 * information[0])


def ratio_standard_error(ratio: float, width: float, z: float) -> float:
    """The standard error of log(O/E) at which the interval of O/E has this width."""
    return math.asinh(0.5 * width / ratio) / z


def ratio_rows(prevalence: float, standard_error: float) -> float:
    """Rows at which log(O/E) has this standard error."""
    return (1.0 - prevalence) / (prevalence * standard_error**2)


def auroc_rows(auroc: float, prevalence: float, standard_error: float) -> float:
    """Rows at which an AUROC has this standard error by Newcombe's formula."""
    scale = auroc * (1.0 - auroc) / (prevalence * (1.0 - prevalence) * standard_error**2)
    pairs = (1.0 - auroc) / (2.0 - auroc) + auroc / (1.0 + auroc)
    # N squared = scale (1 + (N / 2 - 1) pairs), of which N is the root above 0.
    half = 0.25 * scale * pairs
    return half + math.sqrt(half**2 + scale * (1.0 - pairs))


def benefit_rows(
    sensitivity: float,
    specificity: float,
    prevalence: float,
    threshold: float,
    standard_error: float,
) -> float:
    """Rows at which the standardised net benefit has this standard error (Marsh et al.)."""
    w = (1.0 - prevalence) / prevalence * threshold / (1.0 - threshold)
    variance = sensitivity * (1.0 - sensitivity) / prevalence + w**2 * specificity * (
        1.0 - specificity
    ) / (1.0 - prevalence)
    variance += w**2 * (1.0 - specificity) ** 2 / (prevalence * (1.0 - prevalence))
    return variance / standard_error**2


def true_rates(
    odds: np.ndarray, p: np.ndarray, share: np.ndarray, threshold: float
) -> tuple[float, float]:
    """(sensitivity, specificity) of acting on log-odds whose risk is at least the threshold,
    where events have probability p.
    """
    acted: Any = odds >= special.logit(threshold)
    events, others = share * p, share * (1.0 - p)
    return float(events[acted].sum() / events.sum()), float(others[~acted].sum() / others.sum())


#: The largest shift of the log-odds that is considered.
FARTHEST = 40.0


def detectable_shift(
    risk: np.ndarray,
    weight: np.ndarray,
    toward: np.ndarray | None = None,
    *,
    tests: int = 1,
    level: float = 0.95,
    power: float = 0.95,
) -> float:
    r"""The largest error of risks (n,) that a test misses in 1 - ``power`` of such samples.

    .. math:: \sum w s (q_b - p) = z_a \sqrt{\sum w s^2 p (1 - p)} + z_c \sqrt{\sum w s^2 q_b (1 -
        q_b)}

    is solved for the shift b of the log-odds along s (``toward``; 1 is an offset, log-odds about
    their mean a slope), to either side; a is 1 - (1 - ``level``) / (2 ``tests``), and c the power.
    It is returned as the larger mean :math:`|q_b - p|`. If the test misses even the largest shift
    too often, that of the largest shift is returned.

    Examples
    --------
    >>> round(float(detectable_shift(np.full(100, 0.5), np.ones(100))), 3)
    0.175
    """
    odds, n = log_odds(risk), weight.sum()
    p, s = sigmoid(odds), np.ones(len(risk)) if toward is None else toward
    noise = ndtri(1.0 - 0.5 * (1.0 - level) / tests) * np.sqrt(weight @ (s * s * p * (1.0 - p)))

    def beyond(shift: float) -> float:
        q = sigmoid(odds + shift * s)
        missed = ndtri(power) * np.sqrt(weight @ (s * s * q * (1.0 - q)))
        return float(abs((weight * s) @ (q - p)) - noise - missed)

    far = FARTHEST / max(float(np.abs(s).max()), 1e-300)
    shifts = [side if beyond(side) < 0.0 else brentq(beyond, 0.0, side) for side in (-far, far)]
    return max(float(weight @ abs(sigmoid(odds + shift * s) - p)) / n for shift in shifts)
