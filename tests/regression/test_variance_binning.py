"""The std by bins."""

import numpy as np

import calibrant as cb


def test_it_turns_the_order_round_where_the_data_do():
    rng = np.random.default_rng(0)
    std = rng.uniform(1.0, 2.0, 5000)
    cal = cb.regression.VarianceBinning().fit(np.zeros(5000), rng.normal(size=5000) / std, std=std)
    out = cal.predict(np.zeros(2), np.array([1.05, 1.95])).std
    np.testing.assert_allclose(out, [1 / 1.05, 1 / 1.95], rtol=0.1)


def test_bins_hold_equal_weight_and_values_are_the_errors_seen():
    std = np.arange(1.0, 91.0)
    cal = cb.regression.VarianceBinning(n_bins=3).fit(
        np.zeros(90), np.repeat([1.0, 2.0, 3.0], 30), std=std
    )
    assert cal.values_.tolist() == [1.0, 2.0, 3.0]
    assert cal.edges_.tolist() == [30.5, 60.5]


def test_few_rows_share_a_bin():
    cal = cb.regression.VarianceBinning().fit(
        np.zeros(40), np.full(40, 2.0), std=np.arange(1.0, 41.0)
    )
    assert cal.values_.tolist() == [2.0]
