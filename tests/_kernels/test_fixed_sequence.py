import numpy as np
import pytest

from calibrant._kernels.certificates import fixed_sequence


@pytest.mark.parametrize(
    ("p_values", "delta", "n_starts", "expected"),
    [
        ((0.001, 0.003, 0.01, 0.02, 0.2, 0.6), 0.1, 3, [0, 1, 2, 3]),
        (
            (0.03, 0.004, 0.005, 0.25, 0.005, 0.2, 0.8, 0.08, 0.009, 0.005, 0.006, 0.007),
            0.09,
            3,
            [0, 1, 2, 4, 8, 9, 10, 11],
        ),
        ((0.04, 0.05, 0.2, 0.01), 0.05, 1, [0, 1]),
        ((0.06, 0.01), 0.05, 1, []),
        ((0.01, 0.02), 0.05, 2, [0, 1]),
    ],
)
def test_known_answers(p_values, delta, n_starts, expected):
    assert fixed_sequence(np.array(p_values), delta, n_starts).tolist() == expected


@pytest.mark.parametrize("n_starts", [1, 3, 5])
def test_a_true_hypothesis_is_rejected_seldom(n_starts):
    """Those from the 4th on are true; their p-values, of one draw, are as dependent as can be,
    or independent.
    """
    rng = np.random.default_rng(n_starts)
    for same in (True, False):
        broken = 0
        for _ in range(3000):
            drawn = np.full(12, rng.random()) if same else rng.random(12)
            drawn[:4] = 0.0
            broken += bool((fixed_sequence(drawn, 0.1, n_starts) >= 4).any())
        assert broken / 3000 <= 0.1 + 3 * np.sqrt(0.09 / 3000)
