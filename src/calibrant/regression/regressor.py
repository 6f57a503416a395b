"""Regressors with scikit-learn's interface: one with calibrated error bars, and one with conformal
intervals and no held-out rows (jackknife+, CV+ and their minmax versions).
"""

from typing import Any, Literal, Self

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.parallel import Parallel, delayed

from calibrant._numerics.conformal import plus_promise, row_statistics, shares
from calibrant.calibrators.training_rows import (
    RegressorMixin,
    TrainingRows,
    Wrapper,
    checked_rows,
    routed,
)
from calibrant.core.arrays import ArrayLike
from calibrant.core.calibrator import require_fitted
from calibrant.core.conformal_forecast import CONFORMITY, ConformalEnds
from calibrant.core.estimators import account, clone, require_option, seeded
from calibrant.core.folds import make_splits, refuse_prefit
from calibrant.core.forecast import Forecast, NormalForecast, require_level
from calibrant.core.guarantee import Guarantee
from calibrant.core.kinds import require_regression_calibrator
from calibrant.core.model_outputs import is_fitted, model_forecast, one_or_several
from calibrant.core.regression_calibrator import RegressionCalibrator
from calibrant.errors import InputError
from calibrant.regression.auto_regression import default_regression_calibrator

__all__ = ["CalibratedRegressor", "ConformalRegressor"]


#: Ratio of the standard deviation of a normal error to its mean absolute value.
STD_OF_ABSOLUTE = np.sqrt(0.5 * np.pi)


class CalibratedRegressor(RegressorMixin, Wrapper):
    """Scikit-learn regressor with a calibrated predictive distribution for each row.

    Parameters
    ----------
    estimator : regressor
        An unfitted one is fitted here, and calibrated on out-of-fold predictions. A fitted one (or
        a ``FrozenEstimator``) is used as it is: ``fit`` then needs calibration data that are new to
        the model. Its forecasts are read in this order: ``predict_distribution(X)`` (a forecast),
        ``predict(X, return_std=True)``, ``predict(X)`` returning the pair (mean, std), and else a
        plain mean, whose std comes from ``scale_estimator``.
    calibrator : regression calibrator, optional
        Default :class:`AutoRegressionCalibrator`.
    scale_estimator : regressor, optional
        For models that predict a mean only. It is fitted to the absolute errors of out-of-fold
        predictions; its own predictions (kept above a hundredth of their mean), times 1.2533 as for
        normal errors, are the uncalibrated std. Default: one std for all rows.
    cv : int, splitter, iterable of (rows to fit, rows held out), or None
        None: 5 folds for an unfitted model. A number means shuffled folds.
    random_state : int, default 0
        Seed of the folds when ``cv`` is a number.

    Attributes
    ----------
    estimator_ : the fitted model (fitted to all rows if it was unfitted).
    scale_estimator_ : the fitted scale model, or None.
    calibrator_ : the fitted calibrator.
    n_features_in_, feature_names_in_ : if the model has them.

    Raises
    ------
    InputError
        When the data are invalid, or ``cv="prefit"``.

    See Also
    --------
    CalibratedClassifier : the same for classification.
    AutoRegressionCalibrator : the calibrator alone, for existing forecasts.

    Notes
    -----
    ``predict`` is the mean of the calibrated distribution: the model's own, except for calibrators
    that change it (interval calibration). For a fitted model that predicts a mean only, the scale
    model and the calibrator share the calibration rows, by cross-fitting.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from sklearn.linear_model import BayesianRidge
    >>> from calibrant import CalibratedRegressor
    >>> X, y = make_regression(n_samples=200, noise=5.0, random_state=0)
    >>> reg = CalibratedRegressor(BayesianRidge()).fit(X, y)
    >>> low, high = reg.predict_distribution(X[:3]).interval(0.9)
    >>> low.shape, bool((low < reg.predict(X[:3])).all())
    ((3,), True)
    """

    def __init__(
        self,
        estimator: Any,
        calibrator: RegressionCalibrator | None = None,
        *,
        scale_estimator: Any = None,
        cv: Any = None,
        random_state: int = 0,
    ) -> None:
        self.estimator: Any = estimator
        self.calibrator: RegressionCalibrator | None = calibrator
        self.scale_estimator: Any = scale_estimator
        self.cv: Any = cv
        self.random_state: int = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = get_tags(self.estimator).target_tags.multi_output
        return tags

    def _to_fit(self) -> Any:
        """Return the models that ``fit`` fits, by their parameters' names."""
        models = {} if is_fitted(self.estimator) else {"estimator": self.estimator}
        return (
            models
            if self.scale_estimator is None
            else {**models, "scale_estimator": self.scale_estimator}
        )

    @seeded
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        groups: Any = None,
        **fit_params: Any,
    ) -> Self:
        """Fit the model, unless it is fitted, the scale model, if there is one, and the calibrator.

        Parameters
        ----------
        X : (n, ...) features: array, sparse matrix, data frame
        y : (n,) outcomes; (n, d) for a model of several outputs, which are calibrated separately
        sample_weight : (n,), optional
            For the model and the calibrator; a row of weight 0 counts as no row for either.
        groups : (n,), optional
            Passed to the splitter.
        **fit_params
            Passed to the model's ``fit``; those with one entry a row are cut to the rows of each
            fold. With scikit-learn's metadata routing, model and splitter receive what they
            request, weights included; the calibrator always receives the weights.

        Returns
        -------
        self
        """
        X, y = checked_rows(self, X, y, one_or_several)
        y = np.asarray(y, dtype=np.float64)
        refuse_prefit(self.cv)
        template = (
            default_regression_calibrator()
            if self.calibrator is None
            else require_regression_calibrator(self.calibrator)
        )
        data = TrainingRows(X, y, sample_weight)
        params, split_params = routed(self, self._to_fit(), data.weight, groups, fit_params)
        splits = self._splits(data, split_params)
        everything = data.counted()
        if is_fitted(self.estimator):
            self.estimator_: Any = self.estimator
            held_out, forecast = everything, model_forecast(self.estimator, data.X_of(everything))
        else:
            held_out = np.concatenate([rows for _, rows in splits])
            fitted = (
                data.fitted(self.estimator, fit_rows, params["estimator"]) for fit_rows, _ in splits
            )
            forecast = _joined(
                [
                    model_forecast(m, data.X_of(rows))
                    for m, (_, rows) in zip(fitted, splits, strict=True)
                ]
            )
            self.estimator_ = data.fitted(self.estimator, everything, params["estimator"])
        forecast = self._with_scale(forecast, data, held_out, splits, params.get("scale_estimator"))
        self.calibrator_: RegressionCalibrator = clone(template).fit(
            forecast, y[held_out], sample_weight=data.weight_of(held_out)
        )
        self._take_names(self.estimator_)
        return self

    def _splits(self, data: TrainingRows, split_params: Any) -> Any:
        if is_fitted(self.estimator) and self.scale_estimator is None:
            return []
        cv = 5 if self.cv is None else self.cv
        splits = make_splits(
            cv, data.X, data.y, random_state=self.random_state, stratify=False, **split_params
        )
        return data.counted_splits(splits)

    def _with_scale(
        self, forecast: Any, data: TrainingRows, held_out: np.ndarray, splits: Any, params: Any
    ) -> Any:
        """Return the forecast itself, or plain means with a std: one for all rows, or the scale
        model's out-of-fold one.
        """
        self.scale_estimator_, self._spread = None, None
        if isinstance(forecast, Forecast):
            return forecast
        size = STD_OF_ABSOLUTE * np.abs(data.y[held_out] - forecast)
        spread = np.average(size, axis=0, weights=data.weight_of(held_out))
        self._spread = np.where(spread > 0.0, spread, 1.0)
        if self.scale_estimator is None:
            return NormalForecast(forecast, np.full(forecast.shape, self._spread))
        error = np.zeros(data.y.shape)
        error[held_out] = size
        std = np.full(data.y.shape, self._spread)
        seen = np.zeros(len(data.y), dtype=bool)
        seen[held_out] = True
        for fit_rows, rows in splits:
            fit_rows = fit_rows[seen[fit_rows]]
            if len(fit_rows):
                fresh = data.fitted(self.scale_estimator, fit_rows, params, error)
                std[rows] = self._positive(fresh.predict(data.X_of(rows)))
        self.scale_estimator_: Any = data.fitted(self.scale_estimator, held_out, params, error)
        return NormalForecast(forecast, std[held_out])

    def _positive(self, std: np.ndarray) -> np.ndarray:
        return np.maximum(np.asarray(std, dtype=np.float64), 0.01 * self._spread)

    def predict_distribution(self, X: Any) -> Forecast:
        """Return the calibrated predictive distributions, with ``mean``, ``std``, ``quantile(q)``,
        ``cdf(y)``, ``interval(level)``, ``sample(n)``.
        """
        require_fitted(self, "calibrator_")
        forecast = model_forecast(self.estimator_, X)
        if not isinstance(forecast, Forecast):
            std = (
                np.full(forecast.shape, self._spread)
                if self.scale_estimator_ is None
                else self._positive(self.scale_estimator_.predict(X))
            )
            forecast = NormalForecast(forecast, std)
        return self.calibrator_.predict(forecast)

    def guarantee(self, level: float = 0.9) -> Guarantee | None:
        """Return the guarantee of the intervals of a level; None if the model or its scale saw the
        calibration rows, in other folds too.
        """
        require_fitted(self, "calibrator_")
        apart = is_fitted(self.estimator) and self.scale_estimator is None
        return self.calibrator_.guarantee(level) if apart else None

    def predict(
        self, X: Any, return_std: bool = False
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Return means of the calibrated distributions, (n,) or (n, d), or with ``return_std`` the
        pair (mean, std).
        """
        forecast = self.predict_distribution(X)
        return (forecast.mean, forecast.std) if return_std else forecast.mean

    def explain(self) -> str:
        """Describe the calibrator."""
        require_fitted(self, "calibrator_")
        return account(self.calibrator_)


def _joined(parts: Any) -> Any:
    """Join the forecasts of several folds."""
    return parts[0].joined(parts[1:]) if isinstance(parts[0], Forecast) else np.concatenate(parts)


#: Maximum number of values in memory while ends are sorted.
BLOCK = 2_000_000


class ConformalRegressor(RegressorMixin, Wrapper):
    r"""Scikit-learn regressor with conformal intervals that use every row for both model and
    intervals.

    .. math:: \left[\, q^-_{n}\{\mu_{-k(i)}(x) - R_i\},\; q^+_{n}\{\mu_{-k(i)}(x) + R_i\}
        \,\right], \qquad R_i = |y_i - \mu_{-k(i)}(x_i)|

    with the model of each row's fold fitted without that fold, and the ceil((n + 1) level)-th
    smallest (largest) of the n ends. Folds of one row are the jackknife+, others CV+.
    ``method="minmax"`` goes from the lowest fold prediction minus the order statistic of the R to
    the highest plus it.

    Parameters
    ----------
    estimator : regressor
        Unfitted; fitted once without each fold and once on all rows.
    method : {"plus", "minmax"}
        "plus" guarantees 1 - 2 alpha (alpha = 1 - level), and covers about 1 - alpha in practice;
        "minmax" guarantees 1 - alpha, and is wider.
    conformity : {"absolute", "scaled", "distributional"}
        R as above; over the model's own std; or by the model's own distribution, with its quantiles
        as ends. The last two need a model that has one: ``predict_distribution(X)``,
        ``predict(X, return_std=True)``, or ``predict(X)`` returning the pair (mean, std).
    cv : int, splitter, or iterable of (rows to fit, rows held out), default 10
        Must hold every row out once. A number means shuffled folds; ``LeaveOneOut()`` is the
        jackknife+.
    bounds : (low, high), optional
        Limits of any outcome; intervals end there.
    n_jobs : int, optional
        Number of parallel fits, as in joblib.
    random_state : int, default 0
        Seed of the folds when ``cv`` is a number.

    Attributes
    ----------
    estimator_ : the model fitted on all rows; ``predict`` is its prediction.
    estimators_ : list of the models fitted without one fold each.
    scores_ : list of the R of each fold.
    weights_ : list of the weights of these.
    fold_sizes_ : (m,) numbers of rows, or of clusters, in each fold.
    n_features_in_, feature_names_in_ : if the model has them.

    See Also
    --------
    CalibratedRegressor : with a fitted model and ``ConformalIntervals``, split conformal
        prediction.
    ConformalIntervals : intervals for existing forecasts.

    Notes
    -----
    Use it where rows are too few to hold some out: a few hundred. With thousands, split: one fit
    instead of m, and no 2 alpha. The loss of CV+ in the guarantee beyond 2 alpha falls with the
    rows of a fold, and ``guarantee(level)`` includes it. With ``groups`` folds keep groups whole, a
    group counts as one row, and the guarantee is for a row of a new group. Weighted rows are not
    random draws, so with weights other than 0 and 1 nothing is guaranteed.

    References
    ----------
    Barber, Candes, Ramdas and Tibshirani, "Predictive inference with the jackknife+", Annals of
    Statistics 49, 2021. Lee, Barber and Willett, "Distribution-free inference with hierarchical
    data", 2023, for groups.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from sklearn.linear_model import Ridge
    >>> from calibrant import ConformalRegressor
    >>> X, y = make_regression(n_samples=200, noise=5.0, random_state=0)
    >>> reg = ConformalRegressor(Ridge()).fit(X[:150], y[:150])
    >>> low, high = reg.predict_interval(X[150:], level=0.8)
    >>> bool(0.7 < ((low <= y[150:]) & (y[150:] <= high)).mean() < 0.95)
    True
    >>> round(reg.guarantee(0.8).least, 3)
    0.515
    """

    def __init__(
        self,
        estimator: Any,
        *,
        method: Literal["plus", "minmax"] = "plus",
        conformity: Literal["absolute", "scaled", "distributional"] = "absolute",
        cv: Any = 10,
        bounds: tuple[float, float] | None = None,
        n_jobs: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.estimator: Any = estimator
        self.method: Literal["plus", "minmax"] = method
        self.conformity: Literal["absolute", "scaled", "distributional"] = conformity
        self.cv: Any = cv
        self.bounds: tuple[float, float] | None = bounds
        self.n_jobs: int | None = n_jobs
        self.random_state: int = random_state

    @seeded
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        groups: Any = None,
        **fit_params: Any,
    ) -> Self:
        """Fit the model without each fold, and on all rows.

        Parameters
        ----------
        X : (n, ...) features: array, sparse matrix, data frame
        y : (n,) outcomes
        sample_weight : (n,), optional
            For the models and the intervals; a row of weight 0 counts as no row for either.
        groups : (n,), optional
            Rows of one group are held out together and count as one.
        **fit_params
            Passed to the model's ``fit``, as in :class:`CalibratedRegressor`.

        Returns
        -------
        self
        """
        X, y = checked_rows(self, X, y, one_or_several)
        y = np.asarray(y, dtype=np.float64)
        self._check(y)
        data = TrainingRows(X, y, sample_weight)
        params, split_params = routed(self, self._to_fit(), data.weight, groups, fit_params)
        splits = data.counted_splits(
            make_splits(
                self.cv, X, y, random_state=self.random_state, stratify=False, **split_params
            )
        )
        everything = data.counted()
        if not np.array_equal(np.sort(np.concatenate([rows for _, rows in splits])), everything):
            raise InputError(
                "cv must hold every row out once; this one does not; use a number of folds, KFold"
                " or LeaveOneOut."
            )
        found = Parallel(n_jobs=self.n_jobs)(
            delayed(_without_fold)(
                self.estimator, self.conformity, data, fit_rows, rows, params["estimator"]
            )
            for fit_rows, rows in splits
        )
        self.estimators_: list[Any] = [model for model, _ in found]
        self.scores_: list[np.ndarray] = [scores for _, scores in found]
        self._count(data, [rows for _, rows in splits], groups)
        self.estimator_: Any = data.fitted(self.estimator, everything, params["estimator"])
        self._take_names(self.estimator_)
        return self

    def _check(self, y: np.ndarray) -> None:
        require_option("method", self.method, ("plus", "minmax"))
        require_option("conformity", self.conformity, CONFORMITY)
        self._ends.require_within(y)
        if y.ndim > 1:
            raise InputError(
                f"y must have one outcome a row, (n,); got shape {y.shape}; wrap each output"
                " separately."
            )
        if is_fitted(self.estimator):
            raise InputError(
                f"model must be unfitted; got a fitted {type(self.estimator).__name__}; clone it,"
                " or use CalibratedRegressor(model, ConformalIntervals()) with rows that are new"
                " to it."
            )

    @property
    def _ends(self) -> ConformalEnds:
        return ConformalEnds(
            bounds=self.bounds or (-np.inf, np.inf), unit=getattr(self, "unit_", "rows")
        )

    def _count(self, data: TrainingRows, folds: list[np.ndarray], groups: Any) -> None:
        weight = np.ones(len(data.y)) if data.weight is None else data.weight
        self._plain: bool = bool(np.isin(weight, (0.0, 1.0)).all())
        self.unit_: Literal["rows", "clusters"] = "rows" if groups is None else "clusters"
        code = None
        if groups is not None:
            known: dict[Any, int] = {}
            code = np.array(
                [known.setdefault(name, len(known)) for name in np.asarray(groups).tolist()]
            )
        self.fold_sizes_: np.ndarray = np.array(
            [len(rows) if code is None else len(np.unique(code[rows])) for rows in folds]
        )
        counted = shares(weight, code)
        self.weights_: list[np.ndarray] = [counted[rows] for rows in folds]

    def predict(self, X: Any) -> np.ndarray:
        """Return predictions of the model fitted on all rows, (n,)."""
        require_fitted(self, "estimators_")
        return _forecast(self.estimator_, X, "absolute").mean

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Return intervals (low, high) for a new outcome at ``level``; ``guarantee(level)`` returns
        their guarantee.

        Returns
        -------
        (low, high) : (n,) each
            Infinite, with a warning, if rows are too few.
        """
        require_fitted(self, "estimators_")
        require_level(level, usual=0.9)
        forecasts = [_forecast(model, X, self.conformity) for model in self.estimators_]
        weight, n_rows = np.concatenate(self.weights_), len(forecasts[0])
        low, high = np.empty((2, n_rows))
        step = max(1, BLOCK // len(weight))
        for start in range(0, n_rows, step):
            rows = slice(start, start + step)
            low[rows], high[rows] = self._ends_of(
                [forecast.take(rows) for forecast in forecasts], weight, level
            )
        return self._ends.limited(low, high, level, float(weight.sum()))

    def _ends_of(
        self, forecasts: list[NormalForecast], weight: np.ndarray, level: float
    ) -> tuple[np.ndarray, np.ndarray]:
        score = CONFORMITY[self.conformity]
        if self.method == "minmax":
            reach = row_statistics(np.concatenate(self.scores_)[None, :], weight, level)
            ends = np.stack(
                [score.at(forecast, np.append(-reach, reach)) for forecast in forecasts]
            )
            return ends[..., 0].min(axis=0), ends[..., 1].max(axis=0)
        above = np.hstack(
            [
                score.at(forecast, size)
                for forecast, size in zip(forecasts, self.scores_, strict=True)
            ]
        )
        below = np.hstack(
            [
                score.at(forecast, -size)
                for forecast, size in zip(forecasts, self.scores_, strict=True)
            ]
        )
        return -row_statistics(-below, weight, level), row_statistics(above, weight, level)

    def guarantee(self, level: float = 0.9) -> Guarantee | None:
        """Return the guarantee of the intervals of a level; None if rows are weighted."""
        require_fitted(self, "estimators_")
        require_level(level, usual=0.9)
        if not self._plain:
            return None
        plus = self.method == "plus"
        name = (
            ("jackknife+" if plus else "jackknife-minmax")
            if (self.fold_sizes_ == 1).all()
            else ("CV+" if plus else "CV-minmax")
        )
        return Guarantee(
            "marginal",
            f"coverage of the {100 * level:g} % intervals",
            self._ends.over,
            f"new {self.unit_} are exchangeable with the {self.unit_} of the fit, which the model"
            " treats alike",
            n=int(self.fold_sizes_.sum()),
            least=plus_promise(level, self.fold_sizes_) if plus else level,
            unit=self.unit_,
            method=name,
        )

    def explain(self, level: float = 0.9) -> str:
        """Return the guarantee of the intervals of a level, or the reason for none."""
        said = self.guarantee(level)
        return (
            "nothing is guaranteed: rows have weights other than 0 and 1"
            if said is None
            else str(said)
        )


def _without_fold(
    model: Any,
    conformity: str,
    data: TrainingRows,
    fit_rows: np.ndarray,
    rows: np.ndarray,
    params: dict[Any, Any],
) -> tuple[Any, np.ndarray]:
    """Return (the model fitted without a fold, the scores of the fold's rows)."""
    fitted = data.fitted(model, fit_rows, params)
    return fitted, np.abs(
        CONFORMITY[conformity].of(_forecast(fitted, data.X_of(rows), conformity), data.y[rows])
    )


def _forecast(model: Any, X: np.ndarray, conformity: str) -> Any:
    """Return a model's predictions as a forecast; a plain mean is enough if its std is not used."""
    out = model_forecast(model, X)
    if isinstance(out, Forecast):
        return out
    if conformity != "absolute":
        what = (
            f'conformity="{conformity}" needs a model with predict_distribution(X) or predict(X,'
            " return_std=True)"
        )
        raise InputError(f'{what}; {type(model).__name__} predicts a mean alone; use "absolute".')
    return NormalForecast(out, np.ones(out.shape))
