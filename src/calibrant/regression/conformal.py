"""Conformal prediction intervals, valid for any distribution and any number of rows, and Mondrian
ones, with coverage in each bin of the predicted std, or in each group.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from calibrant._numerics.conformal import cumulated, shares
from calibrant.core.arrays import ArrayLike, new_weights
from calibrant.core.calibrator import Tags, require_fitted
from calibrant.core.conformal_forecast import (
    CONFORMITY,
    ConformalEnds,
    ConformalForecast,
    ConformalQuantileForecast,
    quantile_ends,
)
from calibrant.core.estimators import clone, require_count, require_option
from calibrant.core.expression import SymbolicBins
from calibrant.core.forecast import Forecast, require_levels
from calibrant.core.forecast_record import ForecastRecord, read_forecast
from calibrant.core.groups import WeightKind, clustered, read_groups
from calibrant.core.guarantee import Guarantee
from calibrant.core.joint_normal import gather
from calibrant.core.labels import positions
from calibrant.core.regression_calibrator import RegressionCalibrator
from calibrant.errors import InputError
from calibrant.regression.scaling import StdScaling

__all__ = ["ConformalIntervals", "MondrianIntervals"]


#: Name of the signed scores in a record.
SIGNED = {"scaled": "standardised", "absolute": "error", "distributional": "score"}


class ConformalIntervals(
    RegressionCalibrator,
    examples=[
        {"score": "absolute"},
        {"score": "quantile", "levels": (0.1, 0.5, 0.8)},
        {"score": "distributional"},
        {"symmetric": False},
        {"score": "quantile", "levels": (0.1, 0.5, 0.8), "symmetric": False},
        {"calibrator": StdScaling()},
    ],
    family="guaranteed intervals",
    use="Coverage for any distribution",
    common=True,
):
    r"""Prediction intervals that hold a new outcome with at least the stated probability, for any
    distribution.

    .. math:: \mu \mp \sigma\, s_{(\lceil (n + 1)\, \text{level} \rceil)}, \qquad s_i = |y_i -
        \mu_i| / \sigma_i

    where :math:`s_{(k)}` are the ordered calibration scores (for ``score="scaled"``; "absolute"
    omits the std in both). With "quantile" the forecast's own central interval [l, h] becomes
    :math:`[l - e, h + e]`, with e the order statistic of :math:`\max(l_i - y_i, y_i - h_i)`
    (conformalised quantile regression). With "distributional" the score is :math:`|F_i(y_i) - 1/2|`
    and the ends are the forecast's quantiles at that distance from its median. The order statistic,
    and so the interval, is infinite if n + 1 < 1 / (1 - level).

    Parameters
    ----------
    score : {"scaled", "absolute", "quantile", "distributional"}
    levels : tuple of float, default (0.5, 0.8, 0.9, 0.95)
        The only levels of "quantile" intervals; the other scores allow any level.
    side : {"both", "lower", "upper"}
        "upper": the interval goes from minus infinity (or the bound) to an end that exceeds the
        outcome with the level's probability.
    symmetric : bool, default True
        Whether one order statistic moves both ends, or each end has its own, at half of the
        miscoverage. The latter suits skewed errors and needs twice the rows.
    bounds : (low, high), optional
        Limits of any outcome, in the units of y; intervals end there, and infinite ends become the
        bound.
    calibrator : regression calibrator, optional
        Unfitted: it is fitted on half of the rows, and its forecasts are conformalised on the other
        half. For a fitted calibrator, pass its predictions as the forecast.
    jointly : bool, default False
        For forecasts (n, d): the intervals of a row hold all d outcomes together, as the four
        coordinates of a box. Each row then has one score, the largest of its outputs. For all
        scores but "quantile".

    Attributes
    ----------
    scores_ : ascending scores, one array (for "quantile" a list of one a level, of two a level
        where ends have their own), or a list of
        these for d outputs
    mass_ : their cumulative weights, in the same form
    spread_ : float, or (d,) array
        Root mean square of the scores.
    unit_ : "rows" or "clusters", the unit of the weights.
    calibrator_ : the fitted calibrator or None, or a list of these
    n_effective_ : float or None
        Effective number of rows with sampling weights; None for others.
    n_outputs_ : int
        0 for forecasts of shape (n,).
    status_ : "exact", or "no calibrator: one row"

    See Also
    --------
    MondrianIntervals : the same guarantee in each bin of the std, or in each group.
    ConformalRegressor : intervals around a model without held-out rows.
    IntervalCalibration, QuantileRecalibration : whole distributions, no guarantee.

    Notes
    -----
    Use them where a stated coverage must hold: it is between level and level + 1 / (n + 1) on
    average over calibration sets, if new rows are exchangeable with the calibration rows and their
    forecasts come from the same model. It holds over all rows together, not for each kind of row,
    and separately for each output, or with ``jointly`` for all outputs of a row together, however
    they depend on each other. One output whose std is too small then widens the intervals of all:
    first scale each output on other rows, by :class:`StdScaling`. ``guarantee(level)`` returns it
    as a record, or None where weights are not whole numbers, which do not count rows. With
    ``cluster=`` in ``fit`` it holds for a row of a new cluster, and counts clusters. For new rows
    with other inputs, pass :class:`ImportanceWeights` of the calibration rows, as ``sample_weight``
    with ``weight_kind="sampling"``, and of the new rows; with known weights the promise is exact,
    and a row whose weight dominates the others' has infinite ends. The distribution returned has
    its intervals, a mean, and a std from the scores, but no density.

    References
    ----------
    Vovk et al., "Algorithmic learning in a random world", 2005. Romano, Patterson and Candes,
    "Conformalized quantile regression", NeurIPS 2019. Chernozhukov, Wuthrich and Zhu,
    "Distributional conformal prediction", PNAS 2021. Lee, Barber and Willett, "Distribution-free
    inference with hierarchical data", 2023. Tibshirani, Foygel Barber, Candes and Ramdas,
    "Conformal prediction under covariate shift", NeurIPS 2019.

    Examples
    --------
    >>> from calibrant import ConformalIntervals
    >>> cal = ConformalIntervals(bounds=(-50.0, 50.0)).fit(
    ...     [0.0] * 9, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9], std=[1.0] * 9
    ... )
    >>> [end.tolist() for end in cal.predict([5.0], [2.0]).interval(0.5)]
    [[4.0], [6.0]]
    >>> [end.tolist() for end in cal.predict([5.0], [2.0]).interval(0.95)]
    [[-50.0], [50.0]]
    >>> cal.explain(0.5)
    'coverage of the 50 % intervals at least 0.5 for new rows, ... (marginal; split conformal; 9
    rows), if new rows ...'
    """

    tags: ClassVar[Tags] = Tags(output="distribution", label="conformal intervals")
    learns: ClassVar[tuple[str, ...]] = ("scores_", "mass_", "spread_", "calibrator_")
    scores_: Any
    mass_: Any
    spread_: float | np.ndarray
    #: Older files lack these fields.
    jointly: bool = False
    unit_: Literal["rows", "clusters"] = "rows"
    calibrator_: RegressionCalibrator | list[RegressionCalibrator] | None = None
    n_effective_: float | None = None

    def __init__(
        self,
        *,
        score: Literal["scaled", "absolute", "quantile", "distributional"] = "scaled",
        levels: tuple[float, ...] = (0.5, 0.8, 0.9, 0.95),
        side: Literal["both", "lower", "upper"] = "both",
        symmetric: bool = True,
        bounds: tuple[float, float] | None = None,
        calibrator: RegressionCalibrator | None = None,
        jointly: bool = False,
    ) -> None:
        self.score: Literal["scaled", "absolute", "quantile", "distributional"] = score
        self.levels: tuple[float, ...] = levels
        self.side: Literal["both", "lower", "upper"] = side
        self.symmetric: bool = symmetric
        self.bounds: tuple[float, float] | None = bounds
        self.calibrator: RegressionCalibrator | None = calibrator
        self.jointly = jointly

    @property
    def _ends(self) -> ConformalEnds:
        return ConformalEnds(
            self.side,
            bool(self.symmetric),
            (-np.inf, np.inf) if self.bounds is None else self.bounds,
            self.unit_,
        )

    def _check(self) -> None:
        self._option("score", "scaled", "absolute", "quantile", "distributional")
        self._option("side", "both", "lower", "upper")
        require_levels(self.levels)
        if self.calibrator is not None and hasattr(self.calibrator, "n_outputs_"):
            raise InputError(
                "calibrator must be unfitted, because half of the rows are for its fit; got a"
                f" fitted {type(self.calibrator).__name__}; pass its predictions as the forecasts,"
                " to fit and to predict."
            )
        if self.jointly and not (
            self._ends.joint and self.score != "quantile" and self.calibrator is None
        ):
            raise InputError(
                "jointly=True needs one score for both ends of all outputs, of forecasts as they"
                f" are; got score={self.score!r}, side={self.side!r},"
                f" symmetric={self.symmetric!r}, calibrator={self.calibrator!r}; leave the last"
                ' three out, use score="scaled", and pass predictions of a fitted calibrator.'
            )

    def fit(
        self,
        forecast: Any,
        y: ArrayLike,
        *more: Any,
        std: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        weight_kind: WeightKind = "frequency",
        cluster: Any = None,
    ) -> Self:
        """Fit on held-out forecasts and outcomes: ``fit(forecast, y)``, or ``fit(mean, y,
        std=std)`` for normal forecasts.

        Parameters
        ----------
        forecast : Forecast, (mean, std) tuple, frozen scipy distribution; or the means with
            ``std``, (n,) or (n, d)
        y : outcomes, of the shape of the forecast
        std : as the means, optional
        sample_weight : (n,), optional
            Weight 2 means the row twice, weight 0 no row. Fractional weights of this kind are used,
            but then nothing is guaranteed.
        weight_kind : {"frequency", "sampling"}
            "sampling": importance weights, learned from other rows, or those of a design. The new
            rows then need theirs too (weighted conformal prediction).
        cluster : (n,) labels, optional
            Clusters of dependent rows (a patient, a day): each counts as one, whatever its size.

        Returns
        -------
        self
        """
        require_option("weight_kind", weight_kind, ("frequency", "sampling"))
        weighted = weight_kind == "sampling"
        if weighted and (
            sample_weight is None or cluster is not None or self.calibrator is not None
        ):
            raise InputError(
                'weight_kind="sampling" needs sample_weight, independent rows and forecasts as they'
                " are; pass the weights, and leave cluster and calibrator out."
            )
        record = self._read_to_fit(forecast, y, more, std, sample_weight)
        return self.fit_record(clustered(record, cluster), weighted=weighted)

    def fit_record(self, record: ForecastRecord, *, weighted: bool = False) -> Self:
        """Fit on a record of forecasts and outcomes; ``weighted`` says that its weights do not
        count rows.
        """
        self._check()
        self.n_effective_ = (
            float(record.weights.sum() ** 2 / (record.weights @ record.weights))
            if weighted
            else None
        )
        self._ends.require_within(record.y)
        self.unit_ = "rows" if record.cluster is None else "clusters"
        super().fit_record(record)
        if self.jointly:
            self._join(record)
        return self

    def _join(self, record: ForecastRecord) -> None:
        """Replace the scores of all outputs by each row's largest."""
        if not record.several:
            raise InputError(
                "jointly=True needs forecasts of several outputs, (n, d); got shape"
                f" {record.forecast.shape}; leave it out."
            )
        each = [np.abs(getattr(output, SIGNED[self.score])) for output in record.outputs()]
        scores, mass = cumulated(np.max(each, axis=0), shares(record.weights, record.cluster))
        self.scores_, self.mass_ = [scores] * len(each), [mass] * len(each)

    def predict(
        self,
        forecast: Any,
        std: ArrayLike | None = None,
        *,
        groups: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> Forecast:
        """Return the intervals: ``predict(forecast)``, or ``predict(mean, std)`` for normal
        forecasts.

        ``sample_weight`` (n,) are the weights of these rows, where ``fit`` took sampling weights.
        """
        self._refuse_unused(groups)
        require_fitted(self, "n_outputs_")
        record = read_forecast(forecast, std)
        own = new_weights(sample_weight, len(record), weighted=self.n_effective_ is not None)
        return self.predict_record(replace(record, weight=own))

    def _predict_rows(self, record: ForecastRecord, **learned: Any) -> Forecast:
        if self.n_effective_ is None:
            return self._predict_output(record.forecast, **learned)
        own = new_weights(record.weight, len(record), weighted=True)
        return self._predict_output(record.forecast, own=own, **learned)

    def _fit_output(self, record: ForecastRecord) -> dict[str, Any]:
        if self.calibrator is None:
            return {**self._scored(record), "calibrator_": None}
        first, second = record.halves()
        if len(first) == 0:
            return {**self._scored(record), "calibrator_": None, "status": "no calibrator: one row"}
        calibrator = clone(self.calibrator).fit_record(first)
        return {
            **self._scored(second.recalibrated(calibrator.predict_record(second))),
            "calibrator_": calibrator,
        }

    def _scored(self, record: ForecastRecord) -> dict[str, Any]:
        weight = shares(record.weights, record.cluster)
        if self.score == "quantile":
            each = [
                _paired([cumulated(s, weight) for s in self._beyond(record, float(level))])
                for level in self.levels
            ]
            return {"scores_": [s for s, _ in each], "mass_": [m for _, m in each], "spread_": 1.0}
        signed = getattr(record, SIGNED[self.score])
        scores, mass = cumulated(np.abs(signed) if self._ends.joint else signed, weight)
        # An outcome that the forecast rules out is infinitely strange.
        finite = np.isfinite(signed)
        spread = (
            float(np.sqrt(np.average(np.square(signed[finite]), weights=record.weights[finite])))
            if finite.any()
            else 1.0
        )
        return {
            "scores_": scores,
            "mass_": mass,
            "spread_": max(spread, np.finfo(np.float64).tiny ** 0.5),
        }

    def _beyond(self, record: ForecastRecord, level: float) -> Any:
        """Return the distance of y from the forecast's own interval, negative inside it: in one
        array, or one below and one above.
        """
        low, high = quantile_ends(record.forecast, level, self._ends)
        outside = low - record.y, record.y - high
        return [np.maximum(*outside)] if self._ends.joint else outside

    def _predict_output(
        self,
        forecast: Any,
        scores: np.ndarray,
        mass: np.ndarray,
        spread: float,
        calibrator: Any,
        own: np.ndarray | None = None,
    ) -> Any:
        self._option("score", "quantile", *CONFORMITY)  # of a file that was changed
        forecast = forecast if calibrator is None else calibrator.predict(forecast)
        ends = replace(self._ends, own=own)
        if self.score == "quantile":
            return ConformalQuantileForecast(
                forecast, np.asarray(self.levels, dtype=np.float64), scores, mass, ends
            )
        return ConformalForecast(forecast, CONFORMITY[self.score], scores, mass, spread, ends)

    def _expression(self, forecast: Any, calibrator: StdScaling | None, **learned: Any) -> Any:
        if self.score == "quantile" or self.bounds is not None or self.n_effective_ is not None:
            raise InputError(
                'score="quantile", bounds= and sampling weights have no single expression for'
                " all rows; use"
                ' score="scaled", and clip the ends afterwards.'
            )
        forecast = forecast if calibrator is None else calibrator.express(forecast).alone()
        forecast = forecast.unscaled() if self.score == "absolute" else forecast
        return forecast.reshaped(self._predict_output(forecast.shape, calibrator=None, **learned))

    def _guarantee(self, level: float) -> Any:
        if self.score == "quantile" and not any(abs(level - one) < 1e-9 for one in self.levels):
            raise InputError(
                f"level must be one of those fitted, {list(self.levels)}; got {level!r}; add it to"
                " levels= and fit again."
            )
        together = f", all {self.n_outputs_} outputs together" if self.jointly else ""
        quantity = f"coverage of the {100 * level:g} % intervals{together}"
        if self.n_effective_ is not None:
            return Guarantee(
                "marginal",
                quantity,
                "new rows",
                "the weights are how much more frequent each input has become, were learned from"
                " other rows, and outcomes given the inputs have not changed",
                n=self.n_effective_,
                least=level,
                method="weighted split conformal",
            )
        masses = list(_arrays(self.mass_))
        if self.unit_ == "rows" and any((mass != np.round(mass)).any() for mass in masses):
            return None
        return Guarantee(
            "marginal",
            quantity,
            self._ends.over,
            f"new {self.unit_} and their forecasts are exchangeable with the calibration"
            f" {self.unit_}",
            n=round(min(float(mass[-1]) for mass in masses)),
            least=level,
            unit=self.unit_,
            method="split conformal" if self.unit_ == "rows" else "hierarchical conformal",
        )

    def explain(self, level: float = 0.9) -> str:
        """Return the guarantee of the intervals of a level, or the reason for none."""
        said = self.guarantee(level)
        return (
            "nothing is guaranteed: fractional weights do not count rows"
            if said is None
            else str(said)
        )


def _paired(found: list[tuple[np.ndarray, np.ndarray]]) -> Any:
    """Return (scores, mass) of one, or ([scores of each], [mass of each])."""
    return found[0] if len(found) == 1 else ([s for s, _ in found], [m for _, m in found])


def _arrays(value: Any) -> Any:
    """Return the arrays of nested lists."""
    if isinstance(value, np.ndarray):
        yield value
        return
    for each in value:
        yield from _arrays(each)


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
