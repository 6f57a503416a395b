import numpy as np
import pytest

import calibrant as cb
from calibrant.core.folds import out_of_fold
from calibrant.core.forecast_record import read_forecast
from calibrant.core.predictions import read
from calibrant.errors import InputError
from calibrant.reporting.calibrate import compare, final


def classes(n=300, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.02, 0.98, n)
    return read(p, (rng.random(n) < p**2).astype(int)), cb.TemperatureScaling()


def numbers(n=300, seed=0):
    rng = np.random.default_rng(seed)
    mean, std = rng.normal(size=n), rng.uniform(0.5, 2.0, n)
    return read_forecast(mean, std, mean + 1.5 * std * rng.normal(size=n)), cb.StdScaling()


TASKS = pytest.mark.parametrize("make", [classes, numbers])


@TASKS
def test_rows_are_calibrated_as_honestly_as_the_arguments_allow(make):
    record, calibrator = make()
    later, _ = make(seed=1)
    fitted = final(compare(record, calibrator), record)
    assert compare(record, calibrator).evaluation == "out-of-fold"
    assert compare(record, calibrator, test=later).evaluation == "held-out"
    assert compare(record, fitted).evaluation == "in-sample"
    assert compare(later, fitted).evaluation == "held-out"
    assert compare(record, fitted, in_sample=False).evaluation == "held-out"
    assert compare(later, fitted).after.agrees_with(compare(record, calibrator, test=later).after)
    with pytest.raises(InputError, match="fitted already"):
        compare(record, fitted, test=later)


@TASKS
def test_what_came_of_no_calibration_is_nothing(make):
    record, _ = make()
    found = compare(record, cb.calibrators.Identity())
    assert found.evaluation == "none"
    assert found.shown is record
    assert final(found, record) is None


def test_forecasts_out_of_fold_are_those_of_fits_on_the_other_folds():
    record, calibrator = numbers(60)
    result, folds = out_of_fold(calibrator, record, n_splits=3)
    for k in range(3):
        rest, part = record.take(folds != k), record.take(folds == k)
        alone = cb.StdScaling().fit(rest.forecast, rest.y).predict(part.forecast)
        assert result.std[folds == k].tolist() == alone.std.tolist()


def test_the_label_of_a_confidence_stays_the_models_own():
    record, _ = classes()
    after = compare(record, cb.ConfidenceCalibrator(map=cb.calibrators.HistogramBinning())).after
    assert (after.predicted == record.predicted).all()
    assert (after.probabilities.argmax(axis=1) != record.predicted).any()
