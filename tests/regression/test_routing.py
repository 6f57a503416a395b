"""The wrappers' own behaviour under routing is in tests/findings/test_f22_metadata_routing.py."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GroupKFold, KFold

from calibrant import CalibratedRegressor
from calibrant.calibrators.training_rows import fit_router, routed

WEIGHT, GROUPS = np.ones(4), np.arange(4)


@pytest.mark.parametrize(
    ("cv", "asks"),
    [
        (None, True),
        (3, True),
        (GroupKFold(3), True),
        (KFold(3), False),
        ([(np.arange(2), np.arange(2, 4))], True),
    ],
)
def test_a_number_of_folds_asks_for_groups_as_a_group_splitter_does(cv, asks):
    with config_context(enable_metadata_routing=True):
        owner = CalibratedRegressor(LinearRegression(), cv=cv)
        assert fit_router(owner, {}, cv).consumes("fit", ["groups"]) == (
            {"groups"} if asks else set()
        )


def test_without_routing_names_decide():
    models = {"estimator": LinearRegression(), "scale_estimator": Ridge()}
    to_models, to_splitter = routed(None, models, WEIGHT, GROUPS, {"margin": 1})
    assert {name: sorted(params) for name, params in to_models.items()} == {
        "estimator": ["margin", "sample_weight"],
        "scale_estimator": ["sample_weight"],
    }
    assert list(to_splitter) == ["groups"]
    assert routed(None, models, None, None, {}) == ({"estimator": {}, "scale_estimator": {}}, {})


def test_with_routing_requests_decide():
    with config_context(enable_metadata_routing=True):
        models = {
            "estimator": LinearRegression().set_fit_request(sample_weight=True),
            "scale_estimator": Ridge().set_fit_request(sample_weight=False),
        }
        owner = CalibratedRegressor(models["estimator"], scale_estimator=models["scale_estimator"])
        to_models, to_splitter = routed(owner, models, WEIGHT, GROUPS, {})
        assert (
            list(to_models["estimator"]),
            list(to_models["scale_estimator"]),
            list(to_splitter),
        ) == (["sample_weight"], [], ["groups"])
        assert routed(owner, models, None, None, {}) == (
            {"estimator": {}, "scale_estimator": {}},
            {},
        )
