import numpy as np
import pytest

import calibrant as cb
from calibrant.decisions.certificates import repetitions, require_share
from calibrant.errors import InputError


def test_whole_numbers_pass_and_others_do_not():
    assert repetitions(np.array([1.0, 3.0 + 1e-12])).tolist() == [1.0, 3.0]
    with pytest.raises(InputError, match=r"row 1 has 0\.5"):
        repetitions(np.array([1.0, 0.5]))


def test_every_rule_with_a_promise_refuses_weights_of_a_design():
    rng = np.random.default_rng(0)
    p, w = rng.uniform(0.5, 1.0, 60), np.exp(rng.normal(size=60))
    P, y = np.column_stack([1.0 - p, p]), (rng.random(60) < p).astype(int)
    losses = (rng.random((60, 3)) < 0.1).astype(float)
    asked = [
        lambda w: cb.ConformalSets().fit(P, y, sample_weight=w),
        lambda w: cb.decisions.ConditionalSets().fit(P, y, features=p[:, None], sample_weight=w),
        lambda w: cb.SelectiveClassifier(0.5).fit(P, y, sample_weight=w),
        lambda w: cb.decisions.ConformalRiskControl(0.5).fit(P, np.eye(2)[y], sample_weight=w),
        lambda w: cb.decisions.NeymanPearsonClassifier(0.5).fit(P, y, sample_weight=w),
        lambda w: cb.decisions.certified_settings(losses, 0.5, sample_weight=w),
    ]
    for one in asked:
        one(np.full(60, 2.0))
        with pytest.raises(InputError, match="Weights of a sampling design"):
            one(w)


def test_intervals_of_forecasts_promise_nothing_under_weights_of_a_design():
    rng = np.random.default_rng(0)
    mean, w = rng.normal(size=60), np.exp(rng.normal(size=60))
    y = mean + rng.normal(size=60)
    for weight, promised in ((np.full(60, 2.0), True), (w, False)):
        fitted = cb.ConformalIntervals().fit(mean, y, std=np.ones(60), sample_weight=weight)
        assert (fitted.guarantee(0.8) is not None) == promised


@pytest.mark.parametrize("value", [0, 1, -0.1, "0.1", True, None, np.nan])
def test_a_share_is_inside_0_and_1(value):
    with pytest.raises(InputError, match="risk must be above 0 and below 1"):
        require_share("risk", value)
