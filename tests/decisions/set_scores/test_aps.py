import numpy as np

from calibrant.decisions.set_scores import Aps


def test_mass_above_and_a_part_of_its_own():
    P, u = np.array([[0.5, 0.125, 0.375]]), np.array([0.5])
    assert Aps().of_all(P, u).tolist() == [[0.25, 0.9375, 0.6875]]
    assert Aps().of_all(P, np.ones(1)).tolist() == [[0.5, 1.0, 0.875]]
    assert Aps().of_labels(P, np.array([2]), u).tolist() == [0.6875]


def test_equals_are_one_block_whatever_the_order_of_the_columns():
    P = np.array([[0.25, 0.5, 0.25], [0.25, 0.25, 0.5]])
    assert Aps().of_all(P, np.array([0.5, 0.5])).tolist() == [
        [0.75, 0.25, 0.75],
        [0.75, 0.75, 0.25],
    ]
    found = Aps().within(P, np.array([0.5, 0.5]), np.array([[0.7]]))
    assert found.tolist() == [[False, True, False], [False, False, True]]


def test_the_quick_way_to_a_set_is_the_slow_one():
    rng = np.random.default_rng(0)
    for _ in range(50):
        counts = rng.integers(0, 4, (20, rng.integers(2, 9))) + 0.01
        P, u = counts / counts.sum(axis=1, keepdims=True), rng.random(20)
        score = Aps().of_all(P, u)
        for limit in (0.0, 0.3, rng.random(), score[3, 1], 1.0, np.inf):
            assert (Aps().within(P, u, np.array([[limit]])) == (score <= limit)).all()


def test_sums_do_not_depend_on_their_order():
    rng = np.random.default_rng(1)
    P = rng.dirichlet(np.full(50, 0.1), 200)
    order = rng.permutation(50)
    u = np.ones(200)
    assert (Aps().of_all(P, u)[:, order] == Aps().of_all(P[:, order], u)).all()
    labels = rng.integers(0, 50, 200)
    assert (Aps().of_all(P, u)[np.arange(200), labels] == Aps().of_labels(P, labels, u)).all()
