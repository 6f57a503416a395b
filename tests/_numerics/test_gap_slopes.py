"""Order-preserving maps: the integral slope by slope, and derivatives by differences."""

import numpy as np
from scipy import special

from calibrant._numerics.gap_slopes import order_preserving_logits, slope_objective, slope_rows

KNOTS = np.array([-3.0, -1.0, 0.5])
SLOPES = np.array([[0.5, 2.0, 1.5, 3.0], [1.2, 0.7, 1.1, 0.4]])
Z = np.array(
    [[-0.2, -1.0, -4.0], [-3.0, 0.5, -0.5], [2.0, 1.5, 1.0], [-5.0, -3.5, -3.2], [-1.0, -2.0, -3.0]]
)


def climbed(t, slopes):
    """G(t): 0 at the first knot, slope by slope."""
    out = slopes[0] * min(t - KNOTS[0], 0.0) + slopes[-1] * max(t - KNOTS[-1], 0.0)
    for low, high, slope in zip(KNOTS[:-1], KNOTS[1:], slopes[1:-1], strict=True):
        out += slope * (min(max(t, low), high) - low)
    return out


def expected(z, slopes):
    out = np.empty_like(z)
    for i, row in enumerate(z):
        top = int(np.argmax(row))
        second = max(np.delete(row, top))
        out[i] = [climbed(t, slopes[1]) for t in row]
        out[i, top] = (
            climbed(second, slopes[1]) + climbed(row[top], slopes[0]) - climbed(second, slopes[0])
        )
    return out


def test_the_map_slope_by_slope_in_any_memory_order():
    for z in (Z, np.asfortranarray(Z), Z[:, :2].copy()):
        np.testing.assert_allclose(
            order_preserving_logits(SLOPES, KNOTS, z), expected(z, SLOPES), atol=1e-12
        )
    np.testing.assert_allclose(order_preserving_logits(np.ones((2, 4)), KNOTS, Z) + KNOTS[0], Z)


def test_the_objective_and_its_derivatives():
    rng = np.random.default_rng(0)
    for k in (2, 3):
        z = np.vstack([Z[:, :k], rng.normal(size=(8, k)) * 2.0])
        labels, weight = rng.integers(0, k, 13), rng.uniform(0.5, 2.0, 13)
        evaluate = slope_objective(slope_rows(z, labels, weight, KNOTS), KNOTS, 0.3)
        flat = SLOPES.ravel()
        value, gradient, hessian = evaluate(flat)
        u = expected(z, SLOPES)
        loss = special.logsumexp(u, axis=1) - u[np.arange(13), labels]
        np.testing.assert_allclose(
            value, weight @ loss / weight.sum() + 0.3 * np.sum((flat - 1.0) ** 2)
        )
        step = 1e-6
        moved = [[evaluate(flat + sign * step * e) for sign in (1.0, -1.0)] for e in np.eye(8)]
        np.testing.assert_allclose(
            gradient, [(up[0] - down[0]) / (2 * step) for up, down in moved], atol=1e-7
        )
        np.testing.assert_allclose(
            hessian, [(up[1] - down[1]) / (2 * step) for up, down in moved], atol=1e-6
        )
