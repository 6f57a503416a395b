"""Projections on cells, against quadratic programs, and the radius of a zone by all cells."""

import numpy as np
import pytest
from scipy import optimize

from calibrant._kernels.separation import distance_to_polyhedron, zone_radius


class Points:
    """Points in memory whose squared distances are exact."""

    def __init__(self, points):
        self.points = points

    def wide_rows(self, rows):
        return self.points[rows]

    def squares_between(self, a, b):
        gap = ((self.points[a][:, None] - self.points[b]) ** 2).sum(axis=2)
        return gap, 1e-12 * (1.0 + gap)

    def lower_squares(self, queries, positions):
        return ((queries[:, None] - self.points[positions]) ** 2).sum(axis=2) * (1.0 - 1e-12)


def shortest(normals, offsets):
    """By a general method, from a point that is far inside."""
    rules = {"type": "ineq", "fun": lambda z: normals @ z - offsets, "jac": lambda z: normals}
    start = np.linalg.lstsq(normals, offsets + 1.0, rcond=None)[0]
    return optimize.minimize(
        lambda z: z @ z,
        start,
        jac=lambda z: 2 * z,
        constraints=rules,
        method="SLSQP",
        options={"ftol": 1e-14},
    ).x


def test_the_shortest_vector_by_hand():
    """A half plane 3 away; a corner; a rule that is met already, and one without a direction."""
    np.testing.assert_allclose(
        distance_to_polyhedron(np.array([[2.0, 0.0]]), np.array([6.0])), [3.0, 0.0]
    )
    np.testing.assert_allclose(
        distance_to_polyhedron(np.array([[1.0, 0.0], [0.0, 5.0]]), np.array([3.0, 20.0])),
        [3.0, 4.0],
    )
    np.testing.assert_allclose(
        distance_to_polyhedron(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([3.0, -1.0])),
        [3.0, 0.0],
    )
    assert distance_to_polyhedron(np.array([[1.0, 0.0]]), np.array([-1.0])).tolist() == [0.0, 0.0]
    assert distance_to_polyhedron(np.array([[1.0, 0.0]]), np.array([0.0])).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("seed", range(6))
def test_it_is_that_of_a_quadratic_program(seed):
    rng = np.random.default_rng(seed)
    normals, inside = rng.normal(size=(7, 3)), 2.0 * rng.normal(size=3)
    offsets = normals @ inside - rng.uniform(0.05, 0.5, 7)
    np.testing.assert_allclose(
        distance_to_polyhedron(normals, offsets), shortest(normals, offsets), atol=1e-5
    )


@pytest.mark.parametrize("seed", range(4))
def test_the_radius_is_the_least_distance_to_any_cell(seed):
    rng = np.random.default_rng(seed)
    points, query = rng.normal(size=(24, 2)), 0.3 * rng.normal(size=2)
    first = np.arange(24) % 3 == 0
    square = ((points - query) ** 2).sum(axis=1)
    low_p, low_c = np.where(first, square, np.inf) * 0.95, np.where(first, np.inf, square) * 0.95
    c, radii = points[~first], []
    for p in points[first]:
        normals, offsets = p - c, 0.5 * ((p @ p) - (c * c).sum(axis=1)) - (p - c) @ query
        z = distance_to_polyhedron(normals, offsets)
        if (normals @ z >= offsets - 1e-9).all():
            radii.append(np.linalg.norm(z))
    np.testing.assert_allclose(
        zone_radius(query, low_p, low_c, Points(points), -np.inf), min(radii), rtol=1e-7
    )


def test_a_twin_has_a_cell_or_none_as_is_asked():
    points = np.array([[1.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])
    low_p, low_c = np.array([1.0, np.inf, np.inf]), np.array([np.inf, 1.0, 1.0])
    assert zone_radius(np.zeros(2), low_p, low_c, Points(points), np.inf) == np.inf
    assert zone_radius(np.zeros(2), low_p, low_c, Points(points), -np.inf) == pytest.approx(
        0.0, abs=1e-9
    )
