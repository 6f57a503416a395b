import numpy as np
import pytest

from calibrant import metrics
from calibrant.core.reading import read_labelled
from calibrant.errors import InputError

COLUMNS = ("threshold", "net_benefit", "low", "high", "treat_all", "treat_none", "avoided")


def drawn(n, seed=0, rate=0.2):
    rng = np.random.default_rng(seed)
    p = rng.beta(2.0, 2.0 / rate - 2.0, n)
    return (rng.random(n) < p).astype(int), p


def test_by_hand():
    """At 0.2: 3 of 4 flagged, one event among them twice."""
    curve = metrics.decision_curve([1, 1, 0, 0], [0.9, 0.2, 0.3, 0.1], thresholds=[0.2])
    assert curve.net_benefit.tolist() == pytest.approx([2 / 4 - 1 / 4 * 0.25])
    assert curve.treat_all.tolist() == pytest.approx([0.5 - 0.5 * 0.25])
    # One row of four is not acted on, and no event is lost.
    assert curve.avoided.tolist() == pytest.approx([0.25])


def test_all_and_none_and_the_model_agree_where_they_must():
    y, p = drawn(500)
    curve = metrics.decision_curve(y, p, thresholds=[0.0, p.min(), 0.999])
    np.testing.assert_allclose(curve.net_benefit[:2], curve.treat_all[:2], rtol=1e-12)
    assert curve.net_benefit[2] == curve.treat_none[2] == 0.0
    assert curve.avoided[:2].tolist() == pytest.approx([0.0, 0.0], abs=1e-12)


def test_numbers_of_dcurves_for_treating_all():
    """methods_2 §14: 14 % events at t = 0.25; case-control at a prevalence of 15 %."""
    y = np.repeat([1, 0], [14, 86])
    curve = metrics.decision_curve(y, np.full(100, 0.5), thresholds=[0.25])
    assert curve.treat_all[0] == pytest.approx(-0.1466667, abs=1e-7)
    assert curve.net_benefit[0] == pytest.approx(-0.1466667, abs=1e-7)
    control = metrics.decision_curve(y, np.full(100, 0.5), thresholds=[0.25], prevalence=0.15)
    assert control.net_benefit[0] == pytest.approx(-0.1333333, abs=1e-7)
    assert control.treat_all[0] == pytest.approx(-0.1333333, abs=1e-7)


@pytest.mark.parametrize(
    "options",
    [{}, {"standardised": True}, {"prevalence": 0.1}, {"prevalence": 0.1, "standardised": True}],
)
def test_weights_are_repetition(options):
    y, p = drawn(200)
    weight = np.arange(200) % 3
    rows = np.repeat(np.arange(200), weight)
    weighted = metrics.decision_curve(y, p, sample_weight=weight, **options)
    repeated = metrics.decision_curve(y[rows], p[rows], **options)
    for name in COLUMNS:
        np.testing.assert_allclose(
            getattr(weighted, name), getattr(repeated, name), rtol=1e-12, atol=1e-15
        )


def test_case_control_rows_at_their_own_prevalence_are_a_cohort():
    y, p = drawn(400)
    plain, known = (
        metrics.decision_curve(y, p),
        metrics.decision_curve(y, p, prevalence=float(y.mean())),
    )
    np.testing.assert_allclose(plain.net_benefit, known.net_benefit, atol=1e-14)
    np.testing.assert_allclose(plain.avoided, known.avoided, atol=1e-12)


def test_standardised_is_the_same_by_the_prevalence():
    y, p = drawn(400)
    plain, standard = metrics.decision_curve(y, p), metrics.decision_curve(y, p, standardised=True)
    for name in ("net_benefit", "treat_all"):
        np.testing.assert_allclose(
            getattr(plain, name) / y.mean(), getattr(standard, name), atol=1e-13
        )
    np.testing.assert_allclose(plain.avoided, standard.avoided, atol=1e-12)


def test_a_class_of_several_is_its_event():
    rng = np.random.default_rng(0)
    P, y = rng.dirichlet(np.ones(3), 100), rng.integers(0, 3, 100)
    got = metrics.decision_curve(y, P, target=2)
    expected = metrics.decision_curve((y == 2).astype(int), P[:, 2])
    np.testing.assert_allclose(got.net_benefit, expected.net_benefit, atol=1e-15)
    with pytest.raises(InputError, match="takes two classes"):
        metrics.decision_curve(y, P)


def test_of_a_record_is_the_same():
    y, p = drawn(50)
    assert (
        metrics.decision_curve.of(read_labelled(y, p)).to_dict()
        == metrics.decision_curve(y, p).to_dict()
    )


@pytest.mark.parametrize("options", [{}, {"standardised": True}, {"prevalence": 0.3}])
def test_intervals_hold_the_value_and_have_width_where_nobody_or_everybody_is_flagged(options):
    y, p = drawn(60)
    curve = metrics.decision_curve(y, p, thresholds=[0.0, 0.1, 0.3, 0.99], **options)
    assert (curve.low <= curve.net_benefit).all()
    assert (curve.net_benefit <= curve.high).all()
    known = (
        np.array([False, False, False, False])
        if "prevalence" not in options
        else np.array([True, False, False, False])
    )
    assert (curve.high > curve.low)[~known].all()


@pytest.mark.parametrize("options", [{}, {"standardised": True}, {"prevalence": 0.2}])
def test_the_interval_covers(options):
    truth = metrics.decision_curve(
        *drawn(400_000, seed=1), thresholds=[0.1, 0.2, 0.4], **options
    ).net_benefit
    held = np.zeros(3)
    for seed in range(400):
        curve = metrics.decision_curve(
            *drawn(150, seed=seed + 2), thresholds=[0.1, 0.2, 0.4], **options
        )
        held += (curve.low <= truth) & (truth <= curve.high)
    assert (held / 400 >= 0.95 - 3.0 * np.sqrt(0.95 * 0.05 / 400)).all(), held / 400
    assert (held / 400 <= 0.99).all(), held / 400


@pytest.mark.parametrize(
    ("y", "options", "word"),
    [
        ([0, 1], {"prevalence": 1.0}, "prevalence"),
        ([0, 0], {"standardised": True}, "y_true"),
        ([0, 0], {"prevalence": 0.1}, "y_true"),
        ([1, 1], {"prevalence": 0.1}, "y_true"),
        ([0, 1], {"thresholds": [1.0]}, "thresholds"),
        ([0, 1], {"level": 2}, "level"),
    ],
)
def test_what_cannot_be_is_refused(y, options, word):
    with pytest.raises(InputError, match=word):
        metrics.decision_curve(y, [0.2, 0.3], **options)


@pytest.mark.parametrize("prevalence", [None, 0.1])
def test_each_point_is_the_metric_of_its_name_at_that_threshold(prevalence):
    y, p = drawn(300)
    for standardised, metric in (
        (False, metrics.net_benefit),
        (True, metrics.standardised_net_benefit),
    ):
        curve = metrics.decision_curve(
            y, p, thresholds=[0.05, 0.2, 0.5], prevalence=prevalence, standardised=standardised
        )
        for t, value, low, high, everyone in zip(
            curve.threshold, curve.net_benefit, curve.low, curve.high, curve.treat_all, strict=True
        ):
            at = {"threshold": float(t), "prevalence": prevalence}
            assert metric(y, p, **at) == pytest.approx(value, abs=1e-15)
            assert metric(y, p, strategy="all", **at) == pytest.approx(everyone, abs=1e-15)
            found = metric.interval(y, p, **at)
            assert (found.low, found.high) == pytest.approx((low, min(high, 1.0)), abs=1e-14)
