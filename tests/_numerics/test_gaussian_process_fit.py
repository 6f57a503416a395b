"""The search for the Gaussian process's parameters: where it begins, how they are packed, and
that it ends where nothing rises.
"""

from dataclasses import replace

import numpy as np
import pytest

from calibrant._numerics import gaussian_process as gp
from calibrant._numerics.gaussian_process import Direct, Hyper, Posterior, bound
from calibrant._numerics.gaussian_process_fit import (
    Fit,
    Independent,
    Joint,
    Packing,
    best_of,
    by_draws,
    maximise,
    starts,
    trial_steps,
)
from calibrant._numerics.logistic import softmax

HYPER = Hyper(1.5, 2.0, 0.1)


def test_it_begins_at_the_prior_with_a_long_and_a_short_length():
    long, short = starts(-1.0, 3.0, 5, HYPER)
    assert long.inducing.tolist() == short.inducing.tolist() == [-1.0, 0.0, 1.0, 2.0, 3.0]
    assert (long.hyper, short.hyper) == (HYPER, Hyper(1.5, 1.0, 0.1))
    assert long.posterior.mean.tolist() == [0.0] * 5
    assert long.posterior.root.tolist() == np.eye(5).tolist()
    # Where the scores span eight lengths or more the short one is no shorter; of one score there is
    # one point.
    assert [one.hyper.length for one in starts(0.0, 8.0, 5, HYPER)] == [2.0]
    assert [one.hyper.length for one in starts(0.0, 7.9, 5, HYPER)] == [2.0, pytest.approx(1.975)]
    (single,) = starts(0.5, 0.5, 5, HYPER)
    assert (single.inducing.tolist(), single.hyper.length) == ([0.5], 2.0)
    assert [trial_steps(n) for n in (1, 1000, 1001)] == [15, 15, 60]


def test_the_best_start_is_run_to_the_end():
    begins, ran = starts(-1.0, 3.0, 2, HYPER), []

    def run(values, status):
        def one(begin, steps):
            ran.append((begin.hyper.length, steps))
            return replace(begin, value=values[begin.hyper.length], status=status)

        return one

    assert best_of(begins, run({2.0: 1.0, 1.0: 3.0}, "converged"), 7).hyper.length == 1.0
    assert ran == [(2.0, 7), (1.0, 7)]
    ran.clear()
    assert best_of(begins, run({2.0: 5.0, 1.0: 3.0}, "max steps"), 7).hyper.length == 2.0
    assert ran == [(2.0, 7), (1.0, 7), (2.0, 250)]


@pytest.mark.parametrize("learn_kernel", [True, False])
def test_parameters_are_packed_and_unpacked(learn_kernel):
    root = np.array([[2.0, 0.0, 0.0], [0.3, 0.5, 0.0], [-0.2, 0.7, 1.5]])
    begin = Fit(
        np.array([-1.0, 0.0, 2.0]), HYPER, Posterior(np.array([0.1, 0.2, -0.3]), root), 0.0, "start"
    )
    packing = Packing(begin, learn_kernel)
    x = packing.pack()
    assert len(x) == (3 + 3 if learn_kernel else 0) + 3 + 6
    hyper, inducing, posterior = packing.unpack(x)
    np.testing.assert_allclose([hyper.variance, hyper.length, hyper.noise], [1.5, 2.0, 0.1])
    np.testing.assert_allclose(inducing, begin.inducing)
    np.testing.assert_allclose(posterior.mean, begin.posterior.mean)
    np.testing.assert_allclose(posterior.root, root)
    box = packing.box([(0.1, 10.0), (0.5, 5.0), (1e-3, 1.0)], len(x))
    if not learn_kernel:
        assert box is None
    else:
        np.testing.assert_allclose(box[:3], np.log([(0.1, 10.0), (0.5, 5.0), (1e-3, 1.0)]))
        assert box[3:] == [(None, None)] * (len(x) - 3)


@pytest.mark.parametrize("learn_kernel", [True, False])
def test_the_search_ends_where_the_packed_gradient_vanishes(learn_kernel):
    rng = np.random.default_rng(0)
    logits, labels, weight = (
        2.0 * rng.normal(size=(40, 3)),
        rng.integers(0, 3, 40),
        rng.uniform(0.5, 2.0, 40),
    )
    prior = softmax(logits)
    layout, own = Direct(logits, prior, labels), np.log(prior[np.arange(40), labels])
    begin = starts(-3.0, 3.0, 3, HYPER)[0]
    before, limits = Posterior(np.zeros(3), np.eye(3)), [(0.05, 20.0), (0.2, 20.0), (1e-4, 1.0)]
    found = maximise(layout, own, weight, begin, before, False, limits, 200, learn_kernel)
    assert found.status == "converged"
    packing = Packing(found, learn_kernel)

    def value(x):
        hyper, inducing, posterior = packing.unpack(x)
        return bound(layout, own, weight, inducing, hyper, posterior, before, False)[0]

    x = packing.pack()
    assert value(x) == pytest.approx(found.value)
    assert found.value > value(Packing(begin, learn_kernel).pack())
    # By differences, at a point that is no end, the packed gradient is that of the packed
    # parameters.
    at = x + 0.1 * rng.normal(size=len(x))
    hyper, inducing, posterior = packing.unpack(at)
    gradient = packing.gradient(
        bound(layout, own, weight, inducing, hyper, posterior, before, False)[1], hyper, posterior
    )
    moved = [(value(at + step) - value(at - step)) / 2e-6 for step in 1e-6 * np.eye(len(at))]
    np.testing.assert_allclose(gradient, moved, rtol=1e-4, atol=1e-4)
    assert (found.hyper == begin.hyper) == (not learn_kernel)
    assert (
        maximise(layout, own, weight, begin, before, False, limits, 1, learn_kernel).status
        == "max steps"
    )


def test_a_prior_on_the_kernel_is_part_of_the_value_and_of_the_gradient():
    """Where no row is wrong the largest variance is best, unless its root has a prior."""
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(40, 3))
    labels, prior = logits.argmax(axis=1), softmax(logits)
    layout, own = Direct(logits, prior, labels), np.log(prior[np.arange(40), labels])
    begin, before = starts(-3.0, 3.0, 3, HYPER)[0], Posterior(np.zeros(3), np.eye(3))
    given = layout, own, np.ones(40), begin, before, False
    limits = [(0.05, 400.0), (0.2, 20.0), (1e-4, 1.0)]
    found = [maximise(*given, limits, 500, True, std_rate) for std_rate in (0.0, 3.0)]
    assert found[0].hyper.variance == pytest.approx(400.0)
    fit, step = found[1], 1e-4
    at = fit.hyper.variance

    def value(variance):
        hyper = replace(fit.hyper, variance=variance)
        parts = layout, own, np.ones(40), fit.inducing, hyper, fit.posterior, before, False
        return bound(*parts)[0] - 3.0 * variance**0.5

    assert 0.5 < at < 100.0
    assert fit.value == pytest.approx(value(at))
    assert (value(at + step) - value(at - step)) / (2 * step) == pytest.approx(0.0, abs=1e-2)


# -- gaussian process prediction ----------------------------------------------------------------
# The mean softmax over draws and their negatives, beside the plain mean over all of them.


@pytest.mark.parametrize("variance", [1.5, 1e6])
@pytest.mark.parametrize("n_draws", [10, 11])
@pytest.mark.parametrize("kind", [Independent, Joint])
def test_the_mean_over_draws_and_their_negatives(kind, n_draws, variance):
    rng = np.random.default_rng(0)
    hyper, posterior = gp.Hyper(variance, 1.0, 0.1), gp.Posterior(rng.normal(size=4), np.eye(4))
    law, scores = kind(np.linspace(-2.0, 2.0, 4), hyper, posterior), 2.0 * rng.normal(size=(300, 3))
    draws = law.draw(rng, (n_draws + 1) // 2, 3)
    shift, spread = (
        one.reshape(scores.shape)
        for one in gp.latent(scores.ravel(), law.inducing, hyper, posterior)
    )
    half = law.deviations(scores, spread, draws)
    around = [
        softmax(scores + shift + sign * one)
        for sign in (1.0, -1.0)
        for one in half.transpose(2, 0, 1)
    ]
    np.testing.assert_allclose(
        by_draws(law, scores, scores, draws, n_draws), np.mean(around[:n_draws], axis=0), atol=1e-13
    )
