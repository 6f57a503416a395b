"""STD scaling is the minimum of the normal log loss, in closed form."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import calibrant as cb
from calibrant import metrics
from calibrant.errors import FitWarning, InputError


def _data(n=500, seed=0, factor=1.7):
    rng = np.random.default_rng(seed)
    mean, std = rng.normal(size=n), rng.uniform(0.1, 2.0, n)
    return mean, std, mean + factor * std * rng.normal(size=n)


@pytest.mark.parametrize("factor", [0.2, 1.0, 1.7, 50.0])
def test_it_is_where_the_slope_of_the_log_loss_is_zero(factor):
    mean, std, y = _data(factor=factor)
    scale = cb.StdScaling().fit(mean, y, std=std).scale_
    z2 = ((y - mean) / std) ** 2
    # d/d log s of mean(log s + z^2 / (2 s^2)), whose curvature at the minimum is 2: the scale is
    # within 1e-10 of it, relatively.
    assert abs(1.0 - np.mean(z2) / scale**2) < 2e-10


def test_no_other_factor_has_a_lower_nll():
    mean, std, y = _data()
    scale = cb.StdScaling().fit(mean, y, std=std).scale_
    found = minimize_scalar(
        lambda t: metrics.negative_log_likelihood(y, mean, np.exp(t) * std),
        bounds=(-3, 3),
        method="bounded",
    )
    best = metrics.negative_log_likelihood(y, mean, scale * std)
    assert best <= found.fun + 1e-12
    assert scale == pytest.approx(np.exp(found.x), rel=1e-4)
    for other in (0.999, 1.001):
        assert metrics.negative_log_likelihood(y, mean, other * scale * std) > best


def test_the_mean_stays_and_the_coefficient_of_variation_too():
    mean, std, y = _data()
    forecast = cb.StdScaling().fit(mean, y, std=std).predict(mean, std)
    assert (forecast.mean == mean).all()
    np.testing.assert_allclose(
        forecast.std.std() / forecast.std.mean(), std.std() / std.mean(), rtol=1e-12
    )


def test_each_output_has_its_own_scale():
    rng = np.random.default_rng(1)
    mean, std = np.zeros((4000, 2)), np.ones((4000, 2))
    cal = cb.StdScaling().fit(mean, rng.normal(size=(4000, 2)) * [2.0, 0.5], std=std)
    assert cal.scale_ == pytest.approx([2.0, 0.5], rel=0.05)
    assert cal.predict(mean[:3], std[:3]).std.shape == (3, 2)


def test_errors_as_far_out_as_the_door_admits():
    cal = cb.StdScaling().fit([0.0, 0.0], [1e36, -1e36], std=[1e-36, 1e-36])
    assert cal.scale_ == pytest.approx(1e72)
    with pytest.raises(InputError, match="std must be from 1e-37 to 1e"):
        cb.StdScaling().fit([0.0, 0.0], [1.0, -1.0], std=[1e-200, 1e-200])


def test_no_error_at_all_is_said():
    with pytest.warns(FitWarning, match="no error"):
        cal = cb.StdScaling().fit([1.0, 2.0], [1.0, 2.0], std=[1.0, 1.0])
    assert (cal.scale_, cal.status_) == (1.0, "no error")


def test_swapped_arguments_are_seen():
    mean, std, y = _data()
    with pytest.raises(InputError, match="by name, std="):
        cb.StdScaling().fit(mean, std, y)
    with pytest.raises(InputError, match=r"\(mean, y, std=std\)"):
        cb.StdScaling().fit(mean, std, std=y)
    with pytest.raises(InputError, match="shape"):
        cb.StdScaling().fit(mean, y[:, None], std=std)
    with pytest.raises(InputError, match=r"must be \(n,\)"):
        cb.StdScaling().fit(mean, y, std=std).predict(mean[:, None], std[:, None])
