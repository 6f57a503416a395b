"""Crossing and swapped quantiles, inputs asked for twice, and views of one thing outside the
automatic choice (G25).
"""

import warnings

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import CalibrationWarning, InputError

LEVELS = [0.1, 0.5, 0.9]


def test_quantiles_that_cross_in_many_rows_are_cautioned_of_with_their_share():
    values = np.sort(np.random.default_rng(0).normal(size=(100, 3)), axis=1)
    values[:44] = values[:44, [1, 0, 2]]
    with pytest.warns(CalibrationWarning, match="44 % of the rows"):
        forecast = cb.QuantileForecast(LEVELS, values)
    assert (np.diff(forecast.values, axis=1) >= 0.0).all()


def test_quantiles_in_order_are_not_cautioned_of():
    values = np.sort(np.random.default_rng(0).normal(size=(100, 3)), axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        forecast = cb.QuantileForecast(LEVELS, values)
    np.testing.assert_array_equal(forecast.values, values)


def test_swapped_levels_and_values_are_named_as_such():
    values = np.sort(np.random.default_rng(0).normal(size=(100, 3)), axis=1)
    with pytest.raises(InputError, match="swapped"):
        cb.QuantileForecast(values, LEVELS)


def _logits(n=300):
    rng = np.random.default_rng(1)
    z = 4.0 * rng.normal(size=(n, 3))
    return z, (0.4 * z + rng.gumbel(size=z.shape)).argmax(axis=1)


def test_sets_on_a_calibrator_of_logits_take_logits():
    z, y = _logits()
    calibrator = cb.TemperatureScaling(inputs="logit").fit(z[:100], y[:100])
    asked, told = (
        cb.ConformalSets(calibrator=calibrator, **inputs) for inputs in ({"inputs": "logit"}, {})
    )
    expected = asked.fit(z[100:], y[100:]).predict_set(z)
    try:
        found = told.fit(z[100:], y[100:]).predict_set(z)
    except InputError as error:
        raise AssertionError(f"inputs= is asked for again: {error}") from None
    assert (found == expected).all()


def test_sets_refuse_inputs_that_contradict_their_calibrator():
    z, y = _logits()
    P = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    calibrator = cb.TemperatureScaling().fit(P[:100], y[:100])
    with pytest.raises(InputError, match="inputs must be what the calibrator was fitted on"):
        cb.ConformalSets(calibrator=calibrator, inputs="logit").fit(z[100:], y[100:])


def _views(n_things=120, n_views=4):
    """Several looks at each thing, one after the other."""
    rng = np.random.default_rng(2)
    each = rng.dirichlet(np.ones(3), n_things)
    of_thing, y = np.repeat(each, n_views, axis=0), np.repeat(each.argmax(axis=1), n_views)
    return 0.05 * rng.dirichlet(np.ones(3), len(y)) + 0.95 * of_thing, y


@pytest.mark.parametrize(
    "fit",
    [
        lambda P, y, **cluster: cb.ConformalSets().fit(P, y, **cluster),
        lambda P, y, **cluster: cb.SelectiveClassifier(risk=0.5).fit(P, y, **cluster),
    ],
    ids=["sets", "certified threshold"],
)
def test_promises_on_views_of_one_thing_are_cautioned_of(fit):
    P, y = _views()
    with pytest.warns(CalibrationWarning, match="pass cluster="):
        fit(P, y)
    order = np.random.default_rng(3).permutation(len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(P[order], y[order])
        fit(P, y, cluster=np.repeat(np.arange(120), 4))
