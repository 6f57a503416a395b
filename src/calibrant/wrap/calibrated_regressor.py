"""A regressor whose error bars are calibrated, scikit-learn's way."""

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.utils import assert_all_finite, check_consistent_length, get_tags
from sklearn.utils.validation import check_is_fitted

from calibrant import arrays
from calibrant._base.default import default_regression_calibrator
from calibrant.errors import InputError
from calibrant.forecasts.forecast import Forecast
from calibrant.forecasts.normal import NormalForecast
from calibrant.rows import n_rows, take_optional, take_rows
from calibrant.wrap.model_outputs import is_fitted, model_forecast, one_or_several, with_weight
from calibrant.wrap.splits import refuse_prefit

__all__ = ["CalibratedRegressor"]
#: Standard deviation of a normal error over its mean absolute value: what makes a mean of |error| a std.
STD_OF_ABSOLUTE = np.sqrt(0.5 * np.pi)


class CalibratedRegressor(RegressorMixin, MetaEstimatorMixin, BaseEstimator):
    """Any scikit-learn regressor with a calibrated predictive distribution for each row.

    Parameters
    ----------
    model : regressor
        Unfitted: fitted here, and calibrated on predictions of rows it did not see. Already fitted (or a ``FrozenEstimator``): used as it
        is, so that ``fit`` takes calibration data, which the model must not have seen. What it says of a row is found out in this order:
        ``predict_distribution(X)`` (a forecast), ``predict(X, return_std=True)``, ``predict(X)`` returning the pair (mean, std), and else
        a plain mean, whose std is that of ``scale_model``.
    calibrator : regression calibrator, optional
        Default :class:`AutoRegressionCalibrator`.
    scale_model : regressor, optional
        For models that predict a mean only: fitted to the absolute errors of rows that the model did not see, its predictions (kept above
        a hundredth of their mean), times 1.2533 as for normal errors, are the std before calibration. Default: one std for all rows.
    cv : int, splitter, iterable of (rows to fit, rows held out), or None
        None: 5 folds for an unfitted model. A number means shuffled folds.
    random_state : int or None
        Seed of the folds when ``cv`` is a number; None is the same as 0.

    Attributes
    ----------
    model_ : the fitted model (fitted to all rows where it was not fitted).
    scale_model_ : the fitted scale model, or None.
    calibrator_ : the fitted calibrator.
    n_features_in_, feature_names_in_ : where the model has them.

    Raises
    ------
    InputError
        When the data do not fit, or ``cv="prefit"``.

    Notes
    -----
    ``predict`` is the mean of the calibrated distribution: the model's own, except for calibrators that move it (interval calibration).
    With a fitted model that predicts a mean only, the scale model and the calibrator share the calibration rows, by cross-fitting.

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

    def __init__(self, model, calibrator=None, *, scale_model=None, cv=None, random_state=None):
        self.model = model
        self.calibrator = calibrator
        self.scale_model = scale_model
        self.cv = cv
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.model).input_tags
        tags.target_tags.multi_output = get_tags(self.model).target_tags.multi_output
        return tags

    def fit(self, X, y, *, sample_weight=None, groups=None, **fit_params):
        """Fit the model where it is not fitted, the scale model where there is one, and the calibrator.

        Parameters
        ----------
        X : (n, ...) features: array, sparse matrix, data frame
        y : (n,) outcomes; (n, d) for a model of several outputs, each calibrated on its own
        sample_weight : (n,), optional
            For the model and the calibrator; a row of weight 0 counts as no row.
        groups : (n,), optional
            Handed to the splitter.
        **fit_params
            Handed to the model's ``fit``; those with one entry a row are cut to the rows of each fold.

        Returns
        -------
        self
        """
        X, y = _checked(X, y)
        refuse_prefit(self.cv)
        weight, kept = arrays.weights(sample_weight, len(y))
        if weight is not None:
            full = np.zeros(len(y))
            full[slice(None) if kept is None else kept] = weight
            weight = full
        template = default_regression_calibrator() if self.calibrator is None else self.calibrator
        data = _Rows(X, y, weight, fit_params)
        splits = [(data.counted(a), data.counted(b)) for a, b in self._splits(data, groups)]
        everything = data.counted(np.arange(len(y)))
        if is_fitted(self.model):
            self.model_ = self.model
            held_out, forecast = everything, model_forecast(self.model, take_rows(X, everything))
        else:
            held_out = np.concatenate([rows for _, rows in splits])
            forecast = _joined([model_forecast(data.fitted(self.model, a), take_rows(X, b)) for a, b in splits])
            self.model_ = data.fitted(self.model, everything)
        forecast = self._with_scale(forecast, data, held_out, splits)
        self.calibrator_ = clone(template).fit(forecast, y[held_out], sample_weight=None if weight is None else weight[held_out])
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.model_, name):
                setattr(self, name, getattr(self.model_, name))
        return self

    def _splits(self, data, groups):
        from sklearn import model_selection  # here, because it brings a fifth of the time that importing calibrant takes

        cv = 5 if self.cv is None else self.cv
        if isinstance(cv, int | np.integer):
            if cv < 2:
                raise InputError(f"cv must be at least 2 folds; got {cv}.")
            if len(data.y) < 2:
                if is_fitted(self.model) and self.scale_model is None:
                    return []
                raise InputError(f"cross-validation needs at least 2 rows; got n_samples = {len(data.y)}; pass a fitted model instead.")
            seed = 0 if self.random_state is None else self.random_state
            folds = min(int(cv), len(data.y) if groups is None else len(np.unique(np.asarray(groups))))
            whole = model_selection.KFold(folds, shuffle=True, random_state=seed)
            cv = whole if groups is None else model_selection.GroupKFold(folds)
        return [(np.asarray(a), np.asarray(b)) for a, b in model_selection.check_cv(cv).split(data.X, data.y, groups)]

    def _with_scale(self, forecast, data, held_out, splits):
        """The forecast itself, or plain means with a std: one for all rows, or the scale model's, each row by one that did not see it."""
        self.scale_model_, self._spread = None, None
        if isinstance(forecast, Forecast):
            return forecast
        size = STD_OF_ABSOLUTE * np.abs(data.y[held_out] - forecast)
        spread = np.average(size, axis=0, weights=None if data.weight is None else data.weight[held_out])
        self._spread = np.where(spread > 0.0, spread, 1.0)
        if self.scale_model is None:
            return NormalForecast(forecast, np.full(forecast.shape, self._spread))
        error = np.zeros(data.y.shape)
        error[held_out] = size
        std = np.full(data.y.shape, self._spread)
        seen = np.zeros(len(data.y), dtype=bool)
        seen[held_out] = True
        for fit_rows, rows in splits:
            fit_rows = fit_rows[seen[fit_rows]]
            if len(fit_rows):
                fresh = data.fitted(self.scale_model, fit_rows, error)
                std[rows] = self._positive(fresh.predict(take_rows(data.X, rows)))
        self.scale_model_ = data.fitted(self.scale_model, held_out, error)
        return NormalForecast(forecast, std[held_out])

    def _positive(self, std):
        return np.maximum(np.asarray(std, dtype=np.float64), 0.01 * self._spread)

    def predict_distribution(self, X) -> Forecast:
        """The calibrated predictive distributions: ``mean``, ``std``, ``quantile(q)``, ``cdf(y)``, ``interval(level)``, ``sample(n)``."""
        check_is_fitted(self, "calibrator_")
        forecast = model_forecast(self.model_, X)
        if not isinstance(forecast, Forecast):
            std = np.full(forecast.shape, self._spread) if self.scale_model_ is None else self._positive(self.scale_model_.predict(X))
            forecast = NormalForecast(forecast, std)
        return self.calibrator_.predict(forecast)

    def predict(self, X, return_std=False):
        """Means of the calibrated distributions, (n,) or (n, d); with ``return_std`` the pair (mean, std)."""
        forecast = self.predict_distribution(X)
        return (forecast.mean, forecast.std) if return_std else forecast.mean


def _joined(parts):
    """What several folds said, one after the other."""
    return parts[0].joined(parts[1:]) if isinstance(parts[0], Forecast) else np.concatenate(parts)


def _checked(X, y):
    if y is None:
        raise InputError("CalibratedRegressor requires y to be passed, but the target y is None.")
    X = X if hasattr(X, "__len__") or hasattr(X, "shape") else np.asarray(X)
    y = one_or_several(y, warn=True)
    check_consistent_length(X, y)
    if n_rows(X) == 0:
        raise InputError("X and y must hold rows; got 0 samples.")
    assert_all_finite(y, input_name="y")
    return X, np.asarray(y, dtype=np.float64)


class _Rows:
    """The training data of one ``fit``: rows of weight 0 are no rows."""

    def __init__(self, X, y, weight, fit_params):
        self.X, self.y, self.weight, self.fit_params = X, y, weight, fit_params

    def counted(self, rows):
        rows = np.flatnonzero(rows) if rows.dtype.kind == "b" else rows
        return rows if self.weight is None else rows[self.weight[rows] > 0.0]

    def fitted(self, model, rows, target=None):
        """A clone fitted to some rows; the fit arguments are the model's, not those of a scale model, which has a ``target``."""
        params = take_optional(self.fit_params, rows, len(self.y)) if target is None else {}
        params = with_weight(model, params, None if self.weight is None else self.weight[rows])
        return clone(model).fit(take_rows(self.X, rows), (self.y if target is None else target)[rows], **params)
