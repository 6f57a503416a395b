"""The preconditioner of a matrix fit: each class's own block of the Hessian, inverted."""

import numpy as np
from scipy.linalg.lapack import spotrf, spotri

__all__ = ["class_inverses"]


def class_inverses(X, P, weight, double_ridge):
    """Inverse of each class's own block of the Hessian, (K, K + 1, K + 1), from the rows where the class is in play."""
    spread = P * (1.0 - P) * weight[:, None]
    total = spread.sum(axis=0)
    blocks = np.empty((P.shape[1], X.shape[1], X.shape[1]), dtype=np.float32)
    for k in range(P.shape[1]):
        rows = np.flatnonzero(spread[:, k] > 1e-2 * spread[:, k].max(initial=0.0))
        x = X[rows]
        blocks[k] = (x.T * spread[rows, k]) @ x
        blocks[k] *= total[k] / max(float(spread[rows, k].sum()), 1e-30)
    index = np.arange(X.shape[1])
    blocks[:, index, index] += double_ridge + 1e-5 * blocks[:, index, index].mean()
    for k, own in enumerate(blocks):
        # A quarter of the time of a general inverse.
        factor, failed = spotrf(own.T)
        if failed:
            blocks[k] = np.linalg.inv(own)
        else:
            inverse = np.triu(spotri(factor)[0])
            blocks[k] = inverse + np.triu(inverse, 1).T
    return blocks
