"""Newton's method for convex functions: of many unknowns, and of a few with lower bounds.
Bisection, for the root of a function of one unknown.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy

__all__ = [
    "LazySolver",
    "Search",
    "Start",
    "bisected",
    "cholesky_solver",
    "conjugate_gradient",
    "minimise",
    "minimise_near",
    "preconditioned_solver",
    "projected_newton",
]

#: Tolerance of a search near another, and the steps after which it restarts.
NEAR_TOLERANCE, NEAR_STEPS = 3e-6, 40
#: Changes of the gradient that are kept.
NEAR_PAIRS = 30
#: Relative residual of the linear solve for a step near another search.
NEAR_RELATIVE = 0.1


def bisected(
    below: Callable[[Any], Any], low: Any, high: Any, halvings: int
) -> tuple[np.ndarray, np.ndarray]:
    """(low, high) after some bisections, elementwise: ``below(x)`` is true up to the root."""
    for _ in range(halvings):
        middle = 0.5 * (low + high)
        short = below(middle)
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return low, high


@dataclass
class Start:
    """End of a search, the start of searches on nearly the same rows; None before the first."""

    end: np.ndarray | None = None


@dataclass
class Search(Start):
    """State of :func:`minimise_near` for the next search.

    Attributes
    ----------
    solve : the first search's curvature
    pairs : (step, change of the gradient) seen on the way
    lent : whether it comes from another kind of search with a similar end
    """

    solve: Callable[..., Any] | None = None
    pairs: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    lent: bool = False

    def lend(self) -> "Search":
        """Copy for another kind of search with a similar end, which starts there until it has its
        own.
        """
        return replace(self, pairs=list(self.pairs), lent=True)


def minimise_near(
    evaluate: Callable[..., Any], start: np.ndarray, search: Search, tolerance: float = 1e-8
) -> tuple[np.ndarray, str, float]:
    """:func:`minimise` for several nearly equal functions, with one curvature for all: that of the
    first at its start.

    It and the first end are stored in the :class:`Search`; the others start there. Steps are
    corrected by the observed changes of the gradient, in this search and those before it (BFGS), so
    that none needs its own curvature. The others stop at a gradient of 3e-6, about 1e-9 above the
    least loss. A solver may have an attribute ``near``: a light replacement for itself without
    rows.
    """
    first = search.end is None
    if first:
        _, gradient, solve = evaluate(start)
        solve(gradient, NEAR_RELATIVE)
        search.end, search.solve = start, getattr(solve, "near", solve)
    goal = tolerance if first else max(NEAR_TOLERANCE, tolerance)
    x, size = _follow(evaluate, search, goal)
    status = "converged"
    if size > goal:
        x, status, size = minimise(evaluate, x, tolerance)
    if first or search.lent:
        search.end, search.lent = x, False
    return x, status, size


def _follow(evaluate: Callable[..., Any], search: Search, tolerance: float) -> Any:
    """(x, largest gradient entry) after at most NEAR_STEPS steps from the end remembered."""
    x, solve, pairs = search.end, search.solve, search.pairs
    value, gradient, _ = evaluate(x)
    for _ in range(NEAR_STEPS):
        if float(np.abs(gradient).max()) <= tolerance:
            break
        direction = -_corrected(gradient, pairs, solve)
        slope = float(np.vdot(gradient, direction))
        moved = (
            _line_search(evaluate, x, value, direction, slope, NEAR_TOLERANCE)
            if slope < 0.0
            else None
        )
        if moved is None:
            break
        if float(np.vdot(moved[0] - x, moved[2] - gradient)) > 0.0:
            pairs.append((moved[0] - x, moved[2] - gradient))
            del pairs[:-NEAR_PAIRS]
        x, value, gradient, _ = moved
    return x, float(np.abs(gradient).max())


def _corrected(r: np.ndarray, pairs: Any, solve: Callable[..., Any]) -> np.ndarray:
    """The inverse curvature times r: that of ``solve``, corrected by the (step, change of
    gradient) pairs, as L-BFGS has it.
    """
    r, shares = r.copy(), []
    for step, change in reversed(pairs):
        shares.append(float(np.vdot(step, r)) / float(np.vdot(step, change)))
        r -= shares[-1] * change
    out = solve(r, NEAR_RELATIVE)
    for (step, change), share in zip(pairs, reversed(shares), strict=True):
        out = out + (share - float(np.vdot(change, out)) / float(np.vdot(step, change))) * step
    return out


def minimise(
    evaluate: Callable[..., Any], start: np.ndarray, tolerance: float = 1e-8, max_steps: int = 100
) -> tuple[np.ndarray, str, float]:
    """Minimise a convex function by damped Newton steps until the largest entry of the gradient is
    within ``tolerance``.

    ``evaluate(x)`` gives (value, gradient, solve): ``solve(r, relative)`` is the inverse Hessian at
    x times r, to a relative residual. Returns (x, status, largest gradient entry), status
    "converged", "stalled" (rounding allows no further descent) or "max steps".
    """
    x = start
    value, gradient, solve = evaluate(x)
    for _ in range(max_steps):
        size = float(np.abs(gradient).max())
        if size <= tolerance:
            return x, "converged", size
        # Near the end a more precise step avoids the next one.
        relative = 0.3 * tolerance / size
        direction = -solve(
            gradient, relative if relative > 1e-4 else min(0.1, max(np.sqrt(size), 1e-3))
        )
        slope = float(np.vdot(gradient, direction))
        if not slope < 0.0:
            direction, slope = -gradient, -float(np.vdot(gradient, gradient))
        moved = _line_search(evaluate, x, value, direction, slope, tolerance)
        if moved is None:
            return x, "stalled", size
        x, value, gradient, solve = moved
    size = float(np.abs(gradient).max())
    return x, "converged" if size <= tolerance else "max steps", size


def _line_search(
    evaluate: Callable[..., Any],
    x: np.ndarray,
    value: float,
    direction: np.ndarray,
    slope: float,
    tolerance: float,
) -> Any:
    """The first of the steps 1, 1/2, 1/4, ... that descends enough (a rise within rounding
    counts, where little is left to gain).
    """
    # With so loose a tolerance, the value may have been summed in float32.
    slack = (1e-14 if tolerance <= 1e-8 else 1e-8) * max(abs(value), 1e-3)
    step = 1.0
    for _ in range(40):
        candidate = x + step * direction
        new = evaluate(candidate)
        if new[0] <= value + 1e-4 * step * slope + slack:
            return (candidate, *new)
        step *= 0.5
    return None


def cholesky_solver(hessian: np.ndarray) -> Callable[..., Any]:
    """``solve(r, relative)`` for a positive semi-definite matrix: a small multiple of the identity
    makes it definite.
    """
    scale = float(hessian.diagonal().max()) or 1.0
    jitter = 1e-13
    while True:
        try:
            factor = scipy.linalg.cho_factor(
                hessian + jitter * scale * np.eye(len(hessian)), check_finite=False
            )
            break
        except scipy.linalg.LinAlgError:
            jitter *= 100.0
    return lambda r, relative: scipy.linalg.cho_solve(
        factor, r.ravel(), check_finite=False
    ).reshape(r.shape)


def conjugate_gradient(
    product: Callable[..., Any],
    precondition: Callable[..., Any],
    r: np.ndarray,
    relative: float,
    max_steps: int = 250,
) -> np.ndarray:
    """Approximate solution of H x = r for positive semi-definite H given as a product, to a
    relative residual.
    """
    x = np.zeros_like(r)
    residual = r.copy()
    z = precondition(residual)
    p = z
    rz = float(np.vdot(residual, z))
    goal = relative * float(np.linalg.norm(r))
    for _ in range(max_steps):
        hp = product(p)
        curvature = float(np.vdot(p, hp))
        if not curvature > 0.0:
            break
        alpha = rz / curvature
        x += alpha * p
        residual -= alpha * hp
        if float(np.linalg.norm(residual)) <= goal:
            break
        z = precondition(residual)
        rz, previous = float(np.vdot(residual, z)), rz
        p = z + (rz / previous) * p
    return x


class LazySolver:
    """A solver built at its first use: a line search needs values only."""

    def __init__(self, make: Callable[..., Any]) -> None:
        self.make, self.solver = make, None

    def __call__(self, r: np.ndarray, relative: float) -> np.ndarray:
        if self.solver is None:
            self.solver = self.make()
        return self.solver(r, relative)

    @property
    def near(self) -> Any:
        """Its replacement in similar searches, without the rows."""
        return getattr(self.solver, "near", self.solver)


def preconditioned_solver(
    product: Callable[..., Any], precondition: Callable[..., Any]
) -> Callable[..., Any]:
    """``solve(r, relative)`` by conjugate gradients, with the preconditioner as its replacement in
    similar searches.
    """

    def solve(r: np.ndarray, relative: float) -> np.ndarray:
        return conjugate_gradient(product, precondition, r, relative)

    solve.near = lambda r, relative: precondition(r)
    return solve


MAX_STEPS = 100
#: Remaining descent, relative to the value, at which the last step is made; the second for a fit
#: that starts near its end.
LEFT, LEFT_NEAR = 1e-13, 1e-8
#: Least pivot of a scaled Hessian's root: its condition number is then below about 1e10.
CLEAR_PIVOT = 1e-4


def projected_newton(
    objective: Callable[..., Any],
    starts: list[np.ndarray],
    bounded: np.ndarray,
    *,
    loose: bool = False,
) -> tuple[np.ndarray, str]:
    """(x, status) of least ``objective(x) -> (value, gradient, hessian)``; status "converged", "max
    steps" or "stalled".

    ``starts`` is a list, of which the best is taken; ``bounded`` (d,) bool. Directions in which the
    function is flat keep their start. A ``loose`` search begins near its end and makes the last
    step without evaluation: a Newton step from 1e-8 above the least is practically exact.
    """
    evaluated = [
        (objective(np.asarray(start, dtype=np.float64)), np.asarray(start, dtype=np.float64))
        for start in starts
    ]
    (value, gradient, hessian), theta = min(evaluated, key=lambda pair: pair[0][0])
    for _ in range(MAX_STEPS):
        fixed = bounded & (theta <= 0.0) & (gradient > 0.0)
        if fixed.any():
            step = np.zeros_like(theta)
            step[~fixed] = -_solve(hessian[np.ix_(~fixed, ~fixed)], gradient[~fixed])
        else:
            step = -_solve(hessian, gradient)
        # Along a face the quadratic model is exact to second order: a small enough decrease ends
        # the search with this step.
        if -gradient @ step <= (LEFT_NEAR if loose else LEFT) * (1.0 + abs(value)):
            end = np.where(bounded, np.maximum(theta + step, 0.0), theta + step)
            return (
                end if loose else _nearer(objective, theta, end, gradient, bounded)
            ), "converged"
        result = _projected_search(objective, theta, step, value, gradient, bounded)
        if result is None:
            return theta, "stalled"
        theta, (value, gradient, hessian) = result
    return theta, "max steps"


def _nearer(
    objective: Callable[..., Any],
    theta: np.ndarray,
    end: np.ndarray,
    gradient: np.ndarray,
    bounded: np.ndarray,
) -> np.ndarray:
    """The end of a last step whose descent is lost in the rounding of the loss, if the gradient
    there is smaller.
    """
    moved = ~(bounded & (end <= 0.0))
    return (
        end
        if np.abs(objective(end)[1][moved]).max(initial=0.0)
        < np.abs(gradient[moved]).max(initial=0.0)
        else theta
    )


def _projected_search(
    objective: Callable[..., Any],
    theta: np.ndarray,
    step: np.ndarray,
    value: float,
    gradient: np.ndarray,
    bounded: np.ndarray,
) -> Any:
    """The first of step, step / 2, ... whose projection lowers the objective enough, with the
    objective there; None when none does.
    """
    size = 1.0
    for _ in range(60):
        trial = theta + size * step
        trial = np.where(bounded, np.maximum(trial, 0.0), trial)
        result = objective(trial)
        if result[0] <= value + 1e-4 * gradient @ (trial - theta):
            return trial, result
        size *= 0.5
    return None


def _solve(hessian: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Least-norm solution of the scaled system; a direction of no curvature gets no step."""
    if not len(gradient):
        return gradient
    scale = np.sqrt(np.maximum(np.diag(hessian), 0.0))
    scale[scale == 0.0] = 1.0
    scaled = hessian / (scale[:, None] * scale)
    # A factor whose pivots are well above rounding shows that no direction is flat, at a fraction
    # of the cost of the eigenvalues.
    factor, solution, failed = scipy.linalg.lapack.dposv(scaled, gradient / scale)
    if not failed and factor.diagonal().min() > CLEAR_PIVOT:
        return solution / scale
    values, vectors = np.linalg.eigh(scaled)
    projected = vectors.T @ (gradient / scale)
    flat = values <= 1e-13 * values.max(initial=0.0)
    return vectors @ np.where(flat, 0.0, projected / np.where(flat, 1.0, values)) / scale
