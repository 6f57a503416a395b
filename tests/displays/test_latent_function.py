import numpy as np
import pytest

import calibrant as cb


@pytest.fixture
def fitted():
    rng = np.random.default_rng(0)
    p = rng.uniform(size=80)
    return cb.calibrators.GaussianProcessCalibration(n_inducing=3).fit(
        p, rng.uniform(size=80) < p**2
    ), p


def test_draws_the_latent_function_over_the_prior_mean(fitted):
    cal, p = fitted
    display = cb.displays.LatentFunctionDisplay.from_calibrator(
        cal, p, n_points=50, name="cost in $"
    )
    latent = cal.latent(display.latent.score)
    assert len(latent.score) == 50
    np.testing.assert_array_equal(display.line_.get_ydata(), latent.mean)
    np.testing.assert_array_equal(display.prior_.get_ydata(), np.log(latent.score))
    bottom, top = (
        display.band_.get_paths()[0].vertices[:, 1].min(),
        display.band_.get_paths()[0].vertices[:, 1].max(),
    )
    assert bottom == latent.low.min()
    assert top == latent.high.max()
    np.testing.assert_array_equal(display.ticks_.get_xdata(), np.unique([p, 1 - p]))
    display.figure_.canvas.draw()


def test_scores_are_optional(fitted):
    display = cb.displays.LatentFunctionDisplay(fitted[0].latent([0.2, 0.8])).plot()
    assert display.ticks_ is None


def test_binary_logits_show_the_other_class_at_zero(fitted):
    _, p = fitted
    logits = np.log(p / (1 - p))
    cal = cb.calibrators.GaussianProcessCalibration(n_inducing=2, inputs="logit").fit(
        logits, p > 0.4
    )
    assert 0.0 in cb.displays.LatentFunctionDisplay.from_calibrator(cal, logits).scores
