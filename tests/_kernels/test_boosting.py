"""Boosting: slopes by differences, the order of columns by hand, and the mean of the members."""

import numpy as np
from scipy import special

from calibrant._kernels.boosting import Growth, NormalScores, Shares, _asked, boost, leaves


def differs(objective, eta, column):
    rows, step = np.arange(len(eta)), 1e-4
    up, down = eta.copy(), eta.copy()
    up[:, column] += step
    down[:, column] -= step
    values = [objective.losses(at, rows) for at in (up, eta, down)]
    return (values[2] - values[0]) / (2 * step), (values[0] - 2 * values[1] + values[2]) / step**2


def test_pulls_are_slopes_of_the_losses():
    rng = np.random.default_rng(0)
    one = Shares(rng.integers(0, 2, (9, 1)).astype(float))
    several = Shares(np.eye(3)[rng.integers(0, 3, 9)])
    number = NormalScores(rng.normal(size=9))
    for objective, eta in (
        (one, rng.normal(size=(9, 1))),
        (several, rng.normal(size=(9, 3))),
        (number, rng.normal(size=(9, 2))),
    ):
        pull, curve = objective.pull(eta)
        for column in range(eta.shape[1]):
            slope, bend = differs(objective, eta, column)
            np.testing.assert_allclose(pull[:, column], slope, atol=1e-6)
            if objective is not number:
                np.testing.assert_allclose(curve[:, column], bend, atol=1e-5)
    np.testing.assert_allclose(
        number.pull(np.array([[0.0, np.log(2.0)]] * 9))[1], [[0.25, 2.0]] * 9
    )


def test_losses_by_hand():
    assert Shares(np.array([[1.0], [0.0]])).losses(np.array([[800.0]]), np.array([1]))[
        0
    ] == -np.log(1e-15)
    np.testing.assert_allclose(
        Shares(np.array([[1.0], [0.0]])).losses(np.array([[0.5], [0.5]]), np.arange(2)),
        -np.log([special.expit(0.5), special.expit(-0.5)]),
    )
    found = NormalScores(np.array([3.0, 5.0])).losses(np.array([[1.0, np.log(2.0)]]), np.array([1]))
    np.testing.assert_allclose(found, np.log(2.0) + 0.5 * 4.0)


def test_of_many_columns_trees_take_turns():
    assert _asked(64, 5).tolist() == list(range(64))
    assert _asked(100, 0).tolist() == list(range(64))
    assert _asked(100, 1).tolist() == [*range(28), *range(64, 100)]


def test_members_learn_on_the_other_folds_and_stop_at_the_least_loss():
    rng = np.random.default_rng(1)
    n = 400
    codes = rng.integers(0, 4, (2, n)).astype(np.uint8)
    hit = (rng.random(n) < special.expit(1.5 * (codes[0] > 1) - 0.7)).astype(float)[:, None]
    folds, weight = np.arange(n) % 2, rng.uniform(0.5, 1.5, n)
    starts = [(Shares(hit), np.zeros((n, 1))) for _ in range(2)]
    growth = Growth(1, 5.0, np.array([True, True]), 4)
    found = boost(codes, growth, starts, folds, weight, 0.3, 30)
    assert 0 < found.rounds <= 30
    assert len(found.trees.output) == found.rounds * 2
    np.testing.assert_allclose(found.before, np.log(2.0))
    assert weight @ found.after < weight @ found.before
    assert boost(codes, growth, starts, folds, weight, 0.3, 0).rounds == 0
    # What was left out is what each member says of its own fold: twice its share of the mean.
    eta = np.zeros((n, 2))
    trees = found.trees
    for t in range(len(trees.output)):
        eta[:, t % 2] += 2.0 * trees.value[t][leaves(codes, trees.column[t], trees.right[t])]
    own = eta[np.arange(n), folds]
    np.testing.assert_allclose(
        found.after, -np.log(np.where(hit[:, 0] == 1.0, special.expit(own), special.expit(-own)))
    )
    assert np.abs(2.0 * trees.value).max() <= 0.3
