"""What a method says of the test rows, in plain arrays, so that ours and the peers are scored by
the same lines.
"""

from dataclasses import dataclass

import numpy as np
from scipy import special

#: Levels of the quantiles that the CRPS is computed from, and the level of the interval that is
#: scored.
LEVELS = (np.arange(400) + 0.5) / 400.0
LEVEL = 0.9
#: Levels of the intervals that are scored beside it, where a method says them.
OTHERS = (0.5, 0.99)
#: No density counts as less: one row outside a distribution of bounded support would decide
#: everything.
LEAST_LOG_DENSITY = -np.log(1e12)


@dataclass
class Answer:
    """``low`` and ``high`` of the 90 % interval, (n,) each; None for what the method does not say.

    ``mean`` and ``std`` (n,); ``quantiles`` (n, 400) at ``LEVELS``; ``log_density`` (n,) at what
    came true; ``others`` (2, 2, n): low and high of the intervals at 50 and at 99 %.
    """

    low: np.ndarray
    high: np.ndarray
    mean: np.ndarray | None = None
    std: np.ndarray | None = None
    quantiles: np.ndarray | None = None
    log_density: np.ndarray | None = None
    others: np.ndarray | None = None


def normal(mean, std, y):
    """The answer of normal distributions."""
    z = (y - mean) / std
    low, high = mean + std * special.ndtri([[0.5 - 0.5 * LEVEL], [0.5 + 0.5 * LEVEL]])
    quantiles = mean[:, None] + std[:, None] * special.ndtri(LEVELS)
    reach = std * special.ndtri(0.5 + 0.5 * np.array(OTHERS))[:, None]
    others = np.stack([mean - reach, mean + reach], axis=1)
    return Answer(
        low,
        high,
        mean,
        std,
        quantiles,
        -0.5 * z * z - np.log(std) - 0.5 * np.log(2.0 * np.pi),
        others,
    )


def checked(answer, n):
    """The answer in float64; ValueError with the reason where it cannot be scored."""
    parts = {
        name: np.asarray(value, dtype=np.float64)
        for name, value in vars(answer).items()
        if value is not None
    }
    for name, value in parts.items():
        shape = {"quantiles": (n, len(LEVELS)), "others": (len(OTHERS), 2, n)}.get(name, (n,))
        if value.shape != shape:
            raise ValueError(f"{name} has shape {value.shape} instead of {shape}")
        finite = (
            ~np.isnan(value)
            if name in ("low", "high", "log_density", "others")
            else np.isfinite(value)
        )
        if not finite.all():
            raise ValueError(
                f"{name} is not finite in {int((~finite.reshape(n, -1).all(axis=1)).sum())} rows"
            )
    if (parts["low"] > parts["high"]).any():
        raise ValueError("an interval ends before it begins")
    if "std" in parts and (parts["std"] <= 0.0).any():
        raise ValueError(f"std is not positive in {int((parts['std'] <= 0.0).sum())} rows")
    return Answer(**parts)


def interval_score(low, high, y, level):
    """(width and what lies outside, as the score of the level counts it; what lies outside),
    (n,) each.
    """
    outside = np.maximum(low - y, 0.0) + np.maximum(y - high, 0.0)
    return high - low + 2.0 / (1.0 - level) * outside, outside


def losses(answer, y):
    """Name -> (n,), NaN where the answer does not say enough: nll, crps, interval_score,
    covered, width; and mean and std as they are.
    """
    missing = np.full(len(y), np.nan)
    width = answer.high - answer.low
    scored, outside = interval_score(answer.low, answer.high, y, LEVEL)
    said = [(missing, missing)] * len(OTHERS) if answer.others is None else answer.others
    others = [
        (f"{100 * level:.0f}", *interval_score(low, high, y, level))
        for (low, high), level in zip(said, OTHERS, strict=True)
    ]
    crps = nll = missing
    if answer.quantiles is not None:
        gap = y[:, None] - answer.quantiles
        crps = 2.0 * np.mean(np.where(gap < 0.0, LEVELS - 1.0, LEVELS) * gap, axis=1)
    if answer.log_density is not None:
        nll = -np.maximum(answer.log_density, LEAST_LOG_DENSITY)
    return {
        "nll": nll,
        "crps": crps,
        "interval_score": scored,
        "covered": (outside == 0.0).astype(np.float64),
        **{f"interval_score_{level}": score for level, score, _ in others},
        **{
            f"covered_{level}": np.where(np.isnan(off), np.nan, off == 0.0)
            for level, _, off in others
        },
        "width": width,
        "mean": missing if answer.mean is None else answer.mean,
        "std": missing if answer.std is None else answer.std,
    }
