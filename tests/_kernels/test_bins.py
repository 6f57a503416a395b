"""Bins: which one a score falls in, and the sums over them."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant._kernels import bins


def test_equal_width_edges_and_index():
    assert bins.equal_width_edges(4).tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert bins.equal_width_index([0.0, 0.2499, 0.25, 0.999, 1.0], 4).tolist() == [0, 0, 1, 3, 3]


def test_resolution_counts_a_score_just_below_an_edge_as_on_it():
    p = np.float32(0.7)  # 0.699999988 in float64
    assert bins.equal_width_index([float(p)], 10).tolist() == [6]
    assert bins.equal_width_index([float(p)], 10, np.finfo(np.float32).eps).tolist() == [7]


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(
    st.lists(st.integers(0, 8), min_size=1, max_size=40),
    st.integers(1, 12),
    st.integers(0, 2**32 - 1),
)
def test_equal_mass_groups(ties, n_bins, seed):
    score = np.array(ties) / 8.0
    weight = np.random.default_rng(seed).integers(1, 4, len(score)).astype(float)
    group = bins.equal_mass_groups(score, n_bins, weight)
    used = np.unique(group)
    assert used.tolist() == list(range(len(used))), "numbers are not consecutive"
    assert len(used) <= n_bins
    order = np.argsort(score)
    assert (np.diff(group[order]) >= 0).all(), "groups do not rise with the score"
    for value in np.unique(score):
        assert len(np.unique(group[score == value])) == 1, "a tie was split"
    rows = np.repeat(np.arange(len(score)), weight.astype(int))
    np.testing.assert_array_equal(bins.equal_mass_groups(score[rows], n_bins), group[rows])


def test_equal_mass_groups_without_ties_are_of_equal_size():
    group = bins.equal_mass_groups(np.random.default_rng(0).random(103), 10)
    assert set(np.bincount(group)) == {10, 11}


def test_grouped_sums():
    sums = bins.grouped_sums(
        np.array([2, 0, 2]), 4, [np.array([1.0, 2.0, 3.0])], np.array([1.0, 10.0, 2.0])
    )
    assert sums.tolist() == [[10.0, 20.0], [0.0, 0.0], [3.0, 7.0], [0.0, 0.0]]
    plain = bins.grouped_sums(np.array([2, 0, 2]), 3, [np.array([1.0, 2.0, 3.0])])
    assert plain.tolist() == [[1.0, 2.0], [0.0, 0.0], [2.0, 4.0]]


def test_the_least_score_of_a_bin_is_exact():
    for n_bins in (*range(2, 40), 1000):
        for resolution in (2.0**-52, float(np.finfo(np.float32).eps), 0.0):
            starts = bins.equal_width_starts(n_bins, resolution)
            number = np.arange(1, n_bins)
            assert bins.equal_width_index(starts, n_bins, resolution).tolist() == number.tolist()
            assert (
                bins.equal_width_index(np.nextafter(starts, -1.0), n_bins, resolution).tolist()
                == (number - 1).tolist()
            )


def test_a_run_of_ties_goes_where_its_middle_is():
    # Middles 1, 4.5 and 8.5 of 10: of two parts the second begins at 5, of ten each has its own.
    assert bins.equal_mass_parts(np.array([2.0, 5.0, 3.0]), 2).tolist() == [0, 0, 1]
    assert bins.equal_mass_parts(np.array([2.0, 5.0, 3.0]), 10).tolist() == [0, 1, 2]
    assert bins.equal_mass_parts(np.array([2.0, 6.0, 2.0]), 2).tolist() == [0, 1, 1]
    assert bins.equal_mass_parts(np.array([0.0, 1.0]), 1).tolist() == [0, 0]


def test_the_ends_of_groups():
    low, high = bins.group_ends(np.array([0.3, 0.1, 0.7]), np.array([0, 0, 2]), 3)
    assert (low.tolist(), high.tolist()) == ([0.1, np.inf, 0.7], [0.3, -np.inf, 0.7])
