"""The tables of questions: their worlds, their oracle and the rule without a promise."""

import numpy as np
from benchmarks.questions import rules
from benchmarks.questions.cells import ragged_log
from benchmarks.questions.table import expected_loss

import calibrant as cb


def test_the_truth_has_the_lowest_expected_loss_and_the_temperature_is_found():
    rng = np.random.default_rng(0)
    log, truth = ragged_log(200, (0.5, 0.0), np.zeros(5), 10, rng)
    assert (log.size.min(), log.size.max(), log.decimals) == (2, 10, 4)
    found = cb.QuestionCalibrator(by="one").fit_record(log)
    losses = [expected_loss(p, truth, 1_000) for p in (truth, found.predict_record(log))]
    assert losses[0] < losses[1] < expected_loss(log.probability, truth, 1_000)
    assert np.allclose(list(found.temperatures_.values()), np.exp(0.5), rtol=0.15)


def test_the_oracle_answers_most_of_what_keeps_the_risk():
    score = np.array([[0.9], [0.8], [0.7], [0.6]])
    assert rules._oracle(score, score, 0.2, "question") == 0.75
    assert rules._oracle(score, score, 0.05, "question") == 0.0
    used = np.array([[True], [True], [True], [False]])
    assert rules._kept(used, score, 0.2, "question") == (True, 0.75)
    assert not rules._kept(np.ones((4, 1), bool), score, 0.2, "question")[0]


def test_a_plain_threshold_is_the_lowest_with_the_observed_rate():
    score, hit = np.array([[0.9], [0.8], [0.7], [0.6]]), np.array([[1], [1], [0], [1]], bool)
    assert 0.5 < rules._plain(score, hit, 0.25, "question")[0] < 0.6
    assert 0.7 < rules._plain(score, hit, 0.1, "question")[0] < 0.8
