"""Hoki: the two algorithms against a plain transcription, Theorem 1, the fixed point, and the
odd cases.
"""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant._numerics import bins
from calibrant._numerics.label_stability import standard_noise
from calibrant.errors import InputError


def simulated(n, seed=0, n_classes=10):
    rng = np.random.default_rng(seed)
    logits = 2.5 * rng.standard_normal((n, n_classes))
    truth = logits + 2.0 * rng.gumbel(
        size=logits.shape
    )  # overconfident: the right temperature is 2
    return logits, truth.argmax(axis=1)


def transcribed(gamma, correct, gamma_new, n_bins=15, max_iter=20):
    """Algorithms 1 and 2 as printed, with loops; stops when the partition equals any earlier
    one.
    """
    n = len(gamma)
    p, p_new = [correct.mean()] * n, [correct.mean()] * len(gamma_new)
    earlier = []
    for _ in range(max_iter):
        place = [min(int((v + 1e-12) * n_bins), n_bins - 1) for v in p]
        if place in earlier:
            break
        earlier.append(place)
        place_new = [min(int((v + 1e-12) * n_bins), n_bins - 1) for v in p_new]
        for j in range(n_bins):
            rows = [i for i in range(n) if place[i] == j]
            if not rows:
                continue
            alpha = sum(correct[i] * gamma[i] for i in rows) / sum(gamma[i] for i in rows)
            beta = sum(correct[i] * (1 - gamma[i]) for i in rows) / sum(1 - gamma[i] for i in rows)
            for i in rows:
                p[i] = (alpha - beta) * gamma[i] + beta
            for i in range(len(gamma_new)):
                if place_new[i] == j:
                    p_new[i] = (alpha - beta) * gamma_new[i] + beta
    return np.array(p), np.array(p_new)


def test_agrees_with_the_algorithms_as_printed():
    (logits, y), (new, _) = simulated(800), simulated(300, seed=1)
    cal = cb.calibrators.HokiCalibrator(
        inputs="logit", signal=cb.calibrators.LabelStability(scale=2.0)
    ).fit(logits, y)
    signal = cb.calibrators.LabelStability(inputs="logit", scale=2.0)
    p, p_new = transcribed(
        signal.score(logits), (logits.argmax(axis=1) == y) * 1.0, signal.score(new)
    )
    np.testing.assert_allclose(cal.predict_confidence(logits), p, atol=1e-10)
    np.testing.assert_allclose(cal.predict_confidence(new), p_new, atol=1e-10)


@pytest.mark.parametrize("start", ["accuracy", "confidence"])
def test_at_a_fixed_point_the_error_on_those_very_bins_is_zero(start):
    found = 0
    for seed in range(6):
        logits, y = simulated(3000, seed)
        cal = cb.calibrators.HokiCalibrator(inputs="logit", start=start).fit(logits, y)
        if cal.status_ != "fixed point":
            continue
        found += 1
        correct = (logits.argmax(axis=1) == y) * 1
        error = metrics.positive_class_calibration_error(
            correct, cal.predict_confidence(logits), n_bins=15
        )
        assert error < 1e-12
    assert found >= 3


def test_theorem_1_mixing_the_two_accuracies_is_enough():
    rng = np.random.default_rng(2)
    n, n_bins = 20_000, 15
    logits, y = simulated(n, seed=3)
    label = logits.argmax(axis=1)
    correct = (label == y) * 1.0
    kept = np.array(
        [(logits + d).argmax(axis=1) == label for d in 2.0 * standard_noise("gaussian", 20, 10, 4)]
    )  # (M, n) events
    g = rng.random(n)  # any calibrator whatever
    index = bins.equal_width_index(g, n_bins)
    error, repaired = 0.0, g.copy()
    for j in range(n_bins):
        rows = index == j
        events, right = kept[:, rows], np.broadcast_to(correct[rows], (20, rows.sum()))
        alpha, beta, gamma = right[events].mean(), right[~events].mean(), events.mean()
        mixed = alpha * gamma + beta * (1.0 - gamma)
        assert mixed == pytest.approx(
            correct[rows].mean(), abs=1e-12
        )  # the law of total probability
        error += rows.mean() * abs(mixed - g[rows].mean())
        repaired[rows] = mixed
    assert error == pytest.approx(
        metrics.positive_class_calibration_error(correct.astype(int), g, n_bins=n_bins), abs=1e-12
    )
    gap = sum(
        (index == j).mean() * abs(repaired[index == j].mean() - correct[index == j].mean())
        for j in range(n_bins)
    )
    assert gap < 1e-12  # the condition met, the calibration error is 0


def test_every_iteration_is_kept_and_empty_bins_are_nan():
    logits, y = simulated(500)
    cal = cb.calibrators.HokiCalibrator(inputs="logit").fit(logits, y)
    assert cal.alpha_.shape == cal.beta_.shape == (cal.n_iter_, 15)
    assert np.isfinite(cal.alpha_[0]).sum() == 1  # all rows start in the bin of the accuracy
    assert np.isnan(cal.alpha_[0]).sum() == 14
    assert cal.accuracy_ == pytest.approx((logits.argmax(axis=1) == y).mean())


def test_a_bin_empty_at_fitting_leaves_the_confidence():
    logits, y = simulated(300)
    cal = cb.calibrators.HokiCalibrator(inputs="logit", start="confidence", max_iter=1).fit(
        logits, y
    )
    confident = cal.predict_confidence(
        np.array([[0.01] + [0.0] * 9])
    )  # confidence near 1/10: its bin held no row
    assert np.isnan(cal.alpha_[0, 1])
    assert confident[0] == pytest.approx(0.1, abs=0.01)


def test_all_labels_kept_gives_the_accuracy_of_the_bin():
    logits = np.array([[100.0, 0.0], [0.0, 100.0], [100.0, 0.0], [0.0, 100.0]])
    cal = cb.calibrators.HokiCalibrator(
        inputs="logit", signal=cb.calibrators.LabelStability(scale=0.1)
    ).fit(logits, [0, 1, 0, 0])
    np.testing.assert_allclose(cal.predict_confidence(logits), 0.75)
    assert cal.status_ == "fixed point"


def test_a_cycle_of_partitions_ends_the_iterations():
    statuses = set()
    for seed in range(25, 40):
        logits, y = simulated(120, seed, n_classes=4)
        cal = cb.calibrators.HokiCalibrator(
            inputs="logit", n_bins=100, max_iter=200, start="confidence"
        ).fit(logits, y)
        statuses.add(cal.status_)
        assert cal.n_iter_ < 200
    assert statuses == {"fixed point", "cycle"}


def test_weights_mean_repetition():
    logits, y = simulated(400)
    weight = np.random.default_rng(5).integers(0, 3, 400)
    weighted = cb.calibrators.HokiCalibrator(inputs="logit").fit(logits, y, sample_weight=weight)
    repeated = cb.calibrators.HokiCalibrator(inputs="logit").fit(
        np.repeat(logits, weight, axis=0), np.repeat(y, weight)
    )
    np.testing.assert_allclose(
        weighted.predict_confidence(logits), repeated.predict_confidence(logits), atol=1e-9
    )


def test_repairs_planted_overconfidence_on_new_rows():
    (logits, y), (new, y_new) = simulated(5000), simulated(5000, seed=9)
    cal = cb.calibrators.HokiCalibrator(inputs="logit").fit(logits, y)
    correct = (new.argmax(axis=1) == y_new) * 1
    after = cal.predict_confidence(new)
    raw = np.exp(new).max(axis=1) / np.exp(new).sum(axis=1)
    assert metrics.positive_class_calibration_error(
        correct, after
    ) < 0.3 * metrics.positive_class_calibration_error(correct, raw)
    assert metrics.log_loss(correct, after) < metrics.log_loss(correct, raw)
    assert after.std() > 0.1


@pytest.mark.parametrize("some_map", [cb.Isotonic(), cb.calibrators.HistogramBinning()])
def test_the_same_signal_goes_with_any_map(some_map):
    logits, y = simulated(2000)
    cal = cb.ConfidenceCalibrator(
        signal=cb.calibrators.LabelStability(), map=some_map, inputs="logit"
    ).fit(logits, y)
    correct = (logits.argmax(axis=1) == y) * 1
    assert metrics.positive_class_calibration_error(correct, cal.predict_confidence(logits)) < 0.03


def test_saved_and_loaded_gives_the_same_bits(tmp_path):
    logits, y = simulated(300)
    cal = cb.calibrators.HokiCalibrator(inputs="logit").fit(logits, y)
    cal.save(tmp_path / "hoki.calibrant")
    np.testing.assert_array_equal(
        cb.load(tmp_path / "hoki.calibrant").predict_confidence(logits),
        cal.predict_confidence(logits),
    )


@pytest.mark.parametrize(
    ("options", "word"),
    [({"n_bins": 0}, "n_bins"), ({"max_iter": 0}, "max_iter"), ({"start": "zero"}, "start")],
)
def test_options_out_of_range_are_refused(options, word):
    with pytest.raises(InputError, match=word):
        cb.calibrators.HokiCalibrator(**options).fit([[0.9, 0.1], [0.3, 0.7]], [0, 1])
