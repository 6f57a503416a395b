"""The exact label stability against fine quadrature, against sampling, and its laws."""

import numpy as np
import pytest
from scipy import special

from calibrant._numerics import label_stability as kernel


def fine_gaussian(gaps):
    """Trapezoid rule with step 0.01 on each row's own gaps."""
    z = np.linspace(-9.0, 9.0, 1801)
    weight = np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi) * (z[1] - z[0])
    return np.array([np.exp(sum(special.log_ndtr(g + z) for g in row)) @ weight for row in gaps])


def fine_uniform(gaps):
    """Gauss-Legendre with 8 nodes between the breakpoints of each row, cut at 200 more points."""
    x, w = np.polynomial.legendre.leggauss(8)
    out = []
    for row in gaps:
        corners = np.unique(
            np.concatenate(
                [np.linspace(0.0, 1.0, 201), np.clip(1.0 - row, 0.0, 1.0), np.clip(-row, 0.0, 1.0)]
            )
        )
        half = np.diff(corners) / 2.0
        u = (corners[:-1, None] + half[:, None] * (x + 1.0)).ravel()
        product = np.ones_like(u)
        for g in row:
            product *= np.clip(u + g, 0.0, 1.0)
        out.append(product @ (half[:, None] * w).ravel())
    return np.array(out)


def gaps_of(logits, label):
    own = logits[np.arange(len(logits)), label]
    keep = np.ones(logits.shape, dtype=bool)
    keep[np.arange(len(logits)), label] = False
    return (own[:, None] - logits)[keep].reshape(len(logits), -1)


def rows_of_logits(n, n_classes, kind):
    rng = np.random.default_rng(n_classes)
    if kind == "spread":
        return 2.0 * rng.standard_normal((n, n_classes))
    if kind == "skewed":
        return rng.gamma(0.3, 3.0, (n, n_classes))
    logits = 0.3 * rng.standard_normal(
        (n, n_classes)
    )  # "two ahead": two classes far above the rest
    logits[:, 0] += 4.0
    logits[:, 1] += 3.5 + rng.random(n)
    return logits


FINE = {"gaussian": fine_gaussian, "uniform": fine_uniform}


@pytest.mark.parametrize("kind", ["spread", "skewed", "two ahead"])
@pytest.mark.parametrize("scale", [0.3, 2.0, 6.0])
@pytest.mark.parametrize("noise", ["gaussian", "uniform"])
def test_within_1e_6_of_fine_quadrature_at_1000_classes(noise, scale, kind):
    logits = rows_of_logits(12, 1000, kind)
    label = logits.argmax(axis=1)
    exact = kernel.stability(logits, label, scale, noise)
    assert np.abs(exact - FINE[noise](gaps_of(logits, label) / scale)).max() < 1e-6


@pytest.mark.parametrize("n_classes", [2, 3, 10, 16, 17, 32, 33, 100])
@pytest.mark.parametrize("noise", ["gaussian", "uniform"])
def test_within_1e_6_of_fine_quadrature_at_any_number_of_classes(noise, n_classes):
    logits = rows_of_logits(12, n_classes, "spread")
    label = logits.argmax(axis=1)
    for scale in (0.5, 5.0):
        exact = kernel.stability(logits, label, scale, noise)
        assert np.abs(exact - FINE[noise](gaps_of(logits, label) / scale)).max() < 1e-6


@pytest.mark.parametrize(("noise", "tolerance"), [("gaussian", 1e-6), ("uniform", 5e-5)])
def test_crowded_gaps_stay_within_the_accuracy_stated(noise, tolerance):
    logits = 0.05 * np.random.default_rng(0).standard_normal((12, 1000))
    label = logits.argmax(axis=1)
    exact = kernel.stability(logits, label, 20.0, noise)
    assert np.abs(exact - FINE[noise](gaps_of(logits, label) / 20.0)).max() < tolerance


@pytest.mark.parametrize("n_classes", [10, 100])
@pytest.mark.parametrize("noise", ["gaussian", "uniform"])
def test_labels_that_are_not_the_argmax(noise, n_classes):
    rng = np.random.default_rng(1)
    logits, label = rng.standard_normal((12, n_classes)), rng.integers(0, n_classes, 12)
    exact = kernel.stability(logits, label, 1.5, noise)
    assert np.abs(exact - FINE[noise](gaps_of(logits, label) / 1.5)).max() < 2e-6


def test_two_classes_have_a_closed_form():
    gap = np.array([0.0, 0.3, 1.0, 4.0])
    logits = np.column_stack([gap, np.zeros(4)])
    label = np.zeros(4, dtype=int)
    np.testing.assert_allclose(
        kernel.stability(logits, label, 0.7, "gaussian"),
        special.ndtr(gap / 0.7 / np.sqrt(2.0)),
        atol=1e-12,
    )
    inside = np.clip(gap / 2.0, 0.0, 1.0)  # two uniforms: 1 - (1 - g)^2 / 2
    np.testing.assert_allclose(
        kernel.stability(logits, label, 2.0, "uniform"), 1.0 - 0.5 * (1.0 - inside) ** 2, atol=1e-12
    )


@pytest.mark.parametrize("n_classes", [2, 10, 100, 1000])
@pytest.mark.parametrize("noise", ["gaussian", "uniform"])
def test_equal_logits_give_one_in_k(noise, n_classes):
    stability = kernel.stability(np.zeros((1, n_classes)), np.array([0]), 1.0, noise)
    assert stability[0] == pytest.approx(1.0 / n_classes, abs=4e-5 if n_classes > 32 else 1e-9)


@pytest.mark.parametrize("noise", ["gaussian", "uniform"])
def test_every_row_within_4_standard_errors_of_100_sampled_runs(noise):
    rng = np.random.default_rng(3)
    n, n_classes, runs, draws = 2000, 10, 100, 1000
    logits = 2.0 * rng.standard_normal((n, n_classes))
    label = logits.argmax(axis=1)
    scale = {"gaussian": 1.5, "uniform": 5.0}[noise]
    exact = kernel.stability(logits, label, scale, noise)
    mean = np.mean(
        [
            kernel.sampled_stability(
                logits, label, scale * kernel.standard_noise(noise, draws, n_classes, seed)
            )
            for seed in range(runs)
        ],
        axis=0,
    )
    standard_error = np.sqrt(exact * (1.0 - exact) / (runs * draws))
    # One draw more: where a change is rarer than one in the 100,000 draws, the mean is not normal.
    assert (np.abs(mean - exact) <= 4.0 * standard_error + 1.0 / (runs * draws)).all()


def test_the_mean_of_the_noise_is_irrelevant():
    rng = np.random.default_rng(4)
    logits = rng.standard_normal((200, 5))
    label = logits.argmax(axis=1)
    noise = kernel.standard_noise("gaussian", 300, 5, 0)
    np.testing.assert_array_equal(
        kernel.sampled_stability(logits, label, noise),
        kernel.sampled_stability(logits, label, noise + 16.0),
    )


@pytest.mark.parametrize("n_classes", [10, 100])
@pytest.mark.parametrize("noise", ["gaussian", "uniform"])
def test_search_sums_agree_with_the_stability_of_each_scale(noise, n_classes):
    rng = np.random.default_rng(5)
    logits = 2.0 * rng.standard_normal((400, n_classes))
    label, correct, weight = (
        logits.argmax(axis=1),
        (rng.random(400) < 0.7) * 1.0,
        rng.integers(1, 4, 400) * 1.0,
    )
    scales = [0.05, 0.4, 2.0, 10.0]
    sums = kernel.spread_sums(logits, label, correct, weight, scales, noise)
    for row, scale in zip(sums, scales, strict=True):
        s = kernel.stability(logits, label, scale, noise)
        whole = [
            weight.sum(),
            weight @ correct,
            weight @ s,
            weight @ (s * s),
            weight @ (s * correct),
        ]
        np.testing.assert_allclose(row / weight.sum(), np.array(whole) / weight.sum(), atol=1e-3)


def test_unbounded_scores_stay_finite():
    logits = np.array([[1e300, -1e300, 0.0], [1e-300, 0.0, 0.0]])
    for noise in ("gaussian", "uniform"):
        stability = kernel.stability(logits, np.array([0, 0]), 1e-8, noise)
        assert np.isfinite(stability).all()
        assert stability[0] == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("n_classes", [10, 100])
@pytest.mark.parametrize("noise", ["gaussian", "uniform"])
def test_the_order_of_the_other_classes_does_not_matter_and_one_more_never_helps(noise, n_classes):
    rng = np.random.default_rng(6)
    logits = rng.standard_normal((50, n_classes))
    logits[:, 0] += 2.0
    label = np.zeros(50, dtype=int)
    stability = kernel.stability(logits, label, 1.5, noise)
    shuffled = np.concatenate([logits[:, :1], rng.permuted(logits[:, 1:], axis=1)], axis=1)
    np.testing.assert_allclose(kernel.stability(shuffled, label, 1.5, noise), stability, atol=1e-12)
    wider = np.concatenate([logits, rng.standard_normal((50, 1))], axis=1)
    assert (kernel.stability(wider, label, 1.5, noise) <= stability + 1e-9).all()


@pytest.mark.parametrize("noise", ["gaussian", "uniform"])
def test_stability_summed_over_the_labels_is_one(noise):
    logits = np.random.default_rng(7).standard_normal((20, 40))
    total = sum(kernel.stability(logits, np.full(20, k), 2.0, noise) for k in range(40))
    np.testing.assert_allclose(total, 1.0, atol=2e-5)


def test_a_few_rows_by_quadrature_at_every_way_of_computing():
    """Few classes and many, labels ahead and behind, both noises; quick, so that it is run
    first.
    """
    rng = np.random.default_rng(0)
    for noise in ("gaussian", "uniform"):
        for n_classes in (2, 6, 7, 16, 17, 32, 33, 40):
            logits = rng.normal(size=(3, n_classes))
            for label in (logits.argmax(axis=1), np.zeros(3, dtype=int)):
                expected = FINE[noise](gaps_of(logits, label) / 1.5)
                np.testing.assert_allclose(
                    kernel.stability(logits, label, 1.5, noise), expected, atol=1e-6
                )


def test_search_sums_by_hand():
    rng = np.random.default_rng(1)
    logits, weight, correct = (
        rng.normal(size=(5, 8)),
        rng.uniform(0.5, 2.0, 5),
        np.array([1.0, 0.0, 1.0, 1.0, 0.0]),
    )
    for noise in ("gaussian", "uniform"):
        for label in (logits.argmax(axis=1), np.zeros(5, dtype=int)):
            found = kernel.spread_sums(logits, label, correct, weight, [0.5, 2.0], noise)
            for row, scale in zip(found, (0.5, 2.0), strict=True):
                s = FINE[noise](gaps_of(logits, label) / scale)
                expected = [
                    weight.sum(),
                    weight @ correct,
                    weight @ s,
                    weight @ (s * s),
                    weight @ (s * correct),
                ]
                np.testing.assert_allclose(row, expected, atol=5e-3)


def test_gaps_and_samples_by_hand():
    logits, label = np.array([[1.0, 3.0, 0.0], [2.0, 2.5, 4.0]]), np.array([1, 0])
    assert kernel.runner_up_gap(logits, label).tolist() == [2.0, -2.0]
    noise = np.array([[0.0, 0.0, 0.0], [0.0, -3.0, 0.0], [2.0, 0.0, 0.0]])
    np.testing.assert_allclose(kernel.sampled_stability(logits, label, noise), [2 / 3, 1 / 3])
    drawn = kernel.standard_noise("uniform", 4000, 3, 0)
    assert drawn.shape == (4000, 3)
    assert -0.5 <= drawn.min() < -0.49
    assert 0.49 < drawn.max() < 0.5
    assert kernel.standard_noise("gaussian", 4000, 3, 0).std() == pytest.approx(1.0, abs=0.03)
