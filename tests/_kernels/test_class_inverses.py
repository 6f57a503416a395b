import numpy as np

from calibrant._kernels.multinomial import class_inverses


def test_they_are_the_inverses_of_the_blocks():
    """Where all rows are in play for every class; the ridge is what is added to the diagonal,
    with a hundred-thousandth of its mean.
    """
    rng = np.random.default_rng(0)
    X, P, weight = (
        rng.normal(size=(40, 3)),
        rng.dirichlet(np.full(4, 20.0), 40),
        rng.uniform(0.5, 1.5, 40) / 40,
    )
    blocks = np.stack([(X.T * (weight * P[:, k] * (1 - P[:, k]))) @ X for k in range(4)])
    blocks[:, range(3), range(3)] += 0.02 + 1e-5 * blocks[:, range(3), range(3)].mean()
    np.testing.assert_allclose(
        class_inverses(X, P, weight, 0.02), np.linalg.inv(blocks), rtol=2e-4, atol=1e-4
    )


def test_rows_out_of_play_count_by_their_spread_alone():
    """The second row's p (1 - p) is a ten-thousandth of the first's: the block is the first
    row's, raised to the sum of both.
    """
    X, P = np.array([[1.0], [3.0]]), np.array([[0.5, 0.5], [1e-5, 1.0 - 1e-5]])
    spread = P * (1.0 - P)
    expected = spread.sum(axis=0) * (1.0 + 1e-5) + 0.1
    np.testing.assert_allclose(
        class_inverses(X, P, np.ones(2), 0.1).ravel(), 1.0 / expected, rtol=1e-5
    )
