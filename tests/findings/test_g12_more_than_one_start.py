"""G12: a rule is certified where the surest rows are worse than the next."""

import numpy as np

import calibrant as cb
from calibrant.errors import InputError


def test_the_default_certifies_where_another_method_does():
    """Selection with guaranteed risk, a search by halves, certified 18 of these 20 draws."""
    certified = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        u = rng.random(2_000)
        wrong = np.where(u > 0.88, 0.1, np.where(u > 0.45, 0.005, 0.3))
        right = (rng.random(2_000) >= wrong).astype(int)
        try:
            cb.SelectiveClassifier(0.05, 0.95).fit(0.5 + 0.5 * u, right)
        except InputError:
            continue
        certified += 1
    assert certified >= 18 - 2
