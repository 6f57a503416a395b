import numpy as np
import pytest

from calibrant import metrics
from calibrant.errors import InputError


def test_linear_bins_are_those_of_the_confidence_histogram():
    rng = np.random.default_rng(0)
    y, p, weight = rng.integers(0, 2, 200), rng.random(200), rng.integers(0, 3, 200)
    got = metrics.risk_distribution(y, p, n_bins=20, sample_weight=weight)
    other = metrics.confidence_histogram(y, p, target="event", sample_weight=weight)
    np.testing.assert_array_equal(got.events, other.right)
    np.testing.assert_array_equal(got.others, other.wrong)


@pytest.mark.parametrize("scale", ["linear", "log", "logit", "auto"])
def test_no_row_is_lost_and_each_is_between_its_edges(scale):
    p = np.array([0.0, 1e-12, 0.001, 0.01, 0.3, 0.999, 1.0])
    y = np.array([0, 1, 0, 1, 0, 1, 1])
    got = metrics.risk_distribution(y, p, n_bins=12, scale=scale)
    assert (got.events.sum(), got.others.sum()) == (4.0, 3.0)
    assert (got.lower[0], got.upper[-1]) == (0.0, 1.0)
    np.testing.assert_array_equal(got.lower[1:], got.upper[:-1])
    inside = [
        ((p >= lo) & (p < up + (up == 1.0))).sum()
        for lo, up in zip(got.lower, got.upper, strict=True)
    ]
    np.testing.assert_array_equal(got.events + got.others, inside)


def test_a_rare_event_is_told_apart_on_the_scale_chosen():
    rng = np.random.default_rng(0)
    p = rng.beta(0.5, 200.0, 3000)
    got = metrics.risk_distribution((rng.random(3000) < p).astype(int), p, n_bins=30, scale="auto")
    assert ((got.events + got.others) > 0).sum() > 10


def test_wrong_options_are_refused():
    with pytest.raises(InputError, match="scale must be"):
        metrics.risk_distribution([0, 1], [0.2, 0.3], scale="sqrt")
    with pytest.raises(InputError, match="n_bins"):
        metrics.risk_distribution([0, 1], [0.2, 0.3], n_bins=0)
