"""G11: intervals and tests on laws that do not flatter them."""

import numpy as np

import calibrant as cb

SEPARATED = np.r_[np.zeros(20, int), np.ones(20, int)]
RISKS = np.r_[np.linspace(0.1, 0.4, 20), np.linspace(0.6, 0.9, 20)]


def test_the_interval_of_the_rmse_holds_under_heavy_tails():
    n, held = 60, 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        errors = rng.normal(size=n) * np.exp(rng.normal(0.0, 1.3, n))
        found = cb.metrics.root_mean_squared_error.interval(errors, np.zeros(n), np.ones(n))
        held += found.low <= np.exp(1.3**2) <= found.high
    assert held >= 133  # 95 % of 150 repeats, less what chance takes


def test_the_interval_of_the_ence_holds_where_the_std_says_nothing():
    metric, n, held = cb.metrics.expected_normalized_calibration_error, 60, 0
    rng = np.random.default_rng(99)
    many = np.exp(rng.normal(0.0, 0.7, 200_000))
    # Sixty rows make two bins, and the interval is of the error in those.
    truth = metric(rng.normal(size=200_000), np.zeros(200_000), many, n_bins=2)
    for seed in range(150):
        rng = np.random.default_rng(seed)
        std = np.exp(rng.normal(0.0, 0.7, n))
        found = metric.interval(rng.normal(size=n), np.zeros(n), std)
        held += found.low <= truth <= found.high
    assert held >= 133


def test_the_interval_of_the_nll_holds_where_the_std_says_nothing():
    n, held = 60, 0
    truth = 0.5 * np.log(2.0 * np.pi) + 0.5 * 3.0 * np.exp(2.0 * 0.7**2)
    for seed in range(150):
        rng = np.random.default_rng(seed)
        errors, std = rng.standard_t(3.0, n), np.exp(rng.normal(0.0, 0.7, n))
        found = cb.metrics.negative_log_likelihood.interval(errors, np.zeros(n), std)
        held += found.low <= truth <= found.high
    assert held >= 133


def test_spiegelhalters_test_keeps_its_size_near_0_and_1():
    called = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        p = rng.choice([0.0035, 0.9965], 40)
        y = (rng.random(40) < p).astype(int)
        called += cb.metrics.spiegelhalter_test(y, p).p_value < 0.05
    assert called <= 34  # 5 % of 400 repeats, and what chance adds to it


def test_the_slope_of_separated_samples_has_an_interval():
    found = cb.metrics.calibration_slope.interval(SEPARATED, RISKS)
    assert np.isfinite(found.low)


def test_the_auroc_of_separated_samples_has_a_useful_lower_limit():
    found = cb.metrics.event_auroc.interval(SEPARATED, RISKS)
    assert 0.80 <= found.low < 1.0  # (.05 / 2) ** (1 / 20) = .832 is valid
