import numpy as np
import pytest

from calibrant._kernels.net_benefit import net_benefit


def test_by_hand():
    assert net_benefit(12, 30, 100, 0.2) == pytest.approx(0.12 - 0.30 * 0.25)


def test_acting_on_all_is_worth_nothing_at_the_prevalence():
    assert net_benefit(14, 86, 100, 0.14) == pytest.approx(0.0, abs=1e-15)


def test_shares_are_counts_of_one():
    t = np.array([0.0, 0.1, 0.5])
    np.testing.assert_allclose(net_benefit(12, 30, 100, t), net_benefit(0.12, 0.30, 1.0, t), rtol=1e-15)
