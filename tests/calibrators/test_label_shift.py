"""A planted shift of the class frequencies is found and put right; the paper's HTJ story under
its two conditions.
"""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant._numerics.logistic import softmax
from calibrant.errors import FitWarning, InputError, SparseDataWarning

P_TRUE, Q_TRUE = np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.3, 0.6])


def _draw(frequencies, n, rng, temperature=1.0):
    """Labels at these frequencies, and the posterior at P_TRUE of a Gaussian feature of each,
    distorted by a temperature.
    """
    y = rng.choice(3, n, p=frequencies)
    x = np.eye(3)[y] * 1.8 + rng.normal(size=(n, 3))
    return y, softmax((1.8 * x + np.log(P_TRUE)) / temperature)


@pytest.fixture
def shifted():
    rng = np.random.default_rng(0)
    return _draw(P_TRUE, 8000, rng), _draw(Q_TRUE, 8000, rng)


@pytest.mark.parametrize("method", ["em", "bbse"])
@pytest.mark.parametrize("temperature", [1.0, 0.4])
def test_planted_frequencies_are_found(method, temperature):
    rng = np.random.default_rng(1)
    (y, P), (_, P_use) = (
        _draw(P_TRUE, 8000, rng, temperature),
        _draw(Q_TRUE, 8000, rng, temperature),
    )
    shift = cb.calibrators.LabelShift(method).fit(P, y, P_use)
    assert shift.frequencies_ == pytest.approx(Q_TRUE, abs=0.03)
    assert shift.weights_ == pytest.approx(Q_TRUE / P_TRUE, rel=0.2)
    assert shift.status_ == "converged"
    if method == "bbse":
        assert 1.0 < shift.condition_ < 10.0


@pytest.mark.parametrize("method", ["em", "bbse", Q_TRUE])
def test_weighted_calibration_is_calibrated_in_use(shifted, method):
    (y, P), (y_use, P_use) = shifted
    shift = cb.calibrators.LabelShift(method).fit(P, y, P_use)
    plain, weighted = (
        cb.ConfidenceCalibrator(map=cb.calibrators.KernelDensity(), per_class=True).fit(
            P, y, sample_weight=w
        )
        for w in (None, shift.sample_weight(y))
    )
    right = P_use.argmax(axis=1) == y_use
    gaps = []
    for cal in (plain, weighted):
        c = cal.predict_confidence(P_use)
        gaps.append([abs((c - right)[P_use.argmax(axis=1) == k].mean()) for k in range(3)])
    assert max(gaps[0]) > 0.15  # the class that became rare is trusted far too much
    assert max(gaps[1]) < 0.06
    assert np.mean(gaps[1]) < 0.3 * np.mean(gaps[0])


def test_whole_vectors_are_put_right(shifted):
    (y, P), (y_use, P_use) = shifted
    shift = cb.calibrators.LabelShift("em").fit(P, y, P_use)
    adapted = shift.predict_proba(P_use)
    assert adapted.sum(axis=1) == pytest.approx(np.ones(len(P_use)))
    exact = P_use * Q_TRUE / P_TRUE
    assert np.abs(adapted - exact / exact.sum(axis=1, keepdims=True)).mean() < 0.02
    assert metrics.log_loss(y_use, adapted) < metrics.log_loss(y_use, P_use) - 0.05


def test_no_shift_changes_little(shifted):
    (y, P), _ = shifted
    assert cb.calibrators.LabelShift("em").fit(P, y, P).weights_ == pytest.approx(
        np.ones(3), abs=0.01
    )
    assert cb.calibrators.LabelShift("bbse").fit(P, y, P).weights_ == pytest.approx(
        np.ones(3), abs=1e-9
    )


def test_weights_are_repetition(shifted):
    (y, P), (_, P_use) = ((a[:500], b[:500]) for a, b in shifted)
    rng = np.random.default_rng(2)
    w, v = rng.integers(0, 3, 500), rng.integers(0, 3, 500)
    for method in ("em", "bbse"):
        weighted = cb.calibrators.LabelShift(method).fit(P, y, P_use, sample_weight=w, use_weight=v)
        repeated = cb.calibrators.LabelShift(method).fit(
            np.repeat(P, w, axis=0), np.repeat(y, w), np.repeat(P_use, v, axis=0)
        )
        assert weighted.weights_ == pytest.approx(repeated.weights_, abs=1e-4)


def test_confused_classes_are_said_and_clipped():
    rng = np.random.default_rng(3)
    P = rng.dirichlet([1.0, 1.0, 1.0], 400)
    y = rng.integers(0, 3, 400)  # P knows nothing of y
    with pytest.warns(FitWarning, match="condition number"):
        shift = cb.calibrators.LabelShift("bbse").fit(P, y, rng.dirichlet([5.0, 1.0, 1.0], 400))
    assert shift.status_ == "ill-conditioned" or shift.condition_ > 10
    assert (shift.weights_ >= 0.0).all()


def test_a_class_absent_from_the_calibration_set_is_left_alone():
    P = np.array([[0.7, 0.2, 0.1], [0.2, 0.7, 0.1], [0.6, 0.3, 0.1], [0.3, 0.6, 0.1]])
    for method in ("em", "bbse", [0.5, 0.25, 0.25]):
        with pytest.warns(SparseDataWarning, match="absent"):
            shift = cb.calibrators.LabelShift(method).fit(P, [0, 1, 0, 1], P)
        assert shift.weights_[2] == 1.0
        assert np.isfinite(shift.predict_proba(P)).all()


def test_names_saving_and_errors(tmp_path, shifted):
    (y, P), (_, P_use) = shifted
    names = np.array(["cat", "dog", "eel"])
    shift = cb.calibrators.LabelShift("em", classes=names).fit(P, names[y], P_use)
    assert shift.sample_weight(["eel", "cat"]).tolist() == shift.weights_[[2, 0]].tolist()
    shift.save(tmp_path / "shift.calibrant")
    assert cb.load(tmp_path / "shift.calibrant").weights_.tolist() == shift.weights_.tolist()
    with pytest.raises(InputError, match="P_use"):
        cb.calibrators.LabelShift("em").fit(P, y)
    with pytest.raises(InputError, match="frequencies"):
        cb.calibrators.LabelShift("maximum").fit(P, y, P_use)
    with pytest.raises(InputError, match="frequencies"):
        cb.calibrators.LabelShift([0.5, 0.5]).fit(P, y)


def test_the_trove_story_needs_its_two_conditions(shifted):
    """More true positives of one class can only raise its confidence: at a fixed bandwidth, and
    when they are predicted as that class.

    The paper added 3,000 new HTJ samples (section 13.2). Read as a shift of the class frequencies
    (weights by true class), the story fails for the other classes: the new samples that are taken
    for them are wrong there.
    """
    (y, P), _ = shifted
    predicted, score = P.argmax(axis=1), P.max(axis=1)
    more = np.where(y == 0, 4.0, 1.0)
    at = np.linspace(0.45, 0.95, 40)

    def curve(k, weight, bandwidth):
        own = predicted == k
        return (
            cb.calibrators.KernelDensity(bandwidth=bandwidth, prior_weight=0.0)
            .fit(score[own], (y == k)[own], sample_weight=weight[own])
            .predict(at)
        )

    one = np.ones(len(y))
    assert (curve(0, more, 0.05) >= curve(0, one, 0.05) - 1e-6).all()
    for k in (1, 2):
        assert (curve(k, more, 0.05) <= curve(k, one, 0.05) + 1e-6).all()
        assert curve(k, more, 0.05).mean() < curve(k, one, 0.05).mean() - 0.05
    # If the bandwidth moves with the samples, the curve of class 0 itself may fall somewhere: a
    # wider one blurs its steep rise.
    assert (curve(0, np.where(y == 0, 1.2, 1.0), 0.3) < curve(0, one, 0.03)).any()


def test_intervals_hold_the_rates_and_the_assumption_is_rarely_rejected():
    hits, rejected, runs = 0, 0, 40
    for seed in range(runs):
        rng = np.random.default_rng(100 + seed)
        (y, P), (_, P_use) = _draw(P_TRUE, 300, rng, 0.5), _draw(Q_TRUE, 400, rng, 0.5)
        shift = cb.calibrators.LabelShift(intervals=True, n_resamples=50).fit(P, y, P_use)
        hits += shift.low_[2] <= Q_TRUE[2] <= shift.high_[2]
        rejected += shift.p_value_ <= 0.05
    # At few resamples the percentiles are about 2 points short.
    assert hits / runs > 0.92 - 3.0 * np.sqrt(0.08 * 0.92 / runs)
    assert rejected / runs <= 0.05 + 3.0 * np.sqrt(0.05 * 0.95 / runs)


def test_a_class_that_looks_different_is_noticed():
    rng = np.random.default_rng(7)
    (y, P), (y_use, P_use) = _draw(P_TRUE, 1500, rng), _draw(Q_TRUE, 1500, rng)
    other = np.where((y_use == 2)[:, None], rng.dirichlet([2.0, 2.0, 1.0], 1500), P_use)
    same, changed = (
        cb.calibrators.LabelShift(intervals=True, n_resamples=50).fit(P, y, use).p_value_
        for use in (P_use, other)
    )
    assert changed <= 0.02 < same


def test_a_change_that_chance_explains_is_shrunk_away_and_a_real_one_is_kept():
    rng = np.random.default_rng(8)
    lost = {"em": 0.0, "shrunk": 0.0}
    for _ in range(20):
        (y, P), (_, P_use) = _draw(P_TRUE, 200, rng, 1.5), _draw(P_TRUE, 200, rng, 1.5)
        for name in lost:
            found = cb.calibrators.LabelShift(name).fit(P, y, P_use)
            lost[name] += np.abs(found.weights_ - 1.0).sum()
    assert lost["shrunk"] < 0.35 * lost["em"]
    (y, P), (_, P_use) = _draw(P_TRUE, 4000, rng), _draw(Q_TRUE, 4000, rng)
    assert cb.calibrators.LabelShift("shrunk").fit(P, y, P_use).frequencies_ == pytest.approx(
        Q_TRUE, abs=0.04
    )


@pytest.mark.parametrize("slope", [1.0, 2.0])
def test_labels_of_the_new_rows_find_the_slope(slope):
    rng = np.random.default_rng(9)
    y, P = _draw(P_TRUE, 6000, rng)
    # The new rows' true posterior is q_k (P_k / p_k)^s.
    _, P_use = _draw(P_TRUE, 6000, rng)
    true = (P_use / P_TRUE) ** slope * Q_TRUE
    true /= true.sum(axis=1, keepdims=True)
    y_use = (rng.random((6000, 1)) > true.cumsum(axis=1)).sum(axis=1)
    some = [int(k) if i < 1500 else None for i, k in enumerate(y_use)]
    shift = cb.calibrators.LabelShift(Q_TRUE).fit(P, y, P_use, y_use=some)
    assert shift.slope_ == pytest.approx(slope, abs=0.2)
    plain = cb.calibrators.LabelShift(Q_TRUE).fit(P, y)
    gain = metrics.log_loss(y_use, plain.predict_proba(P_use)) - metrics.log_loss(
        y_use, shift.predict_proba(P_use)
    )
    assert gain > (0.01 if slope == 2.0 else -0.001)
    assert np.abs(shift.predict_proba(P_use) - true).mean() < 0.03
    none = cb.calibrators.LabelShift(Q_TRUE).fit(P, y, P_use, y_use=[None] * 6000)
    assert none.slope_ == 1.0
