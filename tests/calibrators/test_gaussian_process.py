"""Gaussian-process calibration: what it learns, what it leaves alone, and that accuracy stays
when asked.
"""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant._numerics.logistic import softmax
from calibrant.calibrators.gaussian_process import GaussianProcessCalibration
from calibrant.datasets.sets import data_folder, stored
from calibrant.errors import InputError


def overconfident(n, K, factor=2.0, seed=0):
    """Logits whose truth is their softmax, handed out multiplied by ``factor``."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n, K)) * 2.0
    y = (softmax(logits).cumsum(axis=1) > rng.uniform(size=(n, 1))).argmax(axis=1)
    return factor * logits, y


@pytest.mark.parametrize("inputs", ["probability", "logit"])
@pytest.mark.parametrize("expectation", ["monte_carlo", "taylor", "mean"])
def test_overconfidence_is_repaired(inputs, expectation):
    logits, y = overconfident(2400, 3)
    P = logits if inputs == "logit" else softmax(logits)
    cal = GaussianProcessCalibration(inputs=inputs, expectation=expectation).fit(P[:800], y[:800])
    before = metrics.log_loss(y[800:], softmax(logits[800:]))
    after = metrics.log_loss(y[800:], cal.predict_proba(P[800:]))
    best = metrics.log_loss(y[800:], softmax(logits[800:] / 2.0))
    assert after < before - 0.8 * (before - best)


def test_calibrated_input_is_left_nearly_alone():
    logits, y = overconfident(3000, 3, factor=1.0)
    cal = GaussianProcessCalibration(inputs="logit", expectation="mean").fit(
        logits[:1000], y[:1000]
    )
    change = metrics.log_loss(y[1000:], cal.predict_proba(logits[1000:])) - metrics.log_loss(
        y[1000:], softmax(logits[1000:])
    )
    assert change < 5e-3


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_rows_without_a_wrong_one_do_not_make_the_kernel_as_large_as_it_may_be(covariance):
    """Of an underconfident model, right in 19 of 20 rows, only right ones."""
    rng = np.random.default_rng(0)
    sure = rng.normal(size=(2100, 3)) * 20.0
    y = (softmax(sure).cumsum(axis=1) > rng.uniform(size=(2100, 1))).argmax(axis=1)
    logits, test = sure / 8.0, np.arange(2100) >= 100
    fit = ~test & (sure.argmax(axis=1) == y)
    cal = GaussianProcessCalibration(inputs="logit", covariance=covariance)
    cal.fit(logits[fit], y[fit])
    assert 1e-3 < cal.kernel_[0] < 100.0
    before = metrics.log_loss(y[test], softmax(logits[test]))
    assert metrics.log_loss(y[test], cal.predict_proba(logits[test])) < before
    # What is stated as the bound is the bound, without the prior on the kernel.
    assert -metrics.log_loss(y[fit], softmax(logits[fit])) * fit.sum() < cal.evidence_ < 0.0


def test_one_wrong_row_leaves_the_kernel_to_the_bound(monkeypatch):
    logits, y = overconfident(100, 3, factor=0.25)
    right = logits.argmax(axis=1) == y
    rows = np.append(np.flatnonzero(right)[:40], np.flatnonzero(~right)[:1])
    fits = []
    for rate in (0.0, 1.0):
        monkeypatch.setattr("calibrant.calibrators.gaussian_process.STD_RATE", rate)
        fits.append(GaussianProcessCalibration(inputs="logit").fit(logits[rows], y[rows]).kernel_)
    assert fits[0] == fits[1]


@pytest.mark.parametrize("inputs", ["probability", "logit"])
def test_monotone_keeps_every_predicted_class_even_near_ties(inputs):
    logits, y = overconfident(600, 4, factor=3.0)
    near_tied = logits.copy()
    top = near_tied.argmax(axis=1)
    other = (top + 1) % 4
    near_tied[np.arange(600), other] = np.nextafter(near_tied[np.arange(600), top], -np.inf)
    cal = GaussianProcessCalibration(monotone=True, inputs=inputs).fit(
        logits if inputs == "logit" else softmax(logits), y
    )
    for rows in (logits, near_tied):
        P = rows if inputs == "logit" else softmax(rows)
        np.testing.assert_array_equal(cal.predict(P), P.argmax(axis=1))
    latent = cal.latent(np.sort(np.unique(logits if inputs == "logit" else softmax(logits))))
    assert (np.diff(latent.mean) > 0).all()


@pytest.fixture(
    scope="module", params=[("probability", 2), ("probability", 4), ("logit", 3)], ids=str
)
def full(request):
    """A fit that is unsure of the level of its function, which softmax does not see; its rows,
    their latent mean and joint covariance.
    """
    inputs, K = request.param
    logits, y = overconfident(60, K)
    X = logits if inputs == "logit" else softmax(logits)
    cal = GaussianProcessCalibration(inputs=inputs, covariance="full", n_inducing=5).fit(X, y)
    (variance, length, noise), Z = cal.kernel_, cal.inducing_

    def rbf(a, b):
        return variance * np.exp(-0.5 * ((a[:, None] - b) / length) ** 2)

    L = np.linalg.cholesky(rbf(Z, Z) + (noise + 1e-6) * np.eye(5))
    level = np.linalg.solve(L, np.full(5, 2.0))
    cal.root_ = np.linalg.cholesky(cal.root_ @ cal.root_.T + np.outer(level, level))
    mean, covariance = np.empty((60, K)), np.empty((60, K, K))
    for i, z in enumerate(X):
        A = np.linalg.solve(L, rbf(Z, z)).T
        mean[i] = (z if inputs == "logit" else np.log(z)) + A @ cal.mean_
        covariance[i] = (
            rbf(z, z) + noise * np.eye(K) + A @ (cal.root_ @ cal.root_.T - np.eye(5)) @ A.T
        )
    return cal, X, mean, covariance


def test_full_covariance_draws_from_the_joint_posterior(full):
    cal, X, mean, covariance = full
    rng = np.random.default_rng(0)
    drawn = np.stack(
        [
            softmax(rng.multivariate_normal(m, C, size=20_000)).mean(axis=0)
            for m, C in zip(mean, covariance, strict=True)
        ]
    )
    Q = cal.set_params(expectation="monte_carlo", n_draws=6_000).predict_proba(X)
    np.testing.assert_allclose(Q, drawn, atol=0.012)
    alone = np.stack(
        [
            softmax(rng.normal(m, np.sqrt(np.diag(C)), size=(2_000, len(m)))).mean(axis=0)
            for m, C in zip(mean, covariance, strict=True)
        ]
    )
    assert np.abs(alone - drawn).max() > 0.1, (
        "the draws would not tell the joint law from its marginals"
    )


def test_full_covariance_expands_in_the_joint_posterior(full):
    cal, X, mean, covariance = full
    Q = softmax(mean)
    np.testing.assert_allclose(cal.set_params(expectation="mean").predict_proba(X), Q, rtol=1e-8)
    K = Q.shape[1]
    centred = np.eye(K) - Q[:, None, :]
    inner = np.eye(K) * Q[:, None, :] - Q[:, :, None] * Q[:, None, :]
    hessian = centred[:, :, :, None] * centred[:, :, None, :] - inner[:, None]
    curved = Q * np.exp(0.5 * np.einsum("njkl,nkl->nj", hessian, covariance))
    taylor = cal.set_params(expectation="taylor").predict_proba(X)
    np.testing.assert_allclose(taylor, curved / curved.sum(axis=1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize("expectation", ["monte_carlo", "taylor"])
def test_full_covariance_predicts_a_row_from_the_row(full, expectation):
    cal, X, _, _ = full
    cal.set_params(expectation=expectation, n_draws=31)
    Q = cal.predict_proba(X)
    np.testing.assert_allclose(cal.predict_proba(X[7:8]), Q[7:8], rtol=1e-9)
    np.testing.assert_allclose(Q.sum(axis=1), 1.0)


@pytest.mark.parametrize(
    ("n", "K", "layout"), [(200, 3, "direct"), (1000, 10, "interpolated"), (100, 1000, "grid")]
)
def test_the_layout_follows_the_size(n, K, layout):
    logits, y = overconfident(n, K)
    cal = GaussianProcessCalibration(inputs="logit", expectation="mean", n_inducing=4).fit(
        logits, y
    )
    assert cal.layout_ == layout
    assert metrics.log_loss(y, cal.predict_proba(logits)) < metrics.log_loss(y, softmax(logits))


def test_new_rows_move_the_posterior_towards_all_rows():
    logits, y = overconfident(1200, 3)
    online = GaussianProcessCalibration(inputs="logit", expectation="mean").partial_fit(
        logits[:100], y[:100]
    )
    kernel, first = online.kernel_, metrics.log_loss(y[600:], online.predict_proba(logits[600:]))
    online.partial_fit(logits[100:600], y[100:600])
    assert online.kernel_ == kernel
    assert metrics.log_loss(y[600:], online.predict_proba(logits[600:])) < first


def test_latent_band_widens_away_from_the_data():
    logits, y = overconfident(300, 3)
    latent = (
        GaussianProcessCalibration(inputs="logit")
        .fit(logits, y)
        .latent(np.array([0.0, logits.max() + 60.0]))
    )
    width = latent.high - latent.low
    assert width[1] > 2 * width[0]


def test_unknown_options_are_refused():
    for options in (
        {"covariance": "half"},
        {"expectation": "guess"},
        {"n_inducing": 0},
        {"n_draws": 0},
    ):
        with pytest.raises(InputError, match="must be"):
            GaussianProcessCalibration(**options).fit([0.2, 0.8], [0, 1])
        with pytest.raises(InputError, match="must be"):
            GaussianProcessCalibration(n_inducing=1).fit([0.2, 0.8], [0, 1]).set_params(
                **options
            ).predict_proba([0.2])


def test_exported():
    assert cb.calibrators.GaussianProcessCalibration is GaussianProcessCalibration


CLASSIFIERS = ("1layer-nn", "adaboost", "mondrian-forest", "random-forest", "xgboost")
NETWORKS = ("lenet-5-cifar10", "wideresnet-16-4-cifar10", "densenet-bc-100-cifar100")
OUTPUTS = [
    *(f"classifier_outputs/{m}-{d}" for d in ("kitti", "mnist") for m in CLASSIFIERS),
    *(f"network_outputs/{m}" for m in NETWORKS),
]


@pytest.mark.data
@pytest.mark.parametrize("name", OUTPUTS)
def test_monotone_leaves_the_accuracy_of_every_stored_output_exactly(name):
    if not (data_folder() / f"{name}.npz").is_file():
        pytest.skip("needs CALIBRANT_DATA")
    arrays = stored(name)
    P, y = arrays["probabilities"], arrays["labels"]
    cal = GaussianProcessCalibration(monotone=True, n_inducing=5).fit(P[:300], y[:300])
    np.testing.assert_array_equal(cal.predict(P), P.argmax(axis=1))
    latent = cal.latent(np.linspace(0.001, 1.0, 500))
    assert (np.diff(latent.mean) > 0).all()
