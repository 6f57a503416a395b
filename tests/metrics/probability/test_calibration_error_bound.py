import numpy as np
import pytest

from calibrant import metrics
from calibrant.errors import InputError


def test_the_slack_of_both_at_the_size_of_the_paper():
    y, p = [0, 1] * 2500, [0.5] * 5000
    better, paper = (
        metrics.calibration_error_bound(y, p),
        metrics.calibration_error_bound(y, p, method="paper"),
    )
    assert better.slack == pytest.approx(0.073, abs=5e-4)
    assert paper.slack == pytest.approx(0.628, abs=5e-4)
    assert better.error == metrics.expected_calibration_error(y, p) == 0.0


def test_it_holds_as_often_as_it_says():
    """The true error of a model off by 0.1 everywhere is 0.1."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        p = 0.55 + 0.35 * rng.random(400)
        y = (rng.random(400) < p - 0.1).astype(int)
        assert metrics.calibration_error_bound(y, p, target="event").bound >= 0.1


def test_it_is_never_above_1():
    assert metrics.calibration_error_bound([0], [0.9]).bound == 1.0


@pytest.mark.parametrize("options", [{"alpha": 0.0}, {"n_bins": 0}, {"method": "guess"}])
def test_refusals(options):
    with pytest.raises(InputError, match="must be"):
        metrics.calibration_error_bound([0], [0.5], **options)
