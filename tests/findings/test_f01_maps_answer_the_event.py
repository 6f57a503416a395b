"""F1: a map where probabilities are wanted is fitted to the event (more classes: one-vs-rest), and
to the answer only when asked.

The rows are those of a class-weighted model of a rare event: 1.4 % are positive, the mean risk said
is 30 %, and of the rows it says are more likely than not 5 % are. A map of the answer's confidence
pools those rows with the "sure of no", which are nearly all right.
"""

import csv
import json

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant.errors import InputError

NAMED = ["isotonic", "platt", "beta", "spline", "histogram-binning", "venn-abers"]


def rare(n=6000, seed=0):
    rng = np.random.default_rng(seed)
    z = -5.4 + 1.6 * rng.normal(size=n)
    return 1.0 / (1.0 + np.exp(-4.2 - z)), (rng.random(n) < 1.0 / (1.0 + np.exp(-z))).astype(int)


def write(path, p, y):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("p", "label"), *zip(p.tolist(), y.tolist(), strict=True)])
    return path


def column(path, name):
    with path.open() as file:
        return np.array([float(row[name]) for row in csv.DictReader(file)])


@pytest.mark.parametrize("method", ["isotonic", "platt"])
def test_f01_a_named_map_calibrates_the_risk(method, run, tmp_path):
    p, y = rare()
    fresh, outcome = rare(seed=1)
    write(tmp_path / "cal.csv", p, y)
    write(tmp_path / "new.csv", fresh, outcome)
    run("fit", "cal.csv", "--method", method, "-o", "m.calibrant")
    run("apply", "m.calibrant", "new.csv", "-o", "out.csv")
    said = column(tmp_path / "out.csv", "p")
    assert outcome[fresh > 0.5].mean() < 0.07
    assert said[fresh > 0.5].mean() < 0.07
    assert said.mean() == pytest.approx(outcome.mean(), abs=0.005)
    assert metrics.log_loss(outcome, said) < 0.08


@pytest.mark.parametrize(
    ("command", "method"), [("evaluate cal.csv", "isotonic"), ("report cal.csv -o r.json", "platt")]
)
def test_f01_evaluate_and_report_judge_the_calibrated_risk(command, method, run, tmp_path):
    write(tmp_path / "cal.csv", *rare(1000))
    found = json.loads(run(*command.split(), "--method", method, "--json").stdout)
    assert {row["key"]: row for row in found["metrics"]}["log_loss"]["after"]["value"] < 0.1
    assert found["calibrator"]["class"] == "OneVsRest"


def test_f01_a_log_of_answers_keeps_the_order_of_its_scores(run, tmp_path):
    score = np.repeat([0.40, 0.50, 0.55], 200)
    right = np.concatenate([np.arange(200) < count for count in (10, 18, 47)]).astype(int)
    write(tmp_path / "log.csv", score, right)
    run("fit", "log.csv", "--method", "isotonic", "-o", "m.calibrant")
    run("apply", "m.calibrant", "log.csv", "-o", "out.csv")
    said = column(tmp_path / "out.csv", "p")
    for level, share in ((0.40, 0.05), (0.50, 0.09), (0.55, 0.235)):
        assert said[score == level] == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize("map_", [cb.calibrators.Beta, cb.Isotonic, cb.Platt])
def test_f01_sure_of_yes_and_sure_of_no_are_not_pooled(map_):
    p, y = rare()
    fresh, outcome = rare(seed=1)
    cal = cb.ConfidenceCalibrator(map=map_()).fit(p, y)
    yes = fresh > 0.5
    assert cal.predict_confidence(fresh)[yes].mean() == pytest.approx(outcome[yes].mean(), abs=0.02)
    assert cal.predict_confidence(fresh)[~yes].mean() == pytest.approx(
        1.0 - outcome[~yes].mean(), abs=0.02
    )
    pooled = cb.ConfidenceCalibrator(map=map_(), per_class=False).fit(p, y)
    assert pooled.predict_confidence(fresh)[yes].mean() > 0.4


def test_f01_more_classes_stay_pooled_unless_asked():
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(3), 600)
    cal = cb.ConfidenceCalibrator().fit(P, np.array([rng.choice(3, p=row) for row in P]))
    assert cal.map_ is not None
    assert cal.maps_ == {}


def test_f01_a_map_is_one_vs_rest_wherever_a_calibrator_is_wanted():
    from sklearn.linear_model import LogisticRegression

    p, y = rare(1200)
    X = np.log(p / (1 - p))[:, None]
    model = LogisticRegression(class_weight="balanced").fit(X, y)
    expected = (
        cb.OneVsRest(cb.Isotonic())
        .fit(model.predict_proba(X), y)
        .predict_proba(model.predict_proba(X))
    )
    np.testing.assert_array_equal(
        cb.CalibratedClassifier(model, cb.Isotonic()).fit(X, y).predict_proba(X), expected
    )
    np.testing.assert_array_equal(
        cb.CalibratedClassifier(model, cb.Isotonic).fit(X, y).predict_proba(X), expected
    )
    by_folds = cb.calibrators.cross_fitted(cb.OneVsRest(cb.Isotonic()), p, y)
    np.testing.assert_array_equal(cb.calibrators.cross_fitted(cb.Isotonic(), p, y), by_folds)
    for given in (cb.Isotonic(), cb.Isotonic, [cb.Isotonic(), cb.calibrators.Identity()]):
        found = cb.report(y, p, calibrator=given, n_resamples=20).to_dict()
        assert found["calibrator"]["class"] == "OneVsRest"
        assert {row["key"]: row for row in found["metrics"]}["log_loss"]["after"][
            "value"
        ] == pytest.approx(metrics.log_loss(y, by_folds))


def test_f01_a_fitted_map_is_refused_where_a_fitted_calibrator_would_be_used_as_it_is():
    p, y = rare(200)
    with pytest.raises(InputError, match=r"a fitted Isotonic.*OneVsRest\(Isotonic\(\)\)"):
        cb.report(y, p, calibrator=cb.Isotonic().fit(p, y))


@pytest.mark.parametrize("method", NAMED)
def test_f01_the_answer_only_when_asked(method, run, tmp_path):
    write(tmp_path / "cal.csv", *rare(1500))
    run("fit", "cal.csv", "--method", method, "-o", "event.calibrant")
    run("fit", "cal.csv", "--method", method, "--target", "answer", "-o", "answer.calibrant")
    event, answer = cb.load(tmp_path / "event.calibrant"), cb.load(tmp_path / "answer.calibrant")
    assert isinstance(event, cb.OneVsRest)
    assert isinstance(answer, cb.ConfidenceCalibrator)
    assert type(event.map) is type(answer.map)
    asked = json.loads(
        run("evaluate", "cal.csv", "--method", method, "--target", "answer", "--json").stdout
    )
    assert asked["calibrator"]["class"] == "ConfidenceCalibrator"


def test_f01_one_name_for_one_method(run):
    listed = {
        row["name"]: row["is"]
        for row in json.loads(run("methods", "--json").stdout)["classification"]["calibrators"]
    }
    listed = {
        name: said for name, said in listed.items() if ":" not in name
    }  # those of others, which another test may have registered
    assert listed["isotonic"] == "one-vs-rest isotonic regression"
    assert len(set(listed.values())) == len(listed)
    assert not {"isotonic-one-vs-rest", "one-vs-rest"} & set(listed)


def test_f01_a_loaded_calibrator_keeps_pooling(tmp_path):
    p, y = rare(1500)
    old = cb.ConfidenceCalibrator(map=cb.Isotonic(), per_class=False).fit(p, y)
    again = cb.load(old.save(tmp_path / "old.calibrant"))
    assert again.per_class is False
    np.testing.assert_array_equal(again.predict_confidence(p), old.predict_confidence(p))
