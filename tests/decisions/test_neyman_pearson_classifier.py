import numpy as np
import pytest
from scipy import stats
from sklearn.exceptions import NotFittedError

import calibrant as cb
from calibrant.errors import InputError
from calibrant.testing import check_guarantee


def made(n, rng, shift=1.5):
    event = (rng.random(n) < 0.3).astype(int)
    return rng.normal(shift * event), event


def rates(rule, shift=1.5):
    """True (false positive rate, false negative rate) of scores from N(0, 1) and N(shift, 1)."""
    return stats.norm.sf(rule.high_), stats.norm.cdf(rule.low_ - shift)


@pytest.mark.parametrize("shift", [0.5, 4.0])
def test_both_rates_hold_at_once(shift):
    rng, found = np.random.default_rng(0), []
    for _ in range(400):
        rule = cb.decisions.NeymanPearsonClassifier(0.05, 0.1, 0.9).fit_scores(
            *made(600, rng, shift)
        )
        found.append(rates(rule, shift))
    for said, realised in zip(rule.guarantees_, np.array(found).T, strict=True):
        check_guarantee(said, realised)
    both = np.mean((np.array(found) > [0.05, 0.1]).any(axis=1))
    assert both <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / 400)
    assert (rule.low_ == rule.high_) == (shift == 4.0)


def test_one_rate_is_an_order_statistic():
    rng = np.random.default_rng(1)
    score, event = made(1000, rng)
    others = np.sort(score[event == 0])[::-1]
    errors = np.flatnonzero(stats.binom.cdf(np.arange(len(others)), len(others), 0.05) <= 0.05)[-1]
    rule = cb.decisions.NeymanPearsonClassifier(0.05).fit_scores(score, event)
    assert rule.high_ == rule.low_ == others[errors]
    assert set(rule.decide_scores(score).tolist()) == {0, 1}
    events = np.sort(score[event == 1])
    missed = np.flatnonzero(stats.binom.cdf(np.arange(len(events)), len(events), 0.1) <= 0.05)[-1]
    rule = cb.decisions.NeymanPearsonClassifier(None, 0.1).fit_scores(score, event)
    assert (rule.decide_scores(score) == (score >= events[missed])).all()


def test_what_is_tied_with_a_threshold_stays_open():
    score, event = np.repeat([1.0, 2.0, 3.0], 200), np.tile([0, 1], 300)
    rule = cb.decisions.NeymanPearsonClassifier(0.1, 0.1).fit_scores(score, event)
    assert (rule.low_, rule.high_) == (1.0, 3.0)
    assert (rule.decide_scores(score) == -1).all()
    same = cb.decisions.NeymanPearsonClassifier(0.1, 0.1).fit_scores(
        np.full(400, 0.5), np.tile([0, 1], 200)
    )
    assert same.decide_scores([0.4, 0.5, 0.6]).tolist() == [0, -1, 1]


def test_predictions_classes_and_saving(tmp_path):
    rng = np.random.default_rng(2)
    P = rng.dirichlet(np.full(3, 0.3), 3000)
    y = np.array([rng.choice(["a", "b", "c"], p=p) for p in P])
    rule = cb.decisions.NeymanPearsonClassifier(0.1, 0.1, target="b", classes=["a", "b", "c"]).fit(
        P, y
    )
    same = cb.decisions.NeymanPearsonClassifier(0.1, 0.1).fit_scores(P[:, 1], y == "b")
    assert (rule.low_, rule.high_) == pytest.approx((same.low_, same.high_))
    again = cb.load(rule.save(tmp_path / "rule.calibrant"))
    assert (again.decide(P) == rule.decide(P)).all()
    assert again.guarantees_ == rule.guarantees_
    p = P[:, 1]
    logit = cb.decisions.NeymanPearsonClassifier(0.1, inputs="logit").fit(
        np.log(p / (1 - p)), (y == "b").astype(int)
    )
    assert (
        logit.decide(np.log(p / (1 - p)))
        == cb.decisions.NeymanPearsonClassifier(0.1).fit(p, (y == "b").astype(int)).decide(p)
    ).all()


def test_clusters_and_repetitions():
    rng = np.random.default_rng(3)
    score, event = made(400, rng)
    rule = cb.decisions.NeymanPearsonClassifier(0.1, 0.1).fit_scores(
        np.repeat(score, 3), np.repeat(event, 3), cluster=np.repeat(np.arange(400), 3)
    )
    alone = cb.decisions.NeymanPearsonClassifier(0.1, 0.1).fit_scores(score, event)
    assert (rule.high_, rule.low_, rule.n_positive_, rule.unit_) == (
        alone.high_,
        alone.low_,
        event.sum(),
        "clusters",
    )
    weight = rng.integers(1, 4, 400)
    a = cb.decisions.NeymanPearsonClassifier(0.1).fit_scores(score, event, sample_weight=weight)
    b = cb.decisions.NeymanPearsonClassifier(0.1).fit_scores(
        np.repeat(score, weight), np.repeat(event, weight)
    )
    assert (a.high_, a.n_negative_) == (b.high_, b.n_negative_)


@pytest.mark.parametrize(
    ("options", "event", "words"),
    [
        ({"false_positive_rate": None}, [0, 1] * 100, "got None for both"),
        ({"false_positive_rate": 1.5}, [0, 1] * 100, "false_positive_rate must be"),
        ({"confidence": 0.0}, [0, 1] * 100, "confidence must be"),
        ({}, [0] * 200, "no row with an event"),
        ({}, [1] * 200, "no row with none"),
        ({}, [0, 1] * 20, "needs at least 59 rows of a kind"),
    ],
)
def test_what_is_refused(options, event, words):
    with pytest.raises(InputError, match=words):
        cb.decisions.NeymanPearsonClassifier(**options).fit_scores(
            np.linspace(0, 1, len(event)), event
        )


def test_more_classes_need_a_target():
    P = np.full((6, 3), 1 / 3)
    with pytest.raises(InputError, match="takes two classes"):
        cb.decisions.NeymanPearsonClassifier().fit(P, [0, 1, 2, 0, 1, 2])


def test_thresholds_on_scores_are_not_used_on_the_predictions_of_an_earlier_fit():
    rng = np.random.default_rng(0)
    p = rng.random(1000)
    rule = cb.decisions.NeymanPearsonClassifier().fit(p, (rng.random(1000) < p).astype(int))
    rule.fit_scores(10.0 * p, p > 0.5)
    with pytest.raises(NotFittedError):
        rule.decide(p)
