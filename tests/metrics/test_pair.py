"""What the metrics of one probability share: whose it is, and an interval that knows chance."""

import numpy as np
import pytest

from calibrant import metrics
from calibrant.errors import CalibrationWarning, InputError

P = np.array([[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8], [0.4, 0.35, 0.25]])
Y = np.array([0, 1, 1, 1])
ks = metrics.ks_calibration_error


def test_a_target_may_be_the_top_label_or_a_class_by_its_label():
    top = ks((P.argmax(axis=1) == Y).astype(int), P.max(axis=1), target="event")
    assert ks(Y, P) == pytest.approx(top)
    named = ks(np.array(["a", "b", "c"])[Y], P, classes=["a", "b", "c"], target="b")
    assert named == pytest.approx(ks((Y == 1).astype(int), P[:, 1], target="event"))
    assert ks(Y, P, target=1) == named


def test_a_class_named_positive_is_that_class():
    y, p = (
        np.array(["positive", "negative", "positive"]),
        np.array([[0.9, 0.1], [0.3, 0.7], [0.6, 0.4]]),
    )
    got = ks(y, p, classes=["positive", "negative"], target="positive")
    assert got == pytest.approx(ks((y == "positive").astype(int), p[:, 0], target="event"))


@pytest.mark.parametrize("word", ["answer", "event"])
def test_a_class_named_like_a_question_is_refused_when_its_name_is_the_target(word):
    y = np.array([word, "z"])[Y % 2]
    with pytest.raises(InputError, match="both a keyword and a class"):
        ks(y, P[:, 1], classes=[word, "z"], target=word)
    assert (
        ks(y, P[:, 1], classes=[word, "z"], target="event" if word != "event" else "answer") >= 0.0
    )
    with pytest.raises(InputError, match="ambiguous, because a class has that name"):
        metrics.brier_decomposition(
            np.array(["classes", "z"])[Y % 2], P[:, 1], classes=["classes", "z"], target="classes"
        )


def test_unknown_targets_are_refused():
    with pytest.raises(InputError, match="target must be"):
        ks(Y, P, target="z")
    with pytest.raises(InputError, match="takes two classes"):
        ks(Y, P, target="event")


@pytest.mark.parametrize("metric", [ks, metrics.maximum_mean_calibration_error], ids=repr)
def test_the_interval_of_a_calibrated_model_reaches_0_and_its_value_is_lower_than_the_plain_one(
    metric,
):
    zero, lower = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        p = rng.random(200)
        with pytest.warns(CalibrationWarning, match="is approximate"):
            got = metric.interval(
                (rng.random(200) < p).astype(int), p, target="event", n_resamples=100
            )
        zero.append(got.low == 0.0)
        assert got.value <= got.plain
        lower.append(got.value < got.plain)
    assert np.mean(zero) >= 0.75
    assert np.mean(lower) >= 0.75


def test_other_intervals_are_there_when_asked_for():
    rng = np.random.default_rng(0)
    p = rng.random(100)
    y = (rng.random(100) < p).astype(int)
    assert ks.interval(y, p, method="bootstrap", n_resamples=50).method == "bootstrap"
    assert ks.interval(y, p, method="bca", n_resamples=50).method == "bca"
