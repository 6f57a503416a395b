"""H11: a promise about rows is one about rows, whatever the sizes of their items."""

import warnings
from typing import Any

import numpy as np
import pytest

from calibrant.errors import InputError
from calibrant.questions import QuestionCascade, QuestionRules

DRAWS, RISK = 8, 0.14
OTHER = [{"question": "q", "probs": {"a": 0.95, "b": 0.05}}] * 40


def items(seed: int, large: int = 12, wrong: float = 0.18) -> list[dict[str, Any]]:
    """A log with as many items of ``large`` rows as of one, which are wrong less often."""
    rng = np.random.default_rng(seed)
    size = np.where(rng.random(400) < 0.5, large, 1)
    item = np.repeat(np.arange(400), size)
    miss = rng.random(len(item)) < np.where(size > 1, wrong, 0.01)[item]
    return [
        {"id": i, "question": "q", "probs": {"a": 0.95, "b": 0.05}, "label": "ab"[m]}
        for i, m in zip(item.tolist(), miss.astype(int).tolist(), strict=True)
    ]


def answers(log: list[dict[str, Any]], **options: Any) -> bool:
    """Whether a rule for all rows is certified."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rules = QuestionRules(RISK, 0.9, when_uncertain="answer_none", **options)
        return "answer" in rules.fit(log, other=OTHER).decide(log[:1])


@pytest.mark.parametrize("unit", ["log", "question"])
def test_no_rule_is_certified_where_too_many_rows_are_wrong(unit):
    certified = sum(answers(items(seed), unit=unit) for seed in range(DRAWS))
    assert certified <= 3  # .1 of 8 draws, and two standard errors


def test_no_cascade_gives_too_many_wrong_rows():
    broken = 0
    for seed in range(DRAWS):
        log = [{**row, "question": f"q{k}"} for k, row in enumerate(items(seed))]
        large = [{**row, "probs": {"a": 0.0, "b": 0.0, row["label"]: 1.0}} for row in log]
        cascade = QuestionCascade(RISK, 0.9).fit(log, large)
        broken += cascade.decide(log[:1]).tolist() == ["small"]
    assert broken <= 3


def test_a_promise_says_whether_it_is_about_rows_or_items():
    log = items(0, wrong=0.02)
    rows = QuestionRules(RISK, 0.9, unit="log").fit(log, other=OTHER)
    assert "new rows" in rows.guarantee_.over
    assert "at most 14 % of accepted new rows are wrong" in str(*rows.certificates_.values())
    assert "no larger than the largest of these (12 rows)" in rows.guarantee_.assumes
    both = QuestionRules(RISK, 0.9, unit="log", over="items").fit(log, other=OTHER)
    assert "new items" in both.guarantee_.over
    assert both.guarantee_.unit == "clusters"
    assert "largest" not in both.guarantee_.assumes
    log = [{**row, "question": f"q{k}"} for k, row in enumerate(log)]
    cascade = QuestionCascade(RISK, 0.9, over="items").fit(log, log)
    assert "new items of this mixture" in str(cascade.guarantee_)


def test_a_promise_for_items_is_offered_where_few_items_have_many_rows():
    certified = sum(answers(items(seed), unit="log", over="items") for seed in range(5))
    assert certified >= 4  # 9.5 % of the items are wrong


def test_items_of_one_size_are_the_same_for_rows_and_items():
    log = items(4, large=3, wrong=0.05)
    size = np.bincount([row["id"] for row in log])
    log = [row for row in log if size[row["id"]] == 3]
    rows, both = (
        QuestionRules(RISK, 0.9, unit="log", over=over).fit(log, other=OTHER)
        for over in ("rows", "items")
    )
    assert rows.thresholds_ == both.thresholds_


def test_finished_items_are_items():
    with pytest.raises(InputError, match='over must be left out where unit is "item"'):
        QuestionRules(unit="item", over="rows").fit(items(0))
    with pytest.raises(InputError, match='over must be "rows" or "items"'):
        QuestionCascade(over="row").fit(items(0), items(0))
