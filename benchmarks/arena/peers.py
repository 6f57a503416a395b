"""The peers, one line each, with the settings their documentation uses; only those that the
environment has (make arena-peers).
"""

import importlib

import numpy as np
from benchmarks.arena.calibrators import Limit, Method


class Adapter:
    """``fit(P, y)`` and ``predict_proba(P)`` around two functions: fit(P, y) -> fitted,
    predict(fitted, P) -> Q.
    """

    def __init__(self, fit, predict):
        self._fit, self._predict = fit, predict

    def fit(self, P, y):
        self._fitted = self._fit(P, y)
        return self

    def predict_proba(self, P):
        return self._predict(self._fitted, P)


class OneVsRest:
    """A binary peer on each class against the rest, then normalised; two classes take one."""

    def __init__(self, fit, predict):
        self._fit, self._predict = fit, predict

    def fit(self, P, y):
        columns = [1] if P.shape[1] == 2 else range(P.shape[1])
        # A class without rows has nothing to fit: it keeps its probability, which is kinder than an
        # error.
        self._fitted = [
            self._fit(P[:, k], (y == k).astype(int)) if (y == k).any() else None for k in columns
        ]
        return self

    def predict_proba(self, P):
        if len(self._fitted) == 1:
            second = self._predict(self._fitted[0], P[:, 1])
            return np.column_stack([1.0 - second, second])
        Q = np.column_stack(
            [
                P[:, k] if f is None else self._predict(f, P[:, k])
                for k, f in enumerate(self._fitted)
            ]
        )
        total = Q.sum(axis=1, keepdims=True)
        return np.where(total > 0.0, Q / np.where(total > 0.0, total, 1.0), P)


# -- scikit-learn ----------------------------------------------------------------------------------


def _sklearn(method, logits=False):
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.frozen import FrozenEstimator

    class Stored(ClassifierMixin, BaseEstimator):
        """A model whose features are its predictions."""

        def fit(self, P, y):
            self.classes_ = np.arange(P.shape[1])
            return self

        def predict_proba(self, P):
            return P

        def predict(self, P):
            return P.argmax(axis=1)

    class StoredLogits(Stored):
        def decision_function(self, P):
            logits = np.log(P)
            return logits[:, 1] - logits[:, 0] if P.shape[1] == 2 else logits

    stored = StoredLogits if logits else Stored
    return Adapter(
        lambda P, y: CalibratedClassifierCV(
            FrozenEstimator(stored().fit(P, y)), method=method, ensemble=False
        ).fit(P, y),
        lambda fitted, P: fitted.predict_proba(P),
    )


# -- probmetrics -----------------------------------------------------------------------------------


def _probmetrics(name, **settings):
    from probmetrics.calibrators import get_calibrator

    return Adapter(
        lambda P, y: get_calibrator(name, **settings).fit(P, y),
        lambda fitted, P: fitted.predict_proba(P),
    )


def _probmetrics_class(name, one_vs_rest=False, **settings):
    from probmetrics import calibrators

    def make():
        calibrator = getattr(calibrators, name)(**settings)
        return calibrators.MulticlassOneVsRestCalibrator(calibrator) if one_vs_rest else calibrator

    return Adapter(lambda P, y: make().fit(P, y), lambda fitted, P: fitted.predict_proba(P))


# -- betacal, venn-abers, netcal -------------------------------------------------------------------


def _betacal(parameters):
    from betacal import BetaCalibration

    return OneVsRest(
        lambda p, y: BetaCalibration(parameters).fit(p.reshape(-1, 1), y),
        lambda fitted, p: fitted.predict(p),
    )


def _venn_abers():
    from venn_abers import VennAbers

    def fit(p, y):
        fitted = VennAbers()
        fitted.fit(np.column_stack([1.0 - p, p]), y)
        return fitted

    return OneVsRest(
        fit, lambda fitted, p: fitted.predict_proba(np.column_stack([1.0 - p, p]))[0][:, 1]
    )


def _netcal(module, name, *settings, **named):
    def fit(P, y):
        fitted = getattr(importlib.import_module(f"netcal.{module}"), name)(*settings, **named)
        return fitted.fit(P[:, 1] if P.shape[1] == 2 else P, y)

    def predict(fitted, P):
        if P.shape[1] > 2:
            return fitted.transform(P)
        second = np.asarray(fitted.transform(P[:, 1])).ravel()
        return np.column_stack([1.0 - second, second])

    return Adapter(fit, predict)


_BETA = Limit("2.2 s CPU a fit at 9 classes and 100 rows, and more with every class", classes=5)
_FEW = Limit(
    "0.2 to 0.4 s CPU a fit at 10 classes and 1,000 rows, and more with every class", classes=9
)
_MANY = Limit("one fit for each class: 1 to 5 s CPU at 200 classes and 1,000 rows", classes=200)

#: name -> (module it needs, makes it, time limit).
PEERS = {
    "sklearn sigmoid": ("sklearn", lambda: _sklearn("sigmoid"), None),
    "sklearn sigmoid (logits)": ("sklearn", lambda: _sklearn("sigmoid", logits=True), None),
    "sklearn isotonic": ("sklearn", lambda: _sklearn("isotonic"), None),
    "sklearn temperature": ("sklearn", lambda: _sklearn("temperature"), None),
    "probmetrics temperature": ("probmetrics", lambda: _probmetrics("temp-scaling"), None),
    "probmetrics temperature, mixed": ("probmetrics", lambda: _probmetrics("ts-mix"), None),
    "probmetrics SVS": ("probmetrics", lambda: _probmetrics("svs"), None),
    "probmetrics SMS": ("probmetrics", lambda: _probmetrics("sms"), None),
    "probmetrics logistic": ("probmetrics", lambda: _probmetrics("logistic"), None),
    "probmetrics quadratic": (
        "probmetrics",
        lambda: _probmetrics_class("BinaryLogisticCalibrator", True, type="quadratic"),
        _MANY,
    ),
    "probmetrics affine": (
        "probmetrics",
        lambda: _probmetrics_class("BinaryLogisticCalibrator", True, type="affine"),
        _MANY,
    ),
    "probmetrics vector": (
        "probmetrics",
        lambda: _probmetrics_class("VectorScalingCalibrator"),
        None,
    ),
    "probmetrics matrix": (
        "probmetrics",
        lambda: _probmetrics_class("MatrixScalingCalibrator"),
        _MANY,
    ),
    "probmetrics isotonic, mixed": (
        "probmetrics",
        lambda: _probmetrics("isotonic", calibrate_with_mixture=True),
        None,
    ),
    "probmetrics ETS": ("probmetrics", lambda: _probmetrics_class("ETSCalibrator"), None),
    "probmetrics Venn-Abers": ("probmetrics", lambda: _probmetrics("ivap"), _MANY),
    "betacal abm": ("betacal", lambda: _betacal("abm"), _MANY),
    "betacal am": ("betacal", lambda: _betacal("am"), _MANY),
    "venn-abers": ("venn_abers", _venn_abers, _FEW),
    "netcal temperature": ("netcal", lambda: _netcal("scaling", "TemperatureScaling"), None),
    "netcal logistic": ("netcal", lambda: _netcal("scaling", "LogisticCalibration"), _FEW),
    "netcal beta": ("netcal", lambda: _netcal("scaling", "BetaCalibration"), _BETA),
    "netcal isotonic": ("netcal", lambda: _netcal("binning", "IsotonicRegression"), None),
    "netcal histogram": ("netcal", lambda: _netcal("binning", "HistogramBinning", 10), None),
    "netcal BBQ": ("netcal", lambda: _netcal("binning", "BBQ"), _FEW),
}


def available():
    """The peers whose package is there."""
    found = []
    for name, (module, make, limit) in PEERS.items():
        try:
            importlib.import_module(module)
        except ImportError:
            continue
        found.append(Method(name, make, source=module, limit=limit, code="peers"))
    return found
