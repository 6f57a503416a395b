"""GP-Normal: constant where the data ask for a constant, the truth where they ask for a bend,
Newton's mode where it can be checked.
"""

import numpy as np
import pytest
from scipy import optimize

import calibrant as cb
from calibrant import metrics
from calibrant._numerics import gaussian_process_fit as gs
from calibrant.errors import FitWarning, InputError

nll = metrics.negative_log_likelihood


def _draw(true_std, n, seed):
    rng = np.random.default_rng(seed)
    mean, std = rng.normal(size=n), np.exp(0.6 * rng.normal(size=n))
    return mean, std, mean + true_std(std, mean) * rng.normal(size=n)


@pytest.mark.parametrize("inputs", ["std", "std and mean"])
def test_it_is_std_scaling_where_every_row_asks_for_the_same_factor(inputs):
    mean, std, _ = _draw(lambda s, m: s, 300, 0)
    y = mean + 1.7 * std * np.where(np.arange(300) % 2, 1.0, -1.0)
    plain = cb.StdScaling().fit(mean, y, std=std)
    cal = cb.regression.GaussianProcessScale(inputs=inputs).fit(mean, y, std=std)
    assert cal.status_ == "constant"
    assert cal.scale_ == plain.scale_ == pytest.approx(1.7)
    np.testing.assert_array_equal(cal.predict(mean, std).std, plain.predict(mean, std).std)


def test_it_is_std_scaling_where_noise_alone_bends():
    found = []
    for seed in range(15):
        data = _draw(lambda s, m: 1.5 * s, 500, seed)
        cal = cb.regression.GaussianProcessScale().fit(data[:2], data[2])
        found.append(
            cal.status_ == "constant"
            and cal.scale_ == cb.StdScaling().fit(data[:2], data[2]).scale_
        )
    assert np.mean(found) >= 0.9


@pytest.mark.parametrize(
    ("true_std", "inputs", "factor"),
    [
        (lambda s, m: 1.2 * s**1.5, "std", lambda s, m: 1.2 * s**0.5),
        (
            lambda s, m: s * (1.0 + 0.7 * np.sin(3.0 * np.log(s))),
            "std",
            lambda s, m: 1.0 + 0.7 * np.sin(3.0 * np.log(s)),
        ),
        (lambda s, m: s * np.exp(0.4 * m), "std and mean", lambda s, m: np.exp(0.4 * m)),
        (
            lambda s, m: s**1.5 * np.exp(0.4 * m),
            "std and mean",
            lambda s, m: s**0.5 * np.exp(0.4 * m),
        ),
    ],
    ids=["power", "wave", "of the mean", "of both"],
)
def test_the_factor_is_found(true_std, inputs, factor):
    data = _draw(true_std, 5000, 1)
    mean, std, y = _draw(true_std, 20_000, 2)
    cal = cb.regression.GaussianProcessScale(inputs=inputs).fit(data[:2], data[2])
    assert cal.status_ == "converged"
    forecast = cal.predict(mean, std)
    assert nll(y, forecast) - nll(y, mean, true_std(std, mean)) < 0.005
    assert (
        nll(y, cb.StdScaling().fit(data[:2], data[2]).predict(mean, std)) - nll(y, forecast) > 0.05
    )
    inner = (np.abs(np.log(std)) < 1.2) & (np.abs(mean) < 2.0)
    assert np.max(np.abs(np.log(forecast.std / std / factor(std, mean)))[inner]) < 0.2


def test_far_from_the_rows_the_factor_is_the_constant():
    mean, std, y = _draw(lambda s, m: 1.2 * s**1.5, 2000, 3)
    cal = cb.regression.GaussianProcessScale().fit(mean, y, std=std)
    np.testing.assert_allclose(
        cal.predict([0.0, 0.0], [1e-9, 1e9]).std, [1e-9 * cal.scale_, 1e9 * cal.scale_]
    )


def test_the_mode_is_the_minimum_of_the_log_posterior():
    rng = np.random.default_rng(4)
    weight, square = rng.uniform(1.0, 5.0, 40), rng.chisquare(2, 40)
    features = gs.process_basis(np.sort(rng.normal(size=40)), np.linspace(-2, 2, 12), 1.0).features
    found = gs.mode(gs.Cells(weight, square, []), features)
    assert found.status == "converged"

    def posterior(x):
        g = x[0] + features @ x[1:]
        return weight @ (g + 0.5 * square * np.exp(-2.0 * g)) + 0.5 * x[1:] @ x[1:]

    other = optimize.minimize(
        posterior, np.zeros(features.shape[1] + 1), method="BFGS", options={"gtol": 1e-9}
    )
    assert posterior(found.coefficients) <= other.fun + 1e-10
    np.testing.assert_allclose(found.coefficients, other.x, atol=1e-4)


def test_the_evidence_is_the_integral():
    """One feature and the constant, so that the integral over both can be had by quadrature;
    many rows, where Laplace is near.
    """
    rng = np.random.default_rng(5)
    weight, x = np.full(30, 40.0), np.linspace(-1, 1, 30)
    square = np.exp(0.4 * x) * rng.chisquare(40, 30) / 40.0
    c, w = np.linspace(-0.2, 0.2, 200)[:, None, None], np.linspace(-6.0, 6.0, 1200)[None, :, None]

    def log_integral(features):
        g = c + features * w
        log = -(weight * (g + 0.5 * square * np.exp(-2.0 * g))).sum(axis=-1) - 0.5 * w[..., 0] ** 2
        return log.max() + np.log(np.exp(log - log.max()).sum())

    found = [
        gs.mode(gs.Cells(weight, square, []), features[:, None]).evidence
        for features in (x, 0.0 * x)
    ]
    assert found[0] - found[1] == pytest.approx(log_integral(x) - log_integral(0.0 * x), abs=0.02)


def test_pooling_keeps_distinct_rows_apart_and_sums():
    rng = np.random.default_rng(6)
    x, square, weight = (
        rng.normal(size=5000),
        rng.chisquare(1, 5000),
        rng.integers(1, 4, 5000).astype(float),
    )
    cells = gs.pool([x], square, weight, 256)
    assert len(cells.weight) <= 512
    assert cells.weight.sum() == weight.sum()
    assert cells.weight @ cells.square == pytest.approx(weight @ square)
    assert cells.weight @ cells.inputs[0] == pytest.approx(weight @ x)
    few = gs.pool([x[:100]], square[:100], weight[:100], 256)
    np.testing.assert_allclose(few.inputs[0], np.sort(x[:100]), rtol=1e-15)


def test_half_the_rows_without_error_end_above_zero():
    std = np.exp(np.linspace(-1, 1, 400))
    y = np.where(std < 1.0, 0.0, std * np.random.default_rng(7).normal(size=400))
    with np.errstate(all="raise"):
        out = (
            cb.regression.GaussianProcessScale()
            .fit(np.zeros(400), y, std=std)
            .predict(np.zeros(400), std)
            .std
        )
    assert (out > 1e-6).all()


def test_no_error_is_said_and_options_are_checked():
    with pytest.warns(FitWarning, match="no error"):
        cal = cb.regression.GaussianProcessScale().fit([0.0, 1.0], [0.0, 1.0], std=[1.0, 2.0])
    assert (cal.scale_, cal.status_) == (1.0, "no error")
    with pytest.raises(InputError, match="inputs must be"):
        cb.regression.GaussianProcessScale(inputs="mean").fit([0.0], [1.0], std=[1.0])


@pytest.mark.slow
def test_a_hundred_thousand_rows():
    import time

    data = _draw(lambda s, m: 1.2 * s**1.5, 100_000, 8)
    start = time.process_time()
    cal = cb.regression.GaussianProcessScale(inputs="std and mean").fit(data[:2], data[2])
    assert time.process_time() - start < 10.0
    np.testing.assert_allclose(
        cal.predict([0.0] * 3, [0.5, 1.0, 2.0]).std,
        1.2 * np.array([0.5, 1.0, 2.0]) ** 1.5,
        rtol=0.02,
    )
