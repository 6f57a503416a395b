"""Ellipses of calibrated forecasts hold what they say."""

import numpy as np
import pytest

from calibrant import metrics
from calibrant.errors import InputError
from calibrant.testing.data import joint_rows


@pytest.mark.parametrize("d", [2, 10])
@pytest.mark.parametrize("said", [0.5, 0.9])
def test_calibrated_ellipses_hold_what_they_say(d, said):
    mean, cov, y = joint_rows(4000, d)
    found = metrics.ellipse_coverage.interval(y, (mean, cov), said=said, level=0.999)
    assert found.low < said < found.high
    assert (
        metrics.ellipse_coverage.interval(y, (mean, 0.5 * cov), said=said, level=0.999).high < said
    )


def test_weight_is_repetition_and_draws_have_no_ellipse():
    mean, cov, y = joint_rows(5, 2)
    weight, rows = [1, 2, 0, 3, 1], [0, 1, 1, 3, 3, 3, 4]
    assert metrics.ellipse_coverage.interval(
        y, (mean, cov), sample_weight=weight
    ) == metrics.ellipse_coverage.interval(y[rows], (mean[rows], cov[rows]))
    with pytest.raises(InputError, match="got draws"):
        metrics.ellipse_coverage.interval(np.zeros((2, 2)), np.ones((2, 2, 5)))
    with pytest.raises(InputError, match="said must be between 0 and 1"):
        metrics.ellipse_coverage.interval(y, (mean, cov), said=90)
