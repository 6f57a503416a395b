"""Bugs of maps and scalings that bit other tools, each a test named after the trap; "every" means
everything exported.

Rows that wait for their method, for whoever adds it: sigmoid on huge scores and on calibrated
probabilities (Platt), coefficients of 0 taken as missing (beta), all calibrators 0 in one-vs-rest,
near-isotonic and BBQ outside [0, 1], Venn-Abers' p0 <= p <= p1 and golden values, float32
thresholds in ONNX, weights through cross-validation and pipelines.
"""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant._numerics.logistic import softmax
from calibrant.core.predictions import read
from calibrant.errors import CalibrationWarning
from calibrant.testing import all_calibrators, all_maps

pytestmark = pytest.mark.filterwarnings("ignore::calibrant.errors.CalibrationWarning")

PLAIN = [
    c
    for c in all_calibrators()
    if c.tags.output != "distribution"
    and not (c.tags.uses_features or c.tags.uses_groups)
    and c.inputs == "probability"
]
every_calibrator = pytest.mark.parametrize(
    "calibrator", PLAIN, ids=lambda c: " ".join(repr(c).split())
)
every_map = pytest.mark.parametrize("map_", all_maps(), ids=lambda m: " ".join(repr(m).split()))


def blobs(n=120, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    logits = 1.5 * rng.normal(size=(n, n_classes))
    P = softmax(2.0 * logits)
    return P, (softmax(logits).cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)


def check_rows(Q):
    assert np.isfinite(Q).all()
    assert ((Q >= 0.0) & (Q <= 1.0)).all()
    np.testing.assert_allclose(Q.sum(axis=1), 1.0, atol=1e-9)


def test_temperature_never_negative_nor_divergent():
    P, _ = blobs()
    for y in (P.argmin(axis=1), P.argmax(axis=1), np.zeros(len(P), int)):
        cal = cb.TemperatureScaling().fit(P, y)
        assert 1e-3 <= cal.temperature_ <= 1e3
        np.testing.assert_array_equal(cal.predict(P), P.argmax(axis=1))


@pytest.mark.parametrize("n_classes", [3, 1000])
def test_the_optimiser_moves_and_says_that_it_converged(n_classes):
    P, y = blobs(n=300, n_classes=n_classes)
    cal = cb.TemperatureScaling().fit(P, y)
    assert cal.status_ == "converged"
    assert abs(cal.temperature_ - 1.0) > 0.1
    assert metrics.log_loss(y, cal.predict_proba(P)) < metrics.log_loss(y, P)


def test_separable_data_do_not_make_certainty():
    P, _ = blobs(n=40)
    Q = cb.TemperatureScaling().fit(P, P.argmax(axis=1)).predict_proba(P)
    assert Q.min() > 0.0
    assert Q.max() < 1.0


@every_calibrator
def test_logits_are_not_clamped_as_if_probabilities(calibrator):
    if "logit_route" in calibrator.tags.exceptions:
        pytest.skip(calibrator.tags.exceptions["logit_route"])
    P, y = blobs(n_classes=2)
    twin = type(calibrator)(**{**calibrator.get_params(deep=False), "inputs": "logit"})
    odds = np.log(P[:, 1] / P[:, 0])
    a = calibrator.fit(P, y).predict_proba(P)
    np.testing.assert_allclose(twin.fit(odds, y).predict_proba(odds), a, atol=1e-6)


def test_isotonic_adds_the_weights_of_ties():
    x, y = [0, 1, 1, 2, 3], [0, 0, 1, 0, 1]
    m = cb.Isotonic(smooth_ends=False).fit(x, y)
    np.testing.assert_allclose(m.predict(x), [0, 1 / 3, 1 / 3, 1 / 3, 1], atol=1e-15)
    order = [4, 2, 0, 3, 1]
    again = cb.Isotonic(smooth_ends=False).fit(np.array(x)[order], np.array(y)[order])
    np.testing.assert_array_equal(again.predict(x), m.predict(x))


@pytest.mark.parametrize("gap", [5e-324, 1e-300, 1e-200, 1e-16])
def test_isotonic_with_tiny_gaps_is_finite(gap):
    m = cb.Isotonic(smooth_ends=False).fit([0.0, gap, 2 * gap, 1.0], [0, 1, 1, 1])
    p = m.predict([0.0, gap / 2, gap, 1.5 * gap, 0.5, 1.0])
    assert np.isfinite(p).all()
    assert (np.diff(p[[0, 2, 4, 5]]) >= 0).all()


def test_isotonic_gives_no_exact_0_or_1_by_default():
    rng = np.random.default_rng(0)
    score = rng.random(2000)
    m = cb.Isotonic().fit(score, rng.random(2000) < score**3)
    p = m.predict(np.linspace(-1, 2, 501))
    assert 0.0 < p.min() < p.max() < 1.0
    assert np.isfinite(metrics.log_loss(rng.integers(0, 2, 501), p))


@every_map
def test_no_map_leaves_0_1(map_):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        score = rng.beta(0.3, 0.3, 60) if seed else np.round(rng.random(60), 1)
        p = map_.fit(
            score, rng.random(60) < score, sample_weight=10.0 ** rng.integers(-3, 4, 60)
        ).predict(np.linspace(0, 1, 200))
        assert np.isfinite(p).all()
        assert ((p >= 0.0) & (p <= 1.0)).all()


@every_calibrator
def test_no_row_leaves_0_1_or_misses_the_sum_1(calibrator):
    # Who refuses small weights gets whole numbers.
    least = 0 if "extreme_weights" in calibrator.tags.exceptions else -3
    for seed in range(3):
        rng = np.random.default_rng(seed)
        n_classes = 2 if calibrator.tags.binary_only else 2 + seed
        P = rng.dirichlet(np.full(n_classes, 0.1), 60)
        y = rng.integers(0, n_classes, 60)
        check_rows(
            calibrator.fit(P, y, sample_weight=10.0 ** rng.integers(least, 4, 60)).predict_proba(P)
        )


@pytest.mark.parametrize(("dtype", "off"), [(np.float16, 1e-4), (np.float32, 1e-8)])
def test_rows_that_miss_1_by_the_rounding_of_their_dtype_are_accepted(dtype, off):
    P = np.random.default_rng(0).dirichlet(np.ones(50), 500).astype(dtype)
    assert np.abs(P.sum(axis=1, dtype=np.float64) - 1.0).max() > off
    check_rows(cb.calibrators.Identity().fit(P, np.zeros(500, int)).predict_proba(P))


@every_map
def test_maps_survive_perfect_separation(map_):
    p = map_.fit([0.0, 1.0], [0, 1]).predict([0.0, 0.5, 1.0])
    assert np.isfinite(p).all()


@every_calibrator
def test_calibrators_survive_perfect_separation(calibrator):
    check_rows(calibrator.fit([0.0, 1.0], [0, 1]).predict_proba([0.0, 0.5, 1.0]))


@every_calibrator
@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_calibrators_survive_constant_predictions(calibrator, p):
    check_rows(calibrator.fit(np.full(20, p), np.arange(20) % 2).predict_proba([0.0, 0.5, 1.0]))


@every_calibrator
def test_two_classes_of_three_in_a_fold_are_not_binary(calibrator):
    if calibrator.tags.binary_only:
        pytest.skip("takes two classes only")
    P, y = blobs()
    rows = y < 2
    assert calibrator.fit(P[rows], y[rows]).predict_proba(P).shape == (len(P), 3)
    assert calibrator.classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("names", [["good", "bad"], [True, False], [1, -1], [2, 1]], ids=str)
def test_labels_follow_the_columns_not_the_alphabet(names):
    P, y = blobs(n_classes=2)
    labels = [names[k] for k in y]
    assert metrics.accuracy(labels, P, classes=names) == metrics.accuracy(y, P)
    cal = cb.TemperatureScaling(classes=names).fit(P, labels)
    np.testing.assert_array_equal(
        cal.predict_proba(P), cb.TemperatureScaling().fit(P, y).predict_proba(P)
    )
    assert cal.predict(P).tolist() == [names[k] for k in P.argmax(axis=1)]


def test_shuffled_columns_are_matched_by_name():
    pd = pytest.importorskip("pandas")
    P, y = blobs()
    names = np.array(["c", "a", "b"])
    frame = pd.DataFrame(P, columns=names)
    cal = cb.TemperatureScaling().fit(frame, names[y])
    np.testing.assert_array_equal(
        cal.predict_proba(frame[["a", "b", "c"]]), cal.predict_proba(frame)
    )


def test_metrics_do_not_touch_what_they_measure():
    P, y = blobs()
    before = P.tobytes(), y.tobytes()
    for metric in (
        metrics.log_loss,
        metrics.expected_calibration_error,
        metrics.brier_score,
        metrics.accuracy,
    ):
        metric(y, P)
        metric.interval(y, P, n_resamples=10)
    metrics.reliability_curve(y, P)
    assert (P.tobytes(), y.tobytes()) == before


def test_discrete_predictions_are_binned_at_their_values():
    P, y = blobs(n=400, n_classes=2)
    cal = cb.ConfidenceCalibrator(map=cb.calibrators.HistogramBinning(n_bins=10)).fit(P, y)
    confidence = cal.predict_confidence(P)
    values = np.unique(confidence)
    curve = metrics.reliability_curve(
        (P.argmax(axis=1) == y).astype(int), confidence, target=1, n_bins=400, strategy="mass"
    )
    np.testing.assert_allclose(curve.confidence, values, rtol=1e-12)


@every_calibrator
def test_nothing_is_random_without_a_random_state(calibrator):
    P, y = blobs(n_classes=2)
    if calibrator.tags.random:
        calibrator.set_params(random_state=0)
    a = calibrator.fit(P, y).predict_proba(P)
    np.testing.assert_array_equal(calibrator.fit(P, y).predict_proba(P), a)


def test_calibration_changes_the_numbers():
    # One tool binned the raw score after calibration too, so that it "had no effect".
    P, y = blobs(n=400)
    Q = cb.TemperatureScaling().fit(P, y).predict_proba(P)
    assert (
        abs(metrics.expected_calibration_error(y, Q) - metrics.expected_calibration_error(y, P))
        > 0.01
    )


@pytest.mark.parametrize("p", [1e-300, 1e-15, 1e-9, 1e-7])
def test_small_probabilities_keep_their_relative_precision(p):
    for record in (read([p]), read([[1.0 - p, p]])):
        assert record.probabilities[0, 1] == pytest.approx(p, rel=1e-12, abs=0)
        assert record.log_probabilities[0, 1] == pytest.approx(np.log(p), rel=1e-12)
        assert record.log_probabilities[0, 0] == pytest.approx(np.log1p(-p), rel=1e-12, abs=0)
    logit = read([np.log(p) - np.log1p(-p)], inputs="logit")
    assert logit.probabilities[0, 1] == pytest.approx(p, rel=1e-12, abs=0)
    near_one = read([[p, 1.0 - p]])
    assert near_one.log_probabilities[0, 1] == pytest.approx(np.log1p(-p), rel=1e-12, abs=0)


def test_a_warning_of_ours_is_never_silenced_for_others():
    # Two peers switch warnings or floating-point errors off for the whole process.
    import warnings

    before, errors = list(warnings.filters), np.geterr()
    P, y = blobs()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        inside = list(warnings.filters)
        for calibrator in PLAIN[:10]:
            if not calibrator.tags.binary_only:
                calibrator.fit(P, y).predict_proba(P)
        assert list(warnings.filters) == inside
    assert list(warnings.filters) == before
    assert np.geterr() == errors
