"""Scales of a covariance are the minimum of the normal log loss, and repair what was spoilt."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import calibrant as cb
from calibrant import metrics
from calibrant.errors import FitWarning, InputError
from calibrant.testing.data import joint_rows


def _loss(forecast, y):
    return -forecast.log_density(y).mean()


@pytest.mark.parametrize("factors", ["one", "directions"])
def test_no_other_factor_has_a_lower_log_loss(factors):
    mean, cov, y = joint_rows(300, 4)
    said = cb.regression.JointNormalForecast(mean, cov).scaled(
        [0.2, 1.0, 3.0, 0.5] if factors == "directions" else 0.3
    )
    cal = cb.regression.CovarianceScaling(factors=factors).fit(said, y)
    assert cal.scale_.shape == ((4,) if factors == "directions" else (1,))
    best = _loss(cal.predict(said), y)
    for k in range(len(cal.scale_)):
        for other in (0.99, 1.01):
            scale = np.square(cal.scale_)
            scale[k] *= other
            assert _loss(said.scaled(scale), y) > best


def test_what_was_spoilt_is_repaired_on_new_rows():
    mean, cov, y = joint_rows(3000, 10)
    spoilt = cb.regression.JointNormalForecast(mean, cov).scaled(0.25)
    fit, new = slice(0, 1000), slice(1000, None)
    cal = cb.regression.CovarianceScaling().fit(spoilt.take(fit), y[fit])
    assert cal.scale_ == pytest.approx([2.0], rel=0.05)
    held = metrics.ellipse_coverage.interval(
        y[new], cal.predict(spoilt.take(new)), said=0.9, level=0.999
    )
    assert held.low < 0.9 < held.high
    assert metrics.ellipse_coverage.interval(y[new], spoilt.take(new), said=0.9).high < 0.5


def test_with_one_output_it_is_std_scaling():
    rng = np.random.default_rng(0)
    mean, std, y = rng.normal(size=60), rng.uniform(0.5, 2.0, 60), rng.normal(size=60)
    for factors in ("one", "directions"):
        cal = cb.regression.CovarianceScaling(factors=factors).fit(
            (mean[:, None], np.square(std)[:, None, None]), y[:, None]
        )
        assert cal.scale_[0] == pytest.approx(
            cb.StdScaling().fit(mean, y, std=std).scale_, rel=1e-12
        )


def test_weight_is_repetition_and_order_does_not_matter():
    mean, cov, y = joint_rows(40, 3)
    weight = np.random.default_rng(0).integers(0, 3, 40)
    rows = np.random.default_rng(1).permutation(np.repeat(np.arange(40), weight))
    weighed = cb.regression.CovarianceScaling("directions").fit(
        (mean, cov), y, sample_weight=weight
    )
    repeated = cb.regression.CovarianceScaling("directions").fit((mean[rows], cov[rows]), y[rows])
    np.testing.assert_allclose(weighed.scale_, repeated.scale_, rtol=1e-12)
    assert weighed.n_rows_ == repeated.n_rows_


def test_it_is_saved_with_its_numbers(tmp_path):
    mean, cov, y = joint_rows(40, 3)
    cal = cb.regression.CovarianceScaling("directions").fit((mean, cov), y)
    again = cb.load(cal.save(tmp_path / "cal"))
    np.testing.assert_array_equal(again.predict((mean, cov)).cov, cal.predict((mean, cov)).cov)


def test_what_cannot_work_is_said():
    mean, cov, y = joint_rows(5, 3)
    with pytest.raises(InputError, match="factors must be"):
        cb.regression.CovarianceScaling("all").fit((mean, cov), y)
    with pytest.raises(NotFittedError):
        cb.regression.CovarianceScaling().predict((mean, cov))
    with pytest.raises(InputError, match="have 3 outputs, as in fit; got 2"):
        cb.regression.CovarianceScaling().fit((mean, cov), y).predict(([[0.0, 0.0]], np.eye(2)))
    with pytest.warns(FitWarning, match="no error"):
        cal = cb.regression.CovarianceScaling().fit((mean, cov), mean)
    assert (cal.scale_.tolist(), cal.status_) == ([1.0], "no error")


def test_the_matrix_finds_correlations_that_nobody_said():
    """Judged on new rows: stds alone were said; the factor of each direction cannot know, the
    matrix does.
    """
    rng = np.random.default_rng(0)
    n, d = 1500, 4
    std, corr = np.exp(0.5 * rng.normal(size=(n, d))), np.full((d, d), 0.7) + 0.3 * np.eye(d)
    y = 1.5 * std * rng.multivariate_normal(np.zeros(d), corr, n)
    said = cb.regression.JointNormalForecast(
        np.zeros((n, d)), np.apply_along_axis(np.diag, 1, std**2)
    )
    fit, new = slice(0, 500), slice(500, None)
    loss = {
        f: _loss(
            cb.regression.CovarianceScaling(f).fit(said.take(fit), y[fit]).predict(said.take(new)),
            y[new],
        )
        for f in ("one", "full")
    }
    true = _loss(
        cb.regression.JointNormalForecast(
            np.zeros((n, d)), 2.25 * corr * std[:, :, None] * std[:, None, :]
        ).take(new),
        y[new],
    )
    assert loss["one"] - true > 1.0
    assert loss["full"] - true < 0.02


@pytest.mark.parametrize(("n", "d"), [(50, 2), (50, 10), (200, 10)])
def test_the_matrix_does_little_harm_where_one_factor_is_right(n, d):
    lost = []
    for seed in range(20):
        mean, cov, y = joint_rows(n + 500, d, seed)
        said = cb.regression.JointNormalForecast(mean, cov).scaled(0.25)
        fit, new = said.take(slice(n)), said.take(slice(n, None))
        one, full = (
            _loss(cb.regression.CovarianceScaling(f).fit(fit, y[:n]).predict(new), y[n:])
            for f in ("one", "full")
        )
        lost.append(full - one)
    assert np.mean(lost) < 0.02 * d


def test_of_the_matrix_too_weight_is_repetition_one_row_is_enough_and_one_output_is_std_scaling(
    tmp_path,
):
    mean, cov, y = joint_rows(40, 3)
    weight = np.random.default_rng(0).integers(0, 3, 40)
    rows = np.repeat(np.arange(40), weight)
    weighed = cb.regression.CovarianceScaling("full").fit((mean, cov), y, sample_weight=weight)
    np.testing.assert_allclose(
        weighed.scale_,
        cb.regression.CovarianceScaling("full").fit((mean[rows], cov[rows]), y[rows]).scale_,
        rtol=1e-10,
    )
    again = cb.load(weighed.save(tmp_path / "cal"))
    np.testing.assert_array_equal(again.predict((mean, cov)).cov, weighed.predict((mean, cov)).cov)
    one = cb.regression.CovarianceScaling("full").fit((mean[:1], cov[:1]), y[:1])
    assert np.linalg.eigvalsh(one.predict((mean, cov)).cov).min() > 0.0
    std = np.linspace(0.5, 2.0, 40)
    alone = cb.regression.CovarianceScaling("full").fit(
        (mean[:, :1], np.square(std)[:, None, None]), y[:, :1]
    )
    assert alone.scale_.item() == pytest.approx(
        cb.StdScaling().fit(mean[:, 0], y[:, 0], std=std).scale_, rel=1e-12
    )
    with pytest.warns(FitWarning, match="no error"):
        assert cb.regression.CovarianceScaling("full").fit((mean, cov), mean).predict(
            (mean, cov)
        ).cov == pytest.approx(cov)
