import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from calibrant import metrics
from calibrant.core.predictions import read

RNG = np.random.default_rng(0)
P = np.round(RNG.dirichlet(np.ones(3), 400), 2)
P /= P.sum(axis=1, keepdims=True)
Y = np.array([RNG.choice(3, p=p) for p in P])


@pytest.mark.parametrize("weight", [None, RNG.integers(1, 4, 400)])
def test_equals_scikit_learn_with_ties(weight):
    known = roc_auc_score(P.argmax(axis=1) == Y, P.max(axis=1).round(12), sample_weight=weight)
    assert metrics.confidence_auroc(Y, P, sample_weight=weight) == pytest.approx(known, abs=1e-3)


def test_equals_the_count_of_pairs():
    score, right = metrics.confidence_auroc, P.argmax(axis=1) == Y
    # Of the probabilities as they are read, divided by the row sums once more.
    confidence = read(P).confidence
    pairs = confidence[right][:, None] - confidence[~right]
    assert score(Y, P) == pytest.approx(np.mean((pairs > 0) + 0.5 * (pairs == 0)), abs=1e-12)


def test_delongs_interval_is_that_of_the_bootstrap():
    analytic, boot = (
        metrics.confidence_auroc.interval(Y, P),
        metrics.confidence_auroc.interval(Y, P, method="bootstrap", n_resamples=500),
    )
    assert analytic.method == "analytic"
    assert (analytic.low, analytic.high) == pytest.approx((boot.low, boot.high), abs=0.01)


@pytest.mark.filterwarnings("error")
def test_rows_of_one_kind_move_nothing():
    assert not metrics.event_auroc.moves_of(read([0.2, 0.4, 0.9], [0, 0, 0])).any()


def test_nothing_to_rank_is_one_half():
    assert metrics.confidence_auroc([0, 0], [[0.9, 0.1], [0.6, 0.4]]) == 0.5


def test_of_the_event_it_is_the_c_statistic():
    rng = np.random.default_rng(4)
    p = rng.random(500).round(2)
    y, w = (rng.random(500) < p).astype(int), rng.integers(1, 4, 500)
    assert metrics.event_auroc(y, p, sample_weight=w) == pytest.approx(
        roc_auc_score(y, p, sample_weight=w), abs=1e-12
    )
    assert metrics.event_auroc.key == "event_auroc"
