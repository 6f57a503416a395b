"""The templates of metrics: intervals, states and options that every metric shares."""

import inspect

import numpy as np
import pytest

from calibrant import metrics
from calibrant.core.metric_kinds import RatioMetric, WholeMetric
from calibrant.errors import InputError

RNG = np.random.default_rng(0)
P = RNG.random(600)
Y = (RNG.random(600) < P).astype(int)


class HitsPerConfidence(
    RatioMetric,
    name="hits per confidence",
    key="hits_per_confidence",
    direction="none",
    range=(0.0, float("inf")),
):
    def _parts(self, record):
        return record.correct, record.confidence


class LargestConfidence(
    WholeMetric,
    name="largest confidence",
    key="largest_confidence",
    direction="none",
    range=(0.0, 1.0),
):
    def _value(self, record):
        return float(record.confidence.max())


@pytest.mark.parametrize("method", ["analytic", "bootstrap", "bca"])
def test_intervals_of_a_mean_agree(method):
    got = metrics.brier_score.interval(Y, P, method=method, n_resamples=2000)
    normal = metrics.brier_score.interval(Y, P)
    assert got.method == method
    assert got.low == pytest.approx(normal.low, abs=0.1 * (normal.high - normal.low))
    assert got.high == pytest.approx(normal.high, abs=0.1 * (normal.high - normal.low))


def test_the_ratio_interval_matches_its_bootstrap():
    metric = HitsPerConfidence()
    analytic, boot = (
        metric.interval(Y, P),
        metric.interval(Y, P, method="bootstrap", n_resamples=2000),
    )
    assert analytic.method == "analytic"
    assert analytic.value == pytest.approx(
        np.maximum((P > 0.5) == Y, 0).sum() / np.maximum(P, 1 - P).sum()
    )
    assert (analytic.low, analytic.high) == pytest.approx(
        (boot.low, boot.high), abs=0.1 * (boot.high - boot.low)
    )


def test_bootstraps_are_seeded_and_level_matters():
    first = metrics.log_loss.interval(Y, P, method="bca", random_state=3)
    assert first == metrics.log_loss.interval(Y, P, method="bca", random_state=3)
    assert first != metrics.log_loss.interval(Y, P, method="bca", random_state=4)
    wide = metrics.log_loss.interval(Y, P, level=0.99)
    assert wide.low < first.low < first.high < wide.high


def test_bca_equals_the_textbook_on_a_skewed_mean():
    """Against Efron's formula worked out with every row left out once."""
    from scipy import stats

    y = np.zeros(60, dtype=int)
    p = np.random.default_rng(5).beta(0.5, 3.0, 60)
    got = metrics.log_loss.interval(y, p, method="bca", n_resamples=20_000)
    loss = -np.log1p(-p)
    # The option's name changed with SciPy 1.15.
    seed = {
        "rng"
        if "rng" in inspect.signature(stats.bootstrap).parameters
        else "random_state": np.random.default_rng(1)
    }
    known = stats.bootstrap(
        (loss,), np.mean, n_resamples=20_000, method="BCa", **seed
    ).confidence_interval
    assert (got.low, got.high) == pytest.approx((known.low, known.high), rel=0.03)


def test_many_rows_are_resampled_in_parts_with_the_same_spread():
    n = 60_000
    p = np.random.default_rng(1).random(n)
    y = (np.random.default_rng(2).random(n) < p).astype(int)
    parts, normal = (
        metrics.brier_score.interval(y, p, method="bootstrap"),
        metrics.brier_score.interval(y, p),
    )
    assert parts.high - parts.low == pytest.approx(normal.high - normal.low, rel=0.1)


def test_weights_mean_repetition_in_the_analytic_interval():
    weight = RNG.integers(0, 3, len(P))
    weighted = metrics.log_loss.interval(Y, P, sample_weight=weight)
    repeated = metrics.log_loss.interval(np.repeat(Y, weight), np.repeat(P, weight))
    assert (weighted.low, weighted.high, weighted.n) == pytest.approx(
        (repeated.low, repeated.high, repeated.n)
    )


def test_a_whole_metric_has_no_state_but_has_intervals_and_groups():
    metric = LargestConfidence()
    assert not metric.mergeable
    with pytest.raises(InputError, match="no state of fixed size"):
        metric.state(Y, P)
    assert metric.interval(Y, P, n_resamples=50).high == metric(Y, P)
    assert metrics.per_group(metric, Y, P, Y).value.max() == metric(Y, P)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"level": 1.0}, "level must be"), ({"method": "magic"}, 'has no "magic" interval')],
)
def test_interval_refuses_what_it_cannot_do(options, words):
    with pytest.raises(InputError, match=words):
        metrics.log_loss.interval(Y, P, **options)


def test_unknown_options_are_named():
    with pytest.raises(TypeError, match="has no option"):
        metrics.expected_calibration_error(Y, P, bins=10)


def test_facts_are_keywords_of_the_class_and_options_are_frozen():
    assert (HitsPerConfidence.name, HitsPerConfidence.direction) == ("hits per confidence", "none")
    assert HitsPerConfidence() == HitsPerConfidence()
    with pytest.raises(AttributeError, match="cannot assign"):
        HitsPerConfidence().option = 1


def test_a_fact_that_no_template_declares_is_named():
    with pytest.raises(
        TypeError, match=r"Misspelt has no property \['rnage'\]; its template has .*'range'"
    ):
        type("Misspelt", (WholeMetric,), {}, rnage=(0.0, 1.0))
