"""A correction by neighbours in the simplex:
``python -m benchmarks.experiments.simplex_proximity``.

After structured matrix scaling, the mean error of the nearby calibration rows is added to a row:
Q + sum_i k(Q, Q_i) (e_{y_i} - Q_i) / (a + sum_i k(Q, Q_i)), negative entries cut off, with a
Gaussian kernel of the Hellinger distance. Its width and a are chosen by leave-one-out on the
calibration rows, with no correction among the candidates.
"""

import numpy as np
from benchmarks.experiments.beside_structured import show

import calibrant as cb

#: Widths as shares of the median distance between calibration rows, and pseudo-rows without an
#: error.
WIDTHS = (0.1, 0.25, 0.5, 1.0)
PSEUDO_ROWS = (3.0, 10.0, 30.0, 100.0, np.inf)
FOLDS = 3
SMALLEST = 1e-6


class SimplexProximity:
    """Structured matrix scaling, then the neighbours' mean error."""

    def fit(self, P, y):
        fold, Q = np.random.default_rng(0).permutation(len(y)) % FOLDS, np.empty(P.shape)
        for k in range(FOLDS):
            Q[fold == k] = (
                cb.scalings.StructuredMatrixScaling()
                .fit(P[fold != k], y[fold != k])
                .predict_proba(P[fold == k])
            )
        self.first_ = cb.scalings.StructuredMatrixScaling().fit(P, y)
        self.roots_, self.errors_ = np.sqrt(Q), np.eye(P.shape[1])[y] - Q
        far, best = _squared_distances(self.roots_, self.roots_), np.inf
        middle = np.median(far[~np.eye(len(y), dtype=bool)])
        for width in WIDTHS:
            kernel = np.exp(-far / (2.0 * width**2 * max(middle, 1e-12)))
            np.fill_diagonal(kernel, 0.0)
            for pseudo in PSEUDO_ROWS:
                loss = -np.log(self._corrected(Q, kernel, pseudo)[np.arange(len(y)), y]).mean()
                if loss < best:
                    best, self.scale_, self.pseudo_rows_ = (
                        loss,
                        2.0 * width**2 * max(middle, 1e-12),
                        pseudo,
                    )
        return self

    def predict_proba(self, P):
        Q = self.first_.predict_proba(P)
        return self._corrected(
            Q, np.exp(-_squared_distances(np.sqrt(Q), self.roots_) / self.scale_), self.pseudo_rows_
        )

    def _corrected(self, Q, kernel, pseudo_rows):
        moved = (
            Q
            if np.isinf(pseudo_rows)
            else Q + (kernel @ self.errors_) / (pseudo_rows + kernel.sum(axis=1, keepdims=True))
        )
        # A probability is cut to a tenth of itself at most.
        moved = np.maximum(moved, np.maximum(0.1 * Q, SMALLEST))
        return moved / moved.sum(axis=1, keepdims=True)


def _squared_distances(A, B):
    return np.maximum(
        np.square(A).sum(axis=1)[:, None] + np.square(B).sum(axis=1) - 2.0 * A @ B.T, 0.0
    )


METHODS = {"neighbours in the simplex after SMS": SimplexProximity}

if __name__ == "__main__":
    show(METHODS)
