"""Interval of a calibration error by test inversion, for errors that can be computed on simulated outcomes."""

import numpy as np

__all__ = ["draw_hits", "simulated_limits"]

#: How far the recalibrated probabilities are drawn from the scores: 0 is calibrated, 1 is the recalibration.
STRETCH = np.array([0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5])


def draw_hits(probability, weight, rng):
    """Outcomes drawn from their probabilities, (n,); a row of weight w stands for w draws (rounded) and gets their share of hits."""
    if (weight == 1.0).all():
        return (rng.random(len(probability)) < probability).astype(np.float64)
    times = np.maximum(np.rint(weight), 1.0).astype(np.int64)
    return rng.binomial(times, probability) / times


def simulated_limits(error, score, recalibrated, weight, observed, level, n_draws, rng, tilted=False):
    """(estimate, low, high) of the error, ``error(hits)``, of which ``observed`` is the value on the data.

    For each stretch the truth is score + stretch (recalibrated - score); the error's quantiles over outcomes drawn from it are
    compared with the value observed. The limits are those at which it sits at either tail, and the estimate where it is the median.
    ``tilted``: where calibrated scores may show as much, the scores may be too bold or too timid besides, which groups of few rows hide.
    """
    tail = 0.5 - 0.5 * level
    direction = recalibrated - score
    truths, quantiles = _grid(error, score, direction, weight, tail, n_draws, rng, STRETCH)
    low, estimate = _crossing(truths, quantiles[:, 2], observed), _crossing(truths, quantiles[:, 1], observed)
    null_median, null_end = quantiles[0, 1:]
    if observed < null_median:
        # Less error than a calibrated model is expected to show, so the data say nothing of its shape: all scores off one way,
        # by steps of a standard error, and no tighter a limit than that of a typical calibrated sample.
        sign = 1.0 if weight @ direction >= 0.0 else -1.0
        step = sign * np.sqrt(np.maximum(weight @ (score * (1.0 - score)), 1.0)) / weight.sum()
        # Shrunk where the score is near the end it is moved to, so that the truth stays inside [0, 1].
        room = np.where(sign > 0.0, 1.0 - score, score)
        truths, quantiles = _grid(error, score, step * np.minimum(1.0, 2.0 * room), weight, tail, n_draws, rng, 3.0 * STRETCH)
    high = _crossing(truths, quantiles[:, 0], max(observed, null_median))
    if tilted and observed < null_end:
        tilt = weight @ score / weight.sum() - score
        tilt = 0.5 * tilt if weight @ (direction * tilt) >= 0.0 else -0.5 * tilt
        truths, quantiles = _grid(error, score, tilt, weight, tail, n_draws, rng, STRETCH)
        high = max(high, _crossing(truths, quantiles[:, 0], max(observed, null_median)))
    return min(estimate, observed), min(low, estimate, observed), max(high, estimate)


def _grid(error, score, direction, weight, tail, n_draws, rng, stretch):
    """The true error at each stretch, ascending, and its (tail, 1/2, 1 - tail) quantiles over draws of the outcomes."""
    seed = rng.integers(2**63)
    truths, quantiles = [], []
    for t in stretch:
        truth = np.clip(score + t * direction, 0.0, 1.0)
        truths.append(error(truth))
        again = np.random.default_rng(seed)
        values = [error(draw_hits(truth, weight, again)) for _ in range(n_draws)]
        quantiles.append(np.quantile(values, [tail, 0.5, 1.0 - tail], method="weibull"))
    return np.maximum.accumulate(truths), np.maximum.accumulate(quantiles, axis=0)


def _crossing(truths, quantile, observed):
    """The true error at which the quantile reaches the value observed: 0 below the first, extended in a line above the last."""
    if observed <= quantile[0]:
        return 0.0
    if observed >= quantile[-1]:
        return float(truths[-1] + observed - quantile[-1])
    j = int(np.searchsorted(quantile, observed, side="left"))
    share = (observed - quantile[j - 1]) / (quantile[j] - quantile[j - 1])
    return float(truths[j - 1] + share * (truths[j] - truths[j - 1]))
