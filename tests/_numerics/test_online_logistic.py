"""Recursions that forget: derivatives, batch fits with the same weights, steps by hand."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, softmax

from calibrant._numerics.online import (
    Design,
    Line,
    Softmax,
    Tempered,
    begin_logistic,
    log_likelihood,
)

KEEPS = np.zeros((2, 1, 1), dtype=bool)


def designs():
    """One block of each design with parameters of two rates."""
    rng = np.random.default_rng(0)
    y = (rng.random((1, 9)) < 0.4).astype(float)
    one_hot = np.eye(4)[rng.integers(0, 4, 9)].T
    z = np.log(rng.dirichlet(np.ones(4), 9)).T
    line = Line(np.vstack([rng.normal(size=9), np.ones(9)]), y)
    return [
        (line, rng.normal(size=(2, 2))),
        (Tempered(z, one_hot), rng.uniform(0.5, 1.5, (2, 1))),
        (Softmax(z, one_hot), rng.normal(1.0, 0.3, (2, 8))),
    ]


@pytest.mark.parametrize(("rows", "theta"), designs())
def test_gradient_and_information_are_the_derivatives_of_the_log_loss(rows, theta):
    assert isinstance(rows, Design)

    def loss(theta):
        return -log_likelihood(rows.forecast(theta[:, :, None]), rows.y).sum(axis=1)

    def slope(theta):
        q = rows.forecast(theta[:, :, None])
        return rows.gradient(q - rows.y).sum(axis=2)

    steps = 1e-5 * np.eye(theta.shape[1])
    slopes = [(loss(theta + step) - loss(theta - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(slope(theta), np.stack(slopes, axis=1), atol=1e-6)
    bends = [(slope(theta + step) - slope(theta - step)) / 2e-5 for step in steps]
    q = rows.forecast(theta[:, :, None])
    found = rows.information(theta[:, :, None], q, KEEPS)
    np.testing.assert_allclose(found, np.stack(bends, axis=2), atol=1e-6)
    # The curvature of rates that forget is larger along every direction of a confident row.
    sharp = 5.0 * theta
    q = rows.forecast(sharp[:, :, None])
    more = rows.information(sharp[:, :, None], q, ~KEEPS)
    assert (
        np.trace(more - rows.information(sharp[:, :, None], q, KEEPS), axis1=1, axis2=2) > 0
    ).all()


def test_curvature_bound_by_hand():
    rows = Line(np.ones((1, 1)), np.ones((1, 1)))
    theta = np.array([[[0.0]], [[2.0]]])
    found = rows.information(theta, rows.forecast(theta), ~KEEPS)[:, 0, 0]
    # tanh(z / 2) / (2 z), and 1/4 at 0.
    np.testing.assert_allclose(found, [0.25, np.tanh(1.0) / 4.0], rtol=1e-5)


def test_first_row_by_hand():
    state = begin_logistic(np.array([1.0, 0.0]), 3.0, np.array([np.inf, 0.0]))
    rows = Line(np.array([[2.0], [1.0]]), np.ones((1, 1)))
    after, before, likelihood = rows.ahead(state)
    p = expit(2.0)
    np.testing.assert_allclose(likelihood[:, 0], np.log(p), rtol=1e-12)
    np.testing.assert_allclose(before[:, :, 0], [[1.0, 0.0]] * 2)
    # One row beside the headstart of four: 4/5 of the step by the prior's precision.
    np.testing.assert_allclose(after[0], [1.0, 0.0])
    np.testing.assert_allclose(after[1], [1.0 + 0.8 * 2 * (1 - p) / 3, 0.8 * (1 - p) / 3])
    new, _, _ = rows.learnt(state)
    information = 3.0 * np.eye(2) + p * (1 - p) * np.array([[4.0, 2.0], [2.0, 1.0]])
    step = np.linalg.solve(information, (1 - p) * np.array([2.0, 1.0]))
    np.testing.assert_allclose(new["theta"][1], np.array([1.0, 0.0]) + step)
    np.testing.assert_allclose(new["theta"][0], [1.0, 0.0])


def learn(design, x, y, start, half_lives, size=50):
    state = begin_logistic(start, 3.0, 1.0 / np.asarray(half_lives))
    for i in range(0, y.shape[1], size):
        state = design(x[:, i : i + size], y[:, i : i + size]).learnt(state)[0]
    return state["theta"]


@pytest.mark.parametrize("half_life", [np.inf, 1500.0])
def test_parameters_approach_the_penalised_fit_with_the_same_weights(half_life):
    rng, n = np.random.default_rng(1), 8_000
    score = rng.normal(0.0, 2.0, n)
    x = np.vstack([score, np.ones(n)])
    y = (rng.random((1, n)) < expit(0.6 * score - 0.8)).astype(float)
    found = learn(Line, x, y, np.array([1.0, 0.0]), [half_life])[0]
    weight = 0.5 ** (np.arange(n)[::-1] / half_life)

    def loss(theta):
        z = theta @ x
        away = theta - [1.0, 0.0]
        return weight @ (np.logaddexp(0.0, z) - y[0] * z) + 1.5 * away @ away

    best = minimize(loss, [1.0, 0.0]).x
    # A fifth of the standard error of these parameters at this memory.
    rows = min(n, half_life / np.log(2.0))
    assert np.abs(found - best).max() < 0.2 * 2.5 / np.sqrt(rows)


def test_vector_and_temperature_approach_the_fit_of_all_rows():
    rng, n = np.random.default_rng(2), 6_000
    z = np.log(rng.dirichlet(np.ones(3), n))
    truth = softmax(0.7 * z, axis=1)
    y = np.eye(3)[(truth.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)].T
    x = np.ascontiguousarray(z.T)
    one = learn(Tempered, x, y, np.array([1.0]), [np.inf])[0]
    assert abs(one[0] - 0.7) < 0.05
    full = learn(Softmax, x, y, np.repeat([1.0, 0.0], 3), [np.inf])
    likelihood = log_likelihood(Softmax(x, y).forecast(full[:, :, None]), y).sum()
    right = log_likelihood(truth.T[None], y).sum()
    # Six parameters gain about 3 nats on the rows of the fit.
    assert right - 1.0 < likelihood < right + 12.0


def test_no_probability_is_0_or_1():
    far = np.full((1, 1, 1), 1e6)
    for rows in (
        Line(np.full((1, 1), -1e3), np.ones((1, 1))),
        Tempered(np.array([[-9.0], [0.0]]), np.array([[1.0], [0.0]])),
    ):
        q = rows.forecast(far)
        assert q.min() > 1e-9
        assert q.max() < 1.0 - 1e-9
        assert log_likelihood(q, rows.y) == pytest.approx(-20.0, abs=1e-6)
