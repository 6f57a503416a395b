"""A person with a log of a model's answers asks which questions it can be trusted with."""

import re

import numpy as np
import pytest

import calibrant as cb
from calibrant.questions import QuestionCalibrator, read_questions

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

QUESTIONS = ("topic", "tone", "intent", "language", "genre", "sender", "urgency", "product")
OVERCONFIDENT = {"intent", "sender"}


def world(seed, items, off=OVERCONFIDENT):
    """Rows of a log, and the true gap of each question; probabilities are calibrated, but for those
    of two questions, which are sharpened.
    """
    rng = np.random.default_rng(seed)
    log, gaps = [], {}
    for k, question in enumerate(QUESTIONS):
        names = [f"option {j}" for j in range(3 + k % 3)]
        true = rng.dirichlet(np.full(len(names), 0.7), items)
        said = true ** (3.0 if question in off else 1.0)
        said /= said.sum(axis=1, keepdims=True)
        best = said.argmax(axis=1)
        gaps[question] = float((said - true)[np.arange(items), best].mean())
        for item in range(items):
            label = names[rng.choice(len(names), p=true[item])]
            probs = dict(zip(names, said[item].tolist(), strict=True))
            log.append({"id": item, "question": question, "probs": probs, "label": label})
    return log, gaps


def named(audit):
    """The questions that a report names as off."""
    return {name.removeprefix("question ") for name in audit["off"]}


def test_the_two_overconfident_questions_are_named_and_no_others():
    others, missed = 0, 0
    for seed in range(8):
        log, gaps = world(seed, 200)
        found = cb.report(read_questions(log), calibrator=QuestionCalibrator(), n_resamples=50)
        told = found.to_dict()
        before = told["audit"]["before"]
        assert named(before) >= OVERCONFIDENT
        others += named(before) != OVERCONFIDENT
        assert told["verdict"]["state"] == "calibrate"
        rows = {row["group"]: row for row in told["audit"]["drawn"]["levels"]}
        for question in OVERCONFIDENT:
            row = rows[f"question {question}"]
            missed += not row["before"]["low"] < gaps[question] < row["before"]["high"]
            assert row["after"]["outcome"] != "off"
    assert others <= 2
    assert missed <= 3


def test_the_first_screen_says_what_to_do():
    log, _ = world(0, 200)
    questions = read_questions(log)
    found = cb.report(questions, n_resamples=50)
    screen = str(found)
    accuracy = questions.correct.mean()
    assert "Calibrate" in screen
    assert "too sure" in screen
    assert f"{100.0 * accuracy:.1f} %" in screen
    assert re.search(r"Groups off +2 → 0 +of 8 groups", screen)
    page = found.to_html()
    assert "AutoQuestionCalibrator().fit(questions)" in page
    assert "2 of 8 groups are miscalibrated; the worst is question" in found.to_markdown()


def test_a_calibrated_log_is_fine_as_it_is():
    states = []
    for seed in range(6):
        log, _ = world(seed, 600, off=())
        told = cb.report(
            read_questions(log), calibrator=QuestionCalibrator(), margin=0.1, n_resamples=50
        ).to_dict()
        states.append(told["verdict"]["state"])
        assert len(named(told["audit"]["before"])) <= 1
    assert states.count("use as they are") >= 5
