"""Layouts of scores: sums by hand, straight lines exactly, and each adjoint against what it is
the adjoint of.
"""

import numpy as np

from calibrant._kernels.gaussian_process import Direct, Grid, Interpolated

RNG = np.random.default_rng(0)
SCORES, PRIOR, LABELS = RNG.normal(size=(6, 4)), RNG.dirichlet(np.ones(4), 6), RNG.integers(0, 4, 6)


def made():
    return [
        Direct(SCORES, PRIOR, LABELS),
        Interpolated(SCORES, PRIOR, LABELS, 17),
        Grid(SCORES, PRIOR, LABELS, 17),
    ]


def test_straight_lines_are_exact():
    line = 2.0 - 3.0 * SCORES
    for layout in made():
        u = layout.expand(2.0 - 3.0 * layout.points)
        np.testing.assert_allclose(layout.sums(u), (PRIOR * line).sum(axis=1))
        np.testing.assert_allclose(layout.squares(u), (PRIOR**2 * line).sum(axis=1))
        np.testing.assert_allclose(layout.at_label(u), line[np.arange(6), LABELS])


def test_points_are_even_from_the_lowest_score_to_the_highest():
    for layout in made()[1:]:
        np.testing.assert_allclose(layout.points, np.linspace(SCORES.min(), SCORES.max(), 17))
    same = Grid(np.full((2, 2), 3.0), np.full((2, 2), 0.5), np.array([0, 1]), 5)
    np.testing.assert_allclose(same.points, np.linspace(3.0, 4.0, 5))
    np.testing.assert_allclose(same.sums(same.points), 3.0)
    many = Interpolated(SCORES, PRIOR, LABELS)
    assert len(many.points) == 2048
    assert len(Grid(SCORES, PRIOR, LABELS).points) == 512


def test_adjoints():
    for layout in made():
        u = RNG.normal(size=len(layout.points))
        wide = layout.expand(u)
        back = RNG.normal(size=wide.shape)
        np.testing.assert_allclose(wide @ back, u @ layout.collect(back))
        rows = RNG.normal(size=6)
        np.testing.assert_allclose(layout.sums(wide) @ rows, wide @ layout.sums_back(rows))
        np.testing.assert_allclose(layout.squares(wide) @ rows, wide @ layout.squares_back(rows))
        out = np.zeros_like(wide)
        layout.at_label_back(rows, out)
        np.testing.assert_allclose(layout.at_label(wide) @ rows, wide @ out)


def test_several_functions_at_once():
    direct, between, grid = made()
    u = RNG.normal(size=(24, 3))
    np.testing.assert_allclose(direct.sums(u), np.stack([direct.sums(one) for one in u.T], axis=1))
    rows = RNG.normal(size=(6, 3))
    np.testing.assert_allclose(
        direct.sums_back(rows), np.stack([direct.sums_back(one) for one in rows.T], axis=1)
    )
    bars = RNG.normal(size=(2, 24))
    np.testing.assert_allclose(between.collect(bars), [between.collect(one) for one in bars])
    np.testing.assert_allclose(between.expand(RNG.normal(size=(2, 17))).shape, (2, 24))
    assert grid.sums(RNG.normal(size=(17, 2))).shape == (6, 2)
