"""Tests of the pooled calibrators of questions, on worlds with a known truth."""

from dataclasses import replace

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError
from calibrant.questions import (
    AutoQuestionCalibrator,
    IsotonicQuestions,
    QuestionCalibrator,
    question_accuracy,
    question_brier,
    question_gap,
    question_log_loss,
    question_ranked_score,
    read_questions,
)
from calibrant.questions.calibrator import SignalStack
from calibrant.questions.pooled_map import PooledMap


def world(n_questions=30, n_rows=25, a=0.4, b=0.2, spread=0.3, seed=0):
    """A log of choices with ln T = a + b ln n + v_q, and the true probabilities."""
    rng = np.random.default_rng(seed)
    v, log, truth = np.random.default_rng(99).normal(0, spread, n_questions), [], []
    for q in range(n_questions):
        for _ in range(n_rows):
            n = int(rng.integers(2, 12))
            z = rng.normal(0, 1.5, n)
            T = np.exp(a + b * np.log(n) + v[q])
            p, said = (np.exp(k * z - (k * z).max()) for k in (1.0, T))
            names = [f"o{len(log)}.{k}" for k in range(n)]
            truth.append(p / p.sum())
            label = names[rng.choice(n, p=truth[-1])]
            probs = dict(zip(names, (said / said.sum()).tolist(), strict=True))
            log.append({"id": len(log), "question": f"q{q}", "probs": probs, "label": label})
    return read_questions(log), np.concatenate(truth)


def expected_loss(P, truth, n):
    return -float(truth @ np.log(np.maximum(P, 1e-15))) / n


def test_pooled_temperatures_beat_one_and_one_for_each_question():
    record, _ = world()
    new, truth = world(n_rows=60, seed=1)
    loss = {}
    for by in ("question", "type", "one"):
        P = QuestionCalibrator(by=by).fit(record).predict_record(new)
        loss[by] = expected_loss(P, truth, len(new))
    alone = new.probability.copy()
    for q in range(30):
        own = QuestionCalibrator(by="one").fit_record(record.take(record.question.index == q))
        rows = np.flatnonzero(new.question.index == q)
        alone[new.flat(rows)] = own.predict_record(new.take(rows))
    loss["alone"], least = expected_loss(alone, truth, len(new)), expected_loss(truth, truth, 1800)
    excess = {name: one - least for name, one in loss.items()}
    assert excess["question"] < 0.85 * excess["type"]
    assert excess["type"] < excess["one"]
    assert excess["question"] < 0.75 * excess["alone"]


def test_the_truth_is_recovered_with_many_labels():
    record, _ = world(n_questions=8, n_rows=1500)
    fitted = QuestionCalibrator().fit(record).maps_["choice"]
    v = np.random.default_rng(99).normal(0, 0.3, 8)
    order = np.argsort([int(name[0][1:]) for name in fitted.leaves.names])
    T = fitted.theta[:, -2] + fitted.own[:, 0]
    mean = np.log(record.size).mean()
    assert T[order] == pytest.approx(0.4 + 0.2 * mean + v, abs=0.15)
    assert dict(zip(fitted.names, fitted.shared, strict=True))["b"] == pytest.approx(0.2, abs=0.08)


def test_a_question_without_labels_has_its_types_map_at_its_n():
    record, _ = world(n_questions=6)
    new, _ = world(n_questions=1, seed=3)
    names = np.array(["never seen"], dtype=object)
    strange = replace(new, question=replace(new.question, names=names))
    calibrator = QuestionCalibrator().fit(record)
    own = calibrator.maps_["choice"]
    slope = np.exp(-own.shared[0] - own.shared[1] * (np.log(new.size) - own.middle))
    power = new.probability ** np.repeat(slope, new.size)
    expected = power / np.repeat(np.add.reduceat(power, new.start[:-1]), new.size)
    assert calibrator.predict(strange).probability == pytest.approx(expected, rel=1e-9)


def test_no_miscalibration_costs_little():
    record, _ = world(a=0.0, b=0.0, spread=0.0)
    new, truth = world(a=0.0, b=0.0, spread=0.0, n_rows=60, seed=1)
    P = QuestionCalibrator().fit(record).predict_record(new)
    least = expected_loss(truth, truth, len(new))
    assert expected_loss(P, truth, len(new)) < 1.001 * least


def test_weights_are_repetitions_and_rows_have_no_order():
    record, _ = world(n_questions=5, n_rows=20)
    twice = np.concatenate([np.arange(100), np.arange(0, 100, 2)])
    weight = 1.0 + (np.arange(100) % 2 == 0)
    one = QuestionCalibrator().fit(record, sample_weight=weight)
    other = QuestionCalibrator().fit(record.take(np.random.default_rng(0).permutation(twice)))
    P, Q = one.predict_record(record), other.predict_record(record)
    assert pytest.approx(Q, abs=1e-4) == P


def test_multilabel_tables_borrow_for_rare_labels():
    rng = np.random.default_rng(0)
    centre = rng.uniform(-5.0, 0.0, 40)
    odds = centre + rng.normal(0, 1.0, (4000, 40))
    truth = 1.0 / (1.0 + np.exp(-(0.6 * odds + 0.3)))
    said, Y = 1.0 / (1.0 + np.exp(-odds)), (rng.random(odds.shape) < truth).astype(int)
    pooled = QuestionCalibrator().fit(said[:150], Y[:150])

    def loss(P):
        return -np.mean(truth[150:] * np.log(P) + (1 - truth[150:]) * np.log1p(-P))

    Q = pooled.predict(said[150:])
    assert Q.shape == (3850, 40)
    one = QuestionCalibrator(by="one").fit(said[:150], Y[:150]).predict(said[150:])
    alone = np.column_stack(
        [cb.Platt().fit(said[:150, j], Y[:150, j]).predict(said[150:, j]) for j in range(40)]
    )
    assert loss(Q) < min(loss(alone), loss(said[150:]), loss(one) + 1e-3)
    record = QuestionCalibrator().fit(read_questions(said[:150], Y[:150]))
    assert record.predict(read_questions(said[150:200])).probability[1::2] == pytest.approx(
        Q[:50].ravel(), abs=1e-6
    )


def test_many_rows_are_merged_without_a_visible_change(monkeypatch):
    rng = np.random.default_rng(0)
    P = rng.beta(2.0, 3.0, (500, 6))
    Y = (rng.random(P.shape) < P**1.3).astype(int)
    whole = QuestionCalibrator().fit(P, Y).predict(P)
    monkeypatch.setattr("calibrant.questions.pooled_map.MANY_ROWS", 10)
    monkeypatch.setattr("calibrant.questions.calibrator.BLOCK", 1500)
    assert QuestionCalibrator().fit(P, Y).predict(P) == pytest.approx(whole, abs=2e-4)


def test_ordinal_arrays_keep_the_order_of_levels():
    rng = np.random.default_rng(0)
    cuts = np.array([-1.5, -0.5, 0.6, 1.8])

    def draw(n):
        odds = cuts - rng.normal(0, 1.5, n)[:, None]
        F, S = (1.0 / (1.0 + np.exp(-o)) for o in (odds, 2.0 * odds + [0.5, -0.3, 0.0, 0.4]))
        T, P = (np.diff(one, axis=1, prepend=0.0, append=1.0) for one in (F, S))
        P = np.maximum(P, 1e-9) / np.maximum(P, 1e-9).sum(axis=1, keepdims=True)
        return P, np.array([rng.choice(5, p=t) for t in T]), T

    P, y, _ = draw(300)
    new, labels, truth = draw(3000)
    Q = QuestionCalibrator(ordered=True).fit(P, y).predict(new)
    assert Q.min() > 0.0
    assert Q.sum(axis=1) == pytest.approx(np.ones(3000))

    def rps(P):
        return question_ranked_score(None, read_questions(P, labels, ordered=True))

    nominal = cb.TemperatureScaling().fit(P, y).predict_proba(new)
    assert rps(truth) < rps(Q) < min(rps(nominal), rps(new))


def test_recurring_options_have_offsets_where_they_pay():
    rng, log = np.random.default_rng(0), []
    for i in range(600):
        z = rng.normal(0, 1, 4)
        p, said = np.exp(z), np.exp(z + np.array([0.8, 0.0, 0.0, -0.8]))
        probs = dict(zip("ABCD", (said / said.sum()).tolist(), strict=True))
        label = "ABCD"[rng.choice(4, p=p / p.sum())]
        log.append({"question": f"q{i % 6}", "probs": probs, "label": label})
    record = read_questions(log)
    fitted = PooledMap.fit(record, 1)
    shared = dict(zip(fitted.names, fitted.shared, strict=True))
    gap = shared["option", "D"] - shared["option", "A"]
    assert gap == pytest.approx(1.6, abs=0.4)
    assert fitted.spreads[2] < 0.3


def test_a_rounded_zero_is_half_a_unit_or_less():
    rng, log = np.random.default_rng(0), []
    for i in range(800):
        z = 4.0 * rng.normal(0, 1, 5)
        p = np.exp(z - z.max())
        label = str(rng.choice(5, p=p / p.sum()))
        rounded = {str(k): round(one, 1) for k, one in enumerate((p / p.sum()).tolist())}
        log.append({"id": i, "probs": rounded, "label": label})
    record = read_questions(log)
    assert record.decimals == 1
    fitted = PooledMap.fit(record, 1)
    assert fitted.exponent <= 0.0
    assert fitted.predict(record).min() > 0.0
    assert record.loss_limits()[2] == np.inf


def test_signals_are_stacked_and_may_be_missing():
    rng, log = np.random.default_rng(0), []
    for i in range(1200):
        z = rng.normal()
        good = {"a": z + rng.normal(), "b": 1.0 / (1.0 + np.exp(-2.0 * z - rng.normal()))}
        if i % 3 == 0:
            good.pop("b")
        log.append({"id": i, "signals": good, "correct": bool(rng.random() < 1 / (1 + np.exp(-z)))})
    record = read_questions(log, signals=["a", "b"])
    first, rest = np.arange(600), np.arange(600, 1200)
    calibrator = QuestionCalibrator().fit(record.take(first))
    assert isinstance(calibrator.signals_["free answer"], SignalStack)
    found = calibrator.predict(record.take(rest))
    base = record.take(rest).recalibrated(np.tile([0.5, 0.5], 600))
    assert question_log_loss(None, found) < question_log_loss(None, base) - 0.03
    assert "signal" in calibrator.explain()


def test_the_automatic_choice_uses_evidence_by_items():
    record, _ = world()
    new, truth = world(n_rows=60, seed=1)
    auto = AutoQuestionCalibrator().fit(record)
    assert auto.status_ == "pooled"
    assert "standard errors" in auto.explain()
    P = auto.predict_record(new)
    assert expected_loss(P, truth, 1800) < expected_loss(new.probability, truth, 1800) - 0.05
    fine, _ = world(a=0.0, b=0.0, spread=0.0, n_questions=8)
    kept = AutoQuestionCalibrator().fit(fine)
    change = np.abs(kept.predict_record(fine) - fine.probability).max()
    assert change < 0.02
    assert AutoQuestionCalibrator().fit(fine.take(np.arange(10))).status_.endswith("too few rows")


def test_isotonic_of_all_options_sums_to_one():
    record, _ = world(n_rows=40)
    fitted = IsotonicQuestions().fit(record)
    P = fitted.predict(record)
    assert np.add.reduceat(P.probability, P.start[:-1]) == pytest.approx(np.ones(len(record)))
    assert question_log_loss(None, P) < question_log_loss(None, record)
    levels = read_questions(
        np.random.default_rng(0).dirichlet(np.ones(4), 200), [0, 1, 2, 3] * 50, ordered=True
    )
    Q = IsotonicQuestions().fit(levels).predict(levels)
    assert Q.probability.min() > 0.0


def test_metrics_by_hand():
    record = read_questions(
        [
            {"probs": {"yes": 0.8, "no": 0.2}, "label": "no"},
            {"probs": {"a": 0.5, "b": 0.25, "c": 0.25}, "label": "a"},
        ]
    )
    assert question_log_loss(None, record) == pytest.approx(-(np.log(0.2) + np.log(0.5)) / 2)
    assert question_brier(None, record) == pytest.approx((0.64 + 0.375) / 2)
    assert question_accuracy(None, record) == 0.5
    assert question_gap(None, record) == pytest.approx(0.65 - 0.5)
    found = question_log_loss.interval(None, record)
    assert found.low < found.value < found.high


def test_fits_are_saved_and_loaded(tmp_path):
    record, _ = world(n_questions=4)
    for one in (QuestionCalibrator(), AutoQuestionCalibrator(), IsotonicQuestions()):
        path = one.fit(record).save(tmp_path / type(one).__name__)
        again = cb.load(path)
        assert (again.predict_record(record) == one.predict_record(record)).all()


def test_errors():
    with pytest.raises(InputError, match="must have outcomes; got none"):
        QuestionCalibrator().fit([{"probs": {"a": 0.5, "b": 0.5}}])
    with pytest.raises(InputError, match="of 0 and 1"):
        QuestionCalibrator().fit(np.full((3, 2), 0.5), np.full((3, 2), 0.5))
    with pytest.raises(InputError, match="by must be"):
        QuestionCalibrator(by="row").fit(world(n_questions=1)[0])


def test_sharp_levels_keep_their_tails():
    rng = np.random.default_rng(0)
    cuts = np.array([-5.0, -1.5, 1.0, 4.0])

    def levels(centre, cuts):
        below = 1.0 / (1.0 + np.exp(centre[:, None] - cuts))
        return np.diff(np.column_stack([np.zeros(len(centre)), below, np.ones(len(centre))]))

    centre = rng.normal(0.0, 4.0, 4_000)
    truth = levels(centre, cuts)
    y = (truth.cumsum(axis=1) < rng.random((4_000, 1))).sum(axis=1)
    P = levels(2.0 * centre + 0.8, 2.0 * cuts)
    found = cb.QuestionCalibrator(ordered=True).fit(P, y)
    assert abs(found.temperatures_[""] - 2.0) < 0.15
    loss = [-np.log(Q[np.arange(4_000), y]).mean() for Q in (found.predict(P), truth)]
    assert loss[0] < loss[1] + 0.01


def test_weights_of_a_table_are_of_its_rows_for_every_calibrator():
    rng = np.random.default_rng(0)
    P = rng.random((200, 3))
    Y, weight = (rng.random((200, 3)) < P).astype(int), rng.integers(0, 4, 200)
    for one in (QuestionCalibrator(), AutoQuestionCalibrator(), IsotonicQuestions()):
        one.fit(P, Y, sample_weight=weight)
        assert getattr(one, "n_fit_", 3.0 * weight.sum()) == 3.0 * weight.sum()
        with pytest.raises(InputError, match="one weight for each of the 200 rows"):
            one.fit(P, Y, sample_weight=np.ones(600))
    value = question_log_loss(np.repeat(Y, weight, 0), np.repeat(P, weight, 0))
    assert question_log_loss(Y, P, sample_weight=weight) == pytest.approx(value)


def test_ordered_is_true_or_false():
    with pytest.raises(InputError, match="ordered must be True or False; got 'x'"):
        QuestionCalibrator(ordered="x").fit([[0.5, 0.5]] * 4, [0, 1, 0, 1])
