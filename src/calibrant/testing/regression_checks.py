"""The contract of a regression calibrator, check by check."""

from collections.abc import Iterator

import numpy as np
from sklearn.base import clone

from calibrant.contracts.regression_calibrator import RegressionCalibrator
from calibrant.testing.check import Check, bind, digest, refuses_unfitted, run_all, same_bits, saved_copies, seeded
from calibrant.testing.container_cases import regression_cases
from calibrant.testing.extreme_cases import extreme_checks
from calibrant.testing.grid import require_good
from calibrant.testing.regression_data import forecast_problems
from calibrant.testing.regression_edge_checks import EDGE_CHECKS
from calibrant.testing.regression_runs import fitted, near, numbers_of, predicted, valid

__all__ = ["check_regression_calibrator", "regression_checks"]


def check_regression_calibrator(calibrator: RegressionCalibrator) -> None:
    """Run every check of the contract of ``calibrator``; AssertionError names the one that fails.

    Examples
    --------
    >>> from calibrant import StdScaling
    >>> check_regression_calibrator(StdScaling())
    """
    run_all(regression_checks(calibrator))


def regression_checks(calibrator: RegressionCalibrator) -> Iterator[Check]:
    """The checks of ``calibrator``, each a callable with a name."""
    functions = [
        check_output_is_valid, check_weights_are_repetition, check_row_order, check_fit_twice, check_clone_and_parameters,
        check_inputs_untouched, check_determinism, check_saving, check_shorthand, check_outputs_are_independent,
        check_rows_are_independent, check_units, check_narrow_floats, check_containers, check_unfitted, *EDGE_CHECKS,
        *extreme_checks("regression calibrator", "forecasts", "weights"),
    ]  # fmt: skip
    yield from bind(functions, calibrator, calibrator.tags.exceptions)


def check_output_is_valid(calibrator):
    """Finite, ordered distributions of the input's shape; fit returns the object itself."""
    for data in forecast_problems():
        fresh = seeded(clone(calibrator))
        assert fresh.fit(data.forecast, data.y) is fresh, "fit must return self"
        assert isinstance(fresh.status_, str), "status_ must be a string"
        valid(fresh.predict(data.test), data.y_test, data.test.shape, f"on {data.name}")


def check_weights_are_repetition(calibrator):
    """Weight 2 is the row twice, weight 0 no row."""
    for data in forecast_problems():
        rows = np.repeat(np.arange(len(data.y)), data.weight.astype(int))
        repeated = seeded(clone(calibrator)).fit(data.forecast.take(rows), data.y[rows])
        near(predicted(fitted(calibrator, data, data.weight), data), predicted(repeated, data), f"weights on {data.name}")


def check_row_order(calibrator):
    """The order of the rows does not matter."""
    for data in forecast_problems():
        order = np.random.default_rng(1).permutation(len(data.y))
        shuffled = seeded(clone(calibrator)).fit(data.forecast.take(order), data.y[order])
        near(predicted(shuffled, data), predicted(fitted(calibrator, data), data), f"row order on {data.name}")


def check_fit_twice(calibrator):
    """A second fit forgets the first."""
    sets = forecast_problems()
    for first, second in zip(sets, sets[1:] + sets[:1], strict=True):
        used = fitted(calibrator, first).fit(second.forecast, second.y)
        same_bits(predicted(used, second), predicted(fitted(calibrator, second), second), f"a second fit, on {second.name}")


def check_clone_and_parameters(calibrator):
    """The constructor only stores, and fit leaves the parameters alone."""
    parameters = calibrator.get_params(deep=False)
    rebuilt = type(calibrator)(**parameters)
    for name, value in parameters.items():
        assert getattr(rebuilt, name) is value, f"the constructor must store {name} as it is"
    assert not [a for a in vars(rebuilt) if a.endswith("_")], f"the constructor made {sorted(vars(rebuilt))}"
    before = repr(seeded(clone(calibrator)).get_params())
    assert repr(fitted(calibrator, forecast_problems()[0]).get_params()) == before, "fit changed the parameters"


def check_inputs_untouched(calibrator):
    """No argument is written to."""
    data = forecast_problems()[0]
    arrays = (data.forecast.mean.copy(), data.forecast.std.copy(), data.y.copy(), data.weight.copy())
    before = digest(*arrays)
    mean, std, y, weight = arrays
    seeded(clone(calibrator)).fit(mean, y, std=std, sample_weight=weight).predict(mean, std).interval(0.8)
    assert digest(*arrays) == before, "an argument was changed"


def check_determinism(calibrator):
    """The same data give the same bits, and NumPy's global generator is not used."""
    data = forecast_problems()[0]
    state = np.random.get_state(legacy=False)["state"]["key"].tobytes()  # noqa: NPY002
    first, second = fitted(calibrator, data), fitted(calibrator, data)
    same_bits(predicted(first, data), predicted(second, data), "two fits on the same data")
    draws = [f.predict(data.test).sample(3, random_state=0) for f in (first, second)]
    same_bits(draws[0], draws[1], "two samples of one seed")
    assert draws[0].shape == (*data.test.shape, 3), f"sample has shape {draws[0].shape}"
    assert np.random.get_state(legacy=False)["state"]["key"].tobytes() == state, "the global random generator was used"  # noqa: NPY002


def check_saving(calibrator):
    """A saved and loaded, or pickled, object predicts the same bits."""
    for data in forecast_problems():
        fresh = fitted(calibrator, data)
        for how, copy in saved_copies(fresh):
            same_bits(predicted(copy, data), predicted(fresh, data), f"{how} on {data.name}")


def check_shorthand(calibrator):
    """fit(mean, y, std=std) and predict(mean, std) are the normal forecast."""
    data = forecast_problems()[0]
    short = seeded(clone(calibrator)).fit(data.forecast.mean, data.y, std=data.forecast.std)
    pair = seeded(clone(calibrator)).fit((data.forecast.mean, data.forecast.std), data.y)
    whole = predicted(fitted(calibrator, data), data)
    same_bits(numbers_of(short.predict(data.test.mean, data.test.std), data.y_test), whole, "fit(mean, y, std=std)")
    same_bits(numbers_of(pair.predict((data.test.mean, data.test.std)), data.y_test), whole, "fit((mean, std), y)")


def check_outputs_are_independent(calibrator):
    """Each of several outputs is calibrated as if it were alone."""
    data = forecast_problems()[1]
    together = predicted(fitted(calibrator, data), data)
    for j in range(data.y.shape[1]):
        alone = seeded(clone(calibrator)).fit(data.forecast.column(j), data.y[:, j]).predict(data.test.column(j))
        same_bits(numbers_of(alone, data.y_test[:, j]), np.ascontiguousarray(together[:, j]), f"output {j} alone")


def check_rows_are_independent(calibrator):
    """A row's distribution does not depend on the rows beside it."""
    for data in forecast_problems():
        fresh = fitted(calibrator, data)
        one = [numbers_of(fresh.predict(data.test.take([i])), data.y_test[[i]]) for i in range(5)]
        near(np.concatenate(one), predicted(fresh, data)[:5], f"one row at a time on {data.name}", 1e-9)


def check_units(calibrator):
    """Outcomes and forecasts in other units give the answer in those units."""
    data = forecast_problems()[0]
    metres = predicted(fitted(calibrator, data), data)
    fresh = seeded(clone(calibrator)).fit(1000.0 * data.forecast.mean, 1000.0 * data.y, std=1000.0 * data.forecast.std)
    millimetres = numbers_of(fresh.predict(1000.0 * data.test.mean, 1000.0 * data.test.std), 1000.0 * data.y_test)
    near(millimetres[:, :-1] / 1000.0, metres[:, :-1], "units", 1e-8)
    near(millimetres[:, -1], metres[:, -1], "cdf in other units", 1e-8)


def check_narrow_floats(calibrator):
    """float32 input gives what the same numbers give in float64."""
    data = forecast_problems()[0]
    narrow = [a.astype(np.float32) for a in (data.forecast.mean, data.forecast.std, data.y)]
    wide = [a.astype(np.float64) for a in narrow]
    a, b = (seeded(clone(calibrator)).fit(tuple(arrays[:2]), arrays[2]).predict(*arrays[:2]) for arrays in (narrow, wide))
    same_bits(numbers_of(a, wide[2]), numbers_of(b, wide[2]), "float32")


def check_containers(calibrator):
    """Frames, masked arrays, lists, narrow floats and the like give the plain arrays' answer, or one clear error."""
    require_good(regression_cases(calibrator))


def check_unfitted(calibrator):
    """Predicting before fitting raises NotFittedError with the class and the remedy."""
    refuses_unfitted(clone(calibrator), "predict", [0.0], [1.0])
