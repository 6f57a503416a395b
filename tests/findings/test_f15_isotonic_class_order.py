"""F15: the rounding of row sums split tied probabilities, so that the order of the classes moved
IsotonicOneVsRest by .015.
"""

import numpy as np
import pytest

import calibrant as cb


@pytest.mark.parametrize("temperature", [True, False])
@pytest.mark.parametrize("n_classes", [3, 5])
def test_f15_the_order_of_the_classes_does_not_matter(temperature, n_classes):
    rng = np.random.default_rng(4)
    counts = rng.multinomial(10, rng.dirichlet(np.ones(n_classes), 300)[0], size=300)
    P = counts / 10.0
    y = np.array([rng.choice(n_classes, p=0.7 * row + 0.3 / n_classes) for row in P])
    here = cb.calibrators.IsotonicOneVsRest(temperature=temperature).fit(P, y).predict_proba(P)
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(n_classes)
        place = np.argsort(order)
        there = (
            cb.calibrators.IsotonicOneVsRest(temperature=temperature)
            .fit(P[:, order], place[y])
            .predict_proba(P[:, order])
        )
        np.testing.assert_allclose(there[:, place], here, atol=1e-12)
