"""A temperature for each row, by its margin:
``python -m benchmarks.experiments.margin_temperature``.

After temperature scaling (or structured matrix scaling) the logits of a row are multiplied by
exp(f(m)), where m is the difference of its two largest logits and f is linear between knots at
quantiles of m. A ridge on f keeps it near 0; its strength is chosen by three folds of the
calibration rows. The idea is sample margin-aware recalibration of the temperature. It was changed
once after a first look: without a temperature before it, the ridge kept it from correcting strongly
underconfident predictions (AdaBoost's), and it lost by 9 to 12 %.
"""

import numpy as np
from benchmarks.experiments.beside_structured import show
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

import calibrant as cb

KNOTS = 5
#: Inverse variances of f at the knots, in pseudo-rows.
RIDGES = (3.0, 30.0, 300.0)
FOLDS = 3


class MarginTemperature:
    """``first()`` is fitted on the same rows and gives the logits that the margins are taken of."""

    def __init__(self, first=cb.TemperatureScaling):
        self.first = first

    def fit(self, P, y):
        fold = np.random.default_rng(0).permutation(len(y)) % FOLDS
        Z = np.empty(P.shape)
        for k in range(FOLDS):
            # Margins out of fold: those of the rows that the first step saw are too large.
            Z[fold == k] = _logits(self.first().fit(P[fold != k], y[fold != k]), P[fold == k])
        self.first_ = self.first().fit(P, y)
        self.knots_ = np.unique(np.quantile(_margin(Z), np.linspace(0.0, 1.0, KNOTS)))
        losses = [
            sum(self._held_out(Z, y, fold == k, ridge) for k in range(FOLDS)) for ridge in RIDGES
        ]
        self.heights_ = self._heights(Z, y, RIDGES[int(np.argmin(losses))])
        return self

    def predict_proba(self, P):
        return softmax(self._scaled(_logits(self.first_, P), self.heights_), axis=1)

    def _scaled(self, Z, heights):
        return Z * np.exp(_hats(_margin(Z), self.knots_) @ heights)[:, None]

    def _held_out(self, Z, y, held, ridge):
        L = log_softmax(self._scaled(Z[held], self._heights(Z[~held], y[~held], ridge)), axis=1)
        return -L[np.arange(held.sum()), y[held]].sum()

    def _heights(self, Z, y, ridge):
        hats, own = _hats(_margin(Z), self.knots_), np.arange(len(y))

        def objective(heights):
            scale = np.exp(hats @ heights)
            L = log_softmax(Z * scale[:, None], axis=1)
            # d(-L_y)/d scale = E_Q[z] - z_y.
            slope = (np.exp(L) * Z).sum(axis=1) - Z[own, y]
            return -L[own, y].sum() + 0.5 * ridge * heights @ heights, hats.T @ (
                slope * scale
            ) + ridge * heights

        return minimize(
            objective,
            np.zeros(len(self.knots_)),
            jac=True,
            method="L-BFGS-B",
            bounds=[(-3.0, 3.0)] * len(self.knots_),
        ).x


def _logits(fitted, P):
    # Zeros are as far as 1e-6: a margin of an exact 1 tells nothing of how sure it is.
    return np.log(np.clip(fitted.predict_proba(P), 1e-6, 1.0))


def _margin(Z):
    top = np.partition(Z, -2, axis=1)[:, -2:]
    return top[:, 1] - top[:, 0]


def _hats(x, knots):
    return np.column_stack([np.interp(x, knots, one) for one in np.eye(len(knots))])


METHODS = {
    "temperature by margin": MarginTemperature,
    "temperature by margin after SMS": lambda: MarginTemperature(
        cb.scalings.StructuredMatrixScaling
    ),
}

if __name__ == "__main__":
    show(METHODS)
