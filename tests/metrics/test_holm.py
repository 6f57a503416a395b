import numpy as np
import pytest

from calibrant.metrics.comparison import holm


def test_the_example_written_out():
    corrected, share = holm(np.array([0.01, 0.04, 0.03, 0.005]), 0.05)
    assert corrected == pytest.approx([0.03, 0.06, 0.06, 0.02])
    # The third smallest fails at alpha / 2, where the last stays too.
    assert share.tolist() == [3.0, 2.0, 2.0, 4.0]


def test_all_rejected_none_rejected_and_one():
    assert holm(np.array([1e-9, 1e-8]), 0.05)[1].tolist() == [2.0, 1.0]
    assert holm(np.array([0.9, 0.8]), 0.05)[0].tolist() == [1.0, 1.0]
    assert holm(np.array([0.03]), 0.05)[0].tolist() == [0.03]


def test_as_statsmodels_computes_it():
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    p = np.random.default_rng(0).random(20) ** 3
    assert holm(p, 0.05)[0] == pytest.approx(multitest.multipletests(p, method="holm")[1])
