import numpy as np

from calibrant._kernels.bins import upper_edges


def test_bins_are_even_in_the_mean_of_the_score_and_its_log_odds():
    edges = upper_edges(11)
    assert (edges[0], edges[-1]) == (0.0, 1.0)
    inner = edges[1:-1]
    place = 0.5 * inner + 0.25 * (np.log(inner / (1.0 - inner)) / 30.0 + 1.0)
    np.testing.assert_allclose(place, np.arange(1, 10) / 10.0, rtol=1e-7)
    assert not edges.flags.writeable


def test_no_bin_is_wider_than_it_says():
    edges = upper_edges(5000)
    assert (np.diff(edges) <= 2.0 / 5000 * 1.001).all()
    inner = edges[1:-1]
    inner = inner[inner < 1.0 - 1e-9]
    assert (np.diff(np.log(inner / (1.0 - inner))) <= 120.0 / 5000 * 1.01).all()
