r"""Ridge-penalised multinomial log loss of scaled log-probabilities, with gradient and Hessian, for
:func:`newton.minimise`.

.. math:: f(\theta) = \frac{1}{W} \sum_i w_i \left(\log \sum_k e^{u_{ik}} - u_{i y_i}\right) +
    \sum_j \rho_j (\theta_j - c_j)^2

with u = a * z + b (vector, theta = [a; b] of shape (2, K)) or u = A z + b (matrix, theta = [A | b]
of shape (K, K + 1)). Values and gradients are float64; for z in float32, sums over a block are
float32. For many parameters only products with the Hessian are computed, in float32: it affects the
steps, not their limit.
"""

from typing import Any

import numpy as np
import scipy

from calibrant._numerics.fixed_order import multiply_rows
from calibrant._numerics.logistic import by_class
from calibrant._numerics.newton import LazySolver, cholesky_solver, preconditioned_solver
from calibrant._numerics.threads import map_blocks, row_blocks

__all__ = [
    "DENSE_MATRIX",
    "class_inverses",
    "matrix_logits",
    "matrix_objective",
    "vector_logits",
    "vector_objective",
]


def class_inverses(
    X: np.ndarray, P: np.ndarray, weight: np.ndarray, double_ridge: np.ndarray | float
) -> np.ndarray:
    """Inverse of each class's own block of the Hessian, (K, K + 1, K + 1), from the rows where the
    class has curvature.
    """
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
    for k, block in enumerate(blocks):
        # A quarter of the time of a general inverse.
        factor, failed = scipy.linalg.lapack.spotrf(block.T)
        if failed:
            blocks[k] = np.linalg.inv(block)
        else:
            inverse = np.triu(scipy.linalg.lapack.spotri(factor)[0])
            blocks[k] = inverse + np.triu(inverse, 1).T
    return blocks


#: Up to this many parameters the Hessian is formed: the balance of products and factorisations.
DENSE_VECTOR = 128
DENSE_MATRIX = 400
BLOCK_ENTRIES = 262_144
CLASS_BLOCKS = 160
NEGLIGIBLE = 1e-3


def vector_logits(theta: np.ndarray, z: np.ndarray) -> np.ndarray:
    """a * z + b, (2, K) and (n, K) -> (n, K)."""
    scale, shift = theta.astype(z.dtype)
    out = z * scale
    out += shift
    return out


def matrix_logits(theta: np.ndarray, z: np.ndarray) -> np.ndarray:
    """A z + b, (K, K + 1) and (n, K) -> (n, K)."""
    out = multiply_rows(z, theta[:, :-1].T)
    out += theta[:, -1]
    return out


def vector_objective(
    z: np.ndarray,
    labels: np.ndarray,
    weight: np.ndarray,
    ridge: np.ndarray | float,
    centre: np.ndarray,
) -> Any:
    """``evaluate(theta)`` for theta (2, K); ``ridge`` and ``centre`` broadcast to it."""
    weight = weight / weight.sum()
    ridge, centre = (
        np.broadcast_to(ridge, (2, z.shape[1])),
        np.broadcast_to(centre, (2, z.shape[1])),
    )
    blocks = row_blocks(len(z), max(BLOCK_ENTRIES // z.shape[1], 1))
    z = by_class(z)
    P = np.empty_like(z, dtype=np.float64 if 2 * z.shape[1] <= DENSE_VECTOR else np.float32)

    def block(theta: np.ndarray, rows: Any) -> tuple[float, np.ndarray]:
        label, x = labels[rows], z[rows]
        loss, p = _softmax_loss(vector_logits(theta, x), label, weight[rows])
        P[rows] = p
        share = weight[rows].astype(p.dtype)
        level = share @ p
        p *= x
        expected = np.stack([share @ p, level]).astype(np.float64)
        true = [
            np.bincount(label, w, z.shape[1]) for w in (share * x[np.arange(len(x)), label], share)
        ]
        return loss, expected - true

    def evaluate(theta: np.ndarray) -> tuple[float, np.ndarray, LazySolver]:
        value, gradient = _total(map_blocks(lambda rows: block(theta, rows), blocks))
        value += float((ridge * (theta - centre) ** 2).sum())
        gradient += 2.0 * ridge * (theta - centre)
        return value, gradient, _vector_solver(z, P, weight, ridge, blocks)

    return evaluate


def matrix_objective(
    z: np.ndarray,
    labels: np.ndarray,
    weight: np.ndarray,
    ridge: np.ndarray | float,
    centre: np.ndarray,
) -> Any:
    """``evaluate(theta)`` for theta (K, F + 1) of the shape of ``centre``, on features z (n, F);
    ``ridge`` broadcasts to it.
    """
    weight = weight / weight.sum()
    shape = centre.shape
    n_classes = shape[0]
    ridge = np.broadcast_to(ridge, shape)
    X = np.column_stack([z, np.ones(len(z), dtype=z.dtype)])
    blocks = row_blocks(len(z), max(BLOCK_ENTRIES // n_classes, 1))
    dense = shape[0] * shape[1] <= DENSE_MATRIX
    P = by_class(np.empty((len(z), n_classes), dtype=np.float64 if dense else np.float32))
    wide = np.ascontiguousarray(X.T) if dense else None
    single = None if dense else (X.astype(np.float32, copy=False), 2.0 * ridge)
    inverses = []

    def block(theta: np.ndarray, rows: Any) -> tuple[float, np.ndarray]:
        logits = X[rows] @ theta.T if wide is None else (theta @ wide[:, rows]).T
        loss, probabilities, residual = _softmax_residual(logits, labels[rows], weight[rows])
        P[rows] = probabilities
        return loss, (residual.T @ X[rows]).astype(np.float64, copy=False)

    def evaluate(theta: np.ndarray) -> tuple[float, np.ndarray, LazySolver]:
        cast = theta.astype(X.dtype, copy=False)
        value, gradient = _total(map_blocks(lambda rows: block(cast, rows), blocks))
        value += float((ridge * (theta - centre) ** 2).sum())
        gradient += 2.0 * ridge * (theta - centre)
        if dense:
            return (
                value,
                gradient,
                LazySolver(
                    lambda: cholesky_solver(_matrix_hessian(wide, P, weight, ridge, blocks))
                ),
            )
        return value, gradient, LazySolver(lambda: _matrix_products(single, P, weight, inverses))

    return evaluate


def _softmax_residual(
    logits: np.ndarray, labels: np.ndarray, weight: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """(summed loss, softmax, weighted softmax - indicator) of one block; overwrites ``logits``."""
    loss, probabilities = _softmax_loss(logits, labels, weight)
    share = weight.astype(logits.dtype)
    residual = probabilities * share[:, None]
    residual[np.arange(len(logits)), labels] -= share
    return loss, probabilities, residual


def _softmax_loss(
    logits: np.ndarray, labels: np.ndarray, weight: np.ndarray
) -> tuple[float, np.ndarray]:
    """(summed loss, softmax) of one block; overwrites ``logits``."""
    rows = np.arange(len(logits))
    logits -= logits.max(axis=1, keepdims=True)
    label_logit = logits[rows, labels].astype(np.float64)
    np.exp(logits, out=logits)
    total = logits.sum(axis=1)
    logits /= total[:, None]
    return float(weight @ (np.log(total.astype(np.float64)) - label_logit)), logits


def _total(parts: list[tuple[float, np.ndarray]]) -> tuple[float, np.ndarray]:
    """Sums over blocks, in their order."""
    value, gradient = parts[0]
    for loss, slope in parts[1:]:
        value += loss
        gradient += slope
    return value, gradient


def _vector_solver(
    z: np.ndarray, P: np.ndarray, weight: np.ndarray, ridge: np.ndarray, blocks: list[Any]
) -> LazySolver:
    if 2 * z.shape[1] <= DENSE_VECTOR:
        return LazySolver(lambda: cholesky_solver(_vector_hessian(z, P, weight, ridge, blocks)))
    return LazySolver(lambda: _vector_products(z, P, weight, ridge, blocks))


def _vector_hessian(
    z: np.ndarray, P: np.ndarray, weight: np.ndarray, ridge: np.ndarray, blocks: list[Any]
) -> np.ndarray:
    n_classes = z.shape[1]

    def block(rows: Any) -> tuple[float, np.ndarray]:
        features = np.concatenate([P[rows] * z[rows], P[rows]], axis=1)
        weighted = features * weight[rows, None]
        diagonals = np.stack(
            [
                np.einsum("ij,ij->j", weighted[:, :n_classes], z[rows]),
                *weighted.sum(axis=0).reshape(2, n_classes),
            ]
        )
        return 0.0, np.vstack([features.T @ weighted, np.pad(diagonals, ((0, 0), (0, n_classes)))])

    _, sums = _total(map_blocks(block, blocks))
    hessian, diagonals = -sums[:-3], sums[-3:, :n_classes]
    first, second = np.arange(n_classes), np.arange(n_classes, 2 * n_classes)
    hessian[first, first] += diagonals[0]
    hessian[first, second] += diagonals[1]
    hessian[second, first] += diagonals[1]
    hessian[second, second] += diagonals[2]
    hessian[np.diag_indices(2 * n_classes)] += 2.0 * ridge.ravel()
    return hessian


def _vector_products(
    z: np.ndarray, P: np.ndarray, weight: np.ndarray, ridge: np.ndarray, blocks: list[Any]
) -> Any:
    """Conjugate gradients on the (2, K) problem, preconditioned by each class's own 2 x 2 block."""

    def block(direction: np.ndarray, rows: Any) -> tuple[float, np.ndarray]:
        change = _softmax_change(
            vector_logits(direction, z[rows]), P[rows], weight[rows, None].astype(z.dtype)
        )
        return 0.0, np.stack([np.einsum("ij,ij->j", change, z[rows]), change.sum(axis=0)]).astype(
            np.float64
        )

    def product(direction: np.ndarray) -> np.ndarray:
        return (
            _total(map_blocks(lambda rows: block(direction, rows), blocks))[1]
            + 2.0 * ridge * direction
        )

    def curvatures(rows: Any) -> tuple[float, np.ndarray]:
        curvature = P[rows] * (1.0 - P[rows]) * weight[rows, None].astype(P.dtype)
        curvature_z = curvature * z[rows]
        return 0.0, np.stack(
            [
                np.einsum("ij,ij->j", curvature_z, z[rows]),
                curvature_z.sum(axis=0),
                curvature.sum(axis=0),
            ]
        ).astype(np.float64)

    aa, ab, bb = _total(map_blocks(curvatures, blocks))[1]
    aa, bb = aa + 2.0 * ridge[0] + 1e-12, bb + 2.0 * ridge[1] + 1e-12
    determinant = np.maximum(aa * bb - ab * ab, 1e-6 * aa * bb)

    def precondition(r: np.ndarray) -> np.ndarray:
        return np.stack([bb * r[0] - ab * r[1], aa * r[1] - ab * r[0]]) / determinant

    return preconditioned_solver(product, precondition)


def _softmax_change(change: np.ndarray, P: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Weighted change of the softmax for a change of the logits; overwrites ``change``."""
    change -= np.einsum("ij,ij->i", change, P)[:, None]
    change *= P
    change *= weight
    return change


def _matrix_hessian(
    X: np.ndarray, P: np.ndarray, weight: np.ndarray, ridge: np.ndarray, blocks: list[Any]
) -> np.ndarray:
    """(K (F + 1), K (F + 1)), of features X given as (F + 1, n)."""
    n_classes, n_features = P.shape[1], len(X)

    def block(rows: Any) -> tuple[float, np.ndarray]:
        x, p, w = X[:, rows], P[rows].T, weight[rows]
        # A product with its own transpose costs half as much.
        products = ((p * np.sqrt(w))[:, None, :] * x[None, :, :]).reshape(
            n_classes * n_features, -1
        )
        out = -(products @ products.T)
        for k in range(n_classes):
            span = slice(k * n_features, (k + 1) * n_features)
            out[span, span] += (x * (w * p[k])) @ x.T
        return 0.0, out

    small = [
        piece
        for rows in blocks
        for piece in _pieces(rows, max(BLOCK_ENTRIES // (n_classes * n_features), 64))
    ]
    hessian = _total(map_blocks(block, small))[1]
    hessian[np.diag_indices(len(hessian))] += 2.0 * ridge.ravel()
    return hessian


def _pieces(rows: Any, size: int) -> list[Any]:
    return [
        slice(rows.start + part.start, rows.start + part.stop)
        for part in row_blocks(rows.stop - rows.start, size)
    ]


def _matrix_products(
    single: tuple[np.ndarray, np.ndarray], P: np.ndarray, weight: np.ndarray, inverses: Any
) -> Any:
    """Conjugate gradients on the (K, K + 1) problem in float32, preconditioned class by class.

    Rows of hardly any curvature are left out: they change the steps by a thousandth, not their
    limit.
    """
    X, double_ridge = single
    curvature = weight * (1.0 - np.einsum("ij,ij->i", P, P))
    informative = np.flatnonzero(curvature >= NEGLIGIBLE * curvature.mean())
    X, P, w = X[informative], P[informative], weight[informative].astype(np.float32)
    blocks = row_blocks(len(informative), max(BLOCK_ENTRIES // P.shape[1], 1))

    def block(direction: np.ndarray, rows: Any) -> tuple[float, np.ndarray]:
        change = _softmax_change(X[rows] @ direction, P[rows], w[rows, None])
        return 0.0, change.T @ X[rows]

    def product(direction: np.ndarray) -> np.ndarray:
        transposed = direction.T.astype(np.float32)
        data = _total(map_blocks(lambda rows: block(transposed, rows), blocks))[1]
        return data + double_ridge * direction

    if P.shape[1] > CLASS_BLOCKS:
        diagonal = (P * (1.0 - P) * w[:, None]).T @ (X * X) + double_ridge + 1e-12
        return preconditioned_solver(product, lambda s: s / diagonal)
    if not inverses:  # those of the first step serve the later ones too
        inverses.append(class_inverses(X, P, w, double_ridge))

    def precondition(s: np.ndarray) -> np.ndarray:
        return np.matmul(inverses[0], s.astype(np.float32)[:, :, None])[:, :, 0].astype(np.float64)

    return preconditioned_solver(product, precondition)
