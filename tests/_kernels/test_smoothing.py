"""Smoothing on cells, against sums over all cells and their reflections."""

import numpy as np

from calibrant._kernels.smoothing import deposit, gaussian_smoother, triweight_smooth


def test_each_value_is_shared_between_the_two_nearest_centres():
    """Centres of four cells: .125, .375, .625, .875; beyond the outer ones all goes to them."""
    found = deposit(
        np.array([0.0, 0.25, 0.375, 0.8125, 1.0]), np.array([1.0, 2.0, 4.0, 8.0, 16.0]), 4
    )
    np.testing.assert_allclose(found, [1.0 + 1.0, 1.0 + 4.0, 2.0, 6.0 + 16.0])


def test_the_gaussian_is_reflected_at_both_ends():
    cells, sigma = 64, 0.06
    masses = np.zeros(cells)
    masses[[3, 40]] = 1.0, 2.0
    centre = (np.arange(cells) + 0.5) / cells
    expected = np.zeros(cells)
    for image in range(-2, 3):
        for at, mass in ((centre[3], 1.0), (centre[40], 2.0)):
            for mirrored in (at + 2.0 * image, 2.0 * image - at):
                expected += (
                    mass
                    * np.exp(-0.5 * ((centre - mirrored) / sigma) ** 2)
                    / (sigma * np.sqrt(2 * np.pi) * cells)
                )
    np.testing.assert_allclose(gaussian_smoother(masses)(sigma), expected, atol=1e-10)


def test_the_triweight_is_reflected_at_both_ends():
    cells, bandwidth = 20, 0.23
    rng = np.random.default_rng(0)
    masses = rng.random((2, cells))
    both = np.concatenate([masses, masses[:, ::-1]], axis=1)
    expected = np.zeros((2, cells))
    total = sum(max(1 - (min(d, 40 - d) / cells / bandwidth) ** 2, 0) ** 3 for d in range(40))
    for i in range(cells):
        for j in range(2 * cells):
            lag = min(abs(i - j), 2 * cells - abs(i - j)) / cells
            expected[:, i] += both[:, j] * max(1 - (lag / bandwidth) ** 2, 0) ** 3 / total
    np.testing.assert_allclose(triweight_smooth(masses, bandwidth), expected, atol=1e-12)
