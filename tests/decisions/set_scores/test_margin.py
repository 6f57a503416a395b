import numpy as np

from calibrant.decisions.set_scores import Margin


def test_it_is_by_how_much_another_class_is_likelier():
    P = np.array([[0.5, 0.125, 0.375], [0.375, 0.375, 0.25]])
    assert Margin().of_all(P, np.ones(2)).tolist() == [[-0.125, 0.375, 0.125], [0.0, 0.0, 0.125]]
    assert Margin().of_labels(P, np.array([1, 0]), np.ones(2)).tolist() == [0.375, 0.0]
    assert Margin().within(P, np.ones(2), np.array([[0.125], [0.0]])).tolist() == [
        [True, False, True],
        [True, True, False],
    ]
