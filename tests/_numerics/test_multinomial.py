"""Objectives: gradients against differences, minima against their definition, the same answer
for every path.
"""

from dataclasses import replace

import numpy as np
import pytest

from calibrant._numerics import multinomial
from calibrant._numerics.logistic import log_softmax
from calibrant._numerics.multinomial import (
    class_inverses,
    matrix_logits,
    matrix_objective,
    vector_logits,
    vector_objective,
)
from calibrant._numerics.newton import Search, conjugate_gradient, minimise, minimise_near


def _problem(n=60, n_classes=4, seed=0):
    rng = np.random.default_rng(seed)
    z = log_softmax(rng.normal(size=(n, n_classes)))
    return z, rng.integers(0, n_classes, n), rng.uniform(0.5, 2.0, n), rng


FAMILIES = {
    "vector": (vector_objective, vector_logits, lambda k: (2, k)),
    "matrix": (matrix_objective, matrix_logits, lambda k: (k, k + 1)),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_value_gradient_and_hessian_agree_with_their_definitions(family):
    objective, logits, shape = FAMILIES[family]
    z, labels, weight, rng = _problem()
    ridge, centre, theta = (rng.uniform(0.1, 1.0, shape(4)) for _ in range(3))
    evaluate = objective(z, labels, weight, ridge, centre)
    value, gradient, solve = evaluate(theta)
    loss = -log_softmax(logits(theta, z))[np.arange(60), labels]
    assert value == pytest.approx(
        np.average(loss, weights=weight) + (ridge * (theta - centre) ** 2).sum(), rel=1e-12
    )
    direction = rng.normal(size=theta.shape)
    h = 1e-6
    ahead, behind = evaluate(theta + h * direction), evaluate(theta - h * direction)
    assert (ahead[0] - behind[0]) / (2 * h) == pytest.approx(np.vdot(gradient, direction), rel=1e-6)
    curved = (ahead[1] - behind[1]) / (2 * h)
    evaluate(theta)  # the softmax of the last point evaluated is shared
    np.testing.assert_allclose(solve(curved, 1e-9), direction, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_exact_and_conjugate_gradient_steps_find_the_same_minimum(family, monkeypatch):
    objective, _, shape = FAMILIES[family]
    z, labels, weight, _ = _problem(n_classes=5)
    ends = []
    for limit, class_limit in ((10_000, 160), (0, 160), (0, 0)):
        monkeypatch.setattr(multinomial, "DENSE_VECTOR", limit)
        monkeypatch.setattr(multinomial, "DENSE_MATRIX", limit)
        monkeypatch.setattr(multinomial, "CLASS_BLOCKS", class_limit)
        theta, status, size = minimise(
            objective(z, labels, weight, 0.01, np.zeros(shape(5))), np.zeros(shape(5))
        )
        assert status == "converged"
        assert size <= 1e-8
        ends.append(theta)
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-6)
    np.testing.assert_allclose(ends[2], ends[0], atol=1e-6)


def test_conjugate_gradient_solves_a_linear_system():
    rng = np.random.default_rng(1)
    root = rng.normal(size=(8, 8))
    A, b = root @ root.T + np.eye(8), rng.normal(size=8)
    x = conjugate_gradient(lambda v: A @ v, lambda r: r / A.diagonal(), b, 1e-12)
    np.testing.assert_allclose(A @ x, b, atol=1e-9)


def test_minimise_says_when_it_ran_out_of_steps():
    def evaluate(x):  # exp(-x) has no minimum
        return float(np.exp(-x[0])), -np.exp(-x), lambda r, relative: r / np.exp(-x)

    _, status, _ = minimise(evaluate, np.zeros(1), max_steps=5)
    assert status == "max steps"


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("limit", [10_000, 0])
def test_a_search_near_another_ends_at_the_minimum_of_its_own(family, limit, monkeypatch):
    objective, _, shape = FAMILIES[family]
    monkeypatch.setattr(multinomial, "DENSE_VECTOR", limit)
    monkeypatch.setattr(multinomial, "DENSE_MATRIX", limit)
    z, labels, weight, rng = _problem(n=600)
    search = Search()
    minimise_near(
        objective(z, labels, weight, 0.01, np.zeros(shape(4))), np.zeros(shape(4)), search
    )
    part = rng.random(600) < 0.8
    evaluate = objective(z[part], labels[part], weight[part], 0.01, np.zeros(shape(4)))
    near, status, size = minimise_near(evaluate, np.zeros(shape(4)), search)
    exact, _, _ = minimise(evaluate, np.zeros(shape(4)))
    assert status == "converged"
    assert size <= 3e-6
    np.testing.assert_allclose(near, exact, atol=3e-4)
    assert evaluate(near)[0] == pytest.approx(evaluate(exact)[0], abs=1e-8)


def test_later_searches_begin_with_the_curvature_that_earlier_ones_saw():
    z, labels, weight, rng = _problem(n=3000, n_classes=30)
    z[:, 0] = (
        z[:, 1] + 0.1 * z[:, 0]
    )  # two classes that move together: the curvature of each by itself misleads
    counted = []

    def searched(search, weight):
        calls = []
        objective = matrix_objective(z, labels, weight, 1e-4, np.zeros((30, 31)))
        _, status, _ = minimise_near(
            lambda theta: calls.append(0) or objective(theta), np.zeros((30, 31)), search
        )
        assert status == "converged"
        counted.append(len(calls))

    first = Search()
    searched(first, weight)
    fold = weight * rng.uniform(0.5, 1.5, len(weight))
    searched(replace(first, pairs=[]), fold)
    searched(replace(first, pairs=list(first.pairs)), fold)
    assert counted[2] < counted[1]
    other = first.lend()
    minimise_near(
        matrix_objective(z, labels, fold, 1e-4, np.zeros((30, 31))), np.zeros((30, 31)), other
    )
    assert np.abs(other.end - first.end).max() > 1e-6
    assert not other.lent
    assert other.pairs is not first.pairs


# -- class inverses -----------------------------------------------------------------------------


def test_they_are_the_inverses_of_the_blocks():
    """Where all rows are in play for every class; the ridge is what is added to the diagonal,
    with a hundred-thousandth of its mean.
    """
    rng = np.random.default_rng(0)
    X, P, weight = (
        rng.normal(size=(40, 3)),
        rng.dirichlet(np.full(4, 20.0), 40),
        rng.uniform(0.5, 1.5, 40) / 40,
    )
    blocks = np.stack([(X.T * (weight * P[:, k] * (1 - P[:, k]))) @ X for k in range(4)])
    blocks[:, range(3), range(3)] += 0.02 + 1e-5 * blocks[:, range(3), range(3)].mean()
    np.testing.assert_allclose(
        class_inverses(X, P, weight, 0.02), np.linalg.inv(blocks), rtol=2e-4, atol=1e-4
    )


def test_rows_out_of_play_count_by_their_spread_alone():
    """The second row's p (1 - p) is a ten-thousandth of the first's: the block is the first
    row's, raised to the sum of both.
    """
    X, P = np.array([[1.0], [3.0]]), np.array([[0.5, 0.5], [1e-5, 1.0 - 1e-5]])
    spread = P * (1.0 - P)
    expected = spread.sum(axis=0) * (1.0 + 1e-5) + 0.1
    np.testing.assert_allclose(
        class_inverses(X, P, np.ones(2), 0.1).ravel(), 1.0 / expected, rtol=1e-5
    )
