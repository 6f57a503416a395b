"""One calibrator, shifted for each predicted class as far as classes differ: rare ones borrow."""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.calibrators import GroupCalibrator, Identity, PerClass

#: Log-odds by which the confidence of each predicted class is off.
OFF = np.array([-1.5, 1.0, 0.0, 0.5, -0.5])


def rows(n, seed, off=OFF, rare=()):
    """(P, y): confidences in (.5, 1), whose log-odds are off by class; rare classes in 1 of 20."""
    rng = np.random.default_rng(seed)
    K = len(off)
    odds = np.where(np.isin(np.arange(K), rare), 0.05, 1.0)
    label = rng.choice(K, n, p=odds / odds.sum())
    confidence = rng.uniform(0.55, 0.95, n)
    P = np.repeat((1.0 - confidence)[:, None] / (K - 1), K, axis=1)
    P[np.arange(n), label] = confidence
    logit = np.log(confidence / (1.0 - confidence)) + off[label]
    right = rng.random(n) < 1.0 / (1.0 + np.exp(-logit))
    other = (label + rng.integers(1, K, n)) % K
    return P, np.where(right, label, other)


def loss(cal, P, y, own=slice(None)):
    """Log loss of the confidence in whether the model's label is right."""
    return metrics.log_loss((P.argmax(axis=1) == y)[own], cal.predict_confidence(P)[own])


def test_it_is_the_group_calibrator_of_the_answer_with_the_predicted_class_as_the_group():
    P, y = rows(1000, 0)
    cal = PerClass(Identity(), pooled=True).fit(P, y)
    assert cal.offsets_.used
    label = P.argmax(axis=1)
    groups = label.astype(str)
    of_groups = GroupCalibrator(Identity()).fit(P.max(axis=1), label == y, groups=groups)
    np.testing.assert_allclose(
        cal.predict_confidence(P),
        of_groups.predict_proba(P.max(axis=1), groups=groups)[:, 1],
        atol=1e-8,
    )


@pytest.mark.filterwarnings("ignore::calibrant.errors.SparseDataWarning")
def test_shifts_are_found_and_rare_classes_lose_less_than_alone():
    """Against one temperature and a map of each class's own rows."""
    test = rows(40_000, 1, rare=(3, 4))
    own = np.isin(test[0].argmax(axis=1), (3, 4))
    losses = {"pooled": [], "shared": [], "alone": []}
    for seed in range(2, 8):
        P, y = rows(600, seed, rare=(3, 4))
        fits = {
            "pooled": PerClass(cb.TemperatureScaling(), pooled=True),
            "shared": cb.TemperatureScaling(),
            "alone": cb.ConfidenceCalibrator(map=cb.calibrators.Platt(), per_class=True),
        }
        for name, cal in fits.items():
            cal.fit(P, y)
            losses[name].append([loss(cal, *test), loss(cal, *test, own)])
    pooled, shared, alone = (np.mean(losses[name], axis=0) for name in losses)
    assert pooled[0] < shared[0] - 0.02
    assert pooled[1] < min(shared[1], alone[1] - 0.03)


def test_where_classes_do_not_differ_it_is_the_calibrator_of_all_rows():
    used = 0
    for seed in range(20):
        P, y = rows(300, seed, off=np.zeros(5))
        cal = PerClass(cb.TemperatureScaling(), pooled=True).fit(P, y)
        used += cal.offsets_.used
        if not cal.offsets_.used:
            shared = cb.TemperatureScaling().fit(P, y)
            np.testing.assert_allclose(cal.predict_proba(P), shared.predict_proba(P), atol=1e-12)
            assert "no evidence that classes differ" in cal.status_
    assert used <= 3


def test_a_class_that_was_never_predicted_has_the_calibrator_of_all_rows():
    P, y = rows(1000, 0)
    kept = P.argmax(axis=1) != 4
    cal = PerClass(Identity(), pooled=True).fit(P[kept], y[kept])
    assert cal.offsets_.used
    np.testing.assert_allclose(cal.predict_proba(P[~kept]), P[~kept], rtol=1e-12)


def test_weights_of_a_design_count_as_their_effective_size():
    P, y = rows(1000, 0)
    fits = [
        PerClass(Identity(), pooled=True).fit(P, y, sample_weight=np.full(1000, w))
        for w in (1.0, 0.4, 2.5)
    ]
    for cal in fits:
        assert cal.offsets_.used
        np.testing.assert_allclose(cal.predict_proba(P), fits[0].predict_proba(P), atol=1e-8)


def test_exported_and_saved_it_predicts_the_same(tmp_path):
    P, y = rows(1000, 0)
    cal = PerClass(cb.TemperatureScaling(), pooled=True).fit(P, y)
    assert cal.offsets_.used
    Q = cal.predict_proba(P)
    np.testing.assert_allclose(cal.compile()(P), Q, rtol=1e-9, atol=1e-12)
    cal.save(tmp_path / "cal.calibrant")
    np.testing.assert_array_equal(cb.load(tmp_path / "cal.calibrant").predict_proba(P), Q)


def test_a_file_from_before_pooling_loads(tmp_path):
    P, y = rows(1000, 0)
    cal = PerClass().fit(P, y)
    del cal.pooled
    cal.save(tmp_path / "cal.calibrant")
    again = cb.load(tmp_path / "cal.calibrant")
    np.testing.assert_array_equal(again.predict_proba(P), cal.predict_proba(P))


@pytest.mark.parametrize("seed", range(3))
def test_two_classes_are_shifted_apart(seed):
    P, y = rows(800, seed, off=np.array([-1.0, 1.0]))
    cal = PerClass(cb.TemperatureScaling(), pooled=True).fit(P, y)
    low, high = cal.predict_confidence([[0.8, 0.2], [0.2, 0.8]])
    assert low < 0.75 < 0.85 < high
