"""Mondrian conformal intervals: coverage in each bin of the predicted std, or in each group."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from calibrant.core.calibrator import Tags
from calibrant.core.estimators import clone, require_count
from calibrant.core.expression import SymbolicBins
from calibrant.core.forecast_record import ForecastRecord
from calibrant.core.groups import clustered, read_groups
from calibrant.core.guarantee import Guarantee
from calibrant.core.joint_normal import gather
from calibrant.core.labels import positions
from calibrant.core.regression_calibrator import RegressionCalibrator
from calibrant.errors import InputError
from calibrant.regression.conformal import ConformalIntervals

__all__ = ["MondrianIntervals"]


class MondrianIntervals(
    RegressionCalibrator,
    examples=[{"intervals": ConformalIntervals(score="absolute"), "n_bins": 3, "least_rows": 8}],
    family="guaranteed intervals",
    use="Coverage in each bin of the std or each group",
):
    r"""Conformal intervals with valid coverage in each bin of the predicted std, or in each group
    of rows.

    .. math:: P(Y \in [l(X), h(X)] \mid X \in \text{bin } b) \ge \text{level} \quad \text{for each
        } b

    Each bin has its own :class:`ConformalIntervals`, fitted on its own rows. Bins of the std lie
    between order statistics of the calibration rows' std. The rows at these edges are left out, so
    the scores of a bin are exchangeable with new rows in it.

    Parameters
    ----------
    intervals : ConformalIntervals, optional
        Unfitted; copies of it are fitted. Default ``ConformalIntervals()``.
    by : {"std", "groups"}
        "groups": labels passed to ``fit`` and ``predict``; those of ``predict`` must be among those
        of ``fit``.
    n_bins : int, default 10
        Maximum number of bins of the std.
    least_rows : int, default 100
        Minimum number of rows in a bin of the std; with fewer rows there are fewer bins.

    Attributes
    ----------
    edges_ : (bins - 1,) the highest std of each bin but the last, or a list of these for d outputs;
        empty for groups
    groups_ : names of the groups, in order, or None
    intervals_ : list of the fitted intervals of each bin or group, or a list of these for d outputs
    n_outputs_ : int
        0 for forecasts of shape (n,).
    status_ : number of bins or groups.

    See Also
    --------
    ConformalIntervals : one guarantee for all rows together.
    VarianceBinning : a std for each bin, without a guarantee.

    Notes
    -----
    Use it where coverage must hold for each kind of row: a coverage that holds over all rows can be
    99 % where the forecast is underconfident and 60 % where it is overconfident. The price is rows:
    a group with fewer than level / (1 - level) of them has infinite intervals, with a warning. The
    guarantee in bins of the std is exact if no two rows share a std; with ties a bin ends at a
    shared one and it is approximate. ``guarantee(level).n`` is that of the smallest bin.
    Overlapping groups are not supported: cross them.

    References
    ----------
    Vovk et al., "Algorithmic learning in a random world", 2005, section 4.5. Bostrom and Johansson,
    "Mondrian conformal regressors", COPA 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.regression import MondrianIntervals
    >>> std = np.repeat([1.0, 2.0], 500)
    >>> y = std**2 * np.random.default_rng(0).normal(size=1000)
    >>> cal = MondrianIntervals(by="groups").fit(np.zeros(1000), y, std=std, groups=std)
    >>> low, high = cal.predict([0.0, 0.0], [1.0, 2.0], groups=[1.0, 2.0]).interval(0.9)
    >>> high.round(1).tolist()
    [1.5, 6.3]
    """

    learns: ClassVar[tuple[str, ...]] = ("edges_", "intervals_")
    edges_: Any
    intervals_: Any
    groups_: list[Any] | None

    def __init__(
        self,
        intervals: ConformalIntervals | None = None,
        *,
        by: Literal["std", "groups"] = "std",
        n_bins: int = 10,
        least_rows: int = 100,
    ) -> None:
        self.intervals: ConformalIntervals | None = intervals
        self.by: Literal["std", "groups"] = by
        self.n_bins: int = n_bins
        self.least_rows: int = least_rows

    @property
    def tags(self) -> Tags:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Tags; ``groups`` are required where intervals are by groups."""
        return Tags(
            output="distribution",
            label="Mondrian conformal intervals",
            uses_groups=self.by == "groups",
        )

    @property
    def levels(self) -> tuple[float, ...]:
        """Levels that the intervals support, if not all."""
        return (ConformalIntervals() if self.intervals is None else self.intervals).levels

    def _check(self) -> None:
        self._option("by", "std", "groups")
        require_count("n_bins", self.n_bins)
        require_count("least_rows", self.least_rows, 2)
        if self.intervals is not None and not isinstance(self.intervals, ConformalIntervals):
            raise InputError(
                f"intervals must be ConformalIntervals(...); got {type(self.intervals).__name__}."
            )

    def fit(
        self,
        forecast: Any,
        y: ArrayLike,
        *more: Any,
        std: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        groups: Any = None,
        cluster: Any = None,
    ) -> Self:
        """Fit on held-out forecasts and outcomes, as ``ConformalIntervals.fit`` does, with
        ``groups`` for intervals by groups.

        Parameters
        ----------
        forecast : Forecast, (mean, std) tuple, frozen scipy distribution; or the means with
            ``std``, (n,) or (n, d)
        y : outcomes, of the shape of the forecast
        std : as the means, optional
        sample_weight : (n,), optional
            Weight 2 means the row twice, weight 0 no row. Fractional weights void the guarantee.
        groups : (n,) labels of any kind, or (n, c) or a frame of c columns, whose combinations are
            the groups; for ``by="groups"``
        cluster : (n,) labels, optional
            Each cluster of dependent rows counts as one.

        Returns
        -------
        self
        """
        return self.fit_record(
            clustered(self._read_to_fit(forecast, y, more, std, sample_weight, groups), cluster)
        )

    def fit_record(self, record: ForecastRecord) -> Self:
        """Fit on a record of forecasts, outcomes and groups."""
        self.groups_ = (
            None
            if record.groups is None or self.by == "std"
            else read_groups(record.groups, record).names.tolist()
        )
        return super().fit_record(record)

    def _fit_output(self, record: ForecastRecord) -> dict[str, Any]:
        template = ConformalIntervals() if self.intervals is None else self.intervals
        edges, kept = (
            (np.zeros(0), np.ones(len(record), dtype=bool))
            if self.by == "groups"
            else self._edges(record)
        )
        index = self._index(record, edges)
        count = len(edges) + 1 if self.groups_ is None else len(self.groups_)
        fitted = [
            clone(template).fit_record(record.take((index == k) & kept)) for k in range(count)
        ]
        what = "groups" if self.by == "groups" else "bins of the std"
        return {"edges_": edges, "intervals_": fitted, "status": f"{count} {what}"}

    def _edges(self, record: ForecastRecord) -> tuple[np.ndarray, np.ndarray]:
        """Return (highest std of each bin but the last, booleans of the rows used as scores)."""
        std, inverse = np.unique(record.std, return_inverse=True)
        each = np.bincount(inverse, weights=record.weights)
        mass = np.cumsum(each)
        size = max(mass[-1] / self.n_bins, float(self.least_rows)) * (1.0 - 1e-12)
        at: list[int] = []
        while mass[-1] >= (mass[at[-1]] if at else 0.0) + size:
            k = int(np.searchsorted(mass, (mass[at[-1]] if at else 0.0) + size))
            if mass[-1] - mass[k] < size:
                break
            at.append(k)
        alone = np.isin(np.arange(len(std)), at) & (each <= 1.0)
        return std[at], ~alone[inverse]

    def _index(self, record: ForecastRecord, edges: np.ndarray) -> np.ndarray:
        """Return the bin of each row."""
        if self.groups_ is None:
            return np.searchsorted(edges, record.std, side="left")
        groups = read_groups(record.groups, record)
        names = groups.names.tolist()
        at = np.array(positions(self.groups_, names), dtype=np.intp)
        strange = [name for name, place in zip(names, at.tolist(), strict=True) if place < 0]
        if strange:
            raise InputError(
                f"groups must be among those of fit; got {strange[:3]!r}, which have no scores;"
                " fit with rows of these groups."
            )
        return at[groups.index]

    def _predict_rows(
        self, record: ForecastRecord, edges: np.ndarray, intervals: list[ConformalIntervals]
    ) -> Any:
        index = self._index(record, np.asarray(edges))
        rows = [np.flatnonzero(index == k) for k in range(len(intervals))]
        found = [
            (cal.predict(record.forecast.take(r)), r)
            for cal, r in zip(intervals, rows, strict=True)
            if len(r)
        ]
        return gather([forecast for forecast, _ in found], [r for _, r in found])

    def _expression(
        self, forecast: Any, edges: np.ndarray, intervals: list[ConformalIntervals]
    ) -> SymbolicBins:
        if self.groups_ is not None:
            raise InputError(
                "MondrianIntervals of groups have no expression of mean and std; keep them in"
                " Python."
            )
        return SymbolicBins(
            forecast.std, np.asarray(edges), [one.express(forecast) for one in intervals]
        )

    def _fitted(self) -> Iterator[ConformalIntervals]:
        for one in self.intervals_:
            yield from one if isinstance(one, list) else [one]

    def _guarantee(self, level: float) -> Any:
        each = [cal.guarantee(level) for cal in self._fitted()]
        known = [said for said in each if said is not None]
        if len(known) < len(each) or (self.by == "std" and known[0].unit == "clusters"):
            return None
        fewest: Guarantee = min(known, key=lambda said: said.n)
        return replace(
            fewest,
            over=f"{fewest.over} of each {'group' if self.by == 'groups' else 'bin of the std'}",
            method="Mondrian conformal",
        )

    def explain(self, level: float = 0.9) -> str:
        """Return the guarantee of the intervals of a level, or the reason for none."""
        said = self.guarantee(level)
        if said is not None:
            return str(said)
        return (
            "nothing is guaranteed: weights are fractional, or bins of the std cut through clusters"
        )
