"""G3: predictions without labels change a calibrator only as far as they say more than chance
that the class rates are others.
"""

import numpy as np
import pytest

import calibrant as cb
from calibrant.metrics import log_loss

CHEAP = ["class rates", "temperature scaling", "sigmoid of the log-odds"]


def drawn(rng, n, rate):
    """(risks that are too bold, outcomes) at a rate of the event."""
    y = (rng.random(n) < rate).astype(int)
    z = rng.normal(size=n) + 1.5 * (y - 0.5)
    return 1.0 / (1.0 + np.exp(-2.0 * z)), y


def changes(runs, first, rate, n_unlabelled=2000):
    """(runs,) relative change in log loss that the unlabelled rows bring, on new rows at their
    rate.
    """
    found = []
    for seed in range(first, first + runs):
        rng = np.random.default_rng(seed)
        p, y = drawn(rng, 300, 0.5)
        unlabelled, _ = drawn(rng, n_unlabelled, rate)
        new, came = drawn(rng, 10_000, rate)
        told = cb.AutoCalibrator(methods=CHEAP).fit(p, y, unlabeled=unlabelled)
        alone = cb.AutoCalibrator(methods=CHEAP).fit(p, y)
        found.append(
            log_loss(came, told.predict_proba(new)) / log_loss(came, alone.predict_proba(new)) - 1.0
        )
    return np.array(found)


def test_g03_without_a_shift_few_fits_are_made_worse():
    worse = changes(30, 0, 0.5)
    assert (worse > 0.005).mean() <= 0.1
    assert worse.mean() < 0.002


def test_g03_a_real_shift_is_still_gained_from():
    assert changes(4, 100, 0.15).mean() < -0.1


@pytest.mark.slow
@pytest.mark.parametrize("n_unlabelled", [300, 2000])
def test_g03_without_a_shift_few_fits_are_made_worse_in_many_runs(n_unlabelled):
    worse = changes(300, 1000, 0.5, n_unlabelled)
    assert (worse > 0.005).mean() <= 0.08
