"""The evidence bound: its gradient, and the three layouts beside one another."""

import numpy as np
import pytest

from calibrant._numerics import gaussian_process as gp
from calibrant._numerics.gaussian_process import (
    PERIOD,
    Direct,
    Grid,
    Interpolated,
    function_values,
    lattice_features,
    row_products,
)
from calibrant._numerics.logistic import softmax


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


# -- radial lattice -----------------------------------------------------------------------------
# The radial kernel on a lattice: the kernel itself, its products, and rows that do not depend
# on their neighbours.


def kernel(scores, length):
    return np.exp(-0.5 * ((scores[..., :, None] - scores[..., None, :]) / length) ** 2)


@pytest.mark.parametrize("length", [0.001, 0.3, 5.0, 1e3])
def test_the_lattice_gives_the_kernel(length):
    scores = np.random.default_rng(0).normal(size=(4, 9)) * 3.0
    values = np.random.default_rng(1).normal(size=(4, 9))
    features = function_values(scores.ravel(), length, np.eye(PERIOD)).reshape(4, 9, PERIOD)
    near = np.abs(scores[:, :, None] - scores[:, None, :]) < 1_000 * length
    np.testing.assert_allclose(
        (features @ features.transpose(0, 2, 1))[near], kernel(scores, length)[near], atol=1e-10
    )
    if near.all():
        np.testing.assert_allclose(
            row_products(scores, values, length),
            (kernel(scores, length) @ values[..., None])[..., 0],
            atol=1e-9,
        )


def test_a_row_does_not_depend_on_the_rows_beside_it():
    scores = np.random.default_rng(0).normal(size=(5, 4))
    values = np.random.default_rng(1).normal(size=(5, 4))
    far = np.concatenate([scores, [[-700.0, 0.0, 30.0, 90.0]]])
    together = row_products(far, np.concatenate([values, values[:1]]), 0.7)[:5]
    np.testing.assert_array_equal(together, row_products(scores, values, 0.7))
    np.testing.assert_array_equal(together[2:3], row_products(scores[2:3], values[2:3], 0.7))


def test_scores_however_far_out_are_finite():
    scores = np.array([[-1e300, 0.0, 1e300, 1e300]])
    assert np.isfinite(function_values(scores.ravel(), 1e-3, np.ones((PERIOD, 1)))).all()
    np.testing.assert_allclose(
        row_products(scores, np.array([[1.0, 2.0, 3.0, 4.0]]), 1e-3),
        [[1.0, 2.0, 7.0, 7.0]],
        atol=1e-9,
    )


@pytest.mark.parametrize("length", [0.02, 0.1, 5.0])
def test_features_give_the_kernel_and_its_slope(length):
    points = np.linspace(-1.0, 3.0, 81)
    features, slopes = lattice_features(points, length)
    np.testing.assert_allclose(features @ features.T, kernel(points, length), atol=1e-9)
    ends = [kernel(points, length * np.exp(s * 1e-5)) for s in (1.0, -1.0)]
    half = features @ slopes.T
    np.testing.assert_allclose(half + half.T, (ends[0] - ends[1]) / 2e-5, atol=1e-8)


def test_a_length_far_below_a_cell_costs_no_more_nodes():
    features, _ = lattice_features(np.linspace(0.0, 1e3, 51), 1e-3)
    assert features.shape[1] < 1_000
    np.testing.assert_allclose(features @ features.T, np.eye(51), atol=1e-7)


# -- score layouts ------------------------------------------------------------------------------
# Layouts of scores: sums by hand, straight lines exactly, and each adjoint against what it is
# the adjoint of.


RNG = np.random.default_rng(0)
SCORES, PRIOR, LABELS = RNG.normal(size=(6, 4)), RNG.dirichlet(np.ones(4), 6), RNG.integers(0, 4, 6)


def made():
    return [
        Direct(SCORES, PRIOR, LABELS),
        Interpolated(SCORES, PRIOR, LABELS, 17),
        Grid(SCORES, PRIOR, LABELS, 17),
    ]


def test_straight_lines_are_exact():
    line = 2.0 - 3.0 * SCORES
    for layout in made():
        u = layout.expand(2.0 - 3.0 * layout.points)
        np.testing.assert_allclose(layout.sums(u), (PRIOR * line).sum(axis=1))
        np.testing.assert_allclose(layout.squares(u), (PRIOR**2 * line).sum(axis=1))
        np.testing.assert_allclose(layout.at_label(u), line[np.arange(6), LABELS])


def test_points_are_even_from_the_lowest_score_to_the_highest():
    for layout in made()[1:]:
        np.testing.assert_allclose(layout.points, np.linspace(SCORES.min(), SCORES.max(), 17))
    same = Grid(np.full((2, 2), 3.0), np.full((2, 2), 0.5), np.array([0, 1]), 5)
    np.testing.assert_allclose(same.points, np.linspace(3.0, 4.0, 5))
    np.testing.assert_allclose(same.sums(same.points), 3.0)
    many = Interpolated(SCORES, PRIOR, LABELS)
    assert len(many.points) == 2048
    assert len(Grid(SCORES, PRIOR, LABELS).points) == 512


def test_adjoints():
    for layout in made():
        u = RNG.normal(size=len(layout.points))
        wide = layout.expand(u)
        back = RNG.normal(size=wide.shape)
        np.testing.assert_allclose(wide @ back, u @ layout.collect(back))
        rows = RNG.normal(size=6)
        np.testing.assert_allclose(layout.sums(wide) @ rows, wide @ layout.sums_back(rows))
        np.testing.assert_allclose(layout.squares(wide) @ rows, wide @ layout.squares_back(rows))
        out = np.zeros_like(wide)
        layout.at_label_back(rows, out)
        np.testing.assert_allclose(layout.at_label(wide) @ rows, wide @ out)


def test_several_functions_at_once():
    direct, between, grid = made()
    u = RNG.normal(size=(24, 3))
    np.testing.assert_allclose(direct.sums(u), np.stack([direct.sums(one) for one in u.T], axis=1))
    rows = RNG.normal(size=(6, 3))
    np.testing.assert_allclose(
        direct.sums_back(rows), np.stack([direct.sums_back(one) for one in rows.T], axis=1)
    )
    bars = RNG.normal(size=(2, 24))
    np.testing.assert_allclose(between.collect(bars), [between.collect(one) for one in bars])
    np.testing.assert_allclose(between.expand(RNG.normal(size=(2, 17))).shape, (2, 24))
    assert grid.sums(RNG.normal(size=(17, 2))).shape == (6, 2)
