"""Step-down p-values, against the definition."""

import numpy as np

from calibrant._numerics.step_down import step_down


def test_they_are_those_of_the_definition_however_draws_come():
    rng = np.random.default_rng(0)
    observed, draws = np.array([2.0, 4.0, 1.0, 3.0]), np.abs(rng.normal(size=(4, 200))) * 2.0
    order = np.argsort(-observed)
    expected, before = np.empty(4), 0.0
    for place, test in enumerate(order):
        largest = draws[order[place:]].max(axis=0)
        before = max(before, (1 + (largest >= observed[test]).sum()) / 201)
        expected[test] = before
    for blocks in ([draws], [draws[:, :50], draws[:, 50:]]):
        adjusted, maxima = step_down(observed, blocks)
        np.testing.assert_allclose(adjusted, expected)
        np.testing.assert_allclose(maxima, draws.max(axis=0))
