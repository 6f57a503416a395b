"""HSIC: whether coverage depends on the width of the interval."""

import numpy as np

from calibrant._kernels.bootstrap import null_generator
from calibrant._kernels.intervals import unseen_share
from calibrant.contracts.interval import require_level
from calibrant.contracts.metric import Interval, RegressionMetric, WholeMetric
from calibrant.errors import InputError

__all__ = ["WidthDependence", "width_dependence"]

#: Orders of the rows that are tried to see what chance shows.
ORDERS = 200
#: Pairs of rows at a time.
CELLS = 4_000_000


class WidthDependence(
    RegressionMetric,
    WholeMetric,
    name="HSIC",
    key="width_dependence",
    estimand="dependence on ever more rows: without what chance adds to the number itself",
    direction="minimize",
    range=(0.0, 1.0),
    degree=None,
    compares_rows=True,
    exceptions={"one_row": "a mean over pairs of rows"},
):
    r"""Dependence between an interval's width and whether it holds its outcome: root of the
    Hilbert-Schmidt criterion (HSIC).

    .. math:: \frac{1}{n - 1} \sqrt{\mathrm{tr}(L H K H)}, \quad K_{ij} = e^{-(w_i - w_j)^2 / a},
        \quad L_{ij} = e^{-(c_i - c_j)^2 / b},
        \quad H = I - \tfrac1n 1 1^\top

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
    0 where coverage does not depend on the width; chance alone is above it, and no scale says what
    is much: its interval reaches down to 0 where the rows in another order show as much. It takes
    all pairs of rows, so it has no state and is for some ten thousand rows at most. MAPIE's
    ``hsic``.

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

    def _check(self):
        require_level(self.level, usual=0.9)
        if not (self.width_scale > 0.0 and self.held_scale > 0.0):
            raise InputError(
                f"width_scale and held_scale must be positive; got {self.width_scale!r} and"
                f" {self.held_scale!r}."
            )

    def _value(self, record):
        width, held = self._rows(record)
        return self._of(width, held[:, None], record.weights)[0]

    def _rows(self, record):
        """Width of each row's interval, and whether it holds the outcome."""
        low, high, held = record.held(self.level)
        return high - low, held.astype(np.float64)

    def _of(self, width, held, weight):
        """The value for each column of ``held`` (n, m)."""
        n = weight.sum()
        # L is 1 or e^(-1/b), so that only its part along the centred coverages is left between the
        # two H.
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
    def _most(self):
        return np.sqrt(-2.0 * np.expm1(-1.0 / self.held_scale))

    def _interval(self, record, level, method, n_resamples, random_state):
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
        # A row of another width that is not held, of which so few rows may hold none, is all that
        # shows where nothing varies.
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
