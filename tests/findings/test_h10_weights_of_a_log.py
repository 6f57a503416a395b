"""H10: every column of a log and every argument of a rule changes something, or is refused."""

import warnings
from typing import Any

import numpy as np
import pytest

from calibrant.errors import InputError
from calibrant.monitoring import Lock
from calibrant.questions import QuestionCascade, QuestionRules

DRAWS = 8
OTHER = [{"question": "q", "probs": {"a": 0.95, "b": 0.05}}] * 40


def weighted(seed: int, n: int = 800, heavy: float = 0.3) -> list[dict[str, Any]]:
    """Rows that stand for ten are wrong more often than the others, which stand for one."""
    rng = np.random.default_rng(seed)
    weight = np.where(rng.random(n) < 0.25, 10.0, 1.0)
    miss = rng.random(n) < np.where(weight > 1.0, heavy, 0.01)
    return [
        {"id": i, "question": "q", "probs": {"a": 0.95, "b": 0.05}, "label": "ab"[m], "weight": w}
        for i, (m, w) in enumerate(zip(miss.astype(int).tolist(), weight.tolist(), strict=True))
    ]


def rules(log: Any, **options: Any) -> QuestionRules:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = QuestionRules(0.12, 0.9, when_uncertain="answer_none", **options)
        return made.fit(log, other=OTHER)


@pytest.mark.parametrize("unit", ["question", "log", "item"])
def test_no_rule_is_certified_where_too_much_weight_is_wrong(unit):
    """8 % of the rows are wrong, and 23 % of their weight."""
    certified = [
        "answer" in rules(weighted(seed), unit=unit).decide(OTHER[:1]) for seed in range(DRAWS)
    ]
    assert sum(certified) <= 3


def test_no_cascade_is_certified_where_too_much_weight_is_wrong():
    broken = 0
    for seed in range(DRAWS):
        log = weighted(seed)
        large = [{**row, "probs": {"a": 0.0, "b": 0.0, row["label"]: 1.0}} for row in log]
        broken += QuestionCascade(0.12, 0.9).fit(log, large).decide(log[:1]).tolist() == ["small"]
    assert broken <= 3


def test_a_lock_weighs_the_rows_of_the_new_version():
    lock = Lock.of(rules(weighted(0, heavy=0.01)))
    (one,) = lock.check(weighted(1, n=6000))
    assert one.state == "broken"


def test_weights_of_any_scale_are_the_same_and_equal_ones_change_nothing():
    log = weighted(0, heavy=0.05)
    plain = [{key: value for key, value in row.items() if key != "weight"} for row in log]
    first, second, third = (
        rules(one).to_dict()
        for one in (plain, [{**row, "weight": 3.0} for row in plain], weighted(0, heavy=0.05))
    )
    assert first == second
    assert third["certificates"] != first["certificates"]
    scaled = [{**row, "weight": 64.0 * row["weight"]} for row in log]
    assert rules(scaled).to_dict() == third


def test_where_items_count_their_rows_have_one_weight():
    log = [{**row, "id": row["id"] // 2} for row in weighted(0)]
    for options in ({"unit": "item"}, {"unit": "log", "over": "items"}):
        with pytest.raises(InputError, match="rows of an item must have one weight"):
            rules(log, **options)
    assert rules(log, unit="log").largest_ > 1.0


def test_costs_are_of_questions_of_the_log_by_the_text_of_their_names():
    log = [{**row, "question": 7} for row in weighted(0, heavy=0.01)]
    other = [{**row, "question": 7} for row in OTHER]
    for costs, decided in ((None, "answer"), ({7: (100.0, 1.0)}, "escalate")):
        made = QuestionRules(0.12, 0.9, costs=costs, when_uncertain="answer_none")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert made.fit(log, other=other).decide(other[:1]).tolist() == [decided]
    with pytest.raises(InputError, match="costs must be of questions of the log"):
        QuestionRules(0.12, 0.9, costs={"topc": (100.0, 1.0)}).fit(log, other=other)
    with pytest.raises(InputError, match="costs must have names that differ as text; got 7 and"):
        QuestionRules(0.12, 0.9, costs={7: (9.0, 1.0), "7": (2.0, 1.0)}).fit(log, other=other)
