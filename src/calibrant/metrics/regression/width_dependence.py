"""HSIC: whether coverage depends on the width of the interval."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant.contracts.metric import WholeMetric
from calibrant.contracts.regression_metric import RegressionMetric
from calibrant.errors import InputError

__all__ = ["WidthDependence", "width_dependence"]

#: Pairs of rows at a time.
CELLS = 4_000_000


@dataclass(frozen=True, repr=False)
class WidthDependence(RegressionMetric, WholeMetric):
    r"""Dependence between an interval's width and whether it holds its outcome: root of the Hilbert-Schmidt criterion (HSIC).

    .. math:: \frac{1}{n - 1} \sqrt{\mathrm{tr}(L H K H)}, \quad K_{ij} = e^{-(w_i - w_j)^2 / a}, \quad L_{ij} = e^{-(c_i - c_j)^2 / b},
        \quad H = I - \tfrac1n 1 1^\top

    .. versionadded:: 0.2

    Parameters
    ----------
    level : float, default 0.9
        The coverage that the central interval claims.
    width_scale : float, default 1.0
        a, in the squared units of y: choose it near the variance of the widths.
    held_scale : float, default 1.0
        b.

    See Also
    --------
    size_stratified_coverage : which widths hold too few.

    Notes
    -----
    0 where coverage does not depend on the width; chance alone is above it, and no scale says what is much. It takes all pairs of
    rows, so it has no state and is for some ten thousand rows at most. MAPIE's ``hsic``.

    References
    ----------
    Feldman, Bates and Romano, "Improving conditional coverage via orthogonal quantile regression", NeurIPS 2021.

    Examples
    --------
    >>> round(width_dependence([0.0, 0.0, 9.0, 9.0], [0.0] * 4, [1.0, 1.0, 2.0, 2.0]), 4)
    0.53
    """

    level: float = 0.9
    width_scale: float = 1.0
    held_scale: float = 1.0

    name: ClassVar[str] = "HSIC"
    key: ClassVar[str] = "width_dependence"
    direction: ClassVar[str] = "minimize"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    degree: ClassVar[int | None] = None
    compares_rows: ClassVar[bool] = True
    exceptions: ClassVar[dict[str, str]] = {"one_row": "a mean over pairs of rows"}

    def _check(self):
        if not (isinstance(self.level, float) and 0.0 < self.level < 1.0):
            raise InputError(f"level must be above 0 and below 1; got {self.level!r}; 0.9 is usual.")
        if not (self.width_scale > 0.0 and self.held_scale > 0.0):
            raise InputError(f"width_scale and held_scale must be positive; got {self.width_scale!r} and {self.held_scale!r}.")

    def _value(self, record):
        low, high = record.forecast.interval(self.level)
        width, weight = high - low, record.weights
        held = ((low <= record.y) & (record.y <= high)).astype(np.float64)
        n = weight.sum()
        # L is 1 or e^(-1/b), so that only its part along the centred coverages is left between the two H.
        pull = weight * (held - weight @ held / n)
        step = max(CELLS // len(width), 1)
        smoothed = np.concatenate([
            np.exp(-((width[i : i + step, None] - width) ** 2) / self.width_scale) @ pull for i in range(0, len(width), step)
        ])  # fmt: skip
        return float(np.sqrt(max(2.0 * -np.expm1(-1.0 / self.held_scale) * (pull @ smoothed), 0.0)) / (n - 1.0))


width_dependence: WidthDependence = WidthDependence()
