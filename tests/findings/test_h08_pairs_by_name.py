"""H8: rows, options and columns of two logs or frames are paired by name, or refused."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import calibrant as cb
from calibrant.errors import InputError
from calibrant.questions import QuestionCascade


def logs(n: int = 240, seed: int = 0) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Two versions' answers to the same three questions about each item."""
    rng = np.random.default_rng(seed)
    pair: tuple[list[Any], list[Any]] = ([], [])
    for i in range(n):
        p = rng.dirichlet([6.0, 2.0, 1.0])
        q = 0.8 * p + 0.2 * rng.dirichlet([2.0, 2.0, 2.0])
        label = "abc"[rng.choice(3, p=p)]
        for side, own in zip(pair, (p, q), strict=True):
            row = {"id": i // 3, "question": f"q{i % 3}", "label": label}
            side.append({**row, "probs": dict(zip("abc", own.tolist(), strict=True))})
    return pair


def turned(log: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same answers with rows, keys and options in another order, and ids as texts."""
    order = np.random.default_rng(1).permutation(len(log))
    return [
        {
            "probs": dict(reversed(log[k]["probs"].items())),
            **{key: log[k][key] for key in ("label", "question")},
            "id": str(log[k]["id"]),
        }
        for k in order
    ]


def alike(found: Any, plain: Any) -> bool:
    """Whether two lists of results are the same, up to the order of sums."""
    numbers = [
        [value if isinstance(value, str) else pytest.approx(value, rel=1e-9, abs=1e-12, nan_ok=True)
         for value in row.values()]
        for row in plain
    ]  # fmt: skip
    return [list(row.values()) for row in found] == numbers


def test_versions_of_a_log_are_the_same_in_any_order():
    old, new = logs()
    plain = cb.compare_versions(old, new).to_dict()["moved"]
    for one in (turned(new), turned(turned(new))):
        found = cb.compare_versions(old, one).to_dict()["moved"]
        assert alike(found, plain)


def test_equal_versions_whose_options_come_in_another_order_are_equal():
    old, _ = logs()
    keys = [{**row, "probs": dict(reversed(row["probs"].items()))} for row in old]
    for other in (keys, turned(old)):
        found = cb.compare_versions(old, other)
        assert [round(one.value, 12) for one in found.moved] == [0.0] * 3


def test_options_of_other_names_are_no_pair():
    old, _ = logs()
    other = [{**row, "probs": dict(zip("xyz", row["probs"].values(), strict=True))} for row in old]
    other = [{key: value for key, value in row.items() if key != "label"} for row in other]
    with pytest.raises(InputError, match=r"item '0', question 'q0' has \['a', 'b', 'c'\] in old"):
        cb.compare_versions(old, other)


def test_rows_of_another_log_are_no_pair():
    old, new = logs()
    new[7] = {**new[7], "id": "elsewhere"}
    for pair in ((old, new), (new, old)):
        with pytest.raises(InputError, match="must hold the same rows; 1 of old are not in new"):
            cb.compare_versions(*pair)


def test_a_comparison_of_logs_is_the_same_in_any_order():
    old, new = logs()
    plain = cb.compare({"old": old, "new": new}).to_dict()["rows"]
    found = cb.compare({"old": old, "new": turned(new)}).to_dict()["rows"]
    assert alike(found, plain)
    report = cb.report({"old": old, "new": turned(new)}).to_dict()["pairs"]
    assert report[0]["difference"] == pytest.approx(plain[0]["difference"], rel=1e-9)


def test_a_cascade_is_the_same_in_any_order():
    old, new = logs(600)
    plain = QuestionCascade(0.5, 0.9).fit(old, new)
    found = QuestionCascade(0.5, 0.9).fit(old, turned(new))
    assert (found.threshold_, found.cost_) == (plain.threshold_, plain.cost_)
    wrong = [{**row, "label": "c"} for row in turned(new)]
    with pytest.raises(InputError, match="must have the same outcomes"):
        QuestionCascade(0.5, 0.9).fit(old, wrong)


def test_an_outcome_that_one_log_has_is_that_of_both():
    old, new = logs()
    bare = [{key: value for key, value in row.items() if key != "label"} for row in new]
    found = cb.compare_versions(old, bare)
    assert found.labelled == len(old)
    assert found.comparison.rows[0] == cb.compare_versions(old, new).comparison.rows[0]
    back = cb.compare_versions(bare, old)
    assert back.labelled == len(old)


def test_rows_that_cannot_be_told_apart_are_refused():
    old, new = logs()
    alike = [[{**row, "question": "q"} for row in log] for log in (old, new)]
    with pytest.raises(InputError, match="one row for each item and question"):
        cb.compare_versions(*alike)
    copies = [log + log for log in (old, new)]
    assert cb.compare_versions(*copies).n == 2 * len(old)


def frames() -> tuple[np.ndarray, pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(0)
    P = rng.dirichlet([1.0, 1.0], 300)
    y = np.where(rng.random(300) < P[:, 1], "yes", "no")
    first = pd.DataFrame(P, columns=["no", "yes"])
    other = pd.DataFrame(0.7 * P + 0.15, columns=["no", "yes"])
    return y, first, other


def test_columns_of_frames_are_paired_by_name():
    y, first, other = frames()
    plain = cb.compare(y, {"a": first, "b": other}, metrics=[cb.metrics.calibration_bias])
    for a, b in ((first, other[["yes", "no"]]), (first[["yes", "no"]], other)):
        found = cb.compare(y, {"a": a, "b": b}, metrics=[cb.metrics.calibration_bias])
        assert found.rows[0].difference == pytest.approx(plain.rows[0].difference)
        assert found.rows[0].first_value == pytest.approx(plain.rows[0].first_value)
    with pytest.raises(InputError, match="columns of 'b' must be named"):
        cb.compare(y, {"a": first[["yes", "no"]], "b": other.to_numpy()})
    with pytest.raises(InputError, match="columns of 'new' must be named"):
        cb.compare_versions(first[["yes", "no"]], other.to_numpy())


def test_rows_of_frames_in_another_order_are_refused():
    y, first, other = frames()
    mixed = other.sample(frac=1.0, random_state=0)
    with pytest.raises(InputError, match="b must have its rows in the order of a"):
        cb.compare(y, {"a": first, "b": mixed})
    with pytest.raises(InputError, match="new must have its rows in the order of old"):
        cb.compare_versions(first, mixed)
    same = cb.compare_versions(first, mixed.loc[first.index])
    assert same.to_dict() == cb.compare_versions(first, other).to_dict()
