"""Adapters to logs of questions, on samples in the forms that their tools document."""

import json

import pytest

from calibrant.questions import (
    decision_answers,
    inspect_samples,
    lm_eval_samples,
    pydantic_cases,
    read_questions,
)


def test_samples_of_lm_eval(tmp_path):
    choice = {
        "doc_id": 3,
        "doc": {"question": "2 + 2", "choices": ["3", "4", "5"]},
        "target": "1",
        "arguments": {"gen_args_0": {"arg_0": "2 + 2", "arg_1": " 3"}},
        "resps": [[["-3.5", "False"]], [["-0.5", "True"]], [["-4.5", "False"]]],
        "filtered_resps": [["-3.5", "False"], ["-0.5", "True"], ["-4.5", "False"]],
        "filter": "none",
        "metrics": ["acc"],
        "acc": 1.0,
    }
    text = {"doc_id": 4, "target": "8", "resps": [["8", "8", "9"]], "filtered_resps": ["8"]}
    path = tmp_path / "samples_arith_2026-11-24T00-00-00.jsonl"
    path.write_text("\n".join(map(json.dumps, (choice, text))), encoding="utf-8")
    found = read_questions(lm_eval_samples(path, question="arith", model="pythia"))
    assert found.of_right[0] == pytest.approx(1.0 / (1.0 + 2.718281828**-3 + 2.718281828**-4))
    assert found.of_right[1] == pytest.approx(2.5 / 4.5)
    assert found.question.names.tolist() == ["arith"]
    assert found.model.names.tolist() == ["pythia"]
    assert found.item.names.tolist() == ["3", "4"]


def test_responses_of_decision_models():
    answers = {
        "urgent": {"type": "noul", "noul": 0.92},
        "team": {
            "type": "choice",
            "choice": "billing",
            "confidence": 0.81,
            "probabilities": {"billing": 0.8, "technical": 0.15, "sales": 0.05},
        },
        "anger": {
            "type": "score",
            "score": 1.6,
            "legend": {"0": "calm", "1": "cross", "2": "furious"},
            "probabilities": {"0": 0.05, "1": 0.3, "2": 0.65},
            "confidence": 0.78,
        },
    }
    labels = {"urgent": True, "team": "technical", "anger": 2}
    line = {"id": 7, "response": {"model": "jev-1.13", "answers": answers}, "labels": labels}
    found = read_questions(decision_answers([line]))
    assert found.of_right.tolist() == pytest.approx([0.92, 0.15, 0.65])
    assert found.kind.tolist() == [0, 1, 2]
    assert found.question.names.tolist() == ["urgent", "team", "anger"]
    assert found.model.names.tolist() == ["jev-1.13"]
    listed = [
        {"type": "predicate", "name": "urgent", "probability": 0.3},
        {
            "type": "choice",
            "name": "team",
            "choice": "a",
            "probabilities": [
                {"value": "a", "probability": 0.6},
                {"value": "b", "probability": 0.4},
            ],
        },
        {"type": "score", "name": "anger", "score": 1.2},
    ]
    with pytest.warns(match="1 of 3 rows have no probabilities"):
        found = read_questions(decision_answers([{"answers": listed}]), missing="skip")
    assert found.answers() == [{"no": 0.7, "yes": 0.3}, {"a": 0.6, "b": 0.4}]


def test_reports_of_pydantic_evals():
    result = {"name": "ok", "value": True, "reason": None, "source": {"name": "EqualsExpected"}}
    scored = {"judge": {"name": "judge", "value": 0.9, "reason": "clear", "source": {}}}
    cases = [
        {"name": "a", "output": "Paris", "scores": scored, "assertions": {"ok": result}},
        {"name": "b", "output": {"confidence": 0.4}, "metrics": {"judge": 0.2}, "assertions": {}},
    ]
    report = {"name": "capitals", "cases": cases}
    found = read_questions(pydantic_cases(report, confidence="judge", model="v1"))
    assert found.probability[1::2].tolist() == [0.9, 0.2]
    assert found.outcomes() == ["yes", None]
    cases[0]["assertions"]["polite"] = {**result, "value": False}
    found = read_questions(pydantic_cases(report, confidence="judge"))
    assert found.outcomes()[0] == "no"
    found = read_questions(pydantic_cases(report, confidence="judge", correct="ok"))
    assert found.outcomes()[0] == "yes"
    (last,) = list(pydantic_cases({"cases": cases[1:]}))
    assert last["confidence"] == 0.4


def test_logs_of_inspect():
    def sample(name, epoch, answer, target):
        return {
            "id": name,
            "epoch": epoch,
            "choices": ["3", "4"],
            "target": target,
            "scores": {
                "other": {"value": 1.0, "answer": "X"},
                "choice": {"value": "CI"[answer != "A"], "answer": answer, "explanation": "..."},
            },
        }

    log = {
        "eval": {"task": "arith", "model": "openai/gpt"},
        "samples": [
            sample("s1", 1, "A", ["A"]),
            sample("s2", 1, "B", "A"),
            sample("s1", 2, "A", ["A"]),
            {"id": "s3", "epoch": 1, "target": "A", "scores": None},
        ],
    }
    found = read_questions(inspect_samples(log, scorer="choice"))
    assert found.item.names.tolist() == ["s1", "s2"]
    assert found.of_right.tolist() == pytest.approx([2.5 / 3.0, 0.5 / 2.0])
    assert found.model.names.tolist() == ["openai/gpt"]


def test_an_answer_that_the_scorer_calls_right_is_the_target():
    def sample(value, answer):
        return {"id": 1, "target": "4", "scores": {"judge": {"value": value, "answer": answer}}}

    texts = [
        sample("C", "It is 4."),
        sample(1.0, "four"),
        sample("I", "It is 5."),
        sample(0, "4.0"),
    ]
    log = {"eval": {"task": "sums", "model": "m"}, "samples": texts}
    found = read_questions(inspect_samples(log))
    assert found.answers()[0]["4"] == found.of_right[0] == pytest.approx(2.5 / 6.0)
