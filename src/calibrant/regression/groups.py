"""Calibrators of forecasts by group: bias and spread by level and by crossing, shrunk by how much
groups differ, and multicalibration by boosted trees for mean and spread.

Held-out rows stop the boosting early.
"""

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from calibrant._numerics.boosting import (
    Family,
    NormalScores,
    fit_families,
    held_out_scores,
    shift_slopes,
    spread_slopes,
)
from calibrant.calibrators.offsets import (
    LEAST_ERRORS,
    BoostedOffsets,
    distinct_rows,
    mean_gain,
    place_of,
    require_options,
)
from calibrant.core.arrays import ArrayLike
from calibrant.core.calibrator import Tags, require_fitted
from calibrant.core.estimators import clone, require_count, trial
from calibrant.core.forecast import Forecast
from calibrant.core.forecast_record import ForecastRecord, read_forecast
from calibrant.core.group_levels import ColumnCodes, GroupLevels, cell_codes, crossings
from calibrant.core.groups import clustered
from calibrant.core.kinds import require_regression_calibrator
from calibrant.core.regression_calibrator import RegressionCalibrator, try_forecasts
from calibrant.regression.recalibration import DistributionRecalibration

__all__ = ["ForecastGroupCalibrator", "ForecastMulticalibration"]


#: Minimum number of rows in the cell of a crossing; limit of normal scores; iterations for bias and
#: spread.
LEAST_ROWS, FARTHEST, TURNS = 20.0, 8.0, 3
#: Limit of the log factor of a row, which is infinite for rows without error.
LARGEST = 7.0


class ForecastGroupCalibrator(
    RegressionCalibrator,
    examples=[{"depth": 1}],
    family="with groups or features",
    use="A bias and a spread for each group",
    common=True,
):
    r"""Calibrate all forecasts together, then shift and stretch those of each group as far as the
    groups differ.

    .. math:: Q'(u) = F^{-1} \Phi\left( a_i + e^{b_i} \Phi^{-1}(u) \right), \qquad
        a_i = \sum_f a_{f, g_f(i)}, \quad b_i = \sum_f b_{f, g_f(i)}, \quad
        a_{f, g} \sim N(0, \tau_f^2), \quad b_{f, g} \sim N(0, \sigma_f^2)

    where F is the forecast of the base, whose normal score :math:`\Phi^{-1}(F(y))` is modelled as
    normal. The families f are those of :class:`GroupCalibrator`: the levels of each column, and
    their crossings. For a normal forecast the mean moves by a standard deviations, and the standard
    deviation is multiplied by :math:`e^b`. The variances of each family maximise the likelihood, 0
    included.

    Parameters
    ----------
    calibrator : RegressionCalibrator, optional
        The base, fitted on all rows first. Default ``DistributionRecalibration(shape=None)``, which
        corrects bias and spread of all rows, so that a common error does not appear as a difference
        between groups. It keeps the shape, because groups that differ in spread look like heavy
        tails overall.
    depth : int >= 1, default 2
        Maximum number of crossed columns; the crossing of all columns is always tried too.
    n_bins : int >= 2, default 10
        Number of quantile bins of columns with fractional numbers. Whole numbers, texts and missing
        values are levels.

    Attributes
    ----------
    base_ : the fitted base, or a list of one for each output.
    levels_ : the columns' levels.
    families_ : list of dicts, one a family (or a list of these): codes (the fitted ones, sorted),
        shift and log_factor (G,), n (rows by cell), shift_std and log_factor_std of the priors.
    gain_, gain_error_ : leave-one-out gain in log score a row, and its standard error; or a list.
    status_ : "converged" or "max steps", or "base" if there is no evidence that groups differ.

    See Also
    --------
    GroupCalibrator : the same for probabilities; ``audit`` finds miscalibrated groups.
    ForecastMulticalibration : boosted trees, on features too.
    MondrianIntervals : intervals with coverage in each group, from its own rows.

    Notes
    -----
    Use it when one model serves shops, sensors or regions that differ in bias or in noise. A level
    that is new at prediction has only the effects of its other columns. It equals the base unless
    the leave-one-out gain (to first order) exceeds 1.5 standard errors of log score. Scores beyond
    8 count as 8. It guarantees no coverage.

    References
    ----------
    Efron and Morris, "Data analysis using Stein's estimator and its generalizations", JASA 70,
    1975. Lee and Nelder, "Double hierarchical generalized linear models", JRSS C 55, 2006, for
    effects on mean and spread together.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> shop = rng.integers(0, 5, 3000)
    >>> y = shop + rng.normal(size=3000) * (1.0 + shop)
    >>> cal = ForecastGroupCalibrator().fit(np.full(3000, 2.0), y, std=np.ones(3000), groups=shop)
    >>> found = cal.predict([2.0, 2.0], [1.0, 1.0], groups=[0, 4])
    >>> np.abs(found.mean.round()).tolist(), found.std.round().tolist()
    ([0.0, 4.0], [1.0, 5.0])
    """

    tags: ClassVar[Tags] = Tags(
        output="distribution", uses_groups=True, label="bias and spread by group"
    )
    learns: ClassVar[tuple[str, ...]] = ("base_", "families_", "gain_", "gain_error_")
    base_: Any
    families_: Any
    gain_: Any
    gain_error_: Any

    def __init__(
        self, calibrator: RegressionCalibrator | None = None, *, depth: int = 2, n_bins: int = 10
    ) -> None:
        self.calibrator: RegressionCalibrator | None = calibrator
        self.depth: int = depth
        self.n_bins: int = n_bins

    def _check(self) -> None:
        require_count("depth", self.depth)
        require_count("n_bins", self.n_bins, 2)
        if self.calibrator is not None:
            require_regression_calibrator(self.calibrator)

    def fit_record(self, record: ForecastRecord) -> Self:
        """Fit on a record of forecasts, outcomes and groups."""
        self._check()
        self._require_given(record)
        self.levels_: GroupLevels = GroupLevels(record.groups, record.weights, self.n_bins)
        self.crossings_: list[tuple[int, ...]] = crossings(
            self.levels_, self.levels_.codes(record.groups), self.depth
        )
        return super().fit_record(record)

    def _fit_output(self, record: ForecastRecord) -> dict[str, Any]:
        template = (
            DistributionRecalibration(shape=None) if self.calibrator is None else self.calibrator
        )
        base = clone(template).fit_record(replace(record, groups=None))
        self.levels_.warn_of_outcome(record.groups, record.y)
        score = np.clip(
            base.predict_record(replace(record, groups=None)).score_at(record.y),
            -FARTHEST,
            FARTHEST,
        )[:, None]
        weight, kept, families = record.weights, [], []
        for columns, code in zip(self.crossings_, self._codes(record), strict=True):
            codes, at = np.unique(code, return_inverse=True)
            codes = codes[np.bincount(at, weight) >= (LEAST_ROWS if len(columns) > 1 else 0.0)]
            kept.append(codes)
            families.append(Family(place_of(code, codes), len(codes)))
        nothing = np.zeros_like(score)
        shift, spread = nothing, nothing
        for _ in range(TURNS):
            of_shift = shift_slopes(score, spread)
            shifts, first, shift = fit_families(nothing, of_shift, weight, families)
            of_spread = spread_slopes(score, shift)
            spreads, second, spread = fit_families(nothing, of_spread, weight, families)
        left_out = (
            held_out_scores(shift, shift_slopes(score, spread), families, shifts),
            held_out_scores(spread, of_spread, families, spreads),
        )
        gain, error = mean_gain(_gains(score, *left_out), weight, record.cluster)
        learned = [
            {
                "codes": codes,
                "n": np.bincount(family.index, weight, len(codes) + 1)[:-1],
                "shift": a.effect[:, 0],
                "log_factor": b.effect[:, 0],
                "shift_std": float(np.sqrt(a.variance)),
                "log_factor_std": float(np.sqrt(b.variance)),
            }
            for codes, family, a, b in zip(kept, families, shifts, spreads, strict=True)
        ]
        used = gain > LEAST_ERRORS * error
        # "max steps" of either sorts last.
        status = max(first, second) if used else "base: no evidence that groups differ"
        return {
            "base_": base,
            "families_": learned if used else [],
            "gain_": gain,
            "gain_error_": error,
            "status": status,
        }

    def _codes(self, record: ForecastRecord) -> list[np.ndarray]:
        codes = self.levels_.codes(record.groups)
        return [cell_codes(self.levels_, codes, columns) for columns in self.crossings_]

    def _predict_rows(
        self,
        record: ForecastRecord,
        base: DistributionRecalibration,
        families: Any,
        gain: float,
        gain_error: float,
    ) -> Any:
        forecast = base.predict_record(replace(record, groups=None))
        if not families:
            return forecast
        shift, log_factor = np.zeros(len(record)), np.zeros(len(record))
        for family, code in zip(families, self._codes(record), strict=True):
            at = place_of(code, family["codes"])
            shift += np.append(family["shift"], 0.0)[at]
            log_factor += np.append(family["log_factor"], 0.0)[at]
        return forecast.rescored(shift, np.exp(np.clip(log_factor, -LARGEST, LARGEST)))

    def unseen_rows(self, groups: Any) -> dict[str, int]:
        """Count, for each column of groups, the rows with a level that is new since the fit,
        missing values included.
        """
        require_fitted(self, "levels_")
        return self.levels_.unseen_rows(groups)

    def explain(self) -> str:
        """Describe how bias and spread differ between groups by family, and the gain; one line for
        each output.
        """
        require_fitted(self, "families_")
        several = bool(self.n_outputs_)
        each = zip(
            *(
                (held if several else [held])
                for held in (self.families_, self.gain_, self.gain_error_)
            ),
            strict=True,
        )
        return "\n".join(self._said(*one) for one in each)

    def _said(self, families: Any, gain: float, error: float) -> str:
        said = f"{gain:.4g} of log score a row (s.e. {error:.2g}, each row left out)"
        if not families:
            return (
                "No evidence that groups differ, so every row gets the forecast of the base:"
                f" offsets by group would gain {said}."
            )
        names = (" x ".join(self.levels_.names[j] for j in columns) for columns in self.crossings_)
        parts = (
            f"{name}: {len(one['codes'])} cells differ by {one['shift_std']:.2f} std in bias,"
            f" {one['log_factor_std']:.2f} in log spread"
            for name, one in zip(names, families, strict=True)
        )
        return f"Groups differ: offsets by group gain {said}, beyond the base. {'; '.join(parts)}."


def _gains(score: np.ndarray, shift: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Return (n,) the gains of the rows in log score."""
    spread = np.clip(spread, -LARGEST, LARGEST)
    after = 0.5 * np.square((score - shift) * np.exp(-spread)) + spread
    return (0.5 * np.square(score) - after)[:, 0]


@trial.register
def _(calibrator: ForecastGroupCalibrator) -> None:
    for at in (0, -1):
        try_forecasts(calibrator, groups=calibrator.levels_.known_rows(3, at))


#: Limit of the normal scores that the fitted adjustments see.
LARGEST_SCORE = 1e6


class ForecastMulticalibration(
    RegressionCalibrator,
    family="with groups or features",
    use="Boosted trees, for mean and spread",
):
    r"""Calibrate all forecasts together, then find where mean and spread are biased with boosted
    trees.

    .. math:: Q'(u) = F^{-1} \Phi\left( a(x) + e^{b(x)} \Phi^{-1}(u) \right)

    where F is the forecast of the base. A row's normal score :math:`\Phi^{-1}(F(y))` is modelled as
    normal with mean a and standard deviation :math:`e^b`, both sums of trees on features, groups,
    mean and std (for a normal forecast: the mean moves by a standard deviations, the std is
    multiplied by :math:`e^b`). The number of rounds has the best log score on held-out rows; see
    :class:`Multicalibration`.

    Parameters
    ----------
    calibrator : RegressionCalibrator, optional
        The base, fitted on all rows first. Default ``DistributionRecalibration(shape=None)``, which
        corrects bias and spread of all rows, so that a common error does not appear as a difference
        between groups. It keeps the shape, because groups that differ in spread look like heavy
        tails overall.
    depth : int from 1 to 8, default 4
        Number of splits along a path of a tree.
    learning_rate : float, default 0.15
    max_rounds : int, default 300
    cv : int, default 5
        Number of folds and members; folds keep clusters whole.
    random_state : int, default 0
        Seed of the folds.

    Attributes
    ----------
    base_ : the fitted base, or a list of one for each output.
    columns_ : the columns and their codes, or a list.
    trees_ : the fitted trees, with ``gain_`` (log score a row, out of fold), ``gain_error_``,
        ``rounds_`` and ``used``, or a list.
    n_outputs_ : int
        0 for forecasts of shape (n,).
    status_ : the number of rounds, or "base" if there is no evidence of miscalibration.

    See Also
    --------
    Multicalibration : the same for class probabilities.
    MondrianIntervals : coverage in each group, from its own rows.

    Notes
    -----
    Use it with thousands of rows where bias or spread depend on features or groups. It equals the
    base unless the out-of-fold gain exceeds 1.5 standard errors, and below 50 rows. With neither
    ``X`` nor ``groups`` the trees split on mean and std alone. It guarantees no coverage: where
    that is needed, apply :class:`ConformalIntervals` on other rows afterwards.

    References
    ----------
    As of :class:`Multicalibration`; boosting of location and scale: Duan et al., "NGBoost: natural
    gradient boosting for probabilistic prediction", ICML 2020.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> group = rng.choice(["a", "b"], 2000)
    >>> y = np.where(group == "a", 1.0, 3.0) * rng.normal(size=2000)
    >>> cal = ForecastMulticalibration().fit(np.zeros(2000), y, std=np.ones(2000), groups=group)
    >>> cal.predict([0.0, 0.0], [1.0, 1.0], groups=["a", "b"]).std.round().tolist()
    [1.0, 3.0]
    """

    learns: ClassVar[tuple[str, ...]] = ("base_", "columns_", "trees_")
    base_: Any
    columns_: Any
    trees_: Any

    def __init__(
        self,
        calibrator: RegressionCalibrator | None = None,
        *,
        depth: int = 4,
        learning_rate: float = 0.15,
        max_rounds: int = 300,
        cv: int = 5,
        random_state: int = 0,
    ) -> None:
        self.calibrator: RegressionCalibrator | None = calibrator
        self.depth: int = depth
        self.learning_rate: float = learning_rate
        self.max_rounds: int = max_rounds
        self.cv: int = cv
        self.random_state: int = random_state

    @property
    def tags(self) -> Tags:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Tags of its optional inputs; once fitted, of the inputs that it needs."""
        columns = getattr(self, "columns_", None)
        given = (
            {} if columns is None else (columns[0] if isinstance(columns, list) else columns).tables
        )
        return Tags(
            output="distribution",
            may_use_features=True,
            may_use_groups=True,
            uses_features="X" in given,
            uses_groups="groups" in given,
            for_features_or_groups=True,
            label="boosted trees on features and groups",
        )

    @classmethod
    def _examples(cls) -> "list[ForecastMulticalibration]":
        return [cls(max_rounds=3, cv=2, depth=2, learning_rate=0.5)]

    def fit(
        self,
        forecast: Any,
        y: ArrayLike,
        *more: Any,
        std: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        X: Any = None,
        groups: Any = None,
        cluster: Any = None,
    ) -> Self:
        """Fit on held-out forecasts and outcomes: ``fit(forecast, y)``, or ``fit(mean, y,
        std=std)``.

        Parameters
        ----------
        forecast : Forecast, (mean, std) tuple, frozen scipy distribution; or the means with
            ``std``, (n,) or (n, d)
        y : outcomes, of the shape of the forecast
        std : as the means, optional
        sample_weight : (n,), optional
            Weight 2 means the row twice, weight 0 no row.
        X, groups : (n,) or (n, k) columns of numbers or names, or a frame of n rows, optional
        cluster : (n,) labels of any kind, optional
            Clusters of dependent rows; folds keep them whole.

        Returns
        -------
        self
        """
        return self.fit_record(
            clustered(self._read_to_fit(forecast, y, more, std, sample_weight, groups, X), cluster)
        )

    def predict(
        self, forecast: Any, std: ArrayLike | None = None, *, X: Any = None, groups: Any = None
    ) -> Forecast:
        """Return the forecasts with corrected mean and spread: ``predict(forecast)``, or
        ``predict(mean, std)``.

        Parameters
        ----------
        forecast, std : as in fit
        X, groups : of the rows, as in fit

        Returns
        -------
        Forecast
        """
        return self.predict_record(read_forecast(forecast, std, groups=groups, X=X))

    def _check(self) -> None:
        # The inputs of an earlier fit do not apply to this one.
        vars(self).pop("columns_", None)
        require_options(self)
        if self.calibrator is not None:
            require_regression_calibrator(self.calibrator)

    def _fit_output(self, record: Any) -> dict[str, Any]:
        template = (
            DistributionRecalibration(shape=None) if self.calibrator is None else self.calibrator
        )
        numbers, tables = _numbers(record), _tables(record)
        columns = ColumnCodes(numbers, ["mean", "std"], tables, record.weights)
        if record.groups is not None:
            columns.tables["groups"].warn_of_outcome(record.groups, record.y)
        merged, codes = _merged(record, columns.codes(numbers, tables))

        def start(rows: np.ndarray) -> tuple[NormalScores, np.ndarray]:
            base = clone(template).fit_record(merged.take(rows))
            return NormalScores(_scores(base, merged)), np.zeros((len(merged), 2))

        trees = BoostedOffsets().fit(columns, codes, start, merged, self)
        status = f"{trees.rounds_} rounds" if trees.used else "base: no evidence of miscalibration"
        return {
            "base_": clone(template).fit_record(record),
            "columns_": columns,
            "trees_": trees,
            "status": status,
        }

    def _predict_rows(
        self,
        record: Any,
        base: DistributionRecalibration,
        columns: ColumnCodes,
        trees: BoostedOffsets,
    ) -> Any:
        codes = columns.codes(_numbers(record), _tables(record))
        forecast = base.predict_record(record)
        if not trees.used:
            return forecast
        shift, log_factor = trees.added(codes, 2).T
        return forecast.rescored(shift, np.exp(log_factor))

    def unseen_rows(self, groups: Any) -> dict[str, int]:
        """Count, for each column of groups, the rows with a level that is new since the fit,
        missing values included.
        """
        require_fitted(self, "columns_")
        levels = (self.columns_[0] if self.n_outputs_ else self.columns_).tables.get("groups")
        return {} if levels is None else levels.unseen_rows(groups)

    def explain(self) -> str:
        """Describe the gain of the trees and the columns behind it; one line for each output."""
        require_fitted(self, "trees_")
        each = self.trees_ if self.n_outputs_ else [self.trees_]
        return "\n".join(trees.explain("log score") for trees in each)


def _tables(record: Any) -> dict[str, None]:
    return {"X": record.X, "groups": record.groups}


def _numbers(record: Any) -> np.ndarray:
    """Return (n, 2) mean and std, the columns of a forecast that trees split on."""
    return np.column_stack([record.mean, record.std])


def _scores(base: RegressionCalibrator, record: Any) -> np.ndarray:
    """Return (n,) normal scores of the outcomes under the base's forecasts, finite."""
    return np.clip(
        base.predict_record(record).score_at(record.y),
        -LARGEST_SCORE,
        LARGEST_SCORE,
    )


def _merged(record: Any, codes: np.ndarray) -> tuple[Any, np.ndarray]:
    """Return (the record, codes) of the rows to learn from, in an order that is independent of
    units.
    """
    said = [record.mean / record.std, np.log(record.std / np.median(record.std)), codes.T]
    if record.cluster is not None:
        said.append(record.cluster)
    rows, weight = distinct_rows(np.column_stack(said), record.score, record.weights)
    return replace(record.take(rows), weight=weight), np.ascontiguousarray(codes[:, rows])


@trial.register
def _(calibrator: ForecastMulticalibration) -> None:
    columns: ColumnCodes = calibrator.columns_[0] if calibrator.n_outputs_ else calibrator.columns_
    try_forecasts(calibrator, **columns.made_rows(3))
