"""Bugs of the classic maps that bit other tools, each a test named after the trap."""

import inspect
import time

import numpy as np
import pytest
from scipy.special import expit, logit

import calibrant as cb

CLASSIC = [
    cb.Platt(),
    cb.Platt(scale="probability"),
    cb.calibrators.Beta(),
    cb.calibrators.Beta(parameters="am"),
    cb.calibrators.CenteredIsotonic(),
    cb.calibrators.VennAbers(),
    cb.calibrators.VennAbers(n_splits=3),
    cb.calibrators.Spline(),
    cb.calibrators.BayesianBinning(),
    cb.calibrators.NearIsotonic(),
    cb.calibrators.ScalingBinning(),
]
every_map = pytest.mark.parametrize("map_", CLASSIC, ids=lambda m: " ".join(repr(m).split()))


def log_loss(p, correct):
    return float(-np.mean(np.where(correct == 1, np.log(p), np.log1p(-p))))


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e4, 1e8])
def test_sigmoid_on_huge_scores_keeps_the_ranking(scale):
    """scikit-learn #26766: AUC 0.5 without a word."""
    rng = np.random.default_rng(0)
    score = rng.normal(size=300)
    correct = rng.random(300) < expit(score)
    p = cb.Platt(scale="probability").fit(scale * score, correct).predict(scale * score)
    assert np.isfinite(p).all()
    np.testing.assert_array_equal(np.argsort(p), np.argsort(score))


def test_sigmoid_on_one_huge_outlier_still_learns():
    """A raw score of 135,000 among ordinary ones (LightGBM #6405)."""
    rng = np.random.default_rng(0)
    score = np.append(rng.normal(size=500), 135_000.0)
    correct = np.append(rng.random(500) < expit(2 * score[:500]), 1.0)
    m = cb.Platt(scale="probability", smoothing=False).fit(score, correct)
    assert m.slope_ == pytest.approx(2.0, rel=0.3)
    assert m.status_ == "converged"


@pytest.mark.parametrize("map_", [cb.Platt(), cb.calibrators.Beta()], ids=str)
def test_sigmoid_fed_probabilities_does_not_damage_a_calibrated_model(map_):
    """scikit-learn #34312: 0.45887 became 0.46451."""
    change = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        s = rng.beta(1.5, 1.0, 20_000)
        p = map_.fit(s, rng.random(20_000) < s).predict(s)
        change.append(
            (s * (np.log(s) - np.log(p)) + (1 - s) * (np.log1p(-s) - np.log1p(-p))).mean()
        )
    assert np.mean(change) < 1e-4


@every_map
def test_separable_data_do_not_make_certainty(map_):
    """Thirty rows cannot bring more confidence than thirty rows can support: no row is given a
    chance below 1 in 10,000 of being wrong.
    """
    score = np.linspace(0.02, 0.98, 30)
    p = map_.fit(score, score > 0.5).predict(score)
    assert p.min() > 1e-4
    assert p.max() < 1 - 1e-4


@every_map
def test_log_loss_is_finite_on_any_test_set(map_):
    rng = np.random.default_rng(1)
    score = np.append(rng.random(200), [0.0, 1.0])
    p = map_.fit(score, rng.random(202) < score**2).predict(
        np.append(np.linspace(0, 1, 500), [1e-300, 1 - 2**-53])
    )
    assert np.isfinite(log_loss(p, np.zeros(502)))
    assert np.isfinite(log_loss(p, np.ones(502)))


@every_map
def test_outputs_stay_in_0_1(map_):
    """netcal #54 (1.0000000000000002) and unclamped spline derivatives (log loss NaN in 532 of
    832 runs).
    """
    for seed in range(5):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 300))
        score = np.round(rng.beta(0.3, 0.3, n), int(rng.integers(1, 12)))
        p = map_.fit(
            score, rng.random(n) < rng.random(), sample_weight=rng.random(n) + 1e-3
        ).predict(np.linspace(0, 1, 300))
        assert np.isfinite(p).all()
        assert p.min() >= 0.0
        assert p.max() <= 1.0


@every_map
def test_perfect_separation_of_two_rows_does_not_crash(map_):
    """netcal #64: p = [0, 1], y = [0, 1]."""
    p = map_.fit([0.0, 1.0], [0, 1]).predict([0.0, 1.0])
    assert p[0] <= p[1]


@every_map
@pytest.mark.parametrize("constant", [0.0, 0.3, 1.0])
def test_identical_predictions_do_not_crash(map_, constant):
    """betacal PR #7: coefficients of 0 taken as missing."""
    p = map_.fit(np.full(40, constant), np.repeat([0, 1], 20)).predict([constant])
    assert p[0] == pytest.approx(0.5, abs=0.05)


@every_map
@pytest.mark.parametrize("outcome", [0, 1])
def test_one_class_only_is_a_smoothed_map(map_, outcome):
    score = np.linspace(0.05, 0.95, 40)
    p = map_.fit(score, np.full(40, outcome)).predict(score)
    assert np.median(np.abs(p - outcome)) < 0.2
    assert ((p > 0) & (p < 1)).all()


@every_map
def test_ties_add_their_weights_and_row_order_is_irrelevant(map_):
    rng = np.random.default_rng(2)
    score = np.round(rng.random(120), 1)
    correct = (rng.random(120) < score).astype(float)
    times = rng.integers(0, 4, 120)
    order = rng.permutation(times.sum())
    repeated = np.repeat(np.arange(120), times)[order]
    a = map_.fit(score, correct, sample_weight=times).predict(score)
    b = map_.fit(score[repeated], correct[repeated]).predict(score)
    np.testing.assert_allclose(a, b, atol=1e-8)


@every_map
def test_near_equal_scores_make_no_nan(map_):
    p = map_.fit([0.5, 0.5 + 1e-16, 0.5 + 2e-16, 0.1, 0.1 + 1e-300], [0, 1, 0, 0, 1]).predict(
        [0.1, 0.3, 0.5]
    )
    assert np.isfinite(p).all()


def test_venn_abers_keeps_its_golden_values():
    """Pinned: scores .1 to .9, outcomes 0 0 1 0 1 1 0 1 1; values agree with refitting (see
    tests/calibrators/maps/test_venn_abers.py).
    """
    m = cb.calibrators.VennAbers().fit(np.arange(1, 10) / 10, [0, 0, 1, 0, 1, 1, 0, 1, 1])
    p0, p1 = m.predict_interval([0.05, 0.35, 0.5, 0.72, 0.95])
    np.testing.assert_allclose(p0, [0, 1 / 3, 0.5, 0.5, 2 / 3], atol=1e-12)
    np.testing.assert_allclose(p1, [1 / 3, 2 / 3, 0.75, 1, 1], atol=1e-12)
    assert (p0 <= m.predict([0.05, 0.35, 0.5, 0.72, 0.95])).all()
    assert (m.predict([0.05, 0.35, 0.5, 0.72, 0.95]) <= p1).all()


def test_venn_abers_multiclass_needs_no_second_estimator():
    """venn-abers #24 wraps one-vs-one around the whole estimator; here any map goes one-vs-rest
    on P.
    """
    P = np.random.default_rng(0).dirichlet(np.ones(4), 200)
    Q = cb.OneVsRest(cb.calibrators.VennAbers()).fit(P, P.argmax(axis=1)).predict_proba(P)
    np.testing.assert_allclose(Q.sum(axis=1), 1.0)


def test_venn_abers_fits_in_n_log_n():
    spent = []
    for n in (5_000, 40_000):
        rng = np.random.default_rng(0)
        score = rng.random(n)
        correct = rng.random(n) < score
        runs = []
        for _ in range(3):
            start = time.process_time()
            cb.calibrators.VennAbers().fit(score, correct)
            runs.append(time.process_time() - start)
        spent.append(min(runs))
    assert spent[1] < 24 * spent[0]


@every_map
def test_nothing_is_random_without_a_random_state(map_):
    rng = np.random.default_rng(3)
    score = rng.random(100)
    correct = rng.random(100) < score
    np.testing.assert_array_equal(
        map_.fit(score, correct).predict(score), map_.fit(score, correct).predict(score)
    )
    assert (
        "random_state" not in inspect.signature(type(map_)).parameters or map_.random_state is None
    )


@pytest.mark.parametrize(
    "map_", [cb.Platt(), cb.calibrators.Beta(), cb.calibrators.Spline()], ids=str
)
def test_small_probabilities_keep_their_relative_precision(map_):
    """1e-9 and 1.001e-9 differ by a thousandth after calibration too, in float64."""
    rng = np.random.default_rng(4)
    score = expit(rng.normal(0, 2, 2000))
    m = map_.fit(score, rng.random(2000) < score)
    low = logit(m.predict([1e-9, 1.001e-9, 1.002e-9]))
    assert low[1] > low[0]
    assert (low[2] - low[1]) / (low[1] - low[0]) == pytest.approx(1.0, rel=0.01)
