"""Class frequencies for every row."""

import numpy as np

import calibrant as cb


def test_rates_by_hand_and_a_class_not_seen_keeps_a_probability():
    cal = cb.calibrators.ClassRates(classes=[0, 1, 2]).fit(
        np.full((4, 3), 1 / 3), [0, 0, 1, 0], sample_weight=[1, 1, 1, 2]
    )
    np.testing.assert_allclose(cal.rates_, np.array([4.5, 1.5, 0.5]) / 6.5)
    np.testing.assert_array_equal(cal.predict_proba([[0.0, 0.0, 1.0]])[0], cal.rates_)
