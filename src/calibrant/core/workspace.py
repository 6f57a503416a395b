"""State shared by fits on nearly the same rows, and cached values of identical rows."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np

from calibrant._numerics.newton import Search, Start

__all__ = ["Derived", "MapWorkspace", "Workspace"]

#: Scores, outcomes and weights of the event that a row is of one class.
Rows = tuple[np.ndarray, np.ndarray, np.ndarray | None]


@dataclass
class MapWorkspace:
    """Ends of the searches of one map, as starts for the same map on nearly the same rows.

    Attributes
    ----------
    shared : whether other fits use it too: lower accuracy is then enough
    line, wider_line : a line of the log-odds, and one inside the second pair of limits
    curve, rising_curve : a parabola of the log-odds, free and rising
    penalty : the chosen penalty of a spline; None before
    splines : coefficients by (index of the penalty, number of coefficients)
    """

    shared: bool = False
    line: Start = field(default_factory=Start)
    wider_line: Start = field(default_factory=Start)
    curve: Start = field(default_factory=Start)
    rising_curve: Start = field(default_factory=Start)
    penalty: float | None = None
    splines: dict[tuple[int, int], np.ndarray] = field(default_factory=dict)


@dataclass
class Workspace:
    """State shared by the fits of one selection, on all rows and on those of folds. ``Workspace()``
    is that of a single fit, which starts anew.

    Attributes
    ----------
    shared : whether it belongs to a selection
    open : whether the selection is still open, so that losses are compared to five digits
    inverse_temperature : 1 / T of least log loss, of the first fit
    mixture, vector, matrix, featured : the searches of ensemble temperature scaling, structured
        vector and matrix scaling, and the first part of ensemble matrix scaling
    slopes : by their ridge, the slopes of intra-order-preserving scaling
    maps : by the map's name and options and the class, the workspaces of maps
    """

    shared: bool = False
    open: bool = False
    inverse_temperature: float | None = None
    mixture: Search | None = None
    vector: Search | None = None
    matrix: Search | None = None
    featured: Search | None = None
    slopes: dict[float, np.ndarray] = field(default_factory=dict)
    maps: dict[tuple[str, str, int], MapWorkspace] = field(default_factory=dict)

    @classmethod
    def of_choice(cls) -> Self:
        """An empty workspace of an open selection."""
        return cls(True, True, None, Search(), Search(), Search(), Search())

    @cached_property
    def ordered(self) -> "Workspace | None":
        """The workspace of fits on the same predictions after intra-order-preserving scaling."""
        return Workspace.of_choice() if self.shared else None

    def of_map(self, template: Any, k: int) -> MapWorkspace:
        """The workspace of a map of class k."""
        key = type(template).__name__, repr(vars(template)), k
        return self.maps.setdefault(key, MapWorkspace(self.shared))


@dataclass
class Derived:
    """Cache of values that several fits or metrics derive from the rows of one record.

    Attributes
    ----------
    temperature : (1 / T of least log loss, status)
    tilts : (n, 5) each row's loss near the workspace's temperature, with derivatives
    tempered : (n, K) scores after temperature scaling
    slope_rows : the layout for intra-order-preserving scaling
    events, cells : by class, (scores, outcomes, weights) in order, and merged in cells
    draws : by (id of a metric, resamples, seed), the metric and its values on resamples
    smoothers : by (smoother, span, target), the smoothed scores
    ordered : the record with its rows in the order of their content
    """

    temperature: tuple[float, str] | None = None
    tilts: np.ndarray | None = None
    tempered: np.ndarray | None = None
    slope_rows: Any = None
    events: dict[int, Rows] = field(default_factory=dict)
    cells: dict[int, Rows] = field(default_factory=dict)
    draws: dict[tuple[int, int, int], tuple[Any, np.ndarray]] = field(default_factory=dict)
    smoothers: dict[tuple[str, Any, Any], tuple[Any, ...]] = field(default_factory=dict)
    ordered: Any = None
