"""A person with a log of a model's answers asks which of them can be used without a person."""

import json

import numpy as np
import pytest

import calibrant as cb
from calibrant.monitoring import Lock, read_lock

#: Question -> (its options, how many times too sharp the model's scores are).
WORLD = {"refund": ("no yes", 0.6), "topic": ("bill order other", 1.8), "tone": ("calm sad", 2.5)}


def world(seed, n, spread=3.0, noise=0.0):
    """A log of JSON lines, and P(the most likely option is right) of each row."""
    rng = np.random.default_rng(seed)
    lines, right = [], []
    for item in range(n):
        for question, (names, sharper) in WORLD.items():
            options = names.split()
            z = rng.normal(0.0, spread, len(options))
            truth = np.exp(z) / np.exp(z).sum()
            scores = sharper * (z + noise * rng.normal(size=len(z)))
            said = (np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()).round(4)
            label = str(rng.choice(options, p=truth))
            probs = dict(zip(options, said.tolist(), strict=True))
            row = {"id": item, "question": question, "probs": probs, "label": label}
            lines.append(json.dumps(row | {"model": f"v{1 + (noise > 0.0)}"}))
            right.append(truth[said.argmax()])
    return lines, np.array(right)


def true_risks(rules, lines, right):
    """Question -> (true share of wrong answers among those used, share used) of new rows."""
    new = cb.read_questions([{**json.loads(line), "label": None} for line in lines])
    used = rules.decide(new) == "answer"
    question = new.question.names[new.question.index]
    return {
        name: (1.0 - right[used & (question == name)].mean(), used[question == name].mean())
        for name in rules.certificates_
    }


def test_the_rule_keeps_its_promise_for_all_questions_at_once(tmp_path):
    new, right = world(1_000, 3_000)
    kept, answered = [], []
    for seed in range(12):
        lines, _ = world(seed, 900)
        (tmp_path / "log.jsonl").write_text("\n".join(lines))
        log = cb.read_questions(tmp_path / "log.jsonl")
        rules = cb.QuestionRules(0.1, 0.9, calibrator=cb.QuestionCalibrator()).fit(log)
        found = true_risks(rules, new, right)
        kept.append(all(risk <= 0.1 for risk, _ in found.values()))
        answered.append(np.mean([found[name][1] for name in found]))
        assert set(found) | set(rules.reasons_) == set(WORLD)
    # A promise that holds in nine of ten logs is broken in five of twelve once in 250 times.
    assert sum(kept) >= 8
    assert np.mean(answered) > 0.4


def test_the_temperatures_are_those_of_the_world():
    log = cb.read_questions([json.loads(line) for line in world(0, 2_000)[0]])
    found = cb.QuestionCalibrator().fit(log).temperatures_
    for name, (_, sharper) in WORLD.items():
        assert abs(np.log(found[name] / sharper)) < 0.25


def test_a_version_that_guesses_is_refused_and_found_broken(tmp_path):
    rows = [json.loads(line) for line in world(0, 900)[0]]
    lock = Lock.of(cb.QuestionRules(0.1, calibrator=cb.QuestionCalibrator()).fit(rows))
    lock = read_lock(lock.write(tmp_path / "rules.json"))
    same = [{**json.loads(line), "model": "v1b"} for line in world(1, 900)[0]]
    worse = [json.loads(line) for line in world(2, 900, noise=4.0)[0]]
    assert {one.state for one in lock.check(worse)} == {"broken"}
    assert "broken" not in {one.state for one in lock.check(same)}
    for version in (same, worse):
        with pytest.raises(cb.errors.InputError, match="check the new version"):
            lock.decide(version)
