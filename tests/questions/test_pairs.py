"""Laws of every function of two logs or frames: the order of rows, keys and columns, and whether
names are texts or numbers, change nothing; what does not match is refused.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import calibrant as cb
from calibrant.errors import InputError
from calibrant.monitoring import Lock
from calibrant.questions import QuestionCascade, QuestionRules

Log = list[dict[str, Any]]
SEEDS = range(2)


def logs(seed: int, n: int = 40) -> tuple[Log, Log]:
    """Two models' answers to choices, yes/no questions, scores and free answers, with weights."""
    rng = np.random.default_rng(seed)
    pair: tuple[Log, Log] = ([], [])
    for i in range(n):
        weight = float(rng.integers(1, 4))
        for question, names in ((1, (10, 2, 33)), ("sure", ("no", "yes")), ("level", (1, 2, 3, 4))):
            p = rng.dirichlet(np.full(len(names), 0.4))
            label = names[rng.choice(len(names), p=p)]
            for side, log in enumerate(pair):
                q = (1.0 - 0.3 * side) * p + 0.3 * side / len(p)
                row = {"id": i, "question": question, "label": label, "weight": weight}
                row["type"] = "score" if question == "level" else None
                log.append({**row, "probs": dict(zip(names, q.tolist(), strict=True))})
        for log in pair:
            sure = float(rng.beta(4.0, 1.0))
            right = bool(rng.random() < sure)
            row = {"id": i, "question": "free", "weight": weight}
            log.append({**row, "confidence": sure, "correct": right})
    return pair


def rows(log: Log, seed: int) -> Log:
    return [log[k] for k in np.random.default_rng(seed).permutation(len(log))]


def keys(log: Log, seed: int) -> Log:
    return [
        {
            key: dict(reversed(value.items())) if isinstance(value, dict) else value
            for key, value in reversed(row.items())
        }
        for row in log
    ]


def texts(log: Log, seed: int) -> Log:
    return [
        {
            **row,
            "id": str(row["id"]),
            "question": str(row["question"]),
            **({"label": str(row["label"])} if "label" in row else {}),
            **({"probs": {str(k): p for k, p in row["probs"].items()}} if "probs" in row else {}),
        }
        for row in log
    ]


def scale(log: Log, seed: int) -> Log:
    return [{**row, "weight": 8.0 * row["weight"]} for row in log]


ORDERS: dict[str, Callable[[Log, int], Log]] = {"rows": rows, "keys": keys, "texts": texts}


def numbers(found: Any) -> Any:
    """Numbers of a result without the last bits of sums."""
    if isinstance(found, dict):
        return {str(key): numbers(value) for key, value in found.items()}
    if isinstance(found, list | tuple):
        return [numbers(one) for one in found]
    if isinstance(found, float | np.floating):
        return None if np.isnan(found) else float(f"{found:.7g}")
    return found.item() if isinstance(found, np.generic) else found


def compared(old: Log, new: Log) -> Any:
    return cb.compare({"old": old, "new": new}).to_dict()["rows"]


def versions(old: Log, new: Log) -> Any:
    rule = QuestionRules(0.5, 0.8, when_uncertain="answer_none").fit(old)
    found = cb.compare_versions(old, new, rule=rule, groups=np.zeros(len(old))).to_dict()
    return {name: found[name] for name in ("moved", "n", "labelled", "advice")}


def reported(old: Log, new: Log) -> Any:
    found = cb.report({"old": old, "new": new}, n_resamples=20).to_dict()
    return [found["pairs"], found["verdict"]]


def cascade(old: Log, new: Log) -> Any:
    made = QuestionCascade(0.6, 0.9).fit(new, old)
    return [made.threshold_, made.small_share_, made.cost_, made.certificate_.to_dict()]


def locked(old: Log, new: Log) -> Any:
    lock = Lock.of(QuestionRules(0.5, 0.8, when_uncertain="answer_none").fit(old))
    found = [vars(one) for one in lock.check(new)]
    return sorted(numbers(found), key=str)


FUNCTIONS = {
    "compare": compared,
    "compare_versions": versions,
    "report": reported,
    "cascade": cascade,
    "lock": locked,
}


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


#: A page takes seconds, and pairs its rows as ``compare`` does.
NAMES = [pytest.param(n, marks=pytest.mark.slow) if n == "report" else n for n in FUNCTIONS]


@pytest.mark.parametrize("law", ORDERS)
@pytest.mark.parametrize("name", NAMES)
def test_orders_and_kinds_of_names_change_nothing(name, law):
    for seed in SEEDS if name == "compare" else SEEDS[:1]:
        old, new = logs(seed)
        turn, plain = ORDERS[law], numbers(FUNCTIONS[name](old, new))
        for pair in ((old, turn(new, seed)), (turn(old, seed), new)):
            assert numbers(FUNCTIONS[name](*pair)) == plain


@pytest.mark.parametrize("name", NAMES)
def test_weights_change_something_and_their_scale_nothing(name):
    old, new = logs(0)
    plain = [[{**row, "weight": 1.0} for row in log] for log in (old, new)]
    assert numbers(FUNCTIONS[name](*plain)) != numbers(FUNCTIONS[name](old, new))
    if name in ("cascade", "lock"):
        scaled = [scale(log, 0) for log in (old, new)]
        assert numbers(FUNCTIONS[name](*scaled)) == numbers(FUNCTIONS[name](old, new))


PAIRED = {name: one for name, one in FUNCTIONS.items() if name != "lock"}


def without(log: Log) -> Log:
    return log[1:]


def elsewhere(log: Log) -> Log:
    return [{**log[0], "id": "x"}, *log[1:]]


def other_option(log: Log) -> Log:
    probs = dict(log[0]["probs"])
    probs["z"] = probs.pop(33)
    return [{**log[0], "probs": probs, "label": "z"}, *log[1:]]


def other_label(log: Log) -> Log:
    label = next(one for one in (10, 2) if one != log[0]["label"])
    return [{**log[0], "label": label}, *log[1:]]


def other_weight(log: Log) -> Log:
    return [{**log[0], "weight": 9.0}, *log[1:]]


def one_id_for_two(log: Log) -> Log:
    return [{**row, "id": 0} if row["id"] == 1 else row for row in log]


def no_ids(log: Log) -> Log:
    return [{key: value for key, value in row.items() if key != "id"} for row in log[::-1]]


@pytest.mark.parametrize("name", PAIRED)
@pytest.mark.parametrize(
    "change",
    [without, elsewhere, other_option, other_label, other_weight, one_id_for_two, no_ids],
)
def test_what_does_not_match_is_refused(name, change):
    old, new = logs(0)
    for pair in ((old, change(new)), (change(old), new)):
        with pytest.raises(InputError, match="item"):
            PAIRED[name](*pair)


def test_the_order_of_models_turns_only_the_sign():
    old, new = logs(0)
    ahead = cb.compare({"old": old, "new": new}).rows[0]
    back = cb.compare({"new": new, "old": old}).rows[0]
    assert back.difference == pytest.approx(-ahead.difference)
    assert back.p_value == pytest.approx(ahead.p_value)


def frames(seed: int) -> tuple[np.ndarray, pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(seed)
    P = rng.dirichlet([1.0, 1.0, 1.0], 150)
    y = np.array(list("cab"))[[rng.choice(3, p=p) for p in P]]
    first = pd.DataFrame(P, columns=list("cab"))
    return y, first, 0.7 * first + 0.1


@pytest.mark.parametrize("make", [lambda frame: frame, pl.from_pandas])
@pytest.mark.parametrize("seed", SEEDS)
def test_columns_of_frames_come_in_any_order(make, seed):
    y, first, other = frames(seed)
    turned = [make(one[list(np.random.default_rng(seed).permutation(list("abc")))])
              for one in (first, other)]  # fmt: skip
    plain = numbers(cb.compare(y, {"a": first, "b": other}).to_dict()["rows"])
    moved = numbers(cb.compare_versions(first, other).to_dict()["moved"])
    for a, b in ((first, turned[1]), (turned[0], other), turned):
        assert numbers(cb.compare(y, {"a": a, "b": b}).to_dict()["rows"]) == plain
        assert numbers(cb.compare_versions(a, b).to_dict()["moved"]) == moved
