"""One latent Gaussian process shared by all classes: the variational bound and its gradient, by
hand.

The latent function is f = prior mean + g, and g acts on every component of every row. All sums over
classes are sums of p_k u(z_k), with p the softmax of the prior mean (the input's own distribution)
and u a function of the score: see ``score_layouts``.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import scipy

__all__ = [
    "PERIOD",
    "WIDTH",
    "Direct",
    "Grid",
    "Hyper",
    "Interpolated",
    "Posterior",
    "bound",
    "cholesky",
    "divergence",
    "expected",
    "function_values",
    "latent",
    "lattice_features",
    "projection",
    "row_products",
]

#: Lattice spacing in length scales, and nodes a point touches: the kernel is right to 1e-10.
SPACING, WIDTH = 0.45, 22
#: b(0), which makes the kernel 1 at 0.
HEIGHT = np.sqrt(SPACING * np.sqrt(2.0 / np.pi))
#: Nodes after which the lattice repeats: points it confuses lie 1,800 length scales apart.
PERIOD = 4096
#: No point is placed further out than this many nodes: float64 would soon have no digits left for
#: the place between two. The third of a period keeps the two ends apart from each other and from 0.
FAR = 2.0**40 + PERIOD // 3


def lattice_features(points: np.ndarray, length: float) -> tuple[np.ndarray, np.ndarray]:
    """F (P, r), the kernel between even, increasing points being F F^T, and its slope in log length
    (P, r), the nodes held in place.

    A length below a sixth of a cell makes the kernel the identity to 1e-8, and is read as that
    sixth.
    """
    length = max(length, (points[1] - points[0]) / 6.0)
    first, last = (int(np.floor(z / (SPACING * length))) for z in (points[0], points[-1]))
    gap = points[:, None] / length - SPACING * np.arange(
        first + 1 - WIDTH // 2, last + 1 + WIDTH // 2
    )
    features = HEIGHT * np.exp(-gap * gap)
    return features, features * (2.0 * gap * gap - 0.5)


def _bumps(points: np.ndarray, length: float) -> tuple[np.ndarray, np.ndarray]:
    """The nodes that each point touches, (P, WIDTH), and b there."""
    place = np.clip(points / (SPACING * length), -FAR, FAR)
    nodes = np.floor(place).astype(np.int64)[:, None] + np.arange(1 - WIDTH // 2, 1 + WIDTH // 2)
    gap = SPACING * (place[:, None] - nodes)
    return nodes, HEIGHT * np.exp(-gap * gap)


def function_values(points: np.ndarray, length: float, noise: np.ndarray) -> np.ndarray:
    """Functions given by white noise on the lattice (PERIOD, D), at points (P,): (P, D), draws
    from the process of unit variance.
    """
    nodes, heights = _bumps(points, length)
    row_starts = np.arange(len(points) + 1) * WIDTH
    return (
        scipy.sparse.csr_array(
            (heights.ravel(), (nodes % PERIOD).ravel(), row_starts), shape=(len(points), PERIOD)
        )
        @ noise
    )


def row_products(scores: np.ndarray, values: np.ndarray, length: float) -> np.ndarray:
    """Each row's kernel matrix (K, K) times its values, (n, K): the values are deposited on the
    lattice and read back.
    """
    n, K = scores.shape
    nodes, heights = (a.reshape(n, K * WIDTH) for a in _bumps(scores.ravel(), length))
    size = min(int(nodes.max() - nodes.min()) + 1, PERIOD)
    cell = nodes % size + size * np.arange(n)[:, None]
    deposits = np.bincount(
        cell.ravel(),
        weights=(heights * np.repeat(values, WIDTH, axis=1)).ravel(),
        minlength=n * size,
    )
    return np.sum((deposits[cell] * heights).reshape(n, K, WIDTH), axis=2)


class Direct:
    """Every component of every row is a point: exact, O(n K) points."""

    def __init__(self, scores: np.ndarray, prior: np.ndarray, labels: np.ndarray) -> None:
        self.scores, self.prior = scores, prior
        self.points = scores.ravel()
        self.label_index = np.arange(len(labels)) * scores.shape[1] + labels

    def expand(self, u: np.ndarray) -> np.ndarray:
        """From the points to the components, (..., P) -> (..., C)."""
        return u

    def collect(self, bar: np.ndarray) -> np.ndarray:
        """Adjoint of expand."""
        return bar

    def sums(self, u: np.ndarray) -> np.ndarray:
        """sum_k p_k u(z_k), (C, ...) -> (n, ...)."""
        return np.einsum("nk,nk...->n...", self.prior, u.reshape(*self.prior.shape, *u.shape[1:]))

    def squares(self, u: np.ndarray) -> np.ndarray:
        """sum_k p_k^2 u(z_k), (C,) -> (n,)."""
        return np.einsum("nk,nk,nk->n", self.prior, self.prior, u.reshape(self.prior.shape))

    def sums_back(self, bar: np.ndarray) -> np.ndarray:
        """Adjoint of sums, (n, ...) -> (C, ...)."""
        return np.einsum("nk,n...->nk...", self.prior, bar).reshape(self.prior.size, *bar.shape[1:])

    def squares_back(self, bar: np.ndarray) -> np.ndarray:
        return (self.prior**2 * bar[:, None]).ravel()

    def at_label(self, u: np.ndarray) -> np.ndarray:
        """u at the true class's score, (C,) -> (n,)."""
        return u[self.label_index]

    def at_label_back(self, bar: np.ndarray, out: np.ndarray) -> None:
        np.add.at(out, self.label_index, bar)


class Interpolated(Direct):
    """g on an even grid of scores, interpolated linearly to every component: the sums stay
    exact.
    """

    def __init__(
        self, scores: np.ndarray, prior: np.ndarray, labels: np.ndarray, size: int = 2048
    ) -> None:
        super().__init__(scores, prior, labels)
        self.points, self.left, self.right_share = _cells(scores.ravel(), size)

    def expand(self, u: np.ndarray) -> np.ndarray:
        return (
            u[..., self.left] * (1.0 - self.right_share) + u[..., self.left + 1] * self.right_share
        )

    def collect(self, bar: np.ndarray) -> np.ndarray:
        if bar.ndim == 2:
            return np.stack([self.collect(row) for row in bar])
        size = len(self.points)
        out = np.bincount(self.left, weights=bar * (1.0 - self.right_share), minlength=size)
        return out + np.bincount(self.left + 1, weights=bar * self.right_share, minlength=size)


def _cells(scores: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """An even grid over the scores; for each score the cell's left node and the share of its
    right one.
    """
    low, high = float(scores.min()), float(scores.max())
    points = np.linspace(low, high if high > low else low + 1.0, size)
    place = np.clip((scores - low) / (points[1] - low), 0.0, size - 1.0)
    left = np.minimum(place.astype(np.intp), size - 2)
    return points, left, place - left


class Grid:
    """Each row's prior probabilities deposited on an even grid of scores with linear weights:
    O(G) points for any K.
    """

    def __init__(
        self, scores: np.ndarray, prior: np.ndarray, labels: np.ndarray, size: int = 512
    ) -> None:
        self.points, left, right_share = _cells(scores, size)
        n = len(labels)
        self.first = self._deposit(left, right_share, prior, n, size)
        self.second = self._deposit(left, right_share, prior**2, n, size)
        rows = np.arange(n)
        self.left, self.right_share = left[rows, labels], right_share[rows, labels]

    @staticmethod
    def _deposit(
        left: np.ndarray, right_share: np.ndarray, mass: np.ndarray, n: int, size: int
    ) -> np.ndarray:
        cell = (np.arange(n)[:, None] * size + left).ravel()
        out = np.bincount(cell, weights=(mass * (1.0 - right_share)).ravel(), minlength=n * size)
        out += np.bincount(cell + 1, weights=(mass * right_share).ravel(), minlength=n * size + 1)[
            : n * size
        ]
        return out.reshape(n, size)

    def expand(self, u: np.ndarray) -> np.ndarray:
        return u

    def collect(self, bar: np.ndarray) -> np.ndarray:
        return bar

    def sums(self, u: np.ndarray) -> np.ndarray:
        return self.first @ u

    def squares(self, u: np.ndarray) -> np.ndarray:
        return self.second @ u

    def sums_back(self, bar: np.ndarray) -> np.ndarray:
        return self.first.T @ bar

    def squares_back(self, bar: np.ndarray) -> np.ndarray:
        return self.second.T @ bar

    def at_label(self, u: np.ndarray) -> np.ndarray:
        return u[self.left] * (1.0 - self.right_share) + u[self.left + 1] * self.right_share

    def at_label_back(self, bar: np.ndarray, out: np.ndarray) -> None:
        np.add.at(out, self.left, bar * (1.0 - self.right_share))
        np.add.at(out, self.left + 1, bar * self.right_share)


JITTER = 1e-6


@dataclass(frozen=True)
class Hyper:
    """Kernel: variance * exp(-(z - z')^2 / (2 length^2)) + noise [same component]."""

    variance: float
    length: float
    noise: float


@dataclass(frozen=True)
class Posterior:
    """Whitened variational posterior over the values at the inducing points: u = L v, v ~
    N(mean, root root^T).
    """

    mean: np.ndarray
    root: np.ndarray


@lru_cache(maxsize=32)
def _lower(size: int) -> np.ndarray:
    """Ones on and below the diagonal; kept, as making it costs as much as a small system's other
    steps.
    """
    return np.tri(size)


def cholesky(inducing: np.ndarray, hyper: Hyper) -> np.ndarray:
    """Lower Cholesky factor of the kernel at the inducing points, (M, M)."""
    gap = (inducing[:, None] - inducing[None, :]) / hyper.length
    K = hyper.variance * np.exp(-0.5 * gap * gap)
    K.flat[:: len(K) + 1] += hyper.noise + JITTER
    return np.linalg.cholesky(K)


def _solve(L: np.ndarray, B: np.ndarray, transposed: bool = False) -> np.ndarray:
    """L^-1 B (or L^-T B) for lower L: BLAS itself, whose wrappers cost more than small systems
    do.
    """
    if B.ndim == 1:
        return scipy.linalg.blas.dtrsm(1.0, L, B, lower=1, trans_a=int(transposed))
    # From the right on the transpose: row-major B is column-major there, so nothing is turned
    # round.
    return scipy.linalg.blas.dtrsm(1.0, L, B.T, side=1, lower=1, trans_a=int(not transposed)).T


def projection(
    points: np.ndarray, inducing: np.ndarray, hyper: Hyper, L: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """B = L^-1 k(inducing, points), (M, P), and the kernel itself (M, P)."""
    K = (inducing[:, None] - points[None, :]) / hyper.length
    # In place: four more arrays of this size would cost more than the exponential.
    np.multiply(np.multiply(K, -0.5), K, out=K)
    np.multiply(np.exp(K, out=K), hyper.variance, out=K)
    return _solve(L, K), K


def latent(
    points: np.ndarray, inducing: np.ndarray, hyper: Hyper, posterior: Posterior
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of f - prior mean at the points, noise included: (P,), (P,)."""
    B, _ = projection(points, inducing, hyper, cholesky(inducing, hyper))
    spread = posterior.root.T @ B
    variance = (
        hyper.variance
        + hyper.noise
        - np.einsum("mp,mp->p", B, B)
        + np.einsum("mp,mp->p", spread, spread)
    )
    return posterior.mean @ B, np.maximum(variance, 0.0)


def bound(
    layout: Any,
    log_prior_label: np.ndarray,
    weight: np.ndarray,
    inducing: np.ndarray,
    hyper: Hyper,
    posterior: Posterior,
    prior: Posterior,
    full: bool,
) -> tuple[float, dict[str, Any]]:
    """The evidence bound and its gradient.

    E_q[log p(y | f)] is the second-order expansion log softmax(phi)_y + (s^T C s - diag(C)^T s) /
    2, with C the K x K block of the latent covariance (``full``) or its diagonal; the penalty is
    KL(q || prior) in the whitened space. Returns (value, gradients) with gradients a dict over
    variance, length, noise, inducing, mean, root.
    """
    L = cholesky(inducing, hyper)
    B, K = projection(layout.points, inducing, hyper, L)
    value, (g_bar, v_bar, B_bar, root_bar, direct), spread = expected(
        layout, log_prior_label, weight, hyper, posterior, B, full
    )
    B_bar += (
        np.outer(posterior.mean, g_bar) - 2.0 * B * v_bar + 2.0 * posterior.root @ (spread * v_bar)
    )
    gradients = {"mean": B @ g_bar, "root": root_bar + 2.0 * (B * v_bar) @ spread.T}
    gradients |= _kernel_gradients(layout.points, inducing, hyper, L, B, K, B_bar)
    gradients["variance"] += v_bar.sum() + direct["variance"]
    gradients["noise"] += v_bar.sum() + direct["noise"]
    gradients["length"] += direct["length"]
    penalty, mean_bar, root_bar = divergence(posterior, prior)
    gradients["mean"] -= mean_bar
    gradients["root"] = _lower(len(inducing)) * (gradients["root"] - root_bar)
    return value - penalty, gradients


def expected(
    layout: Any,
    log_prior_label: np.ndarray,
    weight: np.ndarray,
    hyper: Hyper,
    posterior: Posterior,
    B: np.ndarray,
    full: bool,
) -> tuple[
    float, tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, float]], np.ndarray
]:
    """E_q[log p(y | f)] (expanded), its adjoints in g, v, B and root with the kernel's direct
    part, and root^T B.
    """
    spread = posterior.root.T @ B
    g = layout.expand(posterior.mean @ B)
    v = layout.expand(
        hyper.variance
        + hyper.noise
        - np.einsum("mp,mp->p", B, B)
        + np.einsum("mp,mp->p", spread, spread)
    )
    if full:
        value, bars = _full_terms(
            layout, log_prior_label, weight, g, v, layout.expand(B), hyper, posterior
        )
    else:
        value, bars = _diagonal_terms(layout, log_prior_label, weight, g, v, B, posterior)
    g_bar, v_bar, B_bar, root_bar, direct = bars
    B_bar = layout.collect(B_bar) if full else B_bar
    return (
        float(value),
        (layout.collect(g_bar), layout.collect(v_bar), B_bar, root_bar, direct),
        spread,
    )


def _diagonal_terms(
    layout: Any,
    log_prior_label: np.ndarray,
    weight: np.ndarray,
    g: np.ndarray,
    v: np.ndarray,
    B: np.ndarray,
    posterior: Posterior,
) -> tuple[float, tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, float]]]:
    """Value and adjoints when only the diagonal of C counts: (sum s^2 v - sum s v) / 2."""
    e = np.exp(g - g.max())
    e2 = e * e
    S = layout.sums(e)
    first, second = layout.sums(e * v) / S, layout.squares(e2 * v) / (S * S)
    # sum s^2 v <= sum s v, except by the error of depositing on a grid, which the search would
    # exploit without end.
    counted = weight * (second < first)
    value = weight @ (
        log_prior_label + layout.at_label(g) - g.max() - np.log(S)
    ) + 0.5 * counted @ (second - first)
    S_bar = (-weight + counted * (0.5 * first - second)) / S
    first_bar, second_bar = (
        layout.sums_back(-0.5 * counted / S),
        layout.squares_back(0.5 * counted / (S * S)),
    )
    v_bar = first_bar * e + second_bar * e2
    g_bar = layout.sums_back(S_bar) * e + first_bar * e * v + 2.0 * second_bar * e2 * v
    layout.at_label_back(weight, g_bar)
    nothing = {"variance": 0.0, "noise": 0.0, "length": 0.0}
    return value, (g_bar, v_bar, np.zeros_like(B), np.zeros_like(posterior.root), nothing)


def _full_terms(
    layout: Any,
    log_prior_label: np.ndarray,
    weight: np.ndarray,
    g: np.ndarray,
    v: np.ndarray,
    B: np.ndarray,
    hyper: Hyper,
    posterior: Posterior,
) -> tuple[float, tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, float]]]:
    """Value and adjoints with the whole block: s^T C s = s^T K s + noise s^T s - |B s|^2 +
    |root^T B s|^2.
    """
    e = np.exp(g - g.max())
    S = layout.sums(e)
    first = layout.sums(e * v) / S
    squares = layout.squares(e * e) / (S * S)
    a = layout.sums(e[:, None] * B.T) / S[:, None]
    ra = a @ posterior.root
    prior_form, h_bar, direct = _prior_form(layout, e, S, hyper, weight)
    second = (
        prior_form
        + hyper.noise * squares
        - np.einsum("nm,nm->n", a, a)
        + np.einsum("nm,nm->n", ra, ra)
    )
    value = weight @ (
        log_prior_label + layout.at_label(g) - g.max() - np.log(S) + 0.5 * (second - first)
    )
    a_bar = weight[:, None] * (ra @ posterior.root.T - a)
    aS = a_bar / S[:, None]
    form = prior_form + hyper.noise * squares
    S_bar = weight * (-1.0 + 0.5 * first - form) / S - np.einsum("nm,nm->n", a_bar, a) / S
    first_bar = layout.sums_back(-0.5 * weight / S)
    back = layout.sums_back(aS)
    e_bar = layout.sums_back(S_bar) + first_bar * v + np.einsum("pm,mp->p", back, B) + h_bar
    e_bar += 2.0 * layout.squares_back(0.5 * weight * hyper.noise / (S * S)) * e
    g_bar = e_bar * e
    layout.at_label_back(weight, g_bar)
    direct["noise"] = 0.5 * float(weight @ squares)
    return value, (
        g_bar,
        first_bar * e,
        (back * e[:, None]).T,
        a.T @ (weight[:, None] * ra),
        direct,
    )


def _prior_form(
    layout: Any, e: np.ndarray, S: np.ndarray, hyper: Hyper, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray, dict[str, float]]:
    """s^T K s per row, its adjoint in e (without the part through S), and the direct gradients
    in variance and length.
    """
    n = len(S)
    d_length = 0.0
    if isinstance(layout, Grid):
        features, slopes = lattice_features(layout.points, hyper.length)
        t, moved = (layout.sums(e[:, None] * F) / S[:, None] for F in (features, slopes))
        form = hyper.variance * np.einsum("nr,nr->n", t, t)
        d_length = (
            2.0 * hyper.variance * float(weight @ np.einsum("nr,nr->n", t, moved)) / hyper.length
        )
        e_bar = hyper.variance * np.einsum(
            "pr,pr->p", layout.sums_back(t * (weight / S)[:, None]), features
        )
    else:
        K = layout.prior.shape[1]
        z, s = layout.scores, layout.prior * e.reshape(n, K) / S[:, None]
        back = np.empty((n, K))
        step = max(1, 2_000_000 // (K * K))
        for i in range(0, n, step):
            zi, si = z[i : i + step], s[i : i + step]
            gap = (zi[:, :, None] - zi[:, None, :]) / hyper.length
            gap *= gap
            kernel = np.exp(-0.5 * gap)
            back[i : i + step] = np.einsum("njk,nk->nj", kernel, si)
            kernel *= gap
            d_length += (
                hyper.variance
                * float(
                    weight[i : i + step] @ np.einsum("nj,njk,nk->n", si, kernel, si, optimize=True)
                )
                / hyper.length
            )
        form = hyper.variance * np.einsum("nk,nk->n", back, s)
        e_bar = (hyper.variance * weight[:, None] * back * layout.prior / S[:, None]).ravel()
    return (
        form,
        e_bar,
        {
            "variance": 0.5 * float(weight @ form) / hyper.variance,
            "length": 0.5 * d_length,
            "noise": 0.0,
        },
    )


def _kernel_gradients(
    points: np.ndarray,
    inducing: np.ndarray,
    hyper: Hyper,
    L: np.ndarray,
    B: np.ndarray,
    K: np.ndarray,
    B_bar: np.ndarray,
) -> dict[str, Any]:
    """From the adjoint of B = L^-1 K(inducing, points) to the kernel's parameters and the
    inducing points.
    """
    K_bar = _solve(L, B_bar, transposed=True)
    lower = _lower(len(L))
    middle = lower * (L.T @ (lower * -(K_bar @ B.T)))
    middle.flat[:: len(L) + 1] *= 0.5
    inner = _solve(L, middle + middle.T, transposed=True)
    Kuu_bar = 0.5 * _solve(L, inner.T, transposed=True)
    gap = inducing[:, None] - points[None, :]
    gap_uu = inducing[:, None] - inducing[None, :]
    Kuu = hyper.variance * np.exp(-0.5 * (gap_uu / hyper.length) ** 2)
    KK, KKuu = K_bar * K, Kuu_bar * Kuu
    inverse = 1.0 / hyper.length**2
    return {
        "variance": (KK.sum() + KKuu.sum()) / hyper.variance,
        "noise": float(Kuu_bar.flat[:: len(L) + 1].sum()),
        "length": (
            np.einsum("mp,mp,mp->", KK, gap, gap) + np.einsum("mp,mp,mp->", KKuu, gap_uu, gap_uu)
        )
        * inverse
        / hyper.length,
        "inducing": -inverse
        * (np.einsum("mp,mp->m", KK, gap) + 2.0 * np.einsum("mp,mp->m", KKuu, gap_uu)),
    }


def divergence(q: Posterior, prior: Posterior) -> tuple[float, np.ndarray, np.ndarray]:
    """KL(q || prior) of two Gaussians given by mean and lower root, and its gradients in q's
    mean and root.
    """
    ratio = _solve(prior.root, q.root)
    shift = _solve(prior.root, q.mean - prior.mean)
    diagonal = np.abs(ratio.diagonal())
    value = 0.5 * (np.sum(ratio * ratio) + shift @ shift - len(shift)) - np.log(diagonal).sum()
    mean_bar = _solve(prior.root, shift, transposed=True)
    root_bar = _solve(prior.root, ratio, transposed=True)
    root_bar.flat[:: len(shift) + 1] -= 1.0 / q.root.diagonal()
    return float(value), mean_bar, root_bar
