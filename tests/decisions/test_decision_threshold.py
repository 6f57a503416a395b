import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, make_scorer
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.naive_bayes import GaussianNB

import calibrant as cb
from calibrant import metrics
from calibrant.decisions.thresholds import _first_reaching
from calibrant.errors import CalibrationWarning, InputError

COSTS = {"cost_false_positive": 1.0, "cost_false_negative": 4.0}


def expit(z):
    return 1.0 / (1.0 + np.exp(-z))


def logit(p):
    return np.log(p / (1.0 - p))


def data(n, seed=0, slope=2.0):
    """Log-odds said ``slope`` times too large: a risk of 0.2 is said as expit(slope logit 0.2)."""
    rng = np.random.default_rng(seed)
    odds = rng.normal(-1.0, 1.5, n)
    return (rng.random(n) < expit(odds)).astype(int), expit(slope * odds)


def test_the_closed_form():
    y, p = data(200)
    assert cb.decisions.decision_threshold(y, p, **COSTS, calibrator=cb.Platt()).risk == 0.2
    found = cb.decisions.decision_threshold(
        y,
        p,
        cost_false_positive=3,
        cost_true_negative=1,
        cost_false_negative=10,
        cost_true_positive=2,
        calibrator=cb.Platt(),
    )
    assert found.risk == 2.0 / (2.0 + 8.0)


@pytest.mark.parametrize(
    "calibrator",
    [cb.Platt(), cb.Isotonic(), cb.TemperatureScaling()],
    ids=["Platt", "isotonic", "temperature"],
)
def test_the_raw_score_is_where_the_calibrated_risk_reaches_it(calibrator):
    y, p = data(2000)
    found = cb.decisions.decision_threshold(y, p, **COSTS, calibrator=calibrator)
    assert found.score == pytest.approx(expit(2.0 * logit(0.2)), abs=0.03)
    assert found.low < found.score <= found.high
    said = found.calibrator.predict_proba(p)[:, 1]
    assert ((said >= found.risk) == (p >= found.score)).all()


def test_logits_keep_their_scale():
    y, p = data(1000)
    a, b = (
        cb.decisions.decision_threshold(y, p, **COSTS, calibrator=cb.Platt()),
        cb.decisions.decision_threshold(
            y, logit(p), inputs="logit", **COSTS, calibrator=cb.Platt()
        ),
    )
    assert b.score == pytest.approx(logit(a.score), abs=0.02)
    assert (b.low, b.high) == pytest.approx((logit(a.low), logit(a.high)))
    # Of two columns of logits only the difference counts.
    own = np.random.default_rng(0).normal(size=len(p))
    c = cb.decisions.decision_threshold(
        y, np.column_stack([own, own + logit(p)]), inputs="logit", **COSTS, calibrator=cb.Platt()
    )
    assert (c.score, c.low, c.high) == pytest.approx((b.score, b.low, b.high))


def test_costs_and_counts_are_those_of_the_confusion_matrix():
    y, p = data(500, slope=1.0)
    found = cb.decisions.decision_threshold(y, p, **COSTS, calibrator=cb.calibrators.Identity())
    (_, fp), (fn, tp) = confusion_matrix(y, p >= 0.2)
    assert (found.flagged, found.true_positives, found.score) == (
        tp + fp,
        tp,
        pytest.approx(0.2, abs=1e-3),
    )
    assert found.expected_cost == pytest.approx((fp + 4.0 * fn) / 500)
    assert found.cost_of_none == pytest.approx(4.0 * y.mean())
    assert found.cost_of_all == pytest.approx(1.0 - y.mean())
    assert found.net_benefit == pytest.approx(metrics.net_benefit(y, p, threshold=0.2))


def test_a_weight_is_a_repetition_and_a_weight_of_zero_no_row():
    y, p = data(300, slope=1.0)
    weight = np.arange(300) % 3.0
    rows = np.repeat(np.arange(300), weight.astype(int))
    a = cb.decisions.decision_threshold(
        y, p, **COSTS, calibrator=cb.calibrators.Identity(), sample_weight=weight
    )
    b = cb.decisions.decision_threshold(
        y[rows], p[rows], **COSTS, calibrator=cb.calibrators.Identity()
    )
    assert (a.score, a.low, a.high, a.n, a.flagged) == (b.score, b.low, b.high, b.n, b.flagged)
    assert a.expected_cost == pytest.approx(b.expected_cost)


@pytest.mark.filterwarnings("ignore:the calibrated risk reaches")
def test_a_fitted_calibrator_is_used_as_it_is():
    y, p = data(600)
    fitted = cb.OneVsRest(cb.Platt()).fit(p[:300], y[:300])
    found = cb.decisions.decision_threshold(y[300:], p[300:], **COSTS, calibrator=fitted)
    assert (found.evaluation, found.calibrator) == ("as given", fitted)


def test_one_class_of_several_and_names():
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(3), 400)
    y = np.array([rng.choice(["a", "b", "c"], p=row) for row in P])
    found = cb.decisions.decision_threshold(
        y, P, classes=["a", "b", "c"], target="b", **COSTS, calibrator=cb.Platt()
    )
    assert found.low < 0.2 <= found.high
    assert "Act from a calibrated risk of 0.2" in repr(found)
    assert found.to_dict()["evaluation"] == "out-of-fold"


def test_a_calibrator_that_does_not_fit_is_told_of():
    y, p = data(1000, slope=4.0)
    with pytest.warns(CalibrationWarning, match="outside the interval"):
        cb.decisions.decision_threshold(y, p, **COSTS, calibrator=cb.calibrators.Identity())


def test_no_score_and_every_score():
    y, p = [0, 0, 1, 0] * 20, [0.01, 0.02, 0.03, 0.04] * 20
    nobody = cb.decisions.decision_threshold(
        y,
        np.log(p),
        inputs="logit",
        cost_false_positive=1,
        cost_false_negative=0.01,
        calibrator=cb.calibrators.Identity(),
    )
    assert (nobody.score, nobody.flagged) == (np.inf, 0.0)
    everybody = cb.decisions.decision_threshold(
        y,
        np.log(p),
        inputs="logit",
        cost_false_positive=0.001,
        cost_false_negative=1,
        calibrator=cb.calibrators.Identity(),
    )
    assert (everybody.score, everybody.flagged) == (-np.inf, 80.0)


@pytest.mark.parametrize("costs", [(0.0, 4.0), (1.0, -1.0)], ids=str)
def test_costs_that_leave_nothing_to_decide_are_refused(costs):
    with pytest.raises(InputError, match="costs must"):
        cb.decisions.decision_threshold(
            [0, 1] * 5, [0.2, 0.6] * 5, cost_false_positive=costs[0], cost_false_negative=costs[1]
        )


@pytest.mark.filterwarnings("ignore:the calibrated risk reaches")
def test_scikit_learn_decides_by_it():
    X, y = make_classification(1500, n_informative=4, weights=[0.8], random_state=0)
    model = cb.CalibratedClassifier(GaussianNB(), cb.Platt()).fit(X[:700], y[:700])
    found = cb.decisions.decision_threshold(
        y[700:1100], model.predict_proba(X[700:1100]), **COSTS, calibrator=cb.calibrators.Identity()
    )
    fixed = FixedThresholdClassifier(
        cb.CalibratedClassifier(GaussianNB(), cb.Platt()), threshold=found.risk
    ).fit(X[:700], y[:700])
    assert (fixed.predict(X[1100:]) == (model.predict_proba(X[1100:])[:, 1] >= 0.2)).all()

    def gain(true, said):
        (_, fp), (fn, _) = confusion_matrix(true, said)
        return -(fp + 4.0 * fn)

    tuned = TunedThresholdClassifierCV(
        cb.CalibratedClassifier(LogisticRegression(), cb.Platt()),
        scoring=make_scorer(gain),
        cv=3,
        random_state=0,
    ).fit(X[:700], y[:700])
    # The calibrated threshold is as good as the tuned one, without the tuning.
    assert gain(y[1100:], fixed.predict(X[1100:])) > -0.45 * len(y[1100:])
    assert 0.0 < tuned.best_threshold_ < 1.0


def held(n, repeats, seed):
    aim = expit(2.0 * logit(0.2))
    found = [
        cb.decisions.decision_threshold(
            *data(n, seed + r), **COSTS, calibrator=cb.Platt(), n_splits=2
        )
        for r in range(repeats)
    ]
    return np.mean([one.low < aim <= one.high for one in found]), np.mean(
        [one.low < one.score <= one.high for one in found]
    )


@pytest.mark.filterwarnings("ignore:the calibrated risk reaches")
def test_the_interval_holds_the_threshold():
    covers, contains = held(300, 60, 100)
    assert covers >= 0.95 - 3.0 * np.sqrt(0.95 * 0.05 / 60)
    assert contains >= 0.95


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the calibrated risk reaches")
@pytest.mark.parametrize("n", [200, 1000, 4000])
def test_the_interval_holds_the_threshold_over_many_runs(n):
    assert held(n, 400, 1000)[0] >= 0.95 - 3.0 * np.sqrt(0.95 * 0.05 / 400)


def test_the_first_score_that_reaches_a_risk_lies_between_two_of_the_data_or_beyond_them():
    scores = np.array([0.2, 0.4])
    for risk in (0.1, 0.3, 0.9):
        assert _first_reaching(lambda s: s, scores, risk, False) == pytest.approx(risk, abs=1e-3)
    assert _first_reaching(lambda s: 0.0 * s, scores, 0.1, False) == np.inf
    assert _first_reaching(lambda s: s, scores, 0.1, True) == -np.inf
    assert _first_reaching(lambda s: s, scores, 0.9, True) == np.inf


@pytest.mark.parametrize("cost", ["1", None, [1, 2], np.nan, np.inf, 1e308, -1e308])
def test_a_cost_is_a_number(cost):
    for name in ("cost_false_positive", "cost_true_negative"):
        costs = {"cost_false_positive": 1, "cost_false_negative": 5, name: cost}
        with pytest.raises(InputError, match=f"^{name} must be a number of at most 1e\\+100"):
            cb.decisions.decision_threshold([0, 1] * 20, [0.2, 0.7] * 20, **costs)


def test_costs_of_very_different_sizes_imply_no_threshold():
    with pytest.raises(InputError, match=r"within a factor of 1e\+12; got differences of 1e\+90"):
        cb.decisions.decision_threshold(
            [0, 1] * 20, [0.2, 0.7] * 20, cost_false_positive=1e90, cost_false_negative=1
        )
