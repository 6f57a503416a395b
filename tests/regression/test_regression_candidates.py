"""The table of candidates for forecasts: what is tried with how many rows and which score,
within what cost.
"""

import numpy as np
import pytest

from calibrant.core.regression_calibrator import RegressionCalibrator
from calibrant.regression.regression_candidates import (
    REGRESSION_CANDIDATES,
    regression_candidates_for,
)


def names(*args, **options):
    return [c.name for c in regression_candidates_for(*args, **options)]


def test_names_are_distinct_and_only_the_identity_is_free():
    assert len({c.name for c in REGRESSION_CANDIDATES}) == len(REGRESSION_CANDIDATES)
    assert [c.name for c in REGRESSION_CANDIDATES if c.cost == 0.0] == ["uncalibrated"]


@pytest.mark.parametrize("candidate", REGRESSION_CANDIDATES, ids=lambda c: c.name)
def test_each_makes_a_calibrator_of_its_own_that_has_its_scores(candidate):
    assert isinstance(candidate.make(), RegressionCalibrator)
    assert candidate.make() is not candidate.make()
    rng = np.random.default_rng(0)
    n = int(candidate.min_rows)
    mean, std = rng.normal(size=n), rng.uniform(0.5, 2.0, n)
    forecast = (
        candidate.make().fit(mean, mean + std * rng.normal(size=n), std=std).predict(mean, std)
    )
    assert np.isfinite(forecast.quantile([0.25, 0.75])).all()
    assert np.isfinite(forecast.log_density(mean)).all()


def test_rows_and_the_kind_of_forecast_decide():
    assert names(19.9) == names(0) == ["uncalibrated"]
    by_parts = ["recalibration by parts", "recalibration by parts, spread by the mean"]
    assert (
        names(20)
        == names(5000)
        == ["uncalibrated", *by_parts, "recalibration of the moments by parts"]
    )
    assert names(20, normal=True) == ["uncalibrated", *by_parts]
    every = {c.name for c in REGRESSION_CANDIDATES}
    assert set(names(5000, names=every)) == set(names(5000, max_cost=1e9)) == every
    for candidate in REGRESSION_CANDIDATES[1:]:
        assert candidate.name in names(candidate.min_rows, names=every)
        assert candidate.name not in names(candidate.min_rows - 1, names=every)


def test_cost_and_names_keep_some():
    every = regression_candidates_for(5000, max_cost=1e9)
    assert [c.cost for c in every] == sorted(c.cost for c in every)
    within = regression_candidates_for(5000, max_cost=6.0)
    assert within == every[: len(within)]
    assert sum(c.cost for c in within) <= 6.0 < sum(c.cost for c in every[: len(within) + 1])
    assert names(5000, max_cost=0.0) == ["uncalibrated"]
    assert names(5000, names=["STD scaling"]) == ["uncalibrated", "STD scaling"]
