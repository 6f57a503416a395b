import numpy as np

from calibrant.decisions.set_scores import Lac


def test_it_is_one_less_the_probability():
    P = np.array([[0.5, 0.25, 0.25]])
    assert Lac().of_all(P, np.ones(1)).tolist() == [[0.5, 0.75, 0.75]]
    assert Lac().of_labels(P, np.array([2]), np.ones(1)).tolist() == [0.75]
    assert Lac().within(P, np.ones(1), np.array([[0.5]])).tolist() == [[True, False, False]]
