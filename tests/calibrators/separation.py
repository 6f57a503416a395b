"""What the separation signals are asked in the tests, and the distances that their definitions
are made of.
"""

import numpy as np
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

__all__ = ["SCIPY", "clouds", "nearest", "scores"]

SCIPY = {"l2": "euclidean", "l1": "cityblock", "linf": "chebyshev"}


@st.composite
def clouds(draw, queries=6, dimension=None, whole=None):
    """(queries, predicted classes, training points, labels) with every class among the labels and a
    training point among the queries.

    Whole numbers make ties and duplicates across classes.
    """
    seed, n, k = draw(st.integers(0, 2**32 - 1)), draw(st.integers(2, 40)), draw(st.integers(2, 3))
    rng, d = np.random.default_rng(seed), dimension or draw(st.integers(1, 6))
    whole = draw(st.booleans()) if whole is None else whole
    y = np.concatenate([np.arange(k), rng.integers(0, k, n)])
    make = (
        (lambda m: rng.integers(-2, 3, (m, d)).astype(float))
        if whole
        else (lambda m: rng.normal(size=(m, d)))
    )
    X_train = make(len(y))
    return np.vstack([make(queries - 1), X_train[:1]]), rng.integers(0, k, queries), X_train, y


def scores(signal, X, predicted, X_train, y_train):
    """The signal's scores, of the features as they are, where the model predicts ``predicted``;
    ``signal`` is fitted.
    """
    P = np.eye(max(2, int(max(predicted.max(), y_train.max())) + 1))[predicted]
    return (
        signal.set_params(scale="none")
        .fit(P, predicted, X=X, reference=(X_train, y_train))
        .score(P, X=X)
    )


def nearest(X, predicted, X_train, y_train, metric="l2"):
    """(D(x, F), D(x, Fbar)) by all distances."""
    D, same = cdist(X, X_train, SCIPY[metric]), y_train[None] == predicted[:, None]
    return np.where(same, D, np.inf).min(axis=1), np.where(same, np.inf, D).min(axis=1)
