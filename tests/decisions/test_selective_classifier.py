import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import calibrant as cb
from calibrant.errors import InputError
from calibrant.testing import check_guarantee

LAW = {"risk": 0.1, "confidence": 0.9}


def share_above(t):
    """Of scores from Beta(4, 1), each right with the probability it says."""
    return 1.0 - t**4


def error_above(t):
    return 1.0 - 0.8 * (1.0 - t**5) / (1.0 - t**4)


def made(n, rng):
    score = rng.beta(4, 1, n)
    return score, (rng.random(n) > score).astype(float)


def simulated(n, runs, seed, **options):
    """(true error rate among accepted, true share accepted) of each run, 0 and 0 where it
    refuses; the last promise.
    """
    rng, found, said = np.random.default_rng(seed), [], None
    for _ in range(runs):
        rule = cb.SelectiveClassifier(**LAW, **options)
        try:
            rule.fit_scores(*made(n, rng))
        except InputError:
            found.append((0.0, 0.0))
        else:
            t, said = max(rule.threshold_, 0.0), rule.guarantee_
            found.append((error_above(t), share_above(t)))
    return *np.array(found).T, said


def test_the_promise_holds():
    risk, _, said = simulated(500, 300, 1)
    check_guarantee(said, risk)


def test_it_accepts_most_of_what_could_be():
    """Selection with guaranteed risk accepts 46.8 % of 64.7 % that could be, 8 shares 40.7 %."""
    assert simulated(1000, 300, 2)[1].mean() == pytest.approx(0.53, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"accepted_share": 0.3},
        {"bound": "betting"},
    ],
    ids=str,
)
def test_the_promise_holds_in_ten_thousand_runs(options):
    risk, share, said = simulated(1000, 10_000, 3, **options)
    check_guarantee(said, risk)
    if "accepted_share" in options:
        assert np.mean((risk > 0.1) | ((share > 0.0) & (share < 0.3))) <= 0.1 + 3 * np.sqrt(
            0.1 * 0.9 / 10_000
        )


def test_the_promise_holds_of_bounded_losses():
    rng, means = np.random.default_rng(4), []
    for _ in range(100):
        score = rng.random(1000)
        rule = cb.SelectiveClassifier(**LAW).fit_scores(
            score, rng.beta(0.5, 0.5 / (0.3 * (1.0 - score) + 1e-3) - 0.5)
        )
        means.append(0.3 * (1.0 - max(rule.threshold_, 0.0)) / 2.0 + 1e-3)
        assert rule.certificate_.quantity == "loss"
    check_guarantee(rule.guarantee_, means)
    assert np.mean(means) > 0.06


def test_clusters_count_once():
    """Ten rows of one score, right or wrong together: as rows they would promise far too much."""
    rng, broken, naive = np.random.default_rng(6), [], []
    for _ in range(150):
        score, wrong = made(150, rng)
        cluster = np.repeat(np.arange(150), 10)
        options = {
            "score": np.repeat(score, 10) + 1e-9 * rng.random(1500),
            "loss": np.repeat(wrong, 10),
        }
        for found, extra in ((broken, {"cluster": cluster}), (naive, {})):
            try:
                rule = cb.SelectiveClassifier(**LAW).fit_scores(**options, **extra)
            except InputError:
                found.append(0.0)
            else:
                found.append(error_above(min(max(rule.threshold_, 0.0), 1.0 - 1e-9)))
                said = rule.guarantee_ if extra else said  # noqa: F821
    assert (said.unit, said.n) == ("clusters", 150.0)
    check_guarantee(said, broken)
    with pytest.raises(AssertionError, match="violated in"):
        check_guarantee(said, naive)


def test_a_share_that_is_accepted_as_well():
    rng = np.random.default_rng(7)
    rule = cb.SelectiveClassifier(**LAW, accepted_share=0.3).fit_scores(*made(2000, rng))
    assert rule.certificate_.share > 0.33
    with pytest.raises(InputError, match="no threshold can be certified"):
        cb.SelectiveClassifier(**LAW, accepted_share=0.64).fit_scores(*made(2000, rng))


def test_the_row_that_names_the_threshold_is_not_accepted_and_ties_go_together():
    score = np.repeat([0.9, 0.8, 0.7], 100)
    wrong = np.zeros(300)
    wrong[200:] = 1.0
    rule = cb.SelectiveClassifier().fit_scores(score, wrong)
    assert (rule.threshold_, rule.accepted_, rule.errors_) == (0.7, 200.0, 0.0)
    assert rule.accept_scores([0.7, 0.70001, 0.9]).tolist() == [False, True, True]
    everything = cb.SelectiveClassifier().fit_scores(score, np.zeros(300))
    assert everything.threshold_ == -np.inf
    assert everything.accept_scores([0.0]).all()


def test_predictions_signals_and_saving(tmp_path):
    rng = np.random.default_rng(8)
    P = rng.dirichlet(np.full(4, 0.3), 3000)
    y = np.array([rng.choice(4, p=p) for p in P])
    rule = cb.SelectiveClassifier(0.1).fit(P, y)
    score, wrong = P.max(axis=1), P.argmax(axis=1) != y
    same = cb.SelectiveClassifier(0.1).fit_scores(score, wrong, predicted=1.0 - score)
    assert rule.threshold_ == pytest.approx(same.threshold_, abs=1e-12)
    accepted = rule.accept(P)
    assert (accepted == (P.max(axis=1) > rule.threshold_)).all()
    assert accepted.sum() == rule.accepted_
    by_margin = cb.SelectiveClassifier(0.1, signal=cb.calibrators.Margin()).fit(P, y)
    again = cb.load(by_margin.save(tmp_path / "rule.calibrant"))
    assert (again.accept(P) == by_margin.accept(P)).all()
    assert str(again.certificate_) == str(by_margin.certificate_)
    assert again.guarantee_ == by_margin.guarantee_
    logits = cb.SelectiveClassifier(0.1, inputs="logit").fit(np.log(P), y)
    assert logits.accepted_ == rule.accepted_


def test_a_common_increasing_map_changes_nothing():
    rng = np.random.default_rng(9)
    score, wrong = made(1000, rng)
    a, b = (cb.SelectiveClassifier(**LAW).fit_scores(s, wrong) for s in (score, np.log(score)))
    assert (a.accepted_, a.errors_) == (b.accepted_, b.errors_)


def test_weights_are_whole_rows():
    rng = np.random.default_rng(10)
    score, wrong = made(500, rng)
    weight = rng.integers(0, 4, 500)
    rows = np.repeat(np.arange(500), weight)
    a = cb.SelectiveClassifier(**LAW).fit_scores(score, wrong, sample_weight=weight)
    # Without clusters, equal rows would be taken for copies and count once.
    apart = np.arange(len(rows))
    b = cb.SelectiveClassifier(**LAW).fit_scores(score[rows], wrong[rows], cluster=apart)
    assert (a.threshold_, a.n_, a.accepted_) == (b.threshold_, b.n_, b.accepted_)
    with pytest.raises(InputError, match="whole numbers"):
        cb.SelectiveClassifier(**LAW).fit_scores(score, wrong, sample_weight=weight + 0.5)


@pytest.mark.parametrize(
    ("options", "data", "words"),
    [
        ({"risk": 0.0}, ([0.5], [0]), "risk must be"),
        ({"confidence": 1.0}, ([0.5], [0]), "confidence must be"),
        ({"accepted_share": 2.0}, ([0.5], [0]), "accepted_share must be"),
        ({}, ([0.5] * 58, [0] * 58), "needs at least 59 rows without an error; got 58"),
        ({}, (np.linspace(0, 1, 300), [1] * 300), "more rows would not help"),
        (
            {},
            (np.linspace(0, 1, 100), ([0] * 25 + [1]) * 3 + [0] * 22),
            "these rows do not show whether more would help",
        ),
        ({"bound": "binomial"}, (np.linspace(0, 1, 100), [0.25] * 100), "losses of 0 and 1"),
        ({}, ([0.5, 0.6], [0]), "loss must have one number"),
        ({}, ([0.5, 0.6], [0, -1]), "loss must be"),
    ],
)
def test_what_is_refused(options, data, words):
    with pytest.raises(InputError, match=words):
        cb.SelectiveClassifier(**options).fit_scores(*data)


def test_one_class_and_missing_labels_are_refused():
    with pytest.raises(InputError, match="at least two classes"):
        cb.SelectiveClassifier().fit([0.1] * 100, [0] * 100)
    with pytest.raises(InputError, match="got 'no' alone"):
        cb.SelectiveClassifier(classes=["no", "yes"]).fit([0.1] * 100, ["no"] * 100)
    with pytest.raises(InputError, match="y must be the true labels"):
        cb.SelectiveClassifier().fit([0.1] * 100, None)
    with pytest.raises(ValueError, match="not fitted"):
        cb.SelectiveClassifier().accept([0.1])


def test_thresholds_on_scores_are_not_used_on_the_predictions_of_an_earlier_fit():
    rng = np.random.default_rng(0)
    p = rng.random(1000)
    rule = cb.SelectiveClassifier(0.2, 0.9).fit(p, (rng.random(1000) < p).astype(int))
    rule.fit_scores(10.0 * p, np.zeros(1000))
    with pytest.raises(NotFittedError):
        rule.accept(p)


@pytest.mark.parametrize("rows", [20, 600])
def test_where_nothing_is_certified_a_rule_may_accept_nothing(rows, tmp_path):
    rng = np.random.default_rng(0)
    score, loss = rng.random(rows), (rng.random(rows) < 0.4).astype(float)
    with pytest.raises(InputError, match=r"confidence of 0\.95"):
        cb.SelectiveClassifier(0.05, 0.95).fit_scores(score, loss)
    rule = cb.SelectiveClassifier(0.05, 0.95, when_uncertain="accept_none")
    with pytest.warns(UserWarning, match="No answer is accepted"):
        rule.fit_scores(score, loss)
    assert not rule.accept_scores([0.0, 1.0, 1e9]).any()
    assert (rule.threshold_, rule.accepted_) == (np.inf, 0.0)
    assert str(rule.certificate_).startswith(f"Accepts 0 of {rows} rows (0.0 %), 0 of them wrong")
    rule.save(tmp_path / "rule.calibrant")
    assert cb.load(tmp_path / "rule.calibrant").threshold_ == np.inf


def test_none_is_no_share_that_was_asked_for():
    rule = cb.SelectiveClassifier(0.05, accepted_share=0.2, when_uncertain="accept_none")
    with pytest.raises(InputError, match="exclude each other"):
        rule.fit_scores(np.arange(100.0), np.zeros(100))
