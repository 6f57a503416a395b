"""A smooth calibration curve with its simultaneous band, on axes of probabilities."""

from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant.displays.style import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_smooth"]


def draw_smooth(ax: "Axes", curve: Any, ends: tuple[float, float]) -> tuple[Any, Any]:
    """Draw a curve of ``loess_curve`` or ``spline_curve``, cut at the ends of the axes; its band and its line are given back."""
    score, observed, low, high = (np.clip(getattr(curve, name), *ends) for name in ("score", "observed", "band_low", "band_high"))
    band = ax.fill_between(score, low, high, color=COLOURS["main"], alpha=0.18, linewidth=0)
    return band, ax.plot(score, observed, color=COLOURS["main"], linewidth=1.8)[0]
