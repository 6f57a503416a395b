"""The safe default for forecasts: what it picks on planted problems, when it does nothing, and
what it says.
"""

import numpy as np
import pytest
from scipy import stats

import calibrant as cb
from calibrant import metrics
from calibrant.errors import InputError
from calibrant.regression.regression_candidates import regression_candidates_for

SCORES = {
    "nll": metrics.negative_log_likelihood,
    "crps": metrics.continuous_ranked_probability_score,
}
#: How the error and the std said are made from the true std and a standard normal draw.
PLANTED = {
    "calibrated": lambda true, e, rng: (true, e),
    "a factor": lambda true, e, rng: (true / 1.7, e),
    "not in proportion": lambda true, e, rng: (true**2, e),
    "useless": lambda true, e, rng: (rng.permutation(true), e),
    "skewed": lambda true, e, rng: (true, rng.exponential(size=len(e)) - 1.0),
    "biased": lambda true, e, rng: (true, e + 0.7),
}


def paired(data):
    """((mean, std), y), as ``fit`` takes them."""
    mean, std, y = data
    return (mean, std), y


def planted(kind, n, seed=0):
    rng = np.random.default_rng(seed)
    mean, true = rng.normal(size=n), np.exp(0.5 * rng.normal(size=n))
    std, e = PLANTED[kind](true, rng.normal(size=n), rng)
    return mean, std, mean + true * e


def scored(kind, n, objective, seed=0, n_test=4000):
    """(uncalibrated, automatic, best single) score on fresh rows, and the fitted automatic one."""
    mean, std, y = planted(kind, n, seed)
    new, new_std, y_new = planted(kind, n_test, seed + 1000)
    score, forecast = SCORES[objective], cb.NormalForecast(new, new_std)
    cal = cb.AutoRegressionCalibrator(objective=objective).fit(mean, y, std=std)
    tried = regression_candidates_for(n, max_cost=1e9, normal=True)
    singles = [score(y_new, c.make().fit(mean, y, std=std).predict(forecast)) for c in tried]
    return singles[0], score(y_new, cal.predict(forecast)), min(singles), cal


@pytest.mark.parametrize("objective", ["nll", "crps"])
@pytest.mark.parametrize("kind", list(PLANTED))
def test_it_is_as_good_as_the_best_single_one(kind, objective):
    before, after, best, cal = scored(kind, 800, objective)
    # To a hundredth of a nat; in CRPS, a quarter of that as a share.
    slack = 0.01 if objective == "nll" else 0.0025 * before
    assert after <= best + 2.0 * slack
    assert after <= before + slack
    if kind != "calibrated":
        assert cal.status_ == "pooled"


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["nll", "crps"])
def test_harm_is_rare_at_every_size(objective):
    """More than 0.005 nats (or that share of a CRPS) worse than doing nothing: seldom, and never
    as often as STD scaling.
    """
    nat = 1.0 if objective == "nll" else 4.0
    harm, gain, fixed = [], [], []
    for n in (30, 100, 300, 1000):
        for seed in range(20):
            for kind in PLANTED:
                before, after, _, _ = scored(kind, n, objective, seed)
                mean, std, y = planted(kind, n, seed)
                new, new_std, y_new = planted(kind, 4000, seed + 1000)
                single = SCORES[objective](
                    y_new, cb.StdScaling().fit(mean, y, std=std).predict(new, new_std)
                )
                scale = 1.0 if objective == "nll" else before
                harm.append(nat * (after - before) / scale > 0.005)
                fixed.append(nat * (single - before) / scale > 0.005)
                gain.append(nat * (before - after) / scale)
    assert np.mean(harm) < 0.06
    assert np.mean(harm) < 0.5 * np.mean(fixed)
    assert np.mean(gain) > 0.1


@pytest.mark.parametrize("objective", ["nll", "crps"])
def test_the_table_accounts_for_every_candidate(objective):
    cal = cb.AutoRegressionCalibrator(objective=objective).fit(*paired(planted("a factor", 600)))
    assert [row["name"] for row in cal.table_] == [
        c.name for c in regression_candidates_for(600, normal=True)
    ]
    weights = [row["weight"] for row in cal.table_ if row["weight"] > 0.0]
    assert weights == cal.weights_.tolist()
    assert len(cal.members_) == len(weights)
    assert sum(weights) == pytest.approx(1.0)
    assert cal.table_[0]["score"] == cal.uncalibrated_score_
    assert cal.table_[0]["standard_error"] == 0.0
    assert (
        f"{objective.upper()} {cal.score_:.4g} out of fold against {cal.uncalibrated_score_:.4g}"
        in cal.explain()
    )
    assert cal.explain().endswith(f"no calibration: {cal.gain_in_errors_:.1f} standard errors.")


def test_quantiles_are_the_mean_of_the_members():
    cal = cb.AutoRegressionCalibrator().fit(*paired(planted("useless", 200)))
    mean, std, _ = planted("useless", 50, 1)
    said, members = cal.predict(mean, std), [m.predict(mean, std) for m in cal.members_]
    np.testing.assert_allclose(
        said.quantile(0.2),
        sum(w * m.quantile(0.2) for w, m in zip(cal.weights_, members, strict=True)),
    )
    np.testing.assert_allclose(said.cdf(said.quantile(0.2)), 0.2, atol=1e-9)


@pytest.mark.filterwarnings("ignore:in .* of the rows the quantiles cross")
def test_quantile_forecasts_are_tried_from_their_moments_too():
    rng = np.random.default_rng(0)
    levels = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
    mean = rng.normal(size=500)
    forecast = cb.QuantileForecast(
        levels, mean[:, None] + stats.norm.ppf(levels) + 0.35 * rng.normal(size=(500, 5))
    )
    cal = cb.AutoRegressionCalibrator().fit(forecast, mean + rng.normal(size=500))
    heaviest = max(cal.table_, key=lambda row: row["weight"])
    assert heaviest["name"] == "recalibration of the moments by parts"


def test_clusters_are_not_cut_apart():
    """Ten views of each of 40 things, said too surely: views held out beside their siblings look
    better than new things do.
    """
    rng = np.random.default_rng(0)
    mean, std, y = (np.repeat(a, 10) for a in planted("useless", 40))
    mean, std = mean + 1e-6 * rng.normal(size=400), std * np.exp(1e-6 * rng.normal(size=400))
    apart = cb.AutoRegressionCalibrator().fit(mean, y, std=std)
    together = cb.AutoRegressionCalibrator().fit(
        mean, y, std=std, cluster=np.repeat(np.arange(40), 10)
    )
    assert together.score_ > apart.score_ + 0.02


def test_scores_are_out_of_fold():
    """Outcomes drawn at random: a fit on the held-out rows themselves would look better than it
    is on new ones.
    """
    mean, std, y = planted("calibrated", 200)
    cal = cb.AutoRegressionCalibrator(methods=["variance binning"]).fit(mean, y, std=std)
    inside = metrics.negative_log_likelihood(
        y, cb.regression.VarianceBinning().fit(mean, y, std=std).predict(mean, std)
    )
    assert cal.table_[1]["score"] > inside + 0.01


def test_too_few_rows_equal_rows_and_no_error_change_nothing():
    mean, std, y = planted("a factor", 19)
    cal = cb.AutoRegressionCalibrator().fit(mean, y, std=std)
    assert (cal.status_, cal.table_, cal.gain_in_errors_) == ("identity: too few rows", [], 0.0)
    assert (cal.predict(mean, std).std == std).all()
    assert "kept as is" in cal.explain()
    cal.fit(np.repeat(mean, 5), np.repeat(y, 5), std=np.repeat(std, 5))
    assert cal.status_ == "identity: too few rows"
    mean, std, _ = planted("a factor", 100)
    assert cal.fit(mean, mean, std=std).status_ == "identity: no error"


@pytest.mark.parametrize("outcome", [0.0, 3.0])
@pytest.mark.parametrize("objective", ["nll", "crps"])
def test_one_outcome_says_nothing_of_the_spread(outcome, objective):
    mean, std, _ = planted("a factor", 100)
    cal = cb.AutoRegressionCalibrator(objective=objective).fit(mean, np.full(100, outcome), std=std)
    assert cal.status_ == "identity: one outcome"
    assert np.isfinite([cal.score_, cal.uncalibrated_score_, cal.gain_in_errors_]).all()
    assert (cal.predict(mean, std).std == std).all()
    assert "one outcome" in cal.explain()


def test_a_mean_that_is_the_outcome_in_all_rows_but_one_has_no_sharp_error_bars():
    mean, std, _ = planted("a factor", 100)
    cal = cb.AutoRegressionCalibrator().fit(mean, mean + (np.arange(100) == 0), std=std)
    assert cal.status_ == "identity: no evidence"
    assert (cal.predict(mean, std).std == std).all()


def test_without_evidence_next_to_nothing_is_done():
    worse = []
    for seed in range(10):
        cal = cb.AutoRegressionCalibrator().fit(*paired(planted("calibrated", 60, seed)))
        mean, std, y = planted("calibrated", 4000, seed + 1000)
        worse.append(SCORES["nll"](y, cal.predict(mean, std)) - SCORES["nll"](y, mean, std))
        assert isinstance(cal.members_[0], cb.regression.ForecastIdentity)
        assert cal.weights_[0] == pytest.approx(stats.norm.sf(0.5 * cal.gain_in_errors_), abs=0.011)
    assert np.mean(worse) < 0.01


def test_what_is_surely_worse_is_not_used():
    mean, std, y = planted("calibrated", 100)
    # The one candidate takes a scale from rows that are off by a hundred times: no other row wants
    # it.
    far = np.arange(100) % 10 == 0
    cal = cb.AutoRegressionCalibrator(methods=["STD scaling"]).fit(
        mean, np.where(far, mean + 100.0 * std, y), std=std
    )
    assert isinstance(cal.members_[0], cb.regression.ForecastIdentity)
    assert cal.status_ == "identity: no evidence"
    assert (
        cal.explain() == "100 rows: kept as is (calibration did not improve the out-of-fold score)."
    )


def test_outputs_are_decided_apart():
    parts = [planted(kind, 500, seed=3) for kind in ("a factor", "calibrated")]
    mean, std, y = (np.column_stack(columns) for columns in zip(*parts, strict=True))
    cal = cb.AutoRegressionCalibrator().fit(mean, y, std=std)
    alone = [
        cb.AutoRegressionCalibrator().fit(mean[:, j], y[:, j], std=std[:, j]) for j in range(2)
    ]
    assert [len(m) for m in cal.members_] == [len(one.members_) for one in alone]
    assert cal.score_.tolist() == [one.score_ for one in alone]
    assert cal.explain().splitlines()[0].startswith("Output 0: 500 rows: ")
    assert cal.predict(mean, std).std.shape == (500, 2)


@pytest.mark.parametrize("objective", ["nll", "crps"])
def test_outcomes_and_forecasts_that_repeat_are_dealt_out_over_the_folds(objective):
    """Counts forecast as one of three distributions: 40 different rows among 3,000, of which the
    std are half of what they should be.
    """
    rng = np.random.default_rng(0)
    mean = rng.choice([4.0, 6.0, 9.0], 3000)
    y, std = rng.poisson(mean).astype(float), 0.5 * np.sqrt(mean)
    cal = cb.AutoRegressionCalibrator(objective=objective).fit(mean, y, std=std)
    assert cal.status_ == "pooled"
    assert cal.predict(mean, std).std == pytest.approx(np.sqrt(mean), rel=0.15)
    fresh = rng.poisson(mean).astype(float)
    assert cal.score_ == pytest.approx(SCORES[objective](fresh, cal.predict(mean, std)), rel=0.03)
    few = cb.AutoRegressionCalibrator(objective=objective).fit(
        *paired(np.repeat(a[:15], 40) for a in planted("a factor", 100))
    )
    assert few.status_ == "identity: too few rows"


def test_small_units_do_not_make_rows_equal():
    mean, std, y = (1e-12 * a for a in planted("a factor", 100))
    assert cb.AutoRegressionCalibrator().fit(mean, y, std=std).status_ == "pooled"


def test_outcomes_outside_the_support_are_no_choice_and_no_crash():
    """Uniform forecasts with a density of 0 at some outcomes: only a wide enough stretch has a
    score at all.
    """
    rng = np.random.default_rng(0)
    middle = rng.normal(size=200)
    forecast = stats.uniform(loc=middle - 1.0, scale=2.0)
    cal = cb.AutoRegressionCalibrator(methods=["STD scaling"])
    cal.fit(forecast, middle + rng.choice([-1.2, 1.2], 200))
    assert cal.uncalibrated_score_ == np.inf
    assert (cal.status_, cal.gain_in_errors_) == ("pooled", np.inf)
    assert cal.score_ == pytest.approx(np.log(2.0 * 1.2 * np.sqrt(3.0)))
    cal.fit(forecast, middle + rng.uniform(-4.0, 4.0, 200) ** 3 / 16.0)
    assert cal.status_ == "identity: no evidence"
    assert cal.table_[1]["note"] == "its score is not finite in some rows"


def test_options_that_cannot_work_are_refused():
    data = planted("a factor", 50)
    with pytest.raises(InputError, match="methods must be"):
        cb.AutoRegressionCalibrator(methods=["magic"]).fit(*paired(data))
    with pytest.raises(InputError, match="objective must be"):
        cb.AutoRegressionCalibrator(objective="rmse").fit(*paired(data))
    with pytest.raises(InputError, match="cv must be"):
        cb.AutoRegressionCalibrator(cv=1).fit(*paired(data))
