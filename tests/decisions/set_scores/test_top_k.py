import numpy as np

from calibrant.decisions.set_scores import TopK


def test_it_is_the_rank_and_of_equals_the_last():
    P = np.array([[0.5, 0.125, 0.375], [0.25, 0.5, 0.25]])
    assert TopK().of_all(P, np.ones(2)).tolist() == [[1.0, 3.0, 2.0], [3.0, 1.0, 3.0]]
    assert TopK().of_labels(P, np.array([2, 0]), np.ones(2)).tolist() == [2.0, 3.0]


def test_no_set_has_more_than_k_classes():
    P = np.array([[0.5, 0.125, 0.375], [0.25, 0.5, 0.25]])
    assert TopK().within(P, np.ones(2), np.array([[2.0]])).tolist() == [
        [True, False, True],
        [False, True, False],
    ]
    assert TopK().within(P, np.ones(2), np.array([[np.inf]])).all()
    assert TopK().within(P, np.ones(2), np.array([[2.0], [3.0]])).sum() == 5
