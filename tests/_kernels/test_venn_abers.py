"""One pass for every place of a new row, against an isotonic fit for each."""

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from calibrant._kernels.isotonic import added_ones, added_zeros


def place_by_place(mass, mean, label):
    """The new row's isotonic value before each group (a label of 1) or after it (0), and at the
    far end.
    """
    weight = [np.insert(mass, i, 1.0) for i in range(len(mass) + 1)]
    return np.array(
        [
            isotonic_regression(np.insert(mean, i, label), weights=w).x[i]
            for i, w in enumerate(weight)
        ]
    )


def groups(kind, rng):
    """(mass, mean) of 1 to 60 groups."""
    m = int(rng.integers(1, 61))
    if kind == "rows":
        return np.ones(m), (rng.random(m) < rng.random()).astype(float)
    if kind == "rising":
        return np.ones(m), (rng.random(m) < np.linspace(0.0, 1.0, m)).astype(float)
    if kind == "sorted":
        return np.ones(m), np.sort(rng.integers(0, 2, m)).astype(float)
    if kind == "light":
        return rng.gamma(0.3, 1.0, m) + 1e-6, np.round(rng.random(m), 1)
    mass = rng.integers(1, 7, m).astype(float)
    return mass, rng.binomial(mass.astype(int), rng.random()) / mass


@pytest.mark.parametrize("kind", ["rows", "rising", "sorted", "light", "tied"])
def test_all_places_in_one_pass_are_those_of_one_fit_each(kind):
    rng = np.random.default_rng(0)
    for _ in range(60):
        mass, mean = groups(kind, rng)
        np.testing.assert_allclose(
            added_ones(mass, mean), place_by_place(mass, mean, 1.0), rtol=0, atol=1e-12
        )
        np.testing.assert_allclose(
            added_zeros(mass, mean), place_by_place(mass, mean, 0.0), rtol=0, atol=1e-12
        )


def test_the_values_rise_and_enclose_those_without_the_row_on_many_groups():
    rng = np.random.default_rng(1)
    mean = (rng.random(20_000) < np.linspace(0.1, 0.9, 20_000)).astype(float)
    mass = np.ones(20_000)
    fit = isotonic_regression(mean).x
    ones, zeros = added_ones(mass, mean), added_zeros(mass, mean)
    assert (np.diff(ones) >= 0.0).all()
    assert (np.diff(zeros) >= -1e-15).all()
    assert ones[-1] == 1.0
    assert zeros[0] == 0.0
    # At the place of a group the new row is tied with it.
    assert (ones[:-1] >= fit - 1e-12).all()
    assert (zeros[1:] <= fit + 1e-12).all()
