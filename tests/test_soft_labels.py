"""Soft labels: what takes them agrees with the raters' own labels, and what must not refuses."""

import numpy as np
import pytest
from sklearn.base import clone

import calibrant as cb
from calibrant import metrics
from calibrant.core.calibrator import Calibrator
from calibrant.core.labels import SoftLabels
from calibrant.core.predictions import read
from calibrant.errors import InputError
from calibrant.testing.runs import all_calibrators, all_maps, all_metrics

ECE, RATIO = metrics.positive_class_calibration_error, metrics.observed_expected_ratio
DEBIASED = metrics.debiased_calibration_error
MEANS = [
    metrics.log_loss,
    metrics.brier_score,
    metrics.spherical_score,
    metrics.event_brier_score,
    metrics.ranked_probability_score,
    metrics.calibration_bias,
    metrics.mean_risk,
]
BINNED = [
    metrics.expected_calibration_error,
    ECE,
    metrics.classwise_calibration_error,
    DEBIASED,
    DEBIASED.with_options(norm=1, target="event"),
]
CALIBRATORS = [one for one in all_calibrators() if one.tags.soft_labels and not one.tags.random]
MAPS = [one for one in all_maps() if one.tags.soft_labels]


def rated(n=300, n_raters=4, n_classes=3, seed=0):
    """(P, labels of the raters (n, n_raters), their shares (n, n_classes))."""
    rng = np.random.default_rng(seed)
    true = rng.dirichlet(np.ones(n_classes), n)
    P = true**1.5 / (true**1.5).sum(axis=1, keepdims=True)
    labels = (true.cumsum(axis=1)[:, None, :-1] < rng.random((n, n_raters, 1))).sum(axis=2)
    shares = (labels[:, :, None] == np.arange(n_classes)).mean(axis=1)
    return P, labels, shares


def stacked(P, labels):
    """Each rater's label as a row of its own: (P, y, row)."""
    n, m = labels.shape
    return np.repeat(P, m, axis=0), labels.ravel(), np.repeat(np.arange(n), m)


def test_scores_by_hand():
    P, shares = [[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]], [[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]]
    y = SoftLabels(shares)
    by_hand = -(0.5 * np.log([0.5, 0.3]).sum() + np.log([0.1, 0.8]) @ [0.25, 0.75]) / 2.0
    assert metrics.log_loss(y, P) == pytest.approx(by_hand, rel=1e-12)
    distance = np.square(np.array(P) - y.shares) + y.shares * (1.0 - y.shares)
    assert metrics.brier_score(y, P) == pytest.approx(distance.sum() / 2.0, rel=1e-12)
    two = SoftLabels([0.25, 1.0])
    assert metrics.event_brier_score(two, [0.5, 0.9]) == pytest.approx(0.13, rel=1e-12)
    assert metrics.calibration_bias(two, [0.5, 0.9]) == pytest.approx(0.7 - 0.625, rel=1e-12)
    assert metrics.observed_expected_ratio(two, [0.5, 0.9]) == pytest.approx(1.25 / 1.4, rel=1e-12)
    assert ECE(two, [0.5, 0.9]) == pytest.approx((0.25 + 0.1) / 2.0, rel=1e-12)


@pytest.mark.parametrize("metric", [*MEANS, RATIO, *BINNED[:3]], ids=repr)
def test_values_are_those_of_all_raters_labels(metric):
    for n_classes in (2,) if metric.binary_only else (2, 3):
        P, labels, shares = rated(n_classes=n_classes)
        every, y, _ = stacked(P, labels)
        soft = SoftLabels(shares)
        assert metric(soft, P) == pytest.approx(metric(y, every), rel=1e-9)
        weight = np.random.default_rng(1).integers(0, 3, len(P)).astype(float)
        weighted = metric(y, every, sample_weight=np.repeat(weight, 4))
        assert metric(soft, P, sample_weight=weight) == pytest.approx(weighted, rel=1e-9)


@pytest.mark.parametrize("metric", MEANS, ids=repr)
def test_one_rater_has_the_interval_of_labels(metric):
    P, labels, shares = rated(n_raters=1, n_classes=2)
    soft, hard = (metric.interval(y, P) for y in (SoftLabels(shares), labels[:, 0]))
    assert (soft.low, soft.high) == pytest.approx((hard.low, hard.high), rel=1e-9)


@pytest.mark.parametrize("metric", BINNED, ids=repr)
def test_one_rater_has_nearly_the_interval_of_labels(metric):
    P, labels, shares = rated(n=1000, n_raters=1, n_classes=2)
    soft, hard = (metric.interval(y, P) for y in (SoftLabels(shares), labels[:, 0]))
    assert metric(SoftLabels(shares), P) == pytest.approx(metric(labels[:, 0], P), abs=1e-3)
    assert (soft.high - soft.low) == pytest.approx(hard.high - hard.low, rel=0.15)


def test_the_observed_expected_ratio_of_one_rater_is_no_longer_that_of_the_base_rate():
    """The variance O/n (1 - O/n) of labels is too large where risks tell the events apart."""
    P, labels, shares = rated(n=1000, n_raters=1, n_classes=2)
    soft, hard = (RATIO.interval(y, P) for y in (SoftLabels(shares), labels[:, 0]))
    rate, ratio = labels.mean(), soft.value
    told = np.mean(np.square(shares[:, 1] - ratio * P[:, 1])) / (rate * (1.0 - rate))
    widths = [np.log(found.high / found.low) for found in (soft, hard)]
    assert widths[0] == pytest.approx(np.sqrt(told) * widths[1], rel=0.01)


def test_intervals_follow_the_agreement_of_the_raters_not_their_number():
    rng = np.random.default_rng(0)
    p = rng.beta(2, 3, 2000)
    alone, all_alike = rng.binomial(10, p) / 10.0, (rng.random(2000) < p) * 1.0
    for metric in (metrics.log_loss, metrics.calibration_bias, RATIO, ECE):
        hard = metric.interval(all_alike.astype(int), p)
        wide, narrow = (metric.interval(SoftLabels(shares), p) for shares in (all_alike, alone))
        assert (wide.high - wide.low) == pytest.approx(hard.high - hard.low, rel=0.15)
        assert narrow.high - narrow.low < 0.5 * (hard.high - hard.low)


def test_clusters_weights_states_groups_and_one_pass():
    P, _, shares = rated()
    y, two = SoftLabels(shares), np.r_[shares, shares]
    once = metrics.log_loss.interval(y, P)
    pairs = np.tile(np.arange(300), 2)
    doubled = metrics.log_loss.interval(SoftLabels(two), np.r_[P, P], cluster=pairs)
    assert doubled.high - doubled.low == pytest.approx(once.high - once.low, rel=0.02)
    parts = slice(99), slice(99, None)
    first, rest = (metrics.log_loss.state(SoftLabels(shares[one]), P[one]) for one in parts)
    assert (first + rest).finalise() == pytest.approx(once.value, rel=1e-12)
    both = metrics.compute([metrics.log_loss, metrics.expected_calibration_error], y, P)
    alone = metrics.expected_calibration_error(y, P)
    assert both == {"log_loss": pytest.approx(once.value), "ece": alone}
    grouped = metrics.per_group(metrics.brier_score, y, P, np.arange(300) % 2)
    each = [metrics.brier_score(SoftLabels(shares[k::2]), P[k::2]) for k in (0, 1)]
    assert grouped.value.tolist() == pytest.approx(each)


def test_comparisons_know_more_than_of_one_rater_and_no_more_than_of_clustered_labels():
    P, labels, shares = rated(n=400)
    soft = metrics.compare(SoftLabels(shares), {"a": P, "b": np.full_like(P, 1.0 / 3.0)}).rows[0]
    one = metrics.compare(labels[:, 0], {"a": P, "b": np.full_like(P, 1.0 / 3.0)}).rows[0]
    every, y, row = stacked(P, labels)
    models = {"a": every, "b": np.full_like(every, 1.0 / 3.0)}
    hard = metrics.compare(y, models, cluster=row).rows[0]
    assert soft.difference == pytest.approx(hard.difference, rel=1e-9)
    # The row not seen yet is one on which all raters agree.
    assert hard.high - hard.low < soft.high - soft.low < 0.8 * (one.high - one.low)


def test_reliability_curve_has_the_shares_and_their_variance():
    rng = np.random.default_rng(0)
    p = rng.beta(2, 3, 2000)
    shares, hit = rng.binomial(10, p) / 10.0, (rng.random(2000) < p).astype(int)
    truths = SoftLabels(shares), hit, SoftLabels(hit * 1.0)
    curves = (metrics.reliability_curve(y, p, target="event", n_bins=5) for y in truths)
    soft, hard, one = curves
    assert soft.accuracy[1] == pytest.approx(shares[(p >= 0.2) & (p < 0.4)].mean(), rel=1e-12)
    assert ((soft.high - soft.low) < 0.6 * (hard.high - hard.low)).all()
    assert one.high - one.low == pytest.approx(hard.high - hard.low, rel=0.1)
    with pytest.raises(InputError, match="soft labels"):
        metrics.reliability_curve(SoftLabels(shares), p, band="consistency")


def test_the_curve_can_be_drawn():
    pytest.importorskip("matplotlib")
    P, _, shares = rated(n_classes=2)
    for scale in ("linear", "logit"):
        made = cb.displays.ReliabilityDisplay.from_predictions(SoftLabels(shares), P, scale=scale)
        assert made.curve.accuracy @ made.curve.n == pytest.approx(shares[:, 1].sum())
        made.figure_.clf()
    with pytest.raises(InputError, match="got soft labels"):
        cb.displays.ReliabilityDisplay.from_predictions(SoftLabels(shares), P, smooth="loess")


@pytest.mark.parametrize("metric", [*MEANS, RATIO], ids=repr)
def test_weights_of_sampling_widen_the_interval(metric):
    P, _, shares = rated(n=1000, n_classes=2)
    weight = np.random.default_rng(0).lognormal(0.0, 1.0, 1000)
    y, given = SoftLabels(shares), {"sample_weight": weight, "weight_kind": "sampling"}
    plain, found = metric.interval(y, P), metric.interval(y, P, **given)
    ones = metric.interval(y, P, sample_weight=np.full(1000, 0.5), weight_kind="sampling")
    # The design effect of such weights is e.
    assert 1.2 < (found.high - found.low) / (plain.high - plain.low) < 2.6
    assert ones.high - ones.low == pytest.approx(plain.high - plain.low, rel=0.05)


def test_bins_without_variance_keep_a_width():
    for share in (0.0, 0.3, 1.0):
        y, p = SoftLabels([share] * 5), np.linspace(0.3, 0.5, 5)
        curve = metrics.reliability_curve(y, p, target="event")
        assert (curve.high - curve.low > 0.1).all()
        for metric in (RATIO, metrics.calibration_bias, ECE):
            found = metric.interval(y, p)
            assert found.low <= found.value <= found.high
            assert found.high - found.low > 0.05


@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=repr)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_fits_are_those_of_all_raters_labels(calibrator, n_classes):
    P, labels, shares = rated(n=600, n_classes=n_classes)
    every, y, _ = stacked(P, labels)
    soft = clone(calibrator).fit(P, SoftLabels(shares))
    hard = clone(calibrator).fit(every, y, sample_weight=np.full(len(y), 0.25))
    assert np.abs(soft.predict_proba(P) - hard.predict_proba(P)).max() < 1e-6


@pytest.mark.parametrize("map", MAPS, ids=repr)
def test_maps_are_those_of_all_raters_labels(map):
    P, labels, shares = rated(n=600, n_classes=2)
    every, y, _ = stacked(P[:, 1], labels)
    weight = np.random.default_rng(1).integers(0, 3, 600).astype(float)
    soft = clone(map).fit(P[:, 1], SoftLabels(shares[:, 1]), sample_weight=weight)
    hard = clone(map).fit(every, y, sample_weight=np.repeat(weight, 4) / 4.0)
    assert soft.n_fit_ == pytest.approx(weight.sum())
    assert np.abs(soft.predict(P[:, 1]) - hard.predict(P[:, 1])).max() < 1e-6


def test_every_part_takes_them_or_refuses_them():
    P, _, shares = rated(n=200, n_classes=2)
    for part in [*all_calibrators(), *all_maps()]:
        column = slice(None) if isinstance(part, Calibrator) else 1
        given = P[:, column], SoftLabels(shares[:, column])
        if part.tags.soft_labels:
            assert part.fit(*given).status_
        else:
            with pytest.raises(InputError, match=r"got soft labels|needs (X|groups|reference)="):
                part.fit(*given)


def test_every_metric_takes_them_or_refuses_them():
    P, labels, _ = rated(n=200, n_raters=1, n_classes=2)
    y = SoftLabels((labels == np.arange(2)) * 1.0)
    for metric in all_metrics():
        if metric.soft_labels:
            assert metric(y, P) == pytest.approx(metric(labels[:, 0], P), abs=0.01)
        elif metric.domain.name == "classification":
            with pytest.raises(InputError, match="got soft labels"):
                metric(y, P)


def test_what_is_chosen_by_folds_keeps_a_row_together():
    P, labels, shares = rated(n=600)
    single, row = read(P, SoftLabels(shares), soft=True).one_label_each()
    assert single.cluster.tolist() == row.tolist()
    assert np.bincount(row, single.weights) == pytest.approx(np.ones(600))
    every, y, rows = stacked(P, labels)
    weight = np.full(len(y), 0.25)
    soft = cb.AutoCalibrator().fit(P, SoftLabels(shares))
    hard = cb.AutoCalibrator().fit(every, y, sample_weight=weight, cluster=rows)
    assert soft.n_fit_ == pytest.approx(600.0)
    assert soft.score_ == pytest.approx(hard.score_, abs=0.002)
    assert np.abs(soft.predict_proba(P) - hard.predict_proba(P)).max() < 0.02
    new, new_labels, _ = rated(n=4000, n_raters=1, seed=1)
    before, after = (metrics.log_loss(new_labels[:, 0], Q) for Q in (new, soft.predict_proba(new)))
    assert after < before - 0.01


def test_the_temperature_of_few_raters_is_that_of_many_labels():
    rng = np.random.default_rng(0)
    p = rng.beta(2, 3, 40_000)
    bold = p**2 / (p**2 + (1.0 - p) ** 2)
    many = cb.TemperatureScaling().fit(bold, (rng.random(40_000) < p).astype(int)).temperature_
    few = slice(2000)
    for m in (1, 3, 10):
        y = SoftLabels(rng.binomial(m, p[few]) / m)
        # Four standard errors of the slope, about .07 for one rater.
        found = cb.TemperatureScaling().fit(bold[few], y).temperature_
        assert found == pytest.approx(many, abs=0.5 / np.sqrt(m))


@pytest.mark.parametrize("n_raters", [3, 10])
def test_debiased_errors_take_off_the_noise_of_the_raters_and_no_more(n_raters):
    rng, plain, debiased, off = np.random.default_rng(0), [], [], []
    metric = metrics.debiased_calibration_error.with_options(target="event")
    for _ in range(50):
        p = rng.beta(2, 3, 500)
        y = SoftLabels(rng.binomial(n_raters, p) / n_raters)
        plain.append(ECE(y, p, norm=2))
        debiased.append(metric(y, p))
        off.append(metric(y, np.clip(p + 0.05, 0.0, 1.0)))
    assert np.mean(debiased) < 0.5 * np.mean(plain)
    # A Bernoulli variance would take off all of it.
    assert np.mean(off) == pytest.approx(0.05, abs=0.004)


REFUSED = {
    "AUROC": lambda y, p: metrics.event_auroc(y, p),
    "accuracy": lambda y, p: metrics.accuracy(y, p),
    "one of several": lambda y, p: metrics.compute([metrics.log_loss, metrics.accuracy], y, p),
    "slope": lambda y, p: metrics.calibration_slope.interval(y, p),
    "Spiegelhalter": lambda y, p: metrics.spiegelhalter_test(y, p),
    "Hosmer-Lemeshow": lambda y, p: metrics.hosmer_lemeshow_test(y, p),
    "net benefit": lambda y, p: metrics.net_benefit(y, p),
    "decision curve": lambda y, p: metrics.decision_curve(y, p),
    "smooth curve": lambda y, p: metrics.loess_curve(y, p),
    "audit": lambda y, p: cb.audit(y, p),
    "report": lambda y, p: cb.report(y, p),
    "rule": lambda y, p: cb.SelectiveClassifier().fit(p, y),
    "sets": lambda y, p: cb.ConformalSets().fit(p, y),
    "Venn-Abers": lambda y, p: cb.calibrators.VennAbers().fit(p, y),
    "regression": lambda y, p: metrics.mean_absolute_error(y, p),
    "an array": lambda y, p: np.asarray(y),
}


@pytest.mark.parametrize("name", list(REFUSED))
def test_what_needs_outcomes_refuses_in_one_sentence(name):
    p = np.random.default_rng(0).random(40)
    said = r"takes one label per row; got soft labels .*; pass the label of one rater per row"
    with pytest.raises(InputError, match=said) as caught:
        REFUSED[name](SoftLabels(p), p)
    assert str(caught.value).count(". ") == 0


def test_shares_that_are_none_are_refused():
    for shares, said in [
        ([[0.5, 0.6]], "row 0 is"),
        ([-0.1, 0.5], "between 0 and 1"),
        ([[1.0]], r"\(1, 1\)"),
        ([0.5, np.nan], r"row 1 is .*\(1 in all\)"),
        ([[3, 1], [2, 2]], "divide counts of votes"),
        (0.5, "shares must be"),
        (["a"], "shares must hold numbers"),
    ]:
        with pytest.raises(InputError, match=said):
            SoftLabels(shares)
    with pytest.raises(InputError, match=r"must be \(3, 2\), as the predictions are; got \(2, 2\)"):
        metrics.log_loss(SoftLabels([0.5, 0.5]), [0.1, 0.2, 0.3])
    with pytest.raises(InputError, match=r"got \(2, 2\)"):
        cb.Platt().fit([0.1, 0.2, 0.3], SoftLabels([0.5, 0.5]))


def test_plain_fractions_are_refused_with_the_remedy():
    with pytest.raises(InputError, match=r"pass shares of raters as SoftLabels\(y\)"):
        metrics.log_loss([0.5, 1.0], [0.3, 0.6])
    with pytest.raises(InputError, match="pass shares of raters as SoftLabels"):
        metrics.log_loss([[0.5, 0.5], [1.0, 0.0]], [[0.3, 0.7], [0.6, 0.4]])


def test_named_columns_are_matched():
    pd = pytest.importorskip("pandas")
    P = pd.DataFrame([[0.9, 0.1], [0.4, 0.6]], columns=["cat", "dog"])
    shares = pd.DataFrame([[0.0, 1.0], [0.5, 0.5]], columns=["dog", "cat"])
    by_hand = -(np.log(0.9) + 0.5 * np.log(0.4) + 0.5 * np.log(0.6)) / 2.0
    assert metrics.log_loss(SoftLabels(shares), P) == pytest.approx(by_hand, rel=1e-12)
    cal = cb.TemperatureScaling(classes=["cat", "dog"]).fit(P.to_numpy(), SoftLabels(shares))
    assert cal.classes_.tolist() == ["cat", "dog"]
    with pytest.raises(InputError, match="must be named by the classes"):
        metrics.log_loss(SoftLabels(shares.rename(columns={"dog": "bird"})), P)
