import numpy as np
import pytest

from calibrant._kernels.conformal import least_parameter


@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_least_of_a_search_over_all(seed):
    rng = np.random.default_rng(seed)
    parameter, drop = rng.random(200).round(1), np.ones(200)
    found, left = least_parameter(parameter, drop, 200.0, 300.0, 0.2)
    tried = [p for p in np.unique(parameter) if (np.sum(parameter > p) + 1.0) / 301.0 <= 0.2]
    assert found == tried[0]
    assert left == np.sum(parameter > found)


def test_where_all_pass_and_where_none_does():
    """Of a search that takes the first index that fails, less one, both ends go wrong."""
    assert least_parameter(np.array([0.5]), np.array([1.0]), 1.0, 99.0, 0.1) == (-np.inf, 1.0)
    assert np.isnan(least_parameter(np.array([0.5]), np.array([1.0]), 50.0, 99.0, 0.1)[0])
    assert least_parameter(np.zeros(0), np.zeros(0), 0.0, 99.0, 0.1)[0] == -np.inf
