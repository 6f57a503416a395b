"""What fits on nearly the same rows hand on to each other, and what is derived of the very same."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np

from calibrant._kernels.newton import Search, Start

__all__ = ["Derived", "MapWorkspace", "Workspace"]

#: Scores, outcomes and weights of the event that a row is of one class.
Rows = tuple[np.ndarray, np.ndarray, np.ndarray | None]


@dataclass
class MapWorkspace:
    """Where the searches of one map ended, for the same map on nearly the same rows.

    Attributes
    ----------
    shared : whether other fits have it too: what is near is then good enough
    line, wider_line : a line of the log-odds, and one inside the second pair of limits
    curve, rising_curve : a parabola of the log-odds, free and rising
    penalty : of a spline, the one chosen; None before one was
    splines : by (place of the penalty, number of coefficients), the coefficients
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
    """What the fits of one choice have in common: a selection makes one and hands it to the fits on
    all rows and on those of folds. ``Workspace()`` is that of a fit alone, which begins anew.

    Attributes
    ----------
    shared : whether it is that of a choice
    open : whether the choice is still open, so that losses are compared to five digits
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
        """An empty one, of a choice that is open."""
        return cls(True, True, None, Search(), Search(), Search(), Search())

    @cached_property
    def ordered(self) -> "Workspace | None":
        """That of fits on the same predictions after intra-order-preserving scaling."""
        return Workspace.of_choice() if self.shared else None

    def of_map(self, template: Any, k: int) -> MapWorkspace:
        """That of a map of class k."""
        key = type(template).__name__, repr(vars(template)), k
        return self.maps.setdefault(key, MapWorkspace(self.shared))


@dataclass
class Derived:
    """What several fits on, or measurements of, the very rows of one record derive from them.

    Attributes
    ----------
    temperature : (1 / T of least log loss, status)
    tilts : (n, 5) each row's loss near the workspace's temperature, with derivatives
    tempered : (n, K) scores after temperature scaling
    slope_rows : these laid out for intra-order-preserving scaling
    events, cells : by class, (scores, outcomes, weights) in order, and merged in cells
    draws : by (id of a metric, resamples, seed), the metric and its values on resamples
    smoothers : by (smoother, span, target), what it makes of the scores
    """

    temperature: tuple[float, str] | None = None
    tilts: np.ndarray | None = None
    tempered: np.ndarray | None = None
    slope_rows: Any = None
    events: dict[int, Rows] = field(default_factory=dict)
    cells: dict[int, Rows] = field(default_factory=dict)
    draws: dict[tuple[int, int, int], tuple[Any, np.ndarray]] = field(default_factory=dict)
    smoothers: dict[tuple[str, Any, Any], tuple[Any, ...]] = field(default_factory=dict)
