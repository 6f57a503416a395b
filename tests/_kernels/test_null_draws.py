"""Nulls have a stream of their own."""

import numpy as np

from calibrant._kernels.bootstrap import null_generator


def test_a_seed_shares_nothing_with_a_user_s_generator_of_that_seed():
    ours, users = null_generator(0).random(1000), np.random.default_rng(0).random(1000)
    assert np.intersect1d(ours, users).size == 0
    assert np.array_equal(ours, null_generator(np.int64(0)).random(1000))
    assert not np.array_equal(ours, null_generator(1).random(1000))


def test_a_generator_goes_through():
    own = np.random.default_rng(5)
    assert null_generator(own) is own
