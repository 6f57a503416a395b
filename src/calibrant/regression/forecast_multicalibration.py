"""Multicalibration of forecasts: boosted trees for mean and spread, with early stopping on held-out
rows.
"""

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from calibrant._numerics.boosting import NormalScores
from calibrant.calibrators.offsets import BoostedOffsets, distinct_rows, require_options
from calibrant.core.calibrator import Tags, require_fitted
from calibrant.core.estimators import clone, trial
from calibrant.core.forecast import Forecast
from calibrant.core.forecast_record import read_forecast
from calibrant.core.group_levels import ColumnCodes
from calibrant.core.groups import clustered
from calibrant.core.kinds import require_regression_calibrator
from calibrant.core.regression_calibrator import RegressionCalibrator, try_forecasts
from calibrant.regression.distribution_recalibration import DistributionRecalibration

__all__ = ["ForecastMulticalibration"]

#: Limit of normal scores.
FARTHEST = 1e6


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
    return np.clip(base.predict_record(record).score_at(record.y), -FARTHEST, FARTHEST)


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
