"""Smooth curves: kernels with reflection on a grid of [0, 1], local quadratic regression, natural
and restricted cubic splines, and the band in which a whole curve lies at once.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy

from calibrant._numerics import bins
from calibrant._numerics.fixed_order import multiply_rows
from calibrant._numerics.intervals import normal_quantile
from calibrant._numerics.logistic import fit_logistic, log_odds, logistic_derivatives, sigmoid

__all__ = [
    "clustered_band",
    "cube_weights",
    "curved_basis",
    "deposit",
    "fit_restricted_spline",
    "gaussian_smoother",
    "interpolated_loess_errors",
    "largest_t",
    "loess_matrix",
    "own_widths",
    "penalty_root",
    "pooled_scores",
    "score_grid",
    "spline_design",
    "spline_knots",
    "weighted_quantile",
]


def deposit(score: np.ndarray, values: np.ndarray, cells: int) -> np.ndarray:
    """Sum of the values at each of the cell centres (j + 1/2) / cells, each value shared between
    the two nearest, (cells,).
    """
    place = np.clip(score * cells - 0.5, 0.0, cells - 1.0)
    left = np.minimum(place.astype(np.intp), cells - 2)
    share = place - left
    out = np.bincount(left, weights=values * (1.0 - share), minlength=cells)
    out[1:] += np.bincount(left, weights=values * share, minlength=cells)[: cells - 1]
    return out


def gaussian_smoother(masses: np.ndarray) -> Any:
    """A function of sigma that gives the masses smoothed by a reflected Gaussian of that width
    (in the cosine basis: exact on the grid).
    """
    coefficients = scipy.fft.dct(masses, type=2)
    frequency = np.pi * np.arange(len(masses))

    def smoothed(sigma: float) -> np.ndarray:
        return scipy.fft.idct(coefficients * np.exp(-0.5 * (frequency * sigma) ** 2), type=2)

    return smoothed


#: Steps of the secant method in the logarithm of a width, the step that ends it, and the slopes
#: that it may have: the smoothed masses fall as the width rises.
STEPS, LAST_STEP, SLOPES = 40, 1e-9, (-4.0, -1.0)


def own_widths(masses: np.ndarray) -> np.ndarray:
    """(B,) widths from 1e-9 to 1 at which masses (B, cells), smoothed by a reflected Gaussian of
    that width, have that sum of sizes; 1 where none is so narrow.
    """
    coefficients = scipy.fft.dct(masses, type=2, axis=1)
    squares = -0.5 * np.square(np.pi * np.arange(masses.shape[1]))

    def excess(place: np.ndarray) -> np.ndarray:
        kernel = np.exp(squares * np.exp(2.0 * place)[:, None])
        sizes = np.abs(scipy.fft.idct(coefficients * kernel, type=2, axis=1)).sum(axis=1)
        return np.log(np.maximum(sizes, 1e-300)) - place

    place = np.full(len(masses), np.log(0.02))
    now, slope = excess(place), np.full(len(masses), -1.5)
    for _ in range(STEPS):
        step = np.clip(place - now / slope, np.log(1e-9), 0.0) - place
        if np.abs(step).max() < LAST_STEP:
            break
        place = place + step
        before, now = now, excess(place)
        moved = np.divide(now - before, step, out=slope.copy(), where=np.abs(step) > 1e-12)
        slope = np.clip(moved, *SLOPES)
    return np.exp(place)


MANY_SCORES = 5000
BLOCK_POINTS = 64
#: A column without its projection on the lower powers is rounding below this share of its square.
ROUNDING = 1e-22


def pooled_scores(
    score: np.ndarray, weight: np.ndarray, ranks: bins.Ranks | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(distinct scores x ascending, their mass, index of each row in x); more than 5,000 become the
    means of at most 5,000 groups.

    The groups hold an equal share of the mass and span 1 / 2,500 of the range at most, so that
    sparse tails are not merged.
    """
    unique, index = np.unique(score, return_inverse=True) if ranks is None else ranks
    if len(unique) <= MANY_SCORES:
        mass, total = bins.grouped_sums(index, len(unique), [score], weight).T
        return total / mass, mass, index
    # By distinct score: no sort of the rows, and no sum that depends on their order.
    mass, parts = np.bincount(index, weights=weight), MANY_SCORES // 2
    cells = ((unique - unique[0]) * (parts / (unique[-1] - unique[0]))).astype(np.intp)
    equal = bins.equal_mass_groups(unique, parts, mass, (unique, np.arange(len(unique))))
    group = np.cumsum(np.diff(equal + np.minimum(cells, parts - 1), prepend=0) > 0)
    mass, total = bins.grouped_sums(group, int(group[-1]) + 1, [unique], mass).T
    return total / mass, mass, group[index]


def score_grid(x: np.ndarray, mass: np.ndarray, n_points: int) -> np.ndarray:
    """Ascending points from the lowest score to the highest: half at equal steps, half at
    quantiles.
    """
    share = np.linspace(0.0, 1.0, n_points - n_points // 2)
    place = np.searchsorted(np.cumsum(mass), share * mass.sum() * (1.0 - 1e-12))
    return np.unique(np.concatenate([np.linspace(x[0], x[-1], n_points // 2), x[place], x[-1:]]))


def loess_matrix(x: np.ndarray, mass: np.ndarray, grid: np.ndarray, span: float) -> np.ndarray:
    """(grid, m) weights of a local quadratic fit with tricube weights over the nearest ``span``
    of the mass; x ascending, distinct.
    """
    width = _widths(x, mass, grid, span)
    starts = range(0, len(grid), BLOCK_POINTS)
    return np.concatenate(
        [_rows(x, mass, *(a[k : k + BLOCK_POINTS, None] for a in (grid, width))) for k in starts]
    )


def _widths(x: np.ndarray, mass: np.ndarray, grid: np.ndarray, span: float) -> np.ndarray:
    """(grid,) distance within which the nearest whole rows up to ``span`` of the mass lie."""
    upto = np.cumsum(mass)
    # Whole rows, rounded down; weights that add up to less than one are shares.
    need = np.floor(span * upto[-1] + 1e-5) or span * upto[-1]
    # The nearest rows lie in one of the shortest runs of scores that hold enough: the last begun by
    # then or the first ended after.
    last = np.searchsorted(upto, (upto - mass + need) * (1.0 - 1e-12))
    first = x[last < len(x)]
    last = x[last[last < len(x)]]
    after = np.searchsorted(first + last, 2.0 * grid)
    below = np.where(after > 0, grid - first[after - 1], np.inf)
    above = np.where(after < len(first), last[np.minimum(after, len(first) - 1)] - grid, np.inf)
    width = np.minimum(below, above)
    # A span that is one run of ties, here or at its far end, still takes in that run.
    return np.where(width > 0.0, width * (1.0 + 1e-9), 1e-9)


def _rows(x: np.ndarray, mass: np.ndarray, grid: np.ndarray, width: np.ndarray) -> np.ndarray:
    """Rows of the matrix by polynomials orthogonal under the kernel, which stay accurate where
    nearly all scores are equal.
    """
    u = (x - grid) / width
    kernel = mass * np.maximum(1.0 - np.abs(u) ** 3, 0.0) ** 3

    def total(values: np.ndarray) -> np.ndarray:
        return (kernel * values).sum(axis=1, keepdims=True)

    mass_at = total(1.0)
    centre = total(u) / mass_at
    line = u - centre
    spread = total(line**2)
    straight = spread > ROUNDING * total(u**2)
    spread = np.where(straight, spread, 1.0)
    lean, level = total(u * line**2) / spread, spread / mass_at
    curve = (u - lean) * line - level
    bend = total(curve**2)
    curved = straight & (bend > ROUNDING * total(u**4))
    at_line = np.where(straight, -centre / spread, 0.0)
    at_curve = np.where(curved, (centre * lean - level) / np.where(curved, bend, 1.0), 0.0)
    return kernel * (1.0 / mass_at + at_line * line + at_curve * curve)


def weighted_quantile(values: np.ndarray, mass: np.ndarray, q: float) -> float:
    """The smallest value with at least the share q of the mass at or below it."""
    order = np.argsort(values)
    total = np.cumsum(mass[order])
    return float(
        values[order][min(np.searchsorted(total, q * total[-1] * (1.0 - 1e-12)), len(values) - 1)]
    )


# -- Splines ---------------------------------------------------------------------------------------


def _linear_tails(cubes: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """Combinations of the cubes above each knot that are straight beyond the last, (n, q) -> (n,
    q - 2).
    """
    d = (cubes[:, :-1] - cubes[:, -1:]) / (knots[-1] - knots[:-1])
    return d[:, :-1] - d[:, -1:]


def cube_weights(knots: np.ndarray, root: np.ndarray) -> np.ndarray:
    """(q, q - 2): the basis of :func:`curved_basis` is the cubes above each knot times this."""
    return _linear_tails(np.eye(len(knots)), knots) @ root


def _second_derivatives(knots: np.ndarray) -> np.ndarray:
    """Second derivatives of the functions at the knots, (q, q - 2); between them they are
    straight lines.
    """
    return _linear_tails(6.0 * np.maximum(knots[:, None] - knots, 0.0), knots)


def penalty_root(knots: np.ndarray) -> np.ndarray:
    """The matrix R (q - 2, q - 2) for which |b|^2 is the integral of f''(x)^2 of f =
    curved_basis(x, knots, R) @ b.
    """
    at, width = _second_derivatives(knots), np.diff(knots)
    left, right = at[:-1], at[1:]
    omega = (
        (left.T * width) @ left
        + (right.T * width) @ right
        + 0.5 * ((left.T * width) @ right + (right.T * width) @ left)
    )
    return np.linalg.inv(np.linalg.cholesky(omega / 3.0)).T


def curved_basis(x: np.ndarray, knots: np.ndarray, root: np.ndarray) -> np.ndarray:
    """(n, q - 2) basis whose coefficients' sum of squares is the roughness: cubic between the
    knots, straight outside.

    With 1 and x it spans all natural splines.
    """
    return multiply_rows(_linear_tails(np.maximum(x[:, None] - knots, 0.0) ** 3, knots), root)


#: Harrell's quantiles of the scores, by the number of knots.
QUANTILES = {3: (0.1, 0.5, 0.9), 4: (0.05, 0.35, 0.65, 0.95), 5: (0.05, 0.275, 0.5, 0.725, 0.95)}
#: Of fewer rows than this the outer knots are the fifth lowest and the fifth highest.
FEW_ROWS = 100
#: A direction in which the outcomes hold less information than this, in rows of variance 1, is one
#: that separates them.
FLAT = 1e-3
FIRTH_STEPS = 50


def spline_knots(x: np.ndarray, mass: np.ndarray, n_knots: int) -> np.ndarray:
    """Distinct knots on the log-odds of the scores x (m,), ascending with their mass: quantiles
    linear between rows.
    """
    odds, n = log_odds(x), mass.sum()
    place = np.array(QUANTILES[n_knots]) * (n - 1.0)
    if 10.0 <= n < FEW_ROWS:
        place[[0, -1]] = 4.0, n - 5.0
    first = np.cumsum(mass) - mass
    runs = np.column_stack([first, np.maximum(first + mass - 1.0, first)]).ravel()
    return np.unique(np.interp(place, runs, np.repeat(odds, 2)))


def spline_design(x: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """(n, 2 or more) columns of the scores x (n,): 1, the log-odds, and what bends between three
    knots or more.
    """
    odds = log_odds(x)
    columns = [np.ones(len(x)), odds]
    if len(knots) > 2:
        columns.extend(
            curved_basis(odds, knots, np.eye(len(knots) - 2) / (knots[-1] - knots[0]) ** 2).T
        )
    return np.column_stack(columns)


def fit_restricted_spline(
    design: np.ndarray, mean: np.ndarray, mass: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(coefficients (d,), covariance (d, d)) of greatest likelihood for means (m,) of outcomes,
    each of ``mass`` rows.

    Where the design separates the outcomes there is none: then a straight line (the first two
    columns) by Firth's likelihood.
    """
    turn = _uncorrelated(design, mass)
    columns = design @ turn
    theta, _ = fit_logistic(columns, mean, mass, [np.zeros(columns.shape[1])])
    _, _, hessian = logistic_derivatives(theta, columns, mean, mass)
    if np.linalg.eigvalsh(hessian)[0] < FLAT:
        turn = np.pad(
            _uncorrelated(design[:, :2], mass), ((0, max(design.shape[1] - 2, 0)), (0, 0))
        )
        columns = design @ turn
        theta = _firth(columns, mean, mass)
    else:
        for _ in range(3):
            # The fit ends once the loss stands still, at half the digits; Newton steps from there
            # give the rest.
            _, gradient, hessian = logistic_derivatives(theta, columns, mean, mass)
            theta = theta - np.linalg.solve(hessian, gradient)
    _, _, hessian = logistic_derivatives(theta, columns, mean, mass)
    return turn @ theta, turn @ np.linalg.solve(hessian, turn.T)


def _uncorrelated(design: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """(d, r) that turns the columns into uncorrelated ones of size 1: as many as the scores tell
    apart.
    """
    _, size, turn = np.linalg.svd(design * np.sqrt(mass)[:, None], full_matrices=False)
    mask = size > 1e-9 * size[0]
    return turn[mask].T * (np.sqrt(mass.sum()) / size[mask])


def _firth(columns: np.ndarray, mean: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """Greatest likelihood times the root of the information: every row gets half a hit and half
    a miss of its leverage, in turns.
    """
    theta = np.zeros(columns.shape[1])
    for _ in range(FIRTH_STEPS):
        _, _, hessian = logistic_derivatives(theta, columns, mean, mass)
        p = sigmoid(columns @ theta)
        leverage = (
            mass
            * p
            * (1.0 - p)
            * np.einsum("ij,ji->i", columns, np.linalg.solve(hessian, columns.T))
        )
        before, total = theta, mass + leverage
        theta, _ = fit_logistic(columns, (mass * mean + 0.5 * leverage) / total, total, [theta])
        if np.abs(theta - before).max() < 1e-8:
            break
    return theta


#: Hits and misses added where a variance is estimated: a stretch without an event has a band too.
ADDED = 1.0


def largest_t(
    matrix: np.ndarray,
    errors: Callable[[np.ndarray], np.ndarray],
    probability: np.ndarray,
    mass: np.ndarray,
    level: float,
    n_draws: int,
    random_state: int | np.random.Generator,
) -> float:
    """The ``level`` quantile of the largest |t| over the points of a curve that is ``matrix`` (g,
    m) times the means of outcomes.

    ``probability`` and ``mass`` (m,) say how the outcomes are drawn; ``errors`` turns deviations of
    the curve (n_draws, g) into the standard errors that would be estimated with them.
    """
    times = np.maximum(np.rint(mass), 1.0)
    drawn = np.random.default_rng(random_state).binomial(
        times.astype(np.int64), probability, (n_draws, len(mass))
    )
    moved = (drawn / times - probability) * np.sqrt(times / mass) @ matrix.T
    # Never nearer than the interval of one point, as it comes out where hardly any outcome is
    # drawn.
    return max(
        float(np.quantile((np.abs(moved) / errors(moved)).max(axis=1), level)),
        normal_quantile(level),
    )


def interpolated_loess_errors(
    matrix: np.ndarray, x: np.ndarray, mass: np.ndarray, grid: np.ndarray
) -> tuple[Callable[..., np.ndarray], Callable[..., np.ndarray]]:
    """(standard errors from curves (..., g), the same curves kept inside (0, 1) for that), p (1
    - p) taken as linear between the points.
    """
    squares = matrix**2 / mass
    effective = 1.0 / squares.sum(axis=1)
    between = np.column_stack([np.interp(x, grid, unit) for unit in np.eye(len(grid))])
    share = squares @ between

    def inside(curve: np.ndarray) -> np.ndarray:
        return (np.clip(curve, 0.0, 1.0) * effective + ADDED) / (effective + 2.0 * ADDED)

    def errors(curve: np.ndarray) -> np.ndarray:
        clipped = inside(curve)
        return np.sqrt((clipped * (1.0 - clipped)) @ share.T)

    return errors, inside


def clustered_band(
    matrix: np.ndarray,
    index: np.ndarray,
    moves: np.ndarray,
    cluster: np.ndarray,
    level: float,
    n_draws: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, float]:
    """(standard errors (g,), how many of them a band must reach) of a curve that is ``matrix`` (g,
    m) times means of rows in clusters.

    ``moves`` (n,) is what each row moves the mean of column ``index`` by: its weight times its
    residual over the mass. The errors are cluster-robust (CR1), stretched by t / z for a normal
    quantile to be Student's; the reach is had by turning the signs of whole clusters.
    """
    of_clusters = scipy.sparse.csr_array(
        (moves, (index, cluster)), shape=(matrix.shape[1], int(cluster.max()) + 1)
    )
    pulled = (of_clusters.T @ matrix.T).T
    freedom = len(np.unique(cluster)) - 1.0
    squares = np.square(pulled).sum(axis=1) * (freedom + 1.0) / freedom
    turned = (2.0 * rng.integers(0, 2, (n_draws, pulled.shape[1])) - 1.0) @ pulled.T
    z = normal_quantile(level)
    reach = np.quantile(
        (np.abs(turned) / np.sqrt(np.where(squares > 0.0, squares, 1.0))).max(axis=1), level
    )
    return np.sqrt(squares) * normal_quantile(level, freedom) / z, max(float(reach), z)
