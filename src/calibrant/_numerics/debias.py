"""Interval of a binned calibration error by test inversion, so that noise in the bins does not
count as miscalibration.

The gaps observed in the bins are scaled by t >= 0; for each t the error is simulated as it would be
observed with the noise of this sample added. The interval holds the t for which the observed error
is plausible; its centre is the t for which it is the median.
"""

from typing import Any

import numpy as np

from calibrant._numerics.bootstrap import null_generator
from calibrant._numerics.intervals import normal_quantile, unseen_share

__all__ = ["binned_errors", "gap_limits", "inverted_limits", "shrunken_gaps"]

#: Draws of outcomes from calibrated scores.
NULL_DRAWS = 400


def binned_errors(weight: Any, gap: Any, norm: Any) -> Any:
    """Errors over the last axis from the weight and the summed gap of each bin; norm is a power,
    "max", or a function.
    """
    if callable(norm):
        return norm(weight, gap)
    gap = np.abs(gap)
    whole = weight.sum(axis=-1)
    whole = np.where(whole > 0, whole, np.nan)
    if norm == 1:
        return gap.sum(axis=-1) / whole
    mean_gap = np.divide(gap, weight, out=np.zeros_like(gap), where=weight > 0)
    if norm == 2:
        return np.sqrt((weight * mean_gap**2).sum(axis=-1) / whole)
    if norm == "max":
        return mean_gap.max(axis=-1)
    # In units of the largest gap, so that high powers do not underflow.
    largest = np.where(mean_gap.max(axis=-1) > 0.0, mean_gap.max(axis=-1), 1.0)
    return largest * ((weight * (mean_gap / largest[..., None]) ** norm).sum(axis=-1) / whole) ** (
        1.0 / norm
    )


def inverted_limits(
    totals: np.ndarray,
    draws: np.ndarray,
    norm: Any,
    level: float,
    even: bool = False,
    n: float | None = None,
    most: float = 1.0,
) -> tuple[float, float, float]:
    """(estimate, low, high) from sums and their bootstrap resamples.

    ``totals`` is (sets, bins, 3): weight, summed score, summed hits; ``draws`` (resamples, sets,
    bins, 3). The error is averaged over sets; ``even`` gives equal weight to the nonempty bins of a
    set. With ``n`` rows, the low end is 0 if calibrated scores show as much. The high end allows
    for the share of flipped outcomes that n rows may miss. No limit is above ``most``. Soft labels
    have a fourth sum, of the squared gaps of the rows, whose variance replaces the Bernoulli
    variance.
    """
    weight, gap = totals[..., 0], totals[..., 1] - totals[..., 2]
    noise = (draws[..., 1] - draws[..., 2] - gap) * _inflation(totals, draws)
    # The classes of a classwise error have gaps of both signs, which shrinking would treat as
    # noise.
    shape = weight * shrunken_gaps(gap, weight, noise.var(axis=0)) if len(gap) == 1 else gap
    mass = np.where(weight > 0.0, weight, 1.0) if even else 1.0
    each = (weight > 0.0).astype(np.float64) if even else weight
    drawn_weight = each if even else draws[..., 0]

    def drawn(gaps: np.ndarray) -> np.ndarray:
        return binned_errors(drawn_weight, (gaps + noise) / mass, norm).mean(axis=-1)

    def error(gaps: np.ndarray) -> np.ndarray | float:
        return np.minimum(binned_errors(each, gaps / mass, norm).mean(axis=-1), most)

    observed = float(binned_errors(each, gap / mass, norm).mean(axis=-1))
    found = _inverted(
        error, drawn, observed, shape, np.where(gap < 0.0, -1.0, 1.0) * noise.std(axis=0), level
    )
    value, low, high = map(float, found)
    if n is None:
        return value, low, high
    if (
        observed
        <= np.quantile(error(_null_gaps(totals)), 0.5 + 0.5 * level, method="higher") + 1e-12
    ):
        low = 0.0
    return (
        value,
        low,
        max(high, float(error(gap - unseen_share(n, level) * (weight - 2.0 * totals[..., 2])))),
    )


def _null_gaps(totals: np.ndarray) -> np.ndarray:
    """Summed gaps of outcomes drawn from the mean score of each bin, (draws, sets, bins)."""
    weight, score, hits, *squares = np.moveaxis(totals, -1, 0)
    rows = np.maximum(np.rint(weight), 1.0)
    safe = np.where(weight > 0.0, weight, 1.0)
    share = np.clip(score / safe, 0.0, 1.0)
    if squares:
        centred = np.maximum(squares[0] - (score - hits) ** 2 / safe, 0.0)
        spread = np.sqrt(_of_raters(centred, weight, share * (1.0 - share)))
        return spread * null_generator(0).standard_normal((NULL_DRAWS, *weight.shape))
    hits = null_generator(0).binomial(
        rows.astype(np.int64), share, size=(NULL_DRAWS, *weight.shape)
    )
    return score - weight * hits / rows


def gap_limits(
    weight: np.ndarray,
    gap: np.ndarray,
    noise: np.ndarray,
    level: float,
    most: float,
    of_gaps: Any,
    n: float,
) -> tuple[float, float, float]:
    """(estimate, low, high) of ``of_gaps(weight, gap)``, an error from gaps with any leading axes,
    of ``n`` rows.

    ``weight`` (bins,); ``gap`` (sets, bins), the summed gaps; ``noise`` (draws, sets, bins), how
    they vary around their mean; no limit is above ``most``.
    """
    each = max(n / gap.shape[-1], 2.0)
    noise = noise * (
        np.sqrt(each / (each - 1.0)) * normal_quantile(level, each - 1.0) / normal_quantile(level)
    )

    def drawn(gaps: np.ndarray) -> np.ndarray:
        return of_gaps(weight, gaps + noise)

    def error(gaps: np.ndarray) -> float:
        return min(float(of_gaps(weight, gaps)), most)

    shape = weight * shrunken_gaps(gap, np.broadcast_to(weight, gap.shape), noise.var(axis=0))
    # Noise moves the levels of one bin together, so it can hide most if all gaps have one sign.
    plain_shape = (-1.0 if gap.sum() < 0.0 else 1.0) * noise.std(axis=0)
    return _inverted(
        error,
        drawn,
        error(gap),
        shape,
        plain_shape,
        level,
        together=len(gap) > 1 and gap.shape[-1] == 1,
    )


def _inverted(
    error: Any,
    drawn: Any,
    observed: float,
    shape: np.ndarray,
    plain_shape: np.ndarray,
    level: float,
    together: bool = False,
) -> tuple[float, float, float]:
    """(estimate, low, high) of ``error(t shape)`` from the simulated errors ``drawn(t shape)``.

    ``together``: the observed gaps vary together, so that chance may also produce the plain shape.
    """

    def simulated(t: float, quantile: float, shape: np.ndarray = shape) -> float:
        return np.quantile(drawn(t * shape), quantile, method="weibull")

    def largest(shape: np.ndarray) -> float:
        return error(
            shape * _crossing(lambda t: simulated(t, tail, shape), max(observed, null_median))
        )

    tail = 0.5 - 0.5 * level
    null_median = simulated(0.0, 0.5)
    low = error(shape * _crossing(lambda t: simulated(t, 1.0 - tail), observed))
    estimate = error(shape * _crossing(lambda t: simulated(t, 0.5), observed))
    if observed < null_median:
        # Less error than expected under calibration does not reveal the shape: no limit is tighter
        # than that of a typical calibrated sample.
        high = largest(plain_shape)
    elif together and observed < simulated(0.0, 1.0 - tail):
        high = max(largest(shape), largest(plain_shape))
    else:
        high = largest(shape)
    return estimate, low, max(high, estimate)


def shrunken_gaps(gap: np.ndarray, weight: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Mean gap of each bin, shrunk to that of all bins according to its noise (empirical Bayes
    along the last axis); from the summed gaps, their weights and their variances."""
    safe = np.where(weight > 0.0, weight, 1.0)
    mean, noise = gap / safe, variance / safe**2
    whole = weight.sum(axis=-1, keepdims=True)
    centre = gap.sum(axis=-1, keepdims=True) / whole
    spread = (weight * ((mean - centre) ** 2 - noise)).sum(axis=-1, keepdims=True) / whole
    kept = np.maximum(spread, 0.0) / np.maximum(np.maximum(spread, 0.0) + noise, 1e-300)
    return np.where(weight > 0.0, centre + kept * (mean - centre), 0.0)


def _inflation(totals: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Ratio of the noise of each bin to that of the resamples, which is 0 where all or none are
    right.
    """
    weight, score, hits, *squares = np.moveaxis(totals, -1, 0)
    safe = np.where(weight > 0, weight, 1.0)
    confidence = np.clip(score / safe, 0.0, 1.0)
    share = np.clip((hits + 2.0 * confidence) / (safe + 2.0), 0.0, 1.0)
    alone = share * (1.0 - share) + ((score - hits) / safe) ** 2
    expected = _of_raters(squares[0], weight, alone) if squares else weight * alone
    seen = (draws[..., 1] - draws[..., 2]).var(axis=0)
    return np.sqrt(
        np.clip(np.divide(expected, seen, out=np.ones_like(seen), where=seen > 0), 1.0, 1e6)
    )


def _of_raters(squares, weight, alone):
    """Variance of the summed gaps of soft labels, from the squares seen and two rows of one label.

    These two rows, of variance ``alone``, represent variation that few rows may hide.
    """
    return weight * (squares + 2.0 * alone) / (weight + 2.0)


def _crossing(function: Any, target: float, steps: int = 40) -> float:
    """The t >= 0 at which an increasing function reaches the target, 0 where it starts above it."""
    if function(0.0) >= target:
        return 0.0
    high = 1.0
    while function(high) < target and high < 2.0**20:
        high *= 2.0
    low = 0.0
    for _ in range(steps):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if function(middle) < target else (low, middle)
        if high - low < 1e-6 * high:
            break
    return 0.5 * (low + high)
