"""Checks of the contract of forecast calibrators, including their guarantees."""

from collections.abc import Callable
from typing import Any

import numpy as np

from calibrant.core.estimators import clone
from calibrant.errors import InputError
from calibrant.testing.check import check_guarantee, same_bits, seeded, show_near
from calibrant.testing.data import forecast_problems
from calibrant.testing.extremes import extreme_checks
from calibrant.testing.laws import check_forecast_expression
from calibrant.testing.runs import fitted, groups_beside, near, numbers_of, predicted, valid

__all__ = ["FORECAST_CHECKS", "check_promise", "realised_coverage"]

#: Levels that the examples of every method support.
LEVELS = (0.5, 0.8)
NEW_ROWS = 100


def check_promise(calibrator: Any, runs: int = 120, n: int = 40) -> None:
    """Check that coverage keeps ``guarantee(level)``, with skewed errors and wrong std.

    A calibrator without a guarantee passes.
    """
    for level in LEVELS:
        said, _ = realised_coverage(calibrator, level, 1, n)
        if said is not None:
            in_the_limit = said.guarantee == "asymptotic"
            check_guarantee(
                *realised_coverage(
                    calibrator, level, *((runs // 6, 50 * n) if in_the_limit else (runs, n))
                )
            )


def realised_coverage(calibrator: Any, level: float, runs: int, n: int) -> tuple[Any, np.ndarray]:
    """Return (guarantee, coverage of new rows in each run, (runs,)).

    Each run draws calibration rows of its own.
    """
    rng = np.random.default_rng(round(1000 * level))
    said, held = None, np.zeros(runs)
    for k in range(runs):
        mean = rng.normal(size=n + NEW_ROWS)
        std = np.exp(0.7 * rng.normal(size=n + NEW_ROWS))
        y = mean + std**1.5 * (rng.gamma(0.5, 2.0, n + NEW_ROWS) - 1.0)
        of_fit, of_test = groups_beside(calibrator, mean[:n]), groups_beside(calibrator, mean[n:])
        fresh = seeded(clone(calibrator)).fit(mean[:n], y[:n], std=std[:n], **of_fit)
        said = fresh.guarantee(level)
        if said is None:
            break
        low, high = fresh.predict(mean[n:], std[n:], **of_test).interval(level)
        held[k] = np.mean((low <= y[n:]) & (y[n:] <= high))
    return said, held


def _one() -> Any:
    return forecast_problems()[0]


def check_sampling(calibrator: Any) -> None:
    """Check that a seed draws the same bits from two fits, and that draws are the last axis."""
    for data in forecast_problems():
        beside = groups_beside(calibrator, data.test.mean)
        draws = [
            fitted(calibrator, data).predict(data.test, **beside).sample(3, random_state=0)
            for _ in range(2)
        ]
        same_bits(draws[0], draws[1], "two samples of one seed")
        assert draws[0].shape == (*data.test.shape, 3), f"sample has shape {draws[0].shape}"


def check_shorthand(calibrator: Any) -> None:
    """Check that mean and std, separate or as a pair, are equivalent to the normal forecast."""
    data = _one()
    whole = predicted(fitted(calibrator, data), data)
    of_fit, of_test = (
        groups_beside(calibrator, forecast.mean) for forecast in (data.forecast, data.test)
    )
    short = seeded(clone(calibrator)).fit(data.forecast, data.y, **of_fit)
    pair = seeded(clone(calibrator)).fit((data.forecast.mean, data.forecast.std), data.y, **of_fit)
    same_bits(
        numbers_of(short.predict(data.test, **of_test), data.y_test), whole, "fit(mean, y, std=std)"
    )
    same_bits(
        numbers_of(pair.predict((data.test.mean, data.test.std), **of_test), data.y_test),
        whole,
        "fit((mean, std), y)",
    )


def check_outputs_are_independent(calibrator: Any) -> None:
    """Check that each of several outputs is calibrated independently of the others."""
    data = forecast_problems()[1]
    together = predicted(fitted(calibrator, data), data)
    of_fit, of_test = (
        groups_beside(calibrator, forecast.mean) for forecast in (data.forecast, data.test)
    )
    for j in range(data.y.shape[1]):
        alone = (
            seeded(clone(calibrator))
            .fit(data.forecast.column(j), data.y[:, j], **of_fit)
            .predict(data.test.column(j), **of_test)
        )
        same_bits(
            numbers_of(alone, data.y_test[:, j]),
            np.ascontiguousarray(together[:, j]),
            f"output {j} alone",
        )


def check_units(calibrator: Any) -> None:
    """Check that outcomes and forecasts in other units give the answer in those units."""
    data = _one()
    metres = predicted(fitted(calibrator, data), data)
    of_fit, of_test = (
        groups_beside(calibrator, forecast.mean) for forecast in (data.forecast, data.test)
    )
    fresh = seeded(clone(calibrator)).fit(
        1000.0 * data.forecast.mean, 1000.0 * data.y, std=1000.0 * data.forecast.std, **of_fit
    )
    millimetres = numbers_of(
        fresh.predict(1000.0 * data.test.mean, 1000.0 * data.test.std, **of_test),
        1000.0 * data.y_test,
    )
    near(calibrator, millimetres[:, :-1] / 1000.0, metres[:, :-1], "units", 1e-8)
    near(calibrator, millimetres[:, -1], metres[:, -1], "cdf in other units", 1e-8)


def check_few_rows(calibrator: Any) -> None:
    """Check fits to one row and to two rows."""
    data = _one()
    for n in (1, 2):
        forecast = fitted(calibrator, data.take(slice(0, n))).predict(
            data.test, **groups_beside(calibrator, data.test.mean)
        )
        _positive_and_finite(forecast, f"after {n} rows")
        low, high = forecast.interval(0.8)
        assert (low <= high).all(), f"an interval's lower end exceeds its upper end after {n} rows"


def _positive_and_finite(forecast: Any, when: str) -> None:
    assert (forecast.std > 0.0).all(), f"a std is not positive {when}"
    assert np.isfinite([forecast.mean, forecast.std]).all(), f"a mean or std is not finite {when}"


def check_constant_std(calibrator: Any) -> None:
    """Check fits in which every row has the same std, or the same mean and std."""
    data = _one()
    for mean in (data.forecast.mean, np.zeros(len(data))):
        beside = groups_beside(calibrator, data.forecast.mean)
        valid(seeded(clone(calibrator)).fit(mean, data.y, std=np.ones(len(mean)), **beside), data)


def check_no_error(calibrator: Any) -> None:
    """Check that exactly predicted outcomes give finite distributions with positive std."""
    data = _one()
    of_fit, of_test = (
        groups_beside(calibrator, forecast.mean) for forecast in (data.forecast, data.test)
    )
    forecast = (
        seeded(clone(calibrator))
        .fit(data.forecast, data.forecast.mean.copy(), **of_fit)
        .predict(data.test, **of_test)
    )
    _positive_and_finite(forecast, "after outcomes without error")
    assert np.isfinite(numbers_of(forecast, data.y_test)).all(), (
        "the forecast is not finite after outcomes without error"
    )


def check_wild_errors(calibrator: Any) -> None:
    """Check calibration to outcomes a thousand std away, where the CDF is exactly 0 or 1."""
    data = _one()
    wild = data.forecast.mean + 1000.0 * (data.y - data.forecast.mean)
    beside = groups_beside(calibrator, data.forecast.mean)
    fresh = seeded(clone(calibrator)).fit(data.forecast, wild, **beside)
    valid(fresh, type(data)("wild errors", data.forecast, wild, data.weight, data.forecast, wild))
    _holds_about(0.8, fresh.predict(data.forecast, **beside), wild, 0.15)


def _holds_about(level: float, forecast: Any, y: np.ndarray, tolerance: float) -> None:
    low, high = forecast.interval(level)
    show_near(
        np.mean((low <= y) & (y <= high)),
        level,
        f"the coverage of the {100.0 * level:g} % intervals",
        tolerance,
    )


def check_coverage(calibrator: Any) -> None:
    """Check that calibrated intervals of overconfident forecasts cover about their level."""
    rng = np.random.default_rng(3)
    mean, std = rng.normal(size=4000), np.exp(0.3 * rng.normal(size=4000))
    y = mean + 2.0 * std * rng.normal(size=4000)
    of_fit, of_test = groups_beside(calibrator, mean[:2000]), groups_beside(calibrator, mean[2000:])
    forecast = (
        seeded(clone(calibrator))
        .fit(mean[:2000], y[:2000], std=std[:2000], **of_fit)
        .predict(mean[2000:], std[2000:], **of_test)
    )
    for level in (0.5, 0.8):
        _holds_about(level, forecast, y[2000:], 0.05)


def check_bad_std(calibrator: Any) -> None:
    """Check that a std that is not positive is refused, and that the error names the row."""
    for std in (0.0, np.nan, -1.0):
        try:
            seeded(clone(calibrator)).fit([0.0, 0.0], [0.0, 1.0], std=[1.0, std])
        except InputError as error:
            if "row 1" not in str(error):
                raise AssertionError(f"the error must name row 1; got {error}") from error
        else:
            raise AssertionError(f"a std of {std} must raise InputError")


FORECAST_CHECKS: tuple[Callable[..., Any], ...] = (
    check_sampling,
    check_shorthand,
    check_outputs_are_independent,
    check_units,
    check_few_rows,
    check_constant_std,
    check_no_error,
    check_wild_errors,
    check_coverage,
    check_bad_std,
    check_promise,
    check_forecast_expression,
    *extreme_checks("regression calibrator", "forecasts", "weights"),
)
