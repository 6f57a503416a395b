"""Regressor with calibrated error bars, with scikit-learn's interface."""

from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from calibrant.calibrators.training_rows import TrainingRows, Wrapper, checked_rows, routed
from calibrant.core.arrays import ArrayLike
from calibrant.core.estimators import RegressorMixin, account, seeded
from calibrant.core.folds import make_splits, refuse_prefit
from calibrant.core.forecast import Forecast, NormalForecast
from calibrant.core.guarantee import Guarantee
from calibrant.core.kinds import require_regression_calibrator
from calibrant.core.model_outputs import is_fitted, model_forecast, one_or_several
from calibrant.core.regression_calibrator import RegressionCalibrator
from calibrant.regression.auto_regression import default_regression_calibrator

__all__ = ["CalibratedRegressor"]
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

    References
    ----------
    Levi et al., "Evaluating and calibrating uncertainty prediction in regression tasks", 2019.

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
        check_is_fitted(self, "calibrator_")
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
        check_is_fitted(self, "calibrator_")
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
        check_is_fitted(self, "calibrator_")
        return account(self.calibrator_)


def _joined(parts: Any) -> Any:
    """Join the forecasts of several folds."""
    return parts[0].joined(parts[1:]) if isinstance(parts[0], Forecast) else np.concatenate(parts)
