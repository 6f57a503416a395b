"""Names of outputs: kept where a frame says them in fit, held against those of the forecast in
predict.
"""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import calibrant as cb
from calibrant.core.forecast_record import read_forecast
from calibrant.errors import InputError

MEAN = pd.DataFrame({"speed": [1.0, 2.0, 3.0, 4.0], "depth": [5.0, 5.5, 6.0, 6.5]})
Y = MEAN + np.array([[0.5, 1.0], [-0.5, 2.0], [1.0, -3.0], [-1.0, 1.0]])
STD = MEAN * 0.0 + 1.0


@pytest.mark.parametrize(
    ("mean", "y"),
    [
        (MEAN, Y),
        (MEAN, Y.to_numpy()),
        (MEAN.to_numpy(), Y),
        (pa.Table.from_pandas(MEAN), Y.to_numpy()),
    ],
    ids=["both", "mean", "outcomes", "arrow"],
)
def test_it_keeps_the_names_that_a_frame_says(mean, y):
    cal = cb.StdScaling().fit(mean, y, std=STD.to_numpy())
    assert cal.output_names_ == ["speed", "depth"]
    np.testing.assert_array_equal(
        cal.scale_, cb.StdScaling().fit(MEAN.to_numpy(), Y.to_numpy(), std=STD.to_numpy()).scale_
    )


def test_names_go_when_it_is_fitted_again_without():
    cal = cb.StdScaling().fit(MEAN, Y, std=STD)
    assert cal.fit(MEAN.to_numpy(), Y.to_numpy(), std=STD.to_numpy()).output_names_ is None
    numbers = pd.DataFrame(MEAN.to_numpy())
    assert cal.fit(numbers, Y.to_numpy(), std=STD.to_numpy()).output_names_ is None
    assert cal.fit(MEAN["speed"], Y["speed"], std=STD["speed"]).output_names_ is None


def test_outputs_in_another_order_are_refused():
    cal, turned = cb.StdScaling().fit(MEAN, Y, std=STD), MEAN[["depth", "speed"]]
    with pytest.raises(
        InputError,
        match=(
            r"columns of the forecast of fit in their order, \['speed', 'depth'\]; got \['depth',"
            r" 'speed'\]"
        ),
    ):
        cal.predict(turned, STD[["depth", "speed"]])
    with pytest.raises(InputError, match="in their order"):
        cal.predict((turned, STD[["depth", "speed"]]))
    plain = cal.predict(MEAN.to_numpy(), STD.to_numpy()).std
    for mean in (MEAN, MEAN.add_prefix("mean_")):
        np.testing.assert_array_equal(cal.predict(mean, STD.to_numpy()).std, plain)


def test_a_file_keeps_them_and_one_without_them_loads(tmp_path):
    cal = cb.StdScaling().fit(MEAN, Y, std=STD)
    assert cb.load(cal.save(tmp_path / "named.calibrant")).output_names_ == ["speed", "depth"]
    del cal.output_names_  # as in files that are older
    old = cb.load(cal.save(tmp_path / "old.calibrant"))
    assert old.output_names_ is None
    np.testing.assert_array_equal(
        old.predict(MEAN[["depth", "speed"]], STD.to_numpy()).std,
        cal.predict(MEAN, STD.to_numpy()).std,
    )


def test_what_it_says_of_an_output_has_its_name():
    said = cb.AutoRegressionCalibrator().fit(MEAN, Y, std=STD).explain().split("\n")
    assert [line.split(": ")[0] for line in said] == ["speed", "depth"]


def test_an_output_alone_and_some_rows_of_all():
    record = read_forecast(MEAN, STD, Y, sample_weight=[1, 0, 1, 1])
    assert record.names == record.take([0, 1]).names == ["speed", "depth"]
    assert [one.names for one in record.outputs()] == [None, None]
