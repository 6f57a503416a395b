import numpy as np
import pytest

from calibrant import Platt
from calibrant.calibrators import ScalingBinning
from calibrant.errors import InputError


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    score = rng.beta(2, 1, 1000)
    return score, (rng.random(1000) < score**2).astype(float)


def test_each_bin_outputs_its_mean_fitted_value_not_its_mean_outcome(data):
    score, correct = data
    m = ScalingBinning(n_bins=5).fit(score, correct)
    fitted = Platt().fit(score, correct).predict(score)
    order = np.argsort(score)
    for k, rows in enumerate(np.split(order, 5)):
        assert m.value_[k] == pytest.approx(fitted[rows].mean(), rel=1e-12)
        np.testing.assert_array_equal(m.predict(score[rows]), m.value_[k])
        assert abs(m.value_[k] - correct[rows].mean()) > 1e-6


def test_ties_are_never_split():
    m = ScalingBinning(n_bins=10).fit(np.repeat([0.1, 0.5, 0.9], 20), np.tile([0, 1], 30))
    assert len(m.value_) <= 3


def test_the_average_prediction_is_platts(data):
    score, correct = data
    m = ScalingBinning(n_bins=7).fit(score, correct)
    assert m.predict(score).mean() == pytest.approx(
        Platt().fit(score, correct).predict(score).mean(), rel=1e-12
    )


def test_no_bins_are_refused():
    with pytest.raises(InputError, match="n_bins"):
        ScalingBinning(n_bins=0).fit([0.1, 0.2], [0, 1])
