"""The coverage of conformal intervals, exactly."""

import numpy as np
import pytest
from scipy import stats

import calibrant as cb
from calibrant.errors import InputError, SparseDataWarning
from calibrant.testing import check_guarantee


def test_the_order_statistic_is_exact():
    scores = np.arange(
        1.0, 20.0
    )  # n = 19: ceil(20 * 0.9) = 18th, ceil(20 * 0.95) = 19th, ceil(20 * 0.96) = 20th: none
    cal = cb.ConformalIntervals(score="absolute").fit(np.zeros(19), scores, std=np.ones(19))
    forecast = cal.predict([0.0], [1.0])
    assert [float(forecast.interval(level)[1][0]) for level in (0.9, 0.91, 0.95)] == [
        18.0,
        19.0,
        19.0,
    ]
    with pytest.warns(SparseDataWarning, match=r"0\.96 needs 24 calibration rows; got 19"):
        assert forecast.interval(0.96)[1][0] == np.inf


@pytest.mark.parametrize("score", ["scaled", "absolute", "quantile"])
def test_coverage_over_calibration_sets_is_between_level_and_one_rank_more(score):
    rng = np.random.default_rng(0)
    n, level, runs = 25, 0.8, 3000
    held = 0.0
    mean, std = np.zeros((runs, n + 40)), rng.uniform(0.5, 2.0, (runs, n + 40))
    y = std**2 * rng.standard_t(3, (runs, n + 40))
    for k in range(runs):
        cal = cb.ConformalIntervals(score=score, levels=(level,)).fit(
            mean[k, :n], y[k, :n], std=std[k, :n]
        )
        low, high = cal.predict(mean[k, n:], std[k, n:]).interval(level)
        held += np.mean((low <= y[k, n:]) & (y[k, n:] <= high)) / runs
    rank = np.ceil((n + 1) * level)
    assert held == pytest.approx(rank / (n + 1), abs=0.006)


def test_cdf_and_interval_agree():
    rng = np.random.default_rng(0)
    cal = cb.ConformalIntervals().fit(np.zeros(200), rng.normal(size=200), std=np.ones(200))
    forecast = cal.predict([0.0], [1.0])
    for level in (0.3, 0.7, 0.9):
        low, high = forecast.interval(level)
        assert forecast.cdf(high)[0] - forecast.cdf(low)[0] == pytest.approx(level, abs=0.011)


def test_quantile_intervals_at_other_levels_are_refused():
    cal = cb.ConformalIntervals(score="quantile").fit(
        [0.0] * 30, np.linspace(-2, 2, 30), std=[1.0] * 30
    )
    with pytest.raises(InputError, match="one of those fitted"):
        cal.predict([0.0], [1.0]).interval(0.85)
    with pytest.raises(InputError, match="score"):
        cb.ConformalIntervals(score="other").fit([0.0], [0.0], std=[1.0])


def _skewed(rng, n):
    mean, std = rng.normal(size=n), np.exp(0.5 * rng.normal(size=n))
    return mean, std, mean + std**1.5 * (rng.gamma(0.5, 2.0, n) - 1.0)


def _realised(cal, level, n=30, runs=400, seed=0):
    """(promise, coverage in each run, share missed below, share missed above)."""
    rng = np.random.default_rng(seed)
    held, below, above = np.zeros((3, runs))
    for k in range(runs):
        mean, std, y = _skewed(rng, n + 50)
        low, high = cal.fit(mean[:n], y[:n], std=std[:n]).predict(mean[n:], std[n:]).interval(level)
        below[k], above[k] = np.mean(y[n:] < low), np.mean(y[n:] > high)
        held[k] = 1.0 - below[k] - above[k]
    return cal.guarantee(level), held, below, above


SCORES = ["scaled", "absolute", "quantile", "distributional"]


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("side", ["lower", "upper"])
def test_one_sided_intervals_keep_their_promise_and_are_no_wider_than_it_asks(score, side):
    said, held, below, above = _realised(
        cb.ConformalIntervals(score=score, side=side, levels=(0.8,)), 0.8
    )
    check_guarantee(said, held)
    assert held.mean() < 0.8 + 1 / 31 + 0.012
    assert (above if side == "lower" else below).max() == 0.0


@pytest.mark.parametrize("score", SCORES)
def test_ends_of_their_own_share_what_is_missed(score):
    said, held, below, above = _realised(
        cb.ConformalIntervals(score=score, symmetric=False, levels=(0.8,)), 0.8
    )
    check_guarantee(said, held)
    assert below.mean() == pytest.approx(0.1 - 0.1 / 31, abs=0.012)  # rank 28 of 31
    assert above.mean() == pytest.approx(below.mean(), abs=0.012)


def test_asymmetric_quantiles_by_hand():
    # Levels .1 and .9 of N(0, 1) are -1.28 and 1.28; each end is moved by the 9th of 9 scores of
    # its own (ceil(10 * 0.9)).
    y = np.array([-3.0, -1.0, -0.5, 0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    cal = cb.ConformalIntervals(score="quantile", symmetric=False, levels=(0.8,)).fit(
        np.zeros(9), y, std=np.ones(9)
    )
    low, high = cal.predict([10.0], [1.0]).interval(0.8)
    assert (low[0], high[0]) == pytest.approx((7.0, 11.0))


def test_distributional_intervals_are_the_forecasts_own_quantiles():
    rng = np.random.default_rng(0)
    frozen = stats.gamma(2.0, scale=np.exp(rng.normal(size=60)))
    y = 1.4 * frozen.rvs(random_state=rng)
    cal = cb.ConformalIntervals(score="distributional").fit(frozen, y)
    strange = np.sort(np.abs(frozen.cdf(y) - 0.5))[int(np.ceil(61 * 0.9)) - 1]
    low, high = cal.predict(frozen).interval(0.9)
    np.testing.assert_allclose(low, frozen.ppf(0.5 - strange), rtol=1e-9)
    np.testing.assert_allclose(high, frozen.ppf(0.5 + strange), rtol=1e-9)


def test_an_infinite_end_becomes_the_bound_and_outcomes_beyond_it_are_refused():
    y, few = (
        np.array([0.1, 0.5, 0.9]),
        cb.ConformalIntervals(bounds=(0.0, 1.0)).fit(
            np.full(3, 0.5), [0.1, 0.5, 0.9], std=np.ones(3)
        ),
    )
    low, high = few.predict([0.5], [1.0]).interval(0.9)
    assert (low[0], high[0]) == (0.0, 1.0)
    upper = cb.ConformalIntervals(side="upper", bounds=(0.0, np.inf)).fit(
        np.full(3, 0.5), y, std=np.ones(3)
    )
    with pytest.warns(SparseDataWarning, match="an end is infinite"):
        assert upper.predict([0.5], [1.0]).interval(0.9)[0][0] == 0.0
    with pytest.raises(InputError, match="outcomes must lie within bounds"):
        cb.ConformalIntervals(bounds=(0.0, 0.8)).fit(np.full(3, 0.5), y, std=np.ones(3))
    with pytest.raises(InputError, match="low one below"):
        cb.ConformalIntervals(bounds=(1.0, 0.0)).fit(np.full(3, 0.5), y, std=np.ones(3))


def test_a_calibrator_is_fitted_on_other_rows_than_the_scores():
    mean, std, y = _skewed(np.random.default_rng(3), 200)
    cal = cb.ConformalIntervals(calibrator=cb.StdScaling()).fit(mean, y, std=std)
    assert cal.guarantee(0.9).n == 100
    assert cal.calibrator_.n_rows_ == 100
    with pytest.raises(InputError, match="calibrator must be unfitted"):
        cb.ConformalIntervals(calibrator=cb.StdScaling().fit(mean, y, std=std)).fit(
            mean, y, std=std
        )


def test_clusters_count_once_whatever_their_rows():
    rng = np.random.default_rng(0)
    level, held = 0.8, []
    for _ in range(300):
        size = rng.choice([1, 40], 25)
        # Large clusters are the easy ones: row by row they would make the intervals too narrow for
        # a new cluster.
        cluster = np.repeat(np.arange(25), size)
        y = np.where(size == 40, 0.3, 1.0)[cluster] * (
            rng.normal(size=25)[cluster] + 0.3 * rng.normal(size=size.sum())
        )
        cal = cb.ConformalIntervals(score="absolute").fit(
            np.zeros(len(y)), y, std=np.ones(len(y)), cluster=cluster
        )
        high = cal.predict([0.0], [1.0]).interval(level)[1][0]
        new = rng.choice([0.3, 1.0], 400) * (rng.normal(size=400) + 0.3 * rng.normal(size=400))
        held.append(np.mean(np.abs(new) <= high))
    said = cal.guarantee(level)
    assert (said.n, said.unit, said.method) == (25, "clusters", "hierarchical conformal")
    check_guarantee(said, held)
    assert np.mean(held) < level + 0.06


def test_clusters_of_one_row_are_rows():
    mean, std, y = _skewed(np.random.default_rng(1), 50)
    rows = cb.ConformalIntervals().fit(mean, y, std=std)
    clusters = cb.ConformalIntervals().fit(mean, y, std=std, cluster=np.arange(50))
    for level in (0.5, 0.8, 0.9):
        np.testing.assert_array_equal(
            rows.predict(mean, std).interval(level), clusters.predict(mean, std).interval(level)
        )


def test_weights_that_stand_for_no_rows_promise_nothing():
    mean, std, y = _skewed(np.random.default_rng(1), 20)
    weight = np.full(20, 0.5)
    assert (
        cb.ConformalIntervals()
        .fit(mean, y, std=std, sample_weight=2 * np.ones(20))
        .guarantee(0.8)
        .n
        == 40
    )
    cal = cb.ConformalIntervals().fit(mean, y, std=std, sample_weight=weight)
    assert cal.guarantee(0.8) is None
    assert "fractional weights" in cal.explain()


def test_a_file_of_few_rows_loads(tmp_path):
    only = cb.ConformalIntervals(score="quantile", levels=(0.9,)).fit(
        np.zeros(30), np.linspace(-2, 2, 30), std=np.ones(30)
    )
    assert cb.load(only.save(tmp_path / "one_level.calibrant")).levels == (0.9,)


OPTIONS = (
    {},
    {"score": "absolute", "side": "upper"},
    {"score": "distributional"},
    {"symmetric": False},
    {"score": "quantile"},
    {"score": "quantile", "symmetric": False},
)


@pytest.mark.parametrize("options", OPTIONS)
def test_equal_weights_are_none(options):
    rng = np.random.default_rng(0)
    y, mean, std = rng.normal(size=(3, 200))
    std = np.exp(0.3 * std)
    plain = cb.ConformalIntervals(**options).fit(mean, y, std=std)
    for size in (1.0, 0.3):
        same = cb.ConformalIntervals(**options).fit(
            mean, y, std=std, sample_weight=np.full(200, size), weight_kind="sampling"
        )
        forecast = same.predict(mean[:9], std[:9], sample_weight=np.full(9, size))
        other = plain.predict(mean[:9], std[:9])
        for level in (0.5, 0.9):
            np.testing.assert_array_equal(forecast.interval(level), other.interval(level))
        np.testing.assert_allclose(forecast.quantile([0.25, 0.5]), other.quantile([0.25, 0.5]))
        np.testing.assert_allclose(forecast.cdf(y[:9]), other.cdf(y[:9]))
        assert (
            forecast.take([2, 5]).interval(0.9)[0].tolist()
            == other.interval(0.9)[0][[2, 5]].tolist()
        )


@pytest.mark.parametrize("options", OPTIONS)
def test_weighted_intervals_keep_their_level_under_a_known_shift(options):
    held, plain, runs = 0.0, 0.0, 150
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        x = np.append(rng.random(60), np.sqrt(rng.random(50)))
        y = (0.2 + 3.0 * x**2) * rng.standard_exponential(len(x))
        old, new, zero, w = slice(0, 60), slice(60, None), np.zeros(len(x)), 2.0 * x
        fit = {"std": 1.0 + zero[old]}
        cal = cb.ConformalIntervals(**options)
        cal.fit(zero[old], y[old], **fit, sample_weight=w[old], weight_kind="sampling")
        low, high = cal.predict(zero[new], 1.0 + zero[new], sample_weight=w[new]).interval(0.8)
        held += np.mean((low <= y[new]) & (y[new] <= high)) / runs
        other = cb.ConformalIntervals(**options).fit(zero[old], y[old], **fit)
        low, high = other.predict(zero[new], 1.0 + zero[new]).interval(0.8)
        plain += np.mean((low <= y[new]) & (y[new] <= high)) / runs
    assert held >= 0.8 - 3.0 * np.sqrt(0.8 * 0.2 / (runs * 30))
    assert held <= 0.87
    assert plain < held - 0.02


def test_weighted_intervals_say_what_they_cannot_do():
    mean, y, w = np.zeros((2, 30)), np.arange(60.0).reshape(2, 30) / 30.0, np.linspace(0.5, 1.5, 30)
    zero, y = mean[0], y[0]
    cal = cb.ConformalIntervals().fit(
        zero, y, std=np.ones(30), sample_weight=w, weight_kind="sampling"
    )
    forecast = cal.predict(zero[:2], np.ones(2), sample_weight=[1.0, 20.0])
    with pytest.warns(SparseDataWarning, match="1 of 2 rows have so large a weight"):
        _, high = forecast.interval(0.9)
    assert np.isfinite(high[0])
    assert np.isinf(high[1])
    assert cal.guarantee(0.9).method == "weighted split conformal"
    assert cal.guarantee(0.9).n == pytest.approx(w.sum() ** 2 / (w**2).sum())
    with pytest.raises(InputError, match="pass those of these rows"):
        cal.predict(zero, np.ones(30))
    with pytest.raises(InputError, match="sampling weights have no single expression"):
        cal.expression()
    with pytest.raises(InputError, match="leave cluster and calibrator out"):
        cb.ConformalIntervals(calibrator=cb.StdScaling()).fit(
            zero, y, std=np.ones(30), sample_weight=w, weight_kind="sampling"
        )
