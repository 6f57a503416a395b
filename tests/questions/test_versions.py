"""Two versions of a model that answers questions."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError
from calibrant.monitoring import Lock


def test_logs_of_questions():
    rng = np.random.default_rng(12)

    def log(model, lost, seed):
        own = np.random.default_rng(seed)
        p = rng_p
        right = truth
        answer = np.where(own.random(900) < lost, ~right, right)
        return [
            {
                "id": i // 3,
                "question": f"q{i % 3}",
                "probs": {"yes": float(a if b else 1 - a), "no": float(1 - a if b else a)},
                "label": "yes" if c else "no",
                "model": model,
            }
            for i, (a, b, c) in enumerate(zip(p, answer, right, strict=True))
        ]

    rng_p, truth = rng.uniform(0.7, 0.99, 900), rng.random(900) < 0.5
    old, new = log("v1", 0.1, 13), log("v2", 0.45, 14)
    rules = cb.QuestionRules(risk=0.2, confidence=0.9).fit(old)
    found = cb.compare_versions(old, new, rule=Lock.of(rules))
    assert found.advice == "re-certify"
    assert {one.name for one in found.checks} == set(rules.certificates_)
    assert "answered rows" in {one.name for one in found.moved}
    assert found.comparison.rows[0].metric == "question_log_loss"
    with pytest.raises(InputError, match="600 of old are not in new, the first is item '100'"):
        cb.compare_versions(old, new[:300])
    turned = cb.compare_versions(old, new[1:] + new[:1], rule=Lock.of(rules))
    assert turned.to_dict() == found.to_dict()


def test_options_of_other_kinds_of_prediction_are_refused():
    log = [{"id": i, "probs": {"a": 0.7, "b": 0.3}, "label": "a"} for i in range(30)]
    for options in ({"classes": [0, 1]}, {"inputs": "logit"}):
        (name,) = options
        with pytest.raises(InputError, match=f"{name}= does not apply to answers to questions"):
            cb.compare_versions(log, log, **options)
