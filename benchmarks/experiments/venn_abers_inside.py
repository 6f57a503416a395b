"""Venn-Abers inside intra-order-preserving scaling:
``python -m benchmarks.experiments.venn_abers_inside``.

The confidence of the top class after intra-order-preserving scaling goes through Venn-Abers
prediction, fitted on out-of-fold confidences, and the other classes share the rest in their
proportions. If the second class would overtake, the top class is set equal to it, which keeps the
order of the classes. A second version after structured matrix scaling separates the effect of the
map from that of its input.
"""

import numpy as np
from benchmarks.experiments.beside_structured import show

import calibrant as cb

FOLDS = 3


class TopThroughVennAbers:
    """``first()``, then the top class's confidence through Venn-Abers prediction."""

    def __init__(self, first):
        self.first = first

    def fit(self, P, y):
        fold, Q = np.random.default_rng(0).permutation(len(y)) % FOLDS, np.empty(P.shape)
        for k in range(FOLDS):
            Q[fold == k] = self.first().fit(P[fold != k], y[fold != k]).predict_proba(P[fold == k])
        self.first_ = self.first().fit(P, y)
        self.map_ = cb.maps.VennAbers().fit(Q.max(axis=1), (Q.argmax(axis=1) == y).astype(int))
        return self

    def predict_proba(self, P):
        Q = self.first_.predict_proba(P)
        top, own = Q.argmax(axis=1), np.arange(len(Q))
        sure = Q[own, top]
        rest = np.maximum(1.0 - sure, 1e-12)
        second = np.partition(Q, -2, axis=1)[:, -2] / rest
        # c >= (1 - c) second, so that the top stays the top.
        new = np.clip(self.map_.predict(sure), second / (1.0 + second), 1.0 - 1e-6)
        out = Q * ((1.0 - new) / rest)[:, None]
        out[own, top] = new
        return out / out.sum(axis=1, keepdims=True)


METHODS = {
    "Venn-Abers inside IOP": lambda: TopThroughVennAbers(cb.scalings.IntraOrderPreserving),
    "Venn-Abers after SMS": lambda: TopThroughVennAbers(cb.scalings.StructuredMatrixScaling),
}

if __name__ == "__main__":
    show(METHODS)
