"""The peers, one line each, with the settings their documentation uses; only those that this
environment has.

They take mean and standard deviation; of quantile forecasts they are given those two, except
conformalised quantile regression.
"""

import importlib

import numpy as np
from benchmarks.arena.calibrators import Method
from benchmarks.regression_arena.answers import LEVEL, LEVELS, OTHERS, Answer, normal


class Peer:
    """``fit(said)`` and ``answer(said)`` around two functions: fit(said) -> fitted,
    answer(fitted, said) -> Answer.
    """

    def __init__(self, fit, answer):
        self._fit, self._answer = fit, answer

    def fit(self, said):
        self._fitted = self._fit(said)
        return self

    def answer(self, said):
        return self._answer(self._fitted, said)


# -- uncertainty-toolbox ---------------------------------------------------------------------------


def _toolbox_std():
    """By the miscalibration area: its default, the mean error, gives the same factor to three
    digits and takes forty times as long.
    """
    from uncertainty_toolbox.recalibration import optimize_recalibration_ratio

    return Peer(
        lambda said: optimize_recalibration_ratio(said.mean, said.std, said.y, criterion="miscal"),
        lambda ratio, said: normal(said.mean, ratio * said.std, said.y),
    )


def _toolbox_quantiles():
    """Its recalibrated quantiles, and its recalibrated interval, which is another fit; it has no
    density and no moments.
    """
    from uncertainty_toolbox import recalibration

    def fit(said):
        makers = (recalibration.get_quantile_recalibrator, recalibration.get_interval_recalibrator)
        return [make(said.mean, said.std, said.y) for make in makers]

    def answer(fitted, said):
        quantile, interval = fitted
        bounds, *others = (interval(said.mean, said.std, level) for level in (LEVEL, *OTHERS))
        quantiles = np.stack([quantile(said.mean, said.std, level) for level in LEVELS], axis=1)
        # Its outer quantiles are infinite: where they are, there is no CRPS to compute.
        others = np.array([[each.lower, each.upper] for each in others])
        return Answer(
            bounds.lower,
            bounds.upper,
            quantiles=quantiles if np.isfinite(quantiles).all() else None,
            others=others,
        )

    return Peer(fit, answer)


# -- netcal ----------------------------------------------------------------------------------------


def _netcal(name, answer, **settings):
    def fit(said):
        fitted = getattr(importlib.import_module("netcal.regression"), name)(**settings)
        return fitted.fit((said.mean, said.std), said.y)

    return Peer(fit, answer)


def _scaled(fitted, said):
    return normal(said.mean, np.asarray(fitted.transform((said.mean, said.std))).ravel(), said.y)


def _density(fitted, said):
    """Density and CDF on the points that netcal chooses for each row."""
    from netcal import cumulative_moments

    points, density, cdf = (
        np.asarray(part)[:, :, 0] for part in fitted.transform((said.mean, said.std))
    )
    mean, variance = (part.ravel() for part in cumulative_moments(points, cdf))
    rows = range(len(said.y))
    ends = [0.5 + side * 0.5 * level for level in (LEVEL, *OTHERS) for side in (-1.0, 1.0)]
    at = np.concatenate([LEVELS, ends])
    quantiles = np.array([np.interp(at, *_increasing(cdf[:, i], points[:, i])) for i in rows])
    of_y = np.array(
        [np.interp(said.y[i], points[:, i], density[:, i], left=0.0, right=0.0) for i in rows]
    )
    with np.errstate(divide="ignore"):
        # Its density is a numerical derivative of the CDF, a little below 0 in places.
        log_density = np.log(np.maximum(of_y, 0.0))
    low, high, *others = quantiles[:, len(LEVELS) :].T
    return Answer(
        low,
        high,
        mean,
        np.sqrt(variance),
        quantiles[:, : len(LEVELS)],
        log_density,
        np.reshape(others, (len(OTHERS), 2, -1)),
    )


def _increasing(cdf, points):
    """The CDF without its flat pieces, which have no inverse."""
    cdf = np.maximum.accumulate(cdf)
    kept = np.append(True, np.diff(cdf) > 0.0)
    return cdf[kept], points[kept]


# -- MAPIE -----------------------------------------------------------------------------------------


def _mapie_split():
    """Split conformal intervals of the absolute error; "features" are the predictions."""
    from mapie.regression import SplitConformalRegressor

    return Peer(
        lambda said: SplitConformalRegressor(
            _column(0), confidence_level=LEVEL, prefit=True
        ).conformalize(said.mean[:, None], said.y),
        lambda fitted, said: Answer(*_ends(fitted, said.mean[:, None]), mean=said.mean),
    )


def _mapie_quantiles():
    """Conformalised quantile regression; quantiles of a normal where the model says mean and
    std.
    """
    from mapie.regression import ConformalizedQuantileRegressor

    def features(said):
        if said.levels is not None:
            return said.values[:, [0, -1, len(said.levels) // 2]]
        ends = normal(said.mean, said.std, said.y)
        return np.column_stack([ends.low, ends.high, said.mean])

    def fit(said):
        fitted = ConformalizedQuantileRegressor(
            [_column(j) for j in range(3)], confidence_level=LEVEL, prefit=True
        )
        return fitted.conformalize(features(said), said.y)

    return Peer(fit, lambda fitted, said: Answer(*_ends(fitted, features(said)), mean=said.mean))


def _column(j):
    from sklearn.base import BaseEstimator, RegressorMixin

    class Column(RegressorMixin, BaseEstimator):
        """A fitted model whose prediction is one of its features."""

        def fit(self, X, y=None):
            return self

        def predict(self, X):
            return np.asarray(X)[:, j]

        def __sklearn_is_fitted__(self):
            return True

    return Column()


def _ends(fitted, X):
    _, intervals = fitted.predict_interval(X)
    low, high = intervals[:, 0, 0], intervals[:, 1, 0]
    # Conformalised quantiles can cross where the quantiles are too wide; ours are then the middle,
    # and so are these here.
    middle = 0.5 * (low + high)
    return np.minimum(low, middle), np.maximum(high, middle)


#: name -> (module it needs, makes it).
PEERS = {
    "uncertainty-toolbox std": ("uncertainty_toolbox", _toolbox_std),
    "uncertainty-toolbox quantiles": ("uncertainty_toolbox", _toolbox_quantiles),
    "netcal variance scaling": ("netcal", lambda: _netcal("VarianceScaling", _scaled)),
    "netcal isotonic": ("netcal", lambda: _netcal("IsotonicRegression", _density)),
    "netcal GP-Normal": ("netcal", lambda: _netcal("GPNormal", _scaled)),
    "netcal GP-Beta": ("netcal", lambda: _netcal("GPBeta", _density)),
    "MAPIE split conformal": ("mapie", _mapie_split),
    "MAPIE conformal quantiles": ("mapie", _mapie_quantiles),
}


def available():
    """The peers whose package is there."""
    found = []
    for name, (module, make) in PEERS.items():
        try:
            importlib.import_module(module)
        except ImportError:
            continue
        found.append(Method(name, make, source=module, code="peers"))
    return found
