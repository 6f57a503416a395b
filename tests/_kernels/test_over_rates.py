import numpy as np
import pytest

from calibrant._kernels.intervals import over_rates


def test_a_peak_between_the_ends_is_found_and_the_least_is_at_an_end():
    peaks = np.array([0.001, 0.3, 0.9])
    least, largest = over_rates(
        lambda rate: -np.square(np.log(rate / peaks)),
        (np.array([1e-4, 0.1, 0.91]), np.array([0.5, 0.4, 0.99])),
    )
    assert largest[:2] == pytest.approx([0.0, 0.0], abs=1e-9)
    assert largest[2] == pytest.approx(-(np.log(0.91 / 0.9) ** 2))
    assert least == pytest.approx([-(np.log(500) ** 2), -(np.log(3) ** 2), -(np.log(1.1) ** 2)])
