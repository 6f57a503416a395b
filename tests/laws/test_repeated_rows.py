"""A weight of 2 is the row twice, behind every door that takes weights."""

import numpy as np
import pytest
from tests.laws.doors import DOORS, drawn, numbers, taken

DATA = drawn()
WEIGHTS = ("weight", "use_weight")
#: Doors where rows count, or where weights are no repetitions -> what the documentation says.
OTHERWISE = {
    "selective fit": "copies of rows prove nothing, and are not counted",
    "joint_pit": "a number for each row",
    "confidence_curve": "a place for each row",
    "report": "out-of-fold predictions, and draws, of rows",
    "report of forecasts": "out-of-fold predictions, and draws, of rows",
    "cross_fitted": "the row twice in every fit; folds are of rows",
    "classifier": "for the model and the calibrator; folds are of rows",
    "regressor": "for the model and the calibrator; folds are of rows",
    "conformal regressor": "rows of one group are held out together; folds are of rows",
    "rolling_evaluation": "times are cut by rows",
    "weighted sets predict_set": "weights of a sampling design",
    "lock check": "how much more frequent a row is in the population",
    "rmse_rmv_curve": "the band of clusters draws one error a row",
}
#: Few clusters: another weight need not draw another row.
CLUSTERS = {name for name in DOORS if name.endswith("of clusters")}
WEIGHTED = [
    name
    for name, door in DOORS.items()
    if set(WEIGHTS) & set(door.columns.values()) and name not in OTHERWISE
]


@pytest.mark.filterwarnings("ignore::calibrant.errors.CalibrationWarning")
@pytest.mark.parametrize("name", WEIGHTED)
def test_a_weight_of_two_is_the_row_twice(name: str):
    weight = DATA["weight"].astype(int)
    repeated = taken(DATA, np.repeat(np.arange(len(weight)), weight))
    repeated |= {one: np.ones(weight.sum()) for one in WEIGHTS}
    weighted, copies = (numbers(DOORS[name](d)) for d in (DATA, repeated))
    np.testing.assert_allclose(copies, weighted, rtol=1e-6, atol=1e-9)
    if name not in CLUSTERS:
        plain = numbers(DOORS[name](DATA | {one: np.ones(len(weight)) for one in WEIGHTS}))
        assert len(plain) != len(weighted) or not np.allclose(plain, weighted, equal_nan=True)
