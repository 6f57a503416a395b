"""The evidence bound: its gradient, and the three layouts beside one another."""

import numpy as np
import pytest

from calibrant._kernels import gaussian_process as gp
from calibrant._kernels.gaussian_process import Direct, Grid, Interpolated
from calibrant._kernels.softmax import softmax


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    logits, labels, weight = (
        rng.normal(size=(30, 5)) * 2,
        rng.integers(0, 5, 30),
        rng.uniform(0.5, 2.0, 30),
    )
    prior = softmax(logits)
    root = np.tril(rng.normal(size=(6, 6)) * 0.3) + np.eye(6)
    point = {
        "variance": 1.3,
        "length": 2.0,
        "noise": 0.05,
        "inducing": np.linspace(-3, 3, 6),
        "mean": rng.normal(size=6),
        "root": root,
    }
    before = gp.Posterior(
        rng.normal(size=6) * 0.1, np.tril(rng.normal(size=(6, 6)) * 0.1) + np.eye(6)
    )
    return logits, prior, labels, weight, point, before


def evaluate(layout, problem, point, full):
    _, prior, labels, weight, _, before = problem
    own = np.log(prior[np.arange(len(labels)), labels])
    hyper = gp.Hyper(point["variance"], point["length"], point["noise"])
    posterior = gp.Posterior(point["mean"], point["root"])
    return gp.bound(layout, own, weight, point["inducing"], hyper, posterior, before, full)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("kind", [Direct, Interpolated, Grid])
def test_gradient_is_the_finite_difference(problem, kind, full):
    logits, prior, labels, _, point, _ = problem
    layout = kind(logits, prior, labels)
    _, gradient = evaluate(layout, problem, point, full)
    for name, value in point.items():
        direction = np.random.default_rng(1).normal(size=np.shape(value))
        direction = np.tril(direction) if name == "root" else direction
        ends = [
            evaluate(layout, problem, {**point, name: value + s * 1e-6 * direction}, full)[0]
            for s in (1, -1)
        ]
        assert np.sum(gradient[name] * direction) == pytest.approx(
            (ends[0] - ends[1]) / 2e-6, rel=1e-5, abs=1e-5
        ), name


@pytest.mark.parametrize("full", [False, True])
def test_layouts_agree(problem, full):
    logits, prior, labels, weight, point, _ = problem
    exact = evaluate(Direct(logits, prior, labels), problem, point, full)[0] / weight.sum()
    between = evaluate(Interpolated(logits, prior, labels), problem, point, full)[0] / weight.sum()
    grid = evaluate(Grid(logits, prior, labels), problem, point, full)[0] / weight.sum()
    assert between == pytest.approx(exact, abs=1e-6)
    assert grid == pytest.approx(exact, abs=1e-3)


def test_diagonal_expansion_matches_draws():
    rng = np.random.default_rng(2)
    logits, labels = rng.normal(size=(4, 3)), np.array([0, 1, 2, 0])
    prior, hyper = softmax(logits), gp.Hyper(0.01, 1.0, 0.01)
    inducing = np.linspace(-2, 2, 5)
    posterior = gp.Posterior(rng.normal(size=5), 0.2 * np.eye(5))
    own = np.log(prior[np.arange(4), labels])
    value, _ = gp.bound(
        Direct(logits, prior, labels),
        own,
        np.ones(4),
        inducing,
        hyper,
        posterior,
        posterior,
        full=False,
    )
    shift, variance = (
        a.reshape(logits.shape) for a in gp.latent(logits.ravel(), inducing, hyper, posterior)
    )
    draws = np.log(prior) + shift + np.sqrt(variance) * rng.standard_normal((200_000, 4, 3))
    expected = np.log(softmax(draws)[:, np.arange(4), labels]).mean(axis=0).sum()
    assert value == pytest.approx(expected, abs=5e-3)
