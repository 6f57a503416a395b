"""Axes on which probabilities are drawn: linear, logarithmic or logit, with ticks that can be read."""

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, logit

from calibrant._kernels.probability_scale import NEAREST, probability_scale, probability_ticks, scale_ends
from calibrant._support.options import require_option

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["chosen_scale", "inside_axes", "scale_axes", "shown_edges"]


def chosen_scale(scale: str, target: Any, score: np.ndarray, share: np.ndarray, weight: np.ndarray) -> str:
    """The scale itself, or for "auto" the one that suits rows or bins; the model's own answer is seen on the linear one."""
    require_option("scale", scale, ("auto", "linear", "log", "logit"))
    if scale != "auto":
        return scale
    return "linear" if isinstance(target, str) and target == "answer" else probability_scale(score, share, weight)


def scale_axes(ax: "Axes", scale: str, low: float, high: float, which: str = "xy") -> None:
    """Give the x axis, the y axis or both this scale, these ends, and ticks with plain numbers."""
    for name in which:
        ax.set(**{f"{name}scale": scale, f"{name}lim": (low, high)})
        if scale != "linear":
            axis, ticks = getattr(ax, f"{name}axis"), probability_ticks(scale, low, high)
            axis.set_ticks(ticks, [np.format_float_positional(tick, trim="-") if tick >= 1e-5 else f"{tick:g}" for tick in ticks])
            axis.set_ticks([], minor=True)


def shown_edges(upper: np.ndarray, scale: str) -> np.ndarray:
    """(n_bins + 1,) edges of bins equally wide on the scale, whose ends, 0 and 1, may lie at infinity on it: there a bin of usual width."""
    if scale == "linear" or len(upper) < 3:
        return np.append(0.0 if scale == "linear" else 1e-5, upper)
    to, back = (np.log, np.exp) if scale == "log" else (logit, expit)
    inner = to(upper[:-1])
    return back(np.concatenate([[2.0 * inner[0] - inner[1]], inner, [2.0 * inner[-1] - inner[-2]]]))


def inside_axes(curve: Any, scale: str) -> tuple[Any, tuple[float, float]]:
    """A reliability curve with nothing at 0, nor on a logit axis at 1, where these lie at infinity; and the ends of both axes.

    These are half the smallest score or share drawn and twice the largest, or as near 1 on a logit axis.
    """
    if scale == "linear":
        return curve, (0.0, 1.0)
    both, half = scale == "logit", 0.5 / np.maximum(curve.n, 1.0)
    shares = {name: np.clip(getattr(curve, name), half, 1.0 - half if both else 1.0) for name in ("accuracy", "low", "high")}
    nearest = NEAREST if both else scale_ends(scale, curve.confidence, curve.n @ curve.accuracy / curve.n.sum())[0]
    score = np.clip(curve.confidence, nearest, 1.0 - nearest if both else 1.0)
    seen = np.concatenate([score, shares["accuracy"], [0.5] if both else []])
    high = 0.5 + 0.5 * seen.max() if both else min(2.0 * seen.max(), 1.0)
    return SimpleNamespace(confidence=score, **shares), (0.5 * seen.min(), high)
