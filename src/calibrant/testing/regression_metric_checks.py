"""The contract of a regression metric and of its state, check by check."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from calibrant.contracts.interval import Interval
from calibrant.contracts.regression_metric import RegressionMetric
from calibrant.errors import InputError
from calibrant.testing.check import Check, bind, digest, run_all
from calibrant.testing.container_cases import regression_metric_cases
from calibrant.testing.extreme_cases import extreme_checks
from calibrant.testing.grid import require_good
from calibrant.testing.regression_data import forecast_problems

__all__ = ["check_regression_metric", "regression_metric_checks"]


def check_regression_metric(metric: RegressionMetric) -> None:
    """Run every check that applies to ``metric``; AssertionError names the one that fails.

    Examples
    --------
    >>> from calibrant.metrics import negative_log_likelihood
    >>> check_regression_metric(negative_log_likelihood)
    """
    run_all(regression_metric_checks(metric))


def regression_metric_checks(metric: RegressionMetric) -> Iterator[Check]:
    """The checks that apply to ``metric``, each a callable with a name."""
    functions = [
        check_value_is_valid, check_declared_facts, check_weights_are_repetition, check_row_order, check_inputs_untouched,
        check_outputs_are_independent, check_one_row, check_constant_std, check_interval, check_unknown_option, check_containers,
        *extreme_checks("regression metric", "forecasts", "weights"),
        check_state_of_parts if metric.mergeable else check_state_is_refused,
    ]  # fmt: skip
    if metric.degree is not None:
        functions.append(check_units)
    if metric.proper:
        functions.append(check_proper)
    yield from bind(functions, metric, metric.exceptions)


def _near(a, b, what, tolerance=1e-9):
    assert abs(a - b) <= tolerance * (1.0 + abs(b)), f"{what}: {a!r} and {b!r}"


def _valid(metric, value, what):
    low, high = metric.range
    assert type(value) is float, f"{what}: the value is a {type(value).__name__}, not a float"
    assert np.isfinite(value), f"{what}: the value is {value}"
    assert low - 1e-12 <= value <= high + 1e-12, f"{what}: {value} is outside the declared range {metric.range}"


def _single():
    return [data for data in forecast_problems() if data.y.ndim == 1]


def check_value_is_valid(metric):
    """A float inside the declared range."""
    for data in _single():
        _valid(metric, metric(data.y, data.forecast), data.name)
        _valid(metric, metric(data.y, data.forecast, sample_weight=data.weight), f"{data.name}, weighted")


def check_declared_facts(metric):
    """Name, direction and range are declared; the repr rebuilds the metric."""
    assert metric.name, "name must be declared"
    key = getattr(metric, "key", None)
    assert isinstance(key, str), f'key must be declared, such as key: ClassVar[str] = "ece"; it is {key!r}'
    assert key.isidentifier(), f"key must be an identifier; it is {key!r}"
    assert metric.direction in ("minimize", "maximize", "none"), f"direction is {metric.direction!r}"
    assert metric.range[0] < metric.range[1], f"range is {metric.range}"
    assert eval(repr(metric), {type(metric).__name__: type(metric)}) == metric, "repr must rebuild the metric"


def check_weights_are_repetition(metric):
    """Weight 2 is the row twice, weight 0 no row."""
    for data in _single():
        rows = np.repeat(np.arange(len(data.y)), data.weight.astype(int))
        weighted = metric(data.y, data.forecast, sample_weight=data.weight)
        _near(weighted, metric(data.y[rows], data.forecast.take(rows)), f"weights on {data.name}")


def check_row_order(metric):
    """The order of the rows does not matter."""
    for data in _single():
        order = np.random.default_rng(1).permutation(len(data.y))
        _near(metric(data.y, data.forecast), metric(data.y[order], data.forecast.take(order)), f"row order on {data.name}")


def check_inputs_untouched(metric):
    """No argument is written to."""
    data = forecast_problems()[0]
    arrays = (data.y.copy(), data.forecast.mean.copy(), data.forecast.std.copy(), data.weight.copy())
    before = digest(*arrays)
    # Weights of 0 drop rows, which copies the others: without weights the metric sees the very arrays.
    metric(*arrays[:3], sample_weight=arrays[3])
    metric(*arrays[:3])
    assert digest(*arrays) == before, "an argument was changed"


def check_outputs_are_independent(metric):
    """For (n, d) forecasts an array with each output's own number."""
    data = forecast_problems()[1]
    together = metric(data.y, data.forecast)
    alone = [metric(data.y[:, j], data.forecast.column(j)) for j in range(data.y.shape[1])]
    assert np.asarray(together).tolist() == alone, f"several outputs: {together}, each alone: {alone}"


def check_one_row(metric):
    """n = 1 and n = 2."""
    data = forecast_problems()[0]
    for n in (1, 2):
        _valid(metric, metric(data.y[:n], data.forecast.take(slice(0, n))), f"{n} rows")


def check_constant_std(metric):
    """Every row with the same std; every outcome as predicted."""
    data = forecast_problems()[0]
    _valid(metric, metric(data.y, data.forecast.mean, np.ones(len(data.y))), "a constant std")
    _valid(metric, metric(data.forecast.mean, data.forecast), "no error")


def check_units(metric):
    """In other units of y the value changes by the declared power of the factor."""
    data = forecast_problems()[0]
    other = metric(1000.0 * data.y, 1000.0 * data.forecast.mean, 1000.0 * data.forecast.std)
    _near(other / 1000.0**metric.degree, metric(data.y, data.forecast), "units", 1e-6 if getattr(metric, "cells", 0) == 0 else 0.05)


def check_interval(metric):
    """An interval has ends in order and in the range, the metric's value, and the same bits again for the same seed."""
    data = forecast_problems()[0]
    first = metric.interval(data.y, data.forecast, sample_weight=data.weight, n_resamples=50)
    assert isinstance(first, Interval), f"interval gives a {type(first).__name__}"
    value = metric(data.y, data.forecast, sample_weight=data.weight)
    if first.method == "debiased":
        assert first.plain == value, "the plain value is not the metric's"
        assert first.low <= first.value <= first.high, f"the debiased value is outside its interval: {first!r}"
    else:
        assert first.value == value, "the interval's value is not the metric's"
    low, high = metric.range
    assert low - 1e-12 <= first.low < first.high <= high + 1e-12, f"{first!r} is empty or leaves the range {metric.range}"
    assert first.n == data.weight.sum(), f"n is {first.n}, the weights add up to {data.weight.sum()}"
    assert first == metric.interval(data.y, data.forecast, sample_weight=data.weight, n_resamples=50), "not deterministic"
    wider = metric.interval(data.y, data.forecast, sample_weight=data.weight, n_resamples=50, level=0.99)
    assert wider.low <= first.low < first.high <= wider.high, "an interval of a higher level is narrower"


def check_unknown_option(metric):
    """A misspelt option is a TypeError, never ignored."""
    data = forecast_problems()[0]
    try:
        metric(data.y, data.forecast, no_such_option=1)
    except TypeError:
        return
    raise AssertionError("an unknown option must raise TypeError")


def check_containers(metric):
    """Frames, masked arrays, lists, narrow floats and the like give the plain arrays' value, or one clear error."""
    require_good(regression_metric_cases(metric))


def check_state_of_parts(metric):
    """Any cutting into parts gives the value of the whole; the empty state changes nothing."""
    for data in _single():
        weight = data.weight + 1.0
        whole = metric(data.y, data.forecast, sample_weight=weight)
        for edges in ([0, 150], [0, 1, 150], [0, 30, 70, 150], [*range(0, 150, 7), 150]):
            parts = [
                metric.state(data.y[a:b], data.forecast.take(slice(a, b)), sample_weight=weight[a:b]) for a, b in pairwise(edges)
            ]  # fmt: skip
            total = metric.state()
            for part in parts[::-1]:
                total = total + part
            _near(total.finalise(), whole, f"{len(parts)} parts of {data.name}")
    assert np.isnan(metric.state().finalise()), "the empty state must finalise to nan"


def check_state_is_refused(metric):
    """A metric without a state of fixed size says so."""
    data = forecast_problems()[0]
    try:
        metric.state(data.y, data.forecast)
    except InputError:
        return
    raise AssertionError("state must raise InputError where mergeable is False")


def check_proper(metric):
    """In expectation no other normal forecast beats the true one."""
    rng = np.random.default_rng(3)
    y = rng.normal(size=20_000)
    best = metric(y, np.full(20_000, y.mean()), np.full(20_000, y.std()))
    for shift, factor in ((0.0, 0.8), (0.0, 1.25), (0.3, 1.0), (-0.3, 1.2)):
        other = metric(y, np.full(20_000, y.mean() + shift), np.full(20_000, y.std() * factor))
        assert other > best, f"declared proper, but N({shift}, {factor}) beats the truth: {other} and {best}"
