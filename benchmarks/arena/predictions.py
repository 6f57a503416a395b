"""What the models said: made once and kept as npz (``probabilities``, ``labels``) in a folder
that git ignores.
"""

import os
import warnings
from pathlib import Path

import numpy as np
from benchmarks.arena import class_sets, tabular
from benchmarks.arena.cases import DATASETS, MODELS
from benchmarks.arena.outputs import Output
from scipy.special import softmax
from sklearn.model_selection import StratifiedKFold

CACHE = Path(__file__).parent / "cache"
SMALLEST = 1e-12


def load(case, cache=CACHE):
    """(probabilities clipped to [1e-12, 1] and normalised, labels) of a case."""
    if isinstance(case.source, Output):
        P, y = case.source.load()
    else:
        with np.load(
            case.source if isinstance(case.source, Path) else trained_file(case, cache),
            allow_pickle=False,
        ) as z:
            P, y = z["probabilities"].astype(np.float64), z["labels"].astype(np.intp)
    if P.ndim == 1:
        P = np.column_stack([1.0 - P, P])
    P = np.clip(P, SMALLEST, 1.0)
    return P / P.sum(axis=1, keepdims=True), y


def split(run, n):
    """(rows to fit, rows to test): the first half of a seeded permutation, cut to the
    calibration size, and the rest.
    """
    order = np.random.default_rng(run.seed).permutation(n)
    return order[: n // 2][: run.size], order[n // 2 :]


def trained_file(case, cache=CACHE):
    """The file of a trained case, made if it is not there."""
    path = Path(cache) / f"{case.name}.npz"
    if not path.exists():
        data, model = case.source
        P, y = _predict(_data(data), model if callable(model) else MODELS[model])
        path.parent.mkdir(parents=True, exist_ok=True)
        # Two processes may make the same file: the last whole one stands.
        part = path.with_name(f".{path.stem}.{os.getpid()}.npz")
        y = y.astype(np.min_scalar_type(P.shape[1]))
        np.savez_compressed(part, probabilities=P.astype(np.float32), labels=y)
        part.replace(path)
    return path


def _data(name):
    if callable(name):
        return name()
    if name in DATASETS:
        return DATASETS[name][0]()
    return (class_sets if name in class_sets.CLASS_SETS else tabular).load(name)


def _predict(data, make):
    with warnings.catch_warnings():
        # The models are to be fast: whether they converged does not matter here.
        warnings.simplefilter("ignore")
        if len(data) == 4:
            X_train, y_train, X, y = data
            return _proba(make().fit(X_train, y_train), X, int(y_train.max()) + 1), y
        X, y = data
        P = np.zeros((len(y), int(y.max()) + 1))
        for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
            P[test] = _proba(make().fit(X[train], y[train]), X[test], P.shape[1])
        return P, y


def _proba(model, X, n_classes):
    """Probabilities with a column for every class; margins of a model without probabilities are
    read as logits.
    """
    if hasattr(model, "predict_proba"):
        own = model.predict_proba(X)
    else:
        margin = model.decision_function(X)
        own = softmax(
            margin if margin.ndim == 2 else np.column_stack([np.zeros(len(margin)), margin]), axis=1
        )
    out = np.zeros((len(X), n_classes))
    out[:, model.classes_] = own
    return out
