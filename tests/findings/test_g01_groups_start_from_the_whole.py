"""G1: an error of all rows is not a difference between groups, and a row of no known group gets
the overall risk.
"""

import warnings

import numpy as np
import pytest

import calibrant as cb

TRUTH = 1.0 / (1.0 + np.exp(2.2))


def shifted(n, seed=1):
    """(risks that are 2.2 too high in log-odds for every row, outcomes, groups that do not
    differ).
    """
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    y = (rng.random(n) < 1.0 / (1.0 + np.exp(-z + 2.2))).astype(int)
    return 1.0 / (1.0 + np.exp(-z)), y, rng.choice(list("abcd"), n, p=[0.5, 0.3, 0.19, 0.01])


def test_g01_known_rare_and_unseen_groups_get_the_overall_risk():
    p, y, groups = shifted(8000)
    cal = cb.GroupCalibrator().fit(p, y, groups=groups)
    risks = cal.predict_proba([0.5] * 3, groups=["a", "d", "unseen"])[:, 1]
    np.testing.assert_allclose(risks, TRUTH, atol=0.008)
    assert np.ptp(risks) < 0.001


def test_g01_group_effects_are_not_booked_where_groups_do_not_differ():
    """Nor does explain() say that they differ."""
    spreads = []
    for seed in range(12):
        p, y, groups = shifted(1500, seed)
        cal = cb.GroupCalibrator().fit(p, y, groups=groups)
        spreads.append(np.ptp(cal.predict_proba([0.5] * 3, groups=["a", "c", "unseen"])[:, 1]))
    assert np.mean(np.array(spreads) > 0.01) <= 0.2


def test_g01_a_missing_group_gets_the_overall_risk_where_groups_differ():
    p, y, _ = shifted(6000)
    rng = np.random.default_rng(5)
    groups = np.where(rng.random(6000) < np.where(y == 1, 0.6, 0.4), "more", "less")
    cal = cb.GroupCalibrator().fit(p, y, groups=groups)
    less, more, missing = cal.predict_proba([0.5] * 3, groups=["less", "more", None])[:, 1]
    assert less < missing < more
    assert missing == pytest.approx(TRUTH, abs=0.02)


@pytest.mark.parametrize(
    "wrapper", [cb.GroupCalibrator, cb.calibrators.Multicalibration], ids=lambda one: one.__name__
)
def test_g01_wrappers_are_right_on_the_whole(wrapper):
    p, y, groups = shifted(2000)
    cal = wrapper().fit(p, y, groups=groups)
    with warnings.catch_warnings():
        # All rows are of a level that was not seen, of which a warning speaks.
        warnings.simplefilter("ignore")
        unseen = cal.predict_proba(p, groups=["new"] * 2000)[:, 1]
    assert unseen.mean() == pytest.approx(y.mean(), abs=0.01)


def test_g01_a_bias_of_all_forecasts_is_not_a_bias_of_groups():
    rng = np.random.default_rng(0)
    mean, groups = rng.normal(size=3000), rng.choice(list("abcd"), 3000, p=[0.5, 0.3, 0.19, 0.01])
    cal = cb.regression.ForecastGroupCalibrator().fit(
        mean, mean + 1.0 + rng.normal(size=3000), std=np.ones(3000), groups=groups
    )
    found = cal.predict([0.0] * 3, [1.0] * 3, groups=["a", "d", "unseen"])
    np.testing.assert_allclose(found.mean, 1.0, atol=0.1)
