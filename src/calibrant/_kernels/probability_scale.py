"""On which axis risks are seen: linear, logarithmic where the event is rare, logit where many are near both ends."""

import numpy as np
from scipy.special import expit, logit

__all__ = ["probability_grid", "probability_scale", "probability_ticks", "scale_ends"]

#: Nearer to 0 or 1 than this nothing is drawn on a logit axis, nor on a logarithmic one unless the event itself is that rare.
NEAREST = 1e-5
FAR_BELOW = 1e-3
#: An event in fewer rows than this is rare, and a risk nearer to 0 or 1 than this near an end.
RARE = 0.05
TICKS: dict[str, tuple[float, ...]] = {
    "linear": (0.0, 0.25, 0.5, 0.75, 1.0),
    "log": tuple(float(f"{m}e{k}") for k in range(-12, 1) for m in (1, 2, 5)),
    "logit": (0.00001, 0.0001, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999),
}
SPARSE = (0.00001, 0.001, 0.1, 0.5, 0.9, 0.999, 0.99999)
#: More ticks than this are thinned: to powers of ten, or to every other one from the middle.
MANY = 7


def probability_scale(score: np.ndarray, share: np.ndarray, weight: np.ndarray) -> str:
    """The name of the scale for rows, or for bins: scores, shares of events (outcomes, of rows) and weights, (n,) each.

    Logit where at least half of the weight is near 0 or 1 and some of it near 1; else log where events are rare.
    """
    total = weight.sum()
    near_one = weight[score > 1.0 - RARE].sum() / total
    if near_one >= RARE and near_one + weight[score < RARE].sum() / total >= 0.5:
        return "logit"
    return "log" if weight @ share < RARE * total else "linear"


def scale_ends(scale: str, score: np.ndarray, rate: float) -> tuple[float, float]:
    """(low, high) of the axis: 0 and 1 where linear, else decades that hold the scores that are not much smaller than the event's rate."""
    if scale == "linear":
        return 0.0, 1.0
    inner = score[(score > 0.0) & (score < 1.0)]
    nearest = min(inner.min(initial=0.1), (1.0 - inner).min(initial=0.1) if scale == "logit" else 0.1)
    floor = min(NEAREST, FAR_BELOW * rate) if scale == "log" and rate > 0.0 else NEAREST
    low = 10.0 ** np.floor(np.log10(max(nearest, floor)) + 1e-9)
    return low, (1.0 - low if scale == "logit" else 1.0)


def probability_ticks(scale: str, low: float, high: float) -> list[float]:
    """The values from low to high that get a tick, a handful."""
    ticks = [tick for tick in TICKS[scale] if low * (1.0 - 1e-9) <= tick <= high * (1.0 + 1e-9)]
    if len(ticks) <= MANY:
        return ticks
    return [tick for tick in ticks if (f"{tick:e}".startswith("1.0") if scale == "log" else tick in SPARSE)]


def probability_grid(scale: str, low: float, high: float, count: int) -> np.ndarray:
    """``count`` points from low to high, equally far apart on the scale."""
    if scale == "linear":
        return np.linspace(low, high, count)
    return np.geomspace(low, high, count) if scale == "log" else expit(np.linspace(logit(low), logit(high), count))
