"""Recalibration by parts: each part alone is a known method; planted faults are repaired; where
there is none, little is done.
"""

import numpy as np
import pytest
from scipy import stats

import calibrant as cb
from calibrant import metrics
from calibrant.errors import FitWarning, InputError

nll, crps = metrics.negative_log_likelihood, metrics.continuous_ranked_probability_score


def _draw(
    n, seed, *, bias=lambda m, s: 0.0, factor=lambda s: 1.0, noise=lambda rng, n: rng.normal(size=n)
):
    rng = np.random.default_rng(seed)
    mean, std = rng.normal(size=n), np.exp(0.5 * rng.normal(size=n))
    return mean, std, mean + bias(mean, std) + std * factor(std) * noise(rng, n)


FAULTS = {
    "a factor": {"factor": lambda s: 1.8},
    "not in proportion": {"factor": lambda s: s**0.6},
    "biased, in the units of y": {"bias": lambda m, s: 0.4 * np.sin(m)},
    "biased, in std": {"bias": lambda m, s: 0.6 * s},
    "heavy tails": {"noise": lambda rng, n: rng.standard_t(3, n)},
    "skewed": {"noise": lambda rng, n: rng.exponential(size=n) - 1.0},
}


def test_its_spread_alone_is_std_scaling():
    mean, std, y = _draw(200, 0, factor=lambda s: 1.8)
    weight = np.random.default_rng(1).integers(1, 4, 200)
    plain = cb.StdScaling().fit(mean, y, std=std, sample_weight=weight)
    cal = cb.regression.DistributionRecalibration(
        bias=None, spread="constant", shape=None, shrinkage=False
    )
    cal.fit(mean, y, std=std, sample_weight=weight)
    np.testing.assert_allclose(cal.predict(mean, std).std, plain.predict(mean, std).std, rtol=1e-6)
    np.testing.assert_allclose(cal.predict(mean, std).mean, mean, atol=1e-9)


def test_its_location_and_spread_alone_are_the_mean_and_the_deviation_of_the_scores():
    rng = np.random.default_rng(0)
    mean, y = rng.normal(size=100), rng.normal(size=100) + 1.0
    cal = cb.regression.DistributionRecalibration(
        bias="constant", spread="constant", shape=None, shrinkage=False
    )
    found = cal.fit(mean, mean + y, std=np.ones(100)).predict([0.0], [1.0])
    assert found.mean[0] == pytest.approx(y.mean(), abs=2e-3)
    # What is not known of the bias counts as error: n - 1 instead of n.
    assert found.std[0] == pytest.approx(y.std(ddof=1), rel=2e-3)


def test_its_shape_alone_is_interval_calibration():
    mean, std, y = _draw(300, 0, noise=lambda rng, n: rng.exponential(size=n) - 1.0)
    plain = cb.regression.IntervalCalibration().fit(mean, y, std=std).predict(mean, std)
    cal = (
        cb.regression.DistributionRecalibration(bias=None, spread=None, shape="empirical")
        .fit(mean, y, std=std)
        .predict(mean, std)
    )
    levels = [0.01, 0.3, 0.5, 0.99]
    np.testing.assert_allclose(cal.quantile(levels), plain.quantile(levels))
    np.testing.assert_allclose(cal.log_density(y), plain.log_density(y))


def test_student_tails_are_those_of_scipy():
    mean, std, y = _draw(4000, 0, noise=lambda rng, n: rng.standard_t(3, n))
    cal = cb.regression.DistributionRecalibration(
        bias=None, spread="constant", shape="student"
    ).fit(mean, y, std=std)
    assert cal.degrees_ == 3.0
    factor = float(np.exp(cal.spread_[1][0]))
    assert factor == pytest.approx(1.0, abs=0.05)
    said, truth = cal.predict(mean, std), stats.t(3, loc=mean, scale=factor * std)
    # Straight lines between the points of the table: the slope is a step function, off by half the
    # change to the next.
    np.testing.assert_allclose(said.log_density(y), truth.logpdf(y), atol=0.02)
    np.testing.assert_allclose(
        said.quantile([0.001, 0.2, 0.999]),
        truth.ppf(np.array([[0.001, 0.2, 0.999]]).T).T,
        rtol=2e-3,
        atol=2e-3,
    )


@pytest.mark.parametrize("objective", ["nll", "crps"])
@pytest.mark.parametrize("fault", list(FAULTS))
def test_a_fault_is_repaired_better_than_by_any_single_method(fault, objective):
    fit, (mean, std, y) = _draw(1000, 0, **FAULTS[fault]), _draw(4000, 1, **FAULTS[fault])
    cal = cb.regression.DistributionRecalibration(objective=objective).fit(
        fit[0], fit[2], std=fit[1]
    )
    assert cal.status_ == "converged"
    said = cal.predict(mean, std)
    # Beside the exact one, where that is: the truth of the skewed has a density of 0 below, which
    # no smooth shape has.
    others = (
        cb.StdScaling,
        cb.regression.GaussianProcessScale,
        cb.regression.QuantileRecalibration,
        cb.regression.IntervalCalibration,
    )
    for other in others:
        plain = other().fit(fit[0], fit[2], std=fit[1]).predict(mean, std)
        assert nll(y, said) < nll(y, plain) + 0.005
        assert crps(y, said) < 1.003 * crps(y, plain)
    assert nll(y, mean, std) - nll(y, said) > 0.04


def test_tails_may_differ():
    mean, std, y = _draw(3000, 0, noise=lambda rng, n: rng.exponential(size=n) - 1.0)
    low, high = (
        cb.regression.DistributionRecalibration()
        .fit(mean, y, std=std)
        .predict([0.0], [1.0])
        .interval(0.98)
    )
    assert low[0] == pytest.approx(np.log(1.0 / 0.99) - 1.0, abs=0.2)
    assert high[0] == pytest.approx(np.log(100.0) - 1.0, abs=0.5)


def test_few_rows_without_a_fault_change_little():
    """The cost of looking, in nats of the log loss on new rows: that of StdScaling's one number
    is 1 / (2 n).
    """
    new = _draw(4000, 99)
    before = nll(new[2], new[0], new[1])
    for n, most in ((20, 0.03), (50, 0.015), (300, 0.004)):
        cost = []
        for seed in range(12):
            mean, std, y = _draw(n, seed)
            cost.append(
                nll(
                    new[2],
                    cb.regression.DistributionRecalibration()
                    .fit(mean, y, std=std)
                    .predict(*new[:2]),
                )
                - before
            )
        assert np.mean(cost) < most


def test_an_increasing_spread_keeps_the_order_of_the_std():
    fault = {"factor": lambda s: s**-1.5}
    mean, std, y = _draw(2000, 0, **fault)
    steps = np.exp(np.linspace(-1.5, 1.5, 200))
    found = {}
    for spread in ("smooth", "increasing"):
        cal = cb.regression.DistributionRecalibration(spread=spread, shape=None, bias=None).fit(
            mean, y, std=std
        )
        found[spread] = np.diff(cal.predict(np.zeros(200), steps).std)
    assert (found["increasing"] >= -1e-9).all()
    assert (found["smooth"] < 0.0).any()


def test_errors_that_grow_with_the_mean_are_seen_by_the_mean():
    """One std for all rows: a spread by the std has nothing to go by."""

    def draw(n, seed):
        rng = np.random.default_rng(seed)
        mean = rng.normal(size=n)
        return mean, np.ones(n), mean + np.exp(0.5 * mean) * rng.normal(size=n)

    mean, std, y = draw(1000, 0)
    new, new_std, y_new = draw(4000, 1)
    cal = cb.regression.DistributionRecalibration(spread_by="mean").fit(mean, y, std=std)
    said = cal.predict(new, new_std)
    truth = nll(y_new, new, np.exp(0.5 * new))
    assert nll(y_new, said) < truth + 0.02
    assert (
        nll(
            y_new,
            cb.regression.DistributionRecalibration().fit(mean, y, std=std).predict(new, new_std),
        )
        > truth + 0.06
    )
    assert np.corrcoef(np.log(said.std), new)[0, 1] > 0.95


@pytest.mark.filterwarnings("ignore:in .* of the rows the quantiles cross")
def test_noisy_quantiles_are_better_started_from_their_moments():
    rng = np.random.default_rng(0)
    levels = np.array([0.05, 0.25, 0.5, 0.75, 0.95])

    def draw(n):
        mean = rng.normal(size=n)
        values = mean[:, None] + stats.norm.ppf(levels) + 0.35 * rng.normal(size=(n, 5))
        return cb.QuantileForecast(levels, values), mean + rng.normal(size=n)

    (forecast, y), (new, y_new) = draw(500), draw(2000)
    said, normal = (
        cb.regression.DistributionRecalibration(start=start).fit(forecast, y).predict(new)
        for start in ("forecast", "moments")
    )
    assert nll(y_new, new) - nll(y_new, said) > 0.02
    assert nll(y_new, said) - nll(y_new, normal) > 0.02
    np.testing.assert_allclose(said.cdf(said.quantile(0.2)), 0.2, atol=1e-9)


def test_a_lone_row_is_not_run_through():
    """One row far out in std, with a bias of its own: neither bias nor spread may follow it."""
    mean, std, y = _draw(60, 3)
    std, y = np.append(std, 40.0), np.append(y, 25.0)
    mean = np.append(mean, 0.0)
    said = cb.regression.DistributionRecalibration().fit(mean, y, std=std).predict([0.0], [40.0])
    assert said.std[0] > 8.0


@pytest.mark.filterwarnings("ignore::calibrant.errors.FitWarning")
@pytest.mark.parametrize("spread_by", ["std", "mean"])
def test_outcomes_that_pile_up_on_one_number_do_not_ruin_the_rest(spread_by):
    """A density has no bound there: the spread would shrink to nothing, and all other rows be
    far out.
    """

    def draw(n, rng):
        work = rng.uniform(size=n) < 0.6
        y = np.where(work, rng.gamma(2.0, 0.6, n), 0.0)
        error = np.where(work, 0.3, 0.06) * rng.normal(size=n) * rng.choice([1.0, 1.0, 1.0, 4.0], n)
        std = np.where(work, 0.4, 0.05) * np.exp(0.5 * rng.normal(size=n)) / 3.0
        return np.where(work, 0.8 * y - 0.1 + 0.2 * rng.normal(size=n), 0.0) + error, std, y

    for seed in range(3):
        mean, std, y = draw(500, np.random.default_rng(seed))
        new, new_std, y_new = draw(1000, np.random.default_rng(100 + seed))
        said = (
            cb.regression.DistributionRecalibration(spread_by=spread_by)
            .fit(mean, y, std=std)
            .predict(new, new_std)
        )
        assert crps(y_new, said) < crps(y_new, new, new_std)


def test_rows_without_any_error_change_nothing_and_say_so():
    with pytest.warns(FitWarning, match="no error"):
        cal = cb.regression.DistributionRecalibration().fit(
            [0.0, 1.0, 2.0], [0.0, 1.0, 2.0], std=[1.0, 2.0, 1.0]
        )
    assert cal.status_ == "no error"
    np.testing.assert_allclose(cal.predict([1.0], [2.0]).std, 2.0, rtol=1e-6)


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        (lambda mean: np.zeros(len(mean)), "one outcome"),
        (lambda mean: mean + (np.arange(len(mean)) % 3 == 0), "no error in most rows"),
    ],
)
@pytest.mark.parametrize(
    "options", [{}, {"spread_by": "mean"}, {"start": "moments", "objective": "crps"}], ids=str
)
def test_outcomes_that_do_not_say_how_far_others_lie_leave_the_spread(outcome, status, options):
    mean, std = np.linspace(-1.0, 2.0, 60), np.tile([0.5, 2.0], 30)
    with pytest.warns(FitWarning, match=status):
        cal = cb.regression.DistributionRecalibration(**options).fit(mean, outcome(mean), std=std)
    assert cal.status_ == status
    np.testing.assert_allclose(cal.predict(mean, std).std, std, rtol=1e-6)


def test_a_difference_by_rounding_is_no_error():
    mean = np.linspace(0.1, 3.0, 60)
    y = np.where(np.arange(60) % 3 == 0, mean + 1.0, mean * 3.0 / 3.0 * (1.0 + 2.0**-52))
    with pytest.warns(FitWarning, match="no error in most rows"):
        cb.regression.DistributionRecalibration().fit(mean, y, std=np.ones(60))


def test_options_that_cannot_work_are_refused():
    data = _draw(30, 0)
    for option in (
        {"bias": "wild"},
        {"spread": "wild"},
        {"shape": "wild"},
        {"start": "wild"},
        {"objective": "rmse"},
        {"spread_by": "x"},
    ):
        with pytest.raises(InputError, match=f"{next(iter(option))} must be"):
            cb.regression.DistributionRecalibration(**option).fit(data[0], data[2], std=data[1])
    with pytest.raises(InputError, match='spread_by must be "std"'):
        cb.regression.DistributionRecalibration(spread="increasing", spread_by="mean").fit(
            data[0], data[2], std=data[1]
        )
