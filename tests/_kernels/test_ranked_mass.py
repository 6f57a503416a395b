"""Mass of the classes that are more likely, counted one by one."""

import numpy as np

from calibrant._kernels.conformal import mass_of_all, mass_of_labels, on_grid, within_mass

RNG = np.random.default_rng(0)
P = on_grid(
    np.vstack(
        [
            RNG.dirichlet(np.ones(5), 20),
            [[0.25, 0.25, 0.25, 0.25, 0.0], [0.5, 0.125, 0.125, 0.125, 0.125], [0.2] * 5],
        ]
    )
)


def by_hand(row, label):
    more = [p for p in row if p > row[label]]
    equal = [p for p in row if p == row[label]]
    return sum(more), sum(equal), len(more) + len(equal)


def test_of_one_class_and_of_all():
    every = mass_of_all(P)
    for label in range(5):
        expected = np.array([by_hand(row, label) for row in P.tolist()]).T
        for one, all_, hand in zip(
            mass_of_labels(P, np.full(len(P), label)), every, expected, strict=True
        ):
            np.testing.assert_array_equal(one, hand)
            np.testing.assert_array_equal(all_[:, label], hand)


def test_the_classes_within_a_limit_are_those_whose_score_is_at_most_it():
    above, tied, rank = mass_of_all(P)
    for u, penalty, free in ((1.0, 0.0, 0), (0.5, 0.0, 0), (0.3, 0.05, 2), (0.0, 0.1, 0)):
        share = np.full(len(P), u)
        score = above + u * tied + penalty * np.maximum(rank - free, 0)
        for limit in (0.0, 0.2, 0.25, 0.5, 0.6, 0.75, 1.0, 1.2, -0.1):
            found = within_mass(P, share, np.full(len(P), limit), penalty, free)
            clear = np.abs(score - limit) > 1e-12
            np.testing.assert_array_equal(found[clear], (score <= limit)[clear])


def test_a_score_on_the_limit_is_within():
    row = np.array([[0.5, 0.25, 0.125, 0.125]])
    one = np.ones(1)
    assert within_mass(row, one, np.array([0.75])).tolist() == [[True, True, False, False]]
    assert within_mass(row, one, np.array([0.5])).tolist() == [[True, False, False, False]]
    assert within_mass(row, one, np.array([0.875])).tolist() == [[True, True, False, False]]
    assert within_mass(row, one, np.array([1.0])).tolist() == [[True, True, True, True]]
    assert within_mass(row, one, np.array([0.49])).tolist() == [[False] * 4]
    assert within_mass(row, one, np.array([0.75 + 2.0 * 0.125]), 0.125, 0).tolist() == [
        [True, True, False, False]
    ]
    assert within_mass(row, one, np.array([0.75 + 0.125]), 0.125, 1).tolist() == [
        [True, True, False, False]
    ]


def test_sums_are_exact_in_any_order_of_the_columns():
    order = [3, 0, 4, 1, 2]
    for one, other in zip(mass_of_all(P), mass_of_all(P[:, order]), strict=True):
        np.testing.assert_array_equal(one[:, order], other)
    assert on_grid(np.array([1.0 + 2.0**-52, 0.25])).tolist() == [1.0, 0.25]
