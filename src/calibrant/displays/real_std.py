"""Real against predicted standard deviation, row by row and on average."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from calibrant.displays.drawn_curve import DrawnForecastCurve
from calibrant.displays.style import COLOURS, draw_grid
from calibrant.forecasts.read import ForecastRecord, read_forecast
from calibrant.metrics.curves.real_std_curve import RealStdCurve, real_std_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["RealStdDisplay"]


class RealStdDisplay(DrawnForecastCurve[RealStdCurve]):
    """Absolute errors over the predicted std: some rows as points, the real std with its interval, and how far errors reach.

    Make one with :meth:`from_predictions`; the constructor takes a record already computed and draws nothing.

    Parameters
    ----------
    curve : RealStdCurve
    points : pair of (m,) arrays, optional
        Predicted std, and absolute error or known std, of the rows to show.
    name : str, optional
        Shown as the title.

    Attributes
    ----------
    curve : RealStdCurve
        The numbers drawn; ``curve.frame()`` gives them as a table.
    points : the rows shown, or None.
    ax_, figure_ : matplotlib axes and figure, once drawn.

    See Also
    --------
    metrics.real_std_curve : the numbers it draws.
    RmseRmvDisplay : the same in bins alone, with a band.

    Notes
    -----
    On the diagonal the error bars mean what they say. The shaded wedges are what the forecasts claim: half of the errors in the darker
    one, 90 % (or ``level``) in both; the dotted lines are what was seen. A real std that stays flat means that the predicted one says
    nothing of a row. In a simulation, where the std of a row is known, ``true_std`` shows it in place of the row's error.

    References
    ----------
    Levi et al., "Evaluating and calibrating uncertainty prediction in regression tasks", 2019, Figures 1, 4 and 5.

    Examples
    --------
    >>> from calibrant.metrics import real_std_curve
    >>> display = RealStdDisplay(real_std_curve([0.5, -2.0], [0.0, 0.0], [1.0, 1.0]))
    >>> len(display.curve.n) > 0
    True
    """

    diagonal_: Any
    line_: Any

    def __init__(self, curve: RealStdCurve, points: np.ndarray | None = None, *, name: str | None = None) -> None:
        super().__init__(curve, name=name)
        self.points: np.ndarray | None = points

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, mean: Any, std: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None, **options: Any
    ) -> Self:
        """Compute and draw; options as for :meth:`from_record`."""
        return cls.from_record(read_forecast(mean, std, y_true, sample_weight=sample_weight), **options)

    @classmethod
    def from_record(
        cls, record: ForecastRecord, *, true_std: np.ndarray | None = None, n_points: int = 1000, random_state: int = 0,
        name: str | None = None, ax: "Axes | None" = None, **options: Any,
    ) -> Self:  # fmt: skip
        """Compute and draw; parameters as for :func:`calibrant.metrics.real_std_curve`, the known std of each row where there is one, how
        many rows to show (drawn by ``random_state``; 0 for none), a title and the axes to draw on."""
        curve = real_std_curve.of(record, **options)
        size = np.abs(record.error) if true_std is None else record.per_row(true_std, "true_std")
        rows = np.random.default_rng(random_state).permutation(len(record))[:n_points]
        return cls(curve, (record.std[rows], size[rows]) if n_points else None, name=name).plot(ax)

    def _draw(self, ax: "Axes") -> None:
        curve, muted = self.curve, COLOURS["muted"]
        draw_grid(ax)
        self.reach_: Any = ax.fill_between(curve.std, 0.0, curve.reach_claimed, color=muted, alpha=0.15, linewidth=0, label="Claimed")
        self.half_: Any = ax.fill_between(curve.std, 0.0, curve.half_claimed, color=muted, alpha=0.15, linewidth=0)
        if self.points is not None:
            self.points_: Any = ax.scatter(*self.points, s=5, color=muted, alpha=0.35, linewidth=0, rasterized=True)
        ends = [0.0, 1.05 * float(curve.std.max())]
        (self.diagonal_,) = ax.plot(ends, ends, color=muted, linewidth=1, linestyle=(0, (4, 3)))
        dotted = {"color": COLOURS["other"], "linewidth": 1.2, "linestyle": (0, (1, 1.5))}
        self.seen_: list[Any] = [ax.plot(curve.std, seen, **dotted)[0] for seen in (curve.half, curve.reach)]
        self.seen_[0].set_label("Seen")
        self.band_: Any = ax.fill_between(curve.std, curve.low, curve.high, color=COLOURS["main"], alpha=0.25, linewidth=0)
        (self.line_,) = ax.plot(curve.std, curve.real, color=COLOURS["main"], linewidth=1.4, marker="o", markersize=4, label="Real std")
        ax.set(xlim=ends, ylim=[0.0, self._top()], xlabel="Predicted std (units of y)", ylabel="Absolute error and std (units of y)")
        ax.legend(loc="upper left", fontsize="small", frameon=False)

    def _top(self):
        """The highest of the lines, and a little more; infinite intervals leave the axis to the others."""
        heights = np.concatenate([self.curve.std, self.curve.real, self.curve.reach, self.curve.reach_claimed])
        return 1.15 * float(heights[np.isfinite(heights)].max())
