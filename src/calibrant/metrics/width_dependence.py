"""Dependence of coverage on interval width (HSIC)."""

from typing import Any

import numpy as np

from calibrant._numerics.bootstrap import null_generator
from calibrant._numerics.intervals import unseen_share
from calibrant.core.metric import require_level
from calibrant.core.metric_kinds import Interval, RegressionMetric, WholeMetric
from calibrant.errors import InputError

__all__ = ["WidthDependence", "width_dependence"]

#: Number of permutations of the rows for the null distribution.
ORDERS = 200
#: Number of pairs of rows at a time.
CELLS = 4_000_000


class WidthDependence(
    RegressionMetric,
    WholeMetric,
    name="HSIC",
    key="width_dependence",
    estimand="dependence as the number of rows grows, without the sampling noise in the value",
    direction="minimize",
    range=(0.0, 1.0),
    degree=None,
    compares_rows=True,
    exceptions={"one_row": "it is a mean over pairs of rows"},
):
    r"""Dependence between an interval's width and its coverage: root of the Hilbert-Schmidt
    independence criterion (HSIC).

    .. math:: \frac{1}{n - 1} \sqrt{\mathrm{tr}(L H K H)}, \quad K_{ij} = e^{-(w_i - w_j)^2 / a},
        \quad L_{ij} = e^{-(c_i - c_j)^2 / b},
        \quad H = I - \tfrac1n 1 1^\top

    Parameters
    ----------
    level : float, default 0.9
        The nominal coverage of the central interval.
    width_scale : float, default 1.0
        The scale a, in squared units of y: choose it near the variance of the widths.
    held_scale : float, default 1.0
        The scale b.

    See Also
    --------
    size_stratified_coverage : the widths that undercover.

    Notes
    -----
    It is 0 where coverage does not depend on the width, and above 0 by chance. Its scale has no
    fixed meaning: the interval reaches 0 where permuted rows show as much. It uses all pairs of
    rows, so it has no state and suits at most some ten thousand rows. It is MAPIE's ``hsic``.

    References
    ----------
    Feldman, Bates and Romano, "Improving conditional coverage via orthogonal quantile regression",
    NeurIPS 2021.

    Examples
    --------
    >>> round(width_dependence([0.0, 0.0, 9.0, 9.0], [0.0] * 4, [1.0, 1.0, 2.0, 2.0]), 4)
    0.53
    """

    level: float = 0.9
    width_scale: float = 1.0
    held_scale: float = 1.0

    def _check(self) -> None:
        require_level(self.level, usual=0.9)
        if not (self.width_scale > 0.0 and self.held_scale > 0.0):
            raise InputError(
                f"width_scale and held_scale must be positive; got {self.width_scale!r} and"
                f" {self.held_scale!r}."
            )

    def _value(self, record: Any) -> float:
        width, held = self._rows(record)
        return self._of(width, held[:, None], record.weights)[0]

    def _rows(self, record: Any) -> tuple[np.ndarray, np.ndarray]:
        """Width of each row's interval, and whether it contains the outcome."""
        low, high, held = record.held(self.level)
        return high - low, held.astype(np.float64)

    def _of(self, width: np.ndarray, held: np.ndarray, weight: np.ndarray) -> list[float]:
        """Compute the value for each column of ``held`` (n, m)."""
        n = weight.sum()
        # L is 1 or e^(-1/b), so only its part along the centred coverages remains between the two
        # H.
        pull = weight[:, None] * (held - weight @ held / n)
        step = max(CELLS // len(width), 1)
        smoothed = np.concatenate(
            [
                np.exp(-((width[i : i + step, None] - width) ** 2) / self.width_scale) @ pull
                for i in range(0, len(width), step)
            ]
        )
        squares = self._most**2 * np.einsum("nm,nm->m", pull, smoothed)
        return [float(value) for value in np.sqrt(np.maximum(squares, 0.0)) / (n - 1.0)]

    @property
    def _most(self) -> float:
        return np.sqrt(-2.0 * np.expm1(-1.0 / self.held_scale))

    def _interval(
        self, record: Any, level: float, method: str, n_resamples: int, random_state: int
    ) -> Interval:
        if method not in ("auto", "debiased"):
            return super()._interval(record, level, method, n_resamples, random_state)
        (width, held), n, value = (
            self._rows(record),
            float(record.weights.sum()),
            self._value(record),
        )
        found = super()._interval(
            record, level, "bootstrap", min(n_resamples, ORDERS), random_state
        )
        rng = null_generator(random_state)
        orders = np.argsort(rng.random((len(width), ORDERS)), axis=0)
        null = self._of(width, held[orders], record.weights)
        chance = np.median(null)
        low = (
            0.0
            if value <= np.quantile(null, 0.5 + 0.5 * level) + 1e-12
            else np.sqrt(max(found.low**2 - chance**2, 0.0))
        )
        # Where nothing varies, the limit comes from one uncovered row of another width, which so
        # few rows may miss.
        share = unseen_share(n, level)
        high = max(found.high, self._most * share * (1.0 - share))
        return Interval.holding(
            np.sqrt(max(value**2 - chance**2, 0.0)),
            (low, min(high, 1.0)),
            level,
            "debiased",
            n,
            value,
        )


width_dependence: WidthDependence = WidthDependence()
