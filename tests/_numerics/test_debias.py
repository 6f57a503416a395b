import numpy as np
import pytest

from calibrant import metrics
from calibrant._numerics.bins import (
    _crossing,
    _inflation,
    _inverted,
    binned_errors,
    gap_limits,
    inverted_limits,
    shrunken_gaps,
)
from calibrant.errors import CalibrationWarning


def sample(n, seed, slope=1.0):
    rng = np.random.default_rng(seed)
    p = rng.beta(2.0, 2.0, n)
    odds = (p / (1.0 - p)) ** slope
    return (rng.random(n) < odds / (1.0 + odds)).astype(int), p


def test_errors_by_hand():
    weight, gap = np.array([2.0, 0.0, 2.0]), np.array([0.5, 0.0, -1.5])
    assert binned_errors(weight, gap, 1) == pytest.approx(0.5)
    assert binned_errors(weight, gap, 2) == pytest.approx(np.sqrt((2 * 0.25**2 + 2 * 0.75**2) / 4))
    assert binned_errors(weight, gap, "max") == pytest.approx(0.75)


@pytest.mark.parametrize("norm", [1, 2])
def test_a_perfect_model_of_100_rows_does_not_read_as_miscalibrated(norm):
    ece = metrics.positive_class_calibration_error
    plain, read, holds = [], [], 0
    for seed in range(40):
        y, p = sample(100, seed)
        got = ece.interval(y, p, norm=norm, n_resamples=300)
        assert got.method == "debiased"
        assert got.low <= got.value <= got.high
        plain.append(ece(y, p, norm=norm))
        read.append(got.value)
        holds += got.low == 0.0
    assert np.mean(plain) > 0.11
    assert np.mean(read) < 0.5 * np.mean(plain)
    assert holds >= 36


def test_the_largest_gap_warns_that_its_interval_does_not_cover():
    y, p = sample(100, 0)
    with pytest.warns(CalibrationWarning, match="is approximate"):
        got = metrics.maximum_calibration_error.interval(y, p)
    assert 0.0 <= got.low <= got.value <= got.high <= 1.0
    assert got.method == "debiased"


def test_a_clear_error_is_left_as_it_is():
    y, p = sample(20_000, 1, slope=0.4)
    got, plain = (
        metrics.positive_class_calibration_error.interval(y, p),
        metrics.positive_class_calibration_error(y, p),
    )
    assert got.value == pytest.approx(plain, rel=0.02)
    assert 0.8 * plain < got.low < plain < got.high < 1.2 * plain


def test_a_classwise_interval_of_two_classes_is_that_of_one():
    """The two columns mirror each other: an interval that took them for independent would be
    narrower by a third.
    """
    y, p = sample(2_000, 3, slope=0.5)
    one, both = (
        metrics.positive_class_calibration_error.interval(y, p),
        metrics.classwise_calibration_error.interval(y, p),
    )
    assert both.high - both.low == pytest.approx(one.high - one.low, rel=0.1)


@pytest.mark.parametrize(
    ("y", "p"),
    [([1, 1], [1.0, 1.0]), ([0, 1], [0.0, 0.0]), ([1, 0, 1], [0.5, 0.5, 0.5]), ([1], [0.3])],
)
def test_degenerate_data_give_finite_ordered_limits(y, p):
    for norm in (1, 2):
        got = metrics.positive_class_calibration_error.interval(y, p, norm=norm)
        assert 0.0 <= got.low <= got.value <= got.high <= 1.0


def test_errors_of_other_norms_and_of_no_rows_by_hand():
    weight, gap = np.array([1.0, 3.0, 0.0]), np.array([-0.5, 0.6, 0.0])
    assert binned_errors(weight, gap, 3) == pytest.approx(((0.5**3 + 3 * 0.2**3) / 4) ** (1 / 3))
    assert binned_errors(weight, gap * 1e-200, 3) == pytest.approx(
        1e-200 * ((0.5**3 + 3 * 0.2**3) / 4) ** (1 / 3)
    )
    assert binned_errors(weight, 0.0 * gap, 3) == 0.0
    assert binned_errors(weight, gap, lambda w, g: float(w @ g)) == pytest.approx(1.3)
    several = binned_errors(np.stack([weight, 0.0 * weight]), np.stack([gap, 0.0 * gap]), 1)
    np.testing.assert_allclose(several, [1.1 / 4, np.nan])


def test_where_an_increasing_function_reaches_its_target():
    assert _crossing(lambda t: 2.0 * t, 3.0) == pytest.approx(1.5, rel=1e-5)
    assert _crossing(lambda t: 1.0 + t, 1.0) == 0.0
    assert _crossing(lambda t: t, 1e-3) == pytest.approx(1e-3, rel=1e-5)
    assert _crossing(lambda t: t, 700.0) == pytest.approx(700.0, rel=1e-5)
    assert _crossing(lambda t: 0.0, 1.0) >= 2.0**19


def test_gaps_are_drawn_to_their_mean_as_far_as_noise_asks():
    """Means .5 and -.1 of weights 2 and 6, variances of means .02 and .01: their centre is .05."""
    weight, gap, variance = (
        np.array([2.0, 6.0, 0.0]),
        np.array([1.0, -0.6, 0.0]),
        np.array([0.08, 0.36, 0.0]),
    )
    spread = (2 * (0.45**2 - 0.02) + 6 * (0.15**2 - 0.01)) / 8
    expected = [0.05 + spread / (spread + 0.02) * 0.45, 0.05 - spread / (spread + 0.01) * 0.15, 0.0]
    np.testing.assert_allclose(shrunken_gaps(gap, weight, variance), expected)
    # Noise that explains all of it leaves the mean.
    np.testing.assert_allclose(shrunken_gaps(gap, weight, 100.0 * variance), [0.05, 0.05, 0.0])
    np.testing.assert_allclose(shrunken_gaps(gap, weight, 0.0 * variance), [0.5, -0.1, 0.0])


def test_bins_where_all_are_right_get_their_variance_back():
    """Of 4 rows, all hits, said .75: a share of (4 + 1.5) / 6 and the gap's square."""
    totals = np.array([[4.0, 3.0, 4.0], [4.0, 2.0, 2.0], [0.0, 0.0, 0.0]])
    draws = np.repeat(totals[None], 4, axis=0)
    draws[:, 1, 2] = [0.0, 4.0, 0.0, 4.0]
    draws[:, 0, 1] = [3.1, 2.9, 3.1, 2.9]
    share = 5.5 / 6
    expected = np.sqrt(4 * (share * (1 - share) + 0.0625) / 0.01)
    np.testing.assert_allclose(_inflation(totals, draws), [expected, 1.0, 1.0])


def test_limits_of_one_bin_are_those_of_a_mean():
    """100 rows said .5 with 80 hits, noise of 6 rows: .3 and 1.645 x .06 to either side."""
    rng = np.random.default_rng(0)
    totals = np.array([[[100.0, 50.0, 80.0]]])
    draws = np.repeat(totals[None], 4000, axis=0)
    draws[..., 2] += rng.normal(0.0, 6.0, (4000, 1, 1))
    value, low, high = inverted_limits(totals, draws, 1, 0.9)
    assert [value, low, high] == pytest.approx([0.3, 0.3 - 0.0987, 0.3 + 0.0987], abs=0.005)
    assert inverted_limits(totals, draws, 1, 0.9, most=0.31)[2] == 0.31


def test_with_the_number_of_rows_limits_allow_for_outcomes_not_seen():
    """Said .9, came .8 of 100: were a share of .451 of five rows' outcomes others, the gap would
    be .1 + .451 x .6.
    """
    totals = np.array([[[100.0, 90.0, 80.0]]])
    draws = np.repeat(totals[None], 5, axis=0)
    value, low, high = inverted_limits(totals, draws, 1, 0.9, n=5.0)
    assert [value, low, high] == pytest.approx([0.1, 0.1, 0.1 + (1 - 0.05**0.2) * 0.6], rel=1e-5)
    # Two points are what calibrated scores show.
    totals[..., 1] = 82.0
    assert inverted_limits(totals, np.repeat(totals[None], 5, axis=0), 1, 0.9, n=500.0)[1] == 0.0


def test_without_noise_every_limit_is_the_error():
    totals = np.array([[[10.0, 4.0, 6.0], [30.0, 20.0, 5.0], [0.0, 0.0, 0.0]]])
    draws = np.repeat(totals[None], 5, axis=0)
    np.testing.assert_allclose(inverted_limits(totals, draws, 1, 0.9), 17.0 / 40.0, rtol=1e-5)
    # Bins that hold rows count alike: .2 and .5.
    np.testing.assert_allclose(inverted_limits(totals, draws, 1, 0.9, even=True), 0.35, rtol=1e-5)
    found = gap_limits(
        totals[0, :, 0],
        totals[:, :, 1] - totals[:, :, 2],
        np.zeros((5, 1, 3)),
        0.9,
        1.0,
        lambda w, g: binned_errors(w, g, 1)[..., 0],
        40,
    )
    np.testing.assert_allclose(found, 17.0 / 40.0, rtol=1e-5)


def test_noise_of_few_rows_a_bin_is_students():
    """20 rows in two bins: ten each, nine degrees of freedom, and ten ninths of the variance."""
    from scipy import stats

    rng = np.random.default_rng(0)
    weight, gap = np.array([10.0, 10.0]), np.array([[4.0, 4.0]])
    noise = np.repeat(rng.normal(0.0, 0.5, (4000, 1, 1)), 2, axis=2)
    value, low, high = gap_limits(
        weight, gap, noise, 0.9, 1.0, lambda w, g: binned_errors(w, g, 1)[..., 0], 20
    )
    half = 0.05 * np.sqrt(10 / 9) * stats.t.ppf(0.95, 9) / stats.norm.ppf(0.95) * 1.645
    assert [value, low, high] == pytest.approx([0.4, 0.4 - half, 0.4 + half], abs=0.006)


def test_what_may_be_chance_may_have_the_plain_shape_too():
    """Two gaps with common noise; the shape seen is of the first alone, the plain one of both,
    whose error may be larger.
    """
    noise = np.linspace(-1.0, 1.0, 401)[:, None] * np.array([1.0, 1.0])

    def high(observed, shape, plain, together=False):
        def drawn(gap):
            return np.abs(gap + noise).mean(axis=1)

        return _inverted(
            lambda gap: float(np.abs(gap).mean()), drawn, observed, shape, plain, 0.9, together
        )[2]

    seen, both = np.array([1.0, 0.0]), np.array([1.0, 1.0])
    median, end = np.quantile(np.abs(noise).mean(axis=1), [0.5, 0.95], method="weibull")
    for observed in (median - 0.01, median, 0.5 * (median + end), end - 0.01, end + 0.01, 2.0):
        own, plain = high(observed, seen, seen), high(observed, both, both)
        assert abs(own - plain) > 0.05
        apart = plain if observed < median else own
        assert high(observed, seen, both) == pytest.approx(apart)
        assert high(observed, seen, both, True) == pytest.approx(
            max(own, plain) if median <= observed < end else apart
        )
