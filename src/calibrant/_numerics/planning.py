"""Rows needed for a stated precision."""

import math
from typing import Any

import numpy as np
import scipy
from scipy import special

from calibrant._numerics.bins import Ranks, equal_mass_groups
from calibrant._numerics.intervals import squared_limits
from calibrant._numerics.logistic import sigmoid

__all__ = [
    "auroc_rows",
    "benefit_rows",
    "beta_law",
    "class_laws",
    "normal_law",
    "offset_rows",
    "ratio_rows",
    "ratio_standard_error",
    "recalibration_information",
    "slope_rows",
    "true_rates",
    "typical_parts",
    "typical_rows",
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

    return law(scipy.optimize.brentq(surplus, -60.0, 60.0))


def recalibration_information(
    odds: np.ndarray, share: np.ndarray, intercept: float = 0.0, slope: float = 1.0
) -> tuple[float, float, float]:
    """(I_a, I_ab, I_b): Fisher's information of one row on intercept and slope of logit P(y = 1)
    = a + b odds.
    """
    p = sigmoid(intercept + slope * odds)
    information = share * p * (1.0 - p)
    return float(information.sum()), float(information @ odds), float(information @ odds**2)


def slope_rows(information: tuple[float, float, float], standard_error: float) -> float:
    """Rows at which the slope, fitted with the intercept, has this standard error."""
    intercept, mixed, slope = information
    return intercept / (standard_error**2 * (intercept * slope - mixed**2))


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


#: Parts of a typical error: this factor of the rows to this power, in these limits.
TYPICAL, POWER, TYPICAL_PARTS = 0.75, 0.4, (5, 20)


def typical_parts(n: float) -> int:
    """Return how many parts of n independent rows make their typical error."""
    return int(np.clip(round(TYPICAL * n**POWER), *TYPICAL_PARTS))


def typical_rows(
    risk: np.ndarray, weight: np.ndarray, margin: float, ranks: Ranks | None = None
) -> float:
    """Return the rows after which the upper limit of the typical error of true risks, (n,) with
    their weights, is the ``margin`` on average.

    Examples
    --------
    >>> round(typical_rows(np.linspace(0.4, 0.6, 100), np.ones(100), 0.02), -2)
    11200.0
    """
    parts = TYPICAL_PARTS[1]
    while True:
        part = equal_mass_groups(risk, parts, weight, ranks)
        noise = np.bincount(part, weight * risk * (1.0 - risk)) / np.bincount(part, weight)
        rows = (squared_limits(float(noise.sum()), noise)[1] / margin) ** 2
        fewer = typical_parts(rows)
        if fewer >= parts:
            return float(rows)
        parts = fewer
