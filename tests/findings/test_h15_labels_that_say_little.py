"""H15: labels of one cluster, missing chances and lists that do not fit end in a sentence, and no
result depends on the order of the rows.
"""

import json

import numpy as np
import pytest

import calibrant as cb
from calibrant.core.labels import SoftLabels
from calibrant.errors import InputError
from calibrant.questions import (
    QuestionRules,
    audit_transport,
    compare_rates,
    labels_for_width,
    read_questions,
)

N = 300


def log(seed=0):
    rng = np.random.default_rng(seed)
    judge = rng.random(N).round(2)
    y = (rng.random(N) < judge).astype(float)
    return {"judge": judge, "labels": np.where(rng.random(N) < 0.3, y, np.nan)}


def with_(values, row, value):
    return np.where(np.arange(N) == row, value, values)


def test_labels_of_one_cluster_are_refused():
    given = log() | {"cluster": np.where(np.isfinite(log()["labels"]), "a", "b")}
    with pytest.raises(InputError, match="cluster must name two or more with labels"):
        cb.estimate_rate(**given)


def test_two_clusters_say_that_little_is_known():
    item = np.arange(N) % 60
    labels = np.where(item < 2, log()["judge"] > 0.5, np.nan)
    found = cb.estimate_rate(judge=log()["judge"], labels=labels, cluster=item)
    assert found.high - found.low > 0.5
    assert found.note.startswith("2 clusters with labels")


MALFORMED = {
    "chance": [with_(np.full(N, 0.3), 4, np.nan), [0.3], 0.3, "x", np.zeros(N)],
    "swapped": [np.full(N, np.nan), np.ones(3), np.ones((N, 2)), "x"],
    "labels": [
        SoftLabels(np.full((N, 2), 0.5)),
        np.full((N, 2), 0.5),
        with_(log()["labels"], 4, np.inf),
        with_(log()["labels"], 4, 2.0),
        np.full(N, np.nan),
        [],
        None,
        ["yes"] * N,
    ],
    "judge": [[], 0.3, None, "x", [[1, 2], [1]], with_(log()["judge"], 4, np.nan), np.ones((2, N))],
    "cluster": [[1], [[1]] * N, with_(np.arange(N).astype(object), 4, None), 3, [{}] * N],
    "length": [np.ones(N), np.ones(3), with_(np.arange(N), 4, np.nan), "x"],
    "level": [0.0, 1.0, None, "a", np.nan],
    "population": ["x", None, ["new"]],
    "random_state": [None, -1, "x", 0.5],
}
PAIRED = {
    "model": [None, "a", ["a"], [None] * N, [{}] * N],
    "item": [None, [1], [None] * N, ["one"] * N],
    "margin": [None, -0.1, np.nan, "x"],
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_arguments_end_in_one_sentence(name):
    for value in MALFORMED[name]:
        with pytest.raises(InputError) as caught:
            cb.estimate_rate(**(log() | {name: value}))
        assert name in str(caught.value)
        assert str(caught.value).endswith(".")
        if name in ("judge", "labels", "level"):
            with pytest.raises(InputError):
                labels_for_width(0.1, **(log() | {name: value}))


@pytest.mark.parametrize("name", [*PAIRED, "judge", "labels", "level"])
def test_malformed_pairs_end_in_one_sentence(name):
    both = log() | {"model": np.arange(N) % 2, "item": np.arange(N) // 2}
    for value in (PAIRED | MALFORMED)[name]:
        for call in (compare_rates, audit_transport):
            with pytest.raises(InputError, match=name):
                call(**(both | {name: value}))


def test_the_order_of_rows_and_the_names_of_clusters_change_no_bit():
    rng = np.random.default_rng(3)
    cluster, judges = rng.integers(0, 40, N), rng.random((N, 2)).round(1)
    for more in (
        {"calibrate": True},
        {"judge": judges},
        {"cluster": cluster, "calibrate": True, "chance": rng.uniform(0.2, 0.5, N)},
    ):
        given = log() | more
        expected = cb.estimate_rate(**given)
        for seed in range(3):
            order = np.random.default_rng(seed).permutation(N)
            moved = {k: v[order] if isinstance(v, np.ndarray) else v for k, v in given.items()}
            if "cluster" in moved:
                moved["cluster"] = [f"item {(7 * one) % 41}" for one in moved["cluster"]]
            assert cb.estimate_rate(**moved) == expected


def test_numbers_and_texts_name_the_same_cluster():
    cluster = np.arange(N) % 30
    mixed = [int(c) if i % 2 else str(c) for i, c in enumerate(cluster)]
    assert cb.estimate_rate(**log(), cluster=mixed) == cb.estimate_rate(**log(), cluster=cluster)


@pytest.mark.parametrize("option", ["cluster", "chance", "swapped", "calibrate"])
def test_the_planned_labels_use_every_option(option, run, tmp_path):
    rng = np.random.default_rng(5)
    item = np.repeat(np.arange(60), 5)
    right = np.repeat(rng.random(60) < 0.5, 5)
    judge = np.where(right, 0.9, 0.1) ** 12 + 1e-9 * rng.random(N)
    seen = np.isin(item, rng.permutation(60)[:20])
    rows = zip(judge, seen, right, item, strict=True)
    lines = ["judge,label,item,chance,second"] + [
        f"{f},{int(y) if s else ''},i{k},{0.9 if k % 2 else 0.1},{1.0 - f}" for f, s, y, k in rows
    ]
    (tmp_path / "log.csv").write_text("\n".join(lines), encoding="utf-8")
    column = {"cluster": ["item"], "chance": ["chance"], "swapped": ["second"], "calibrate": []}
    needed = [
        json.loads(run("rate", "log.csv", "--width", "0.2", "--json", *more).stdout)[
            "labels_needed"
        ]
        for more in ([], [f"--{option}", *column[option]])
    ]
    assert needed[0] != needed[1]


@pytest.mark.parametrize("value", ["x", np.nan, -1, 2, {}, [0.5], np.array([0.5, 0.5]), True])
def test_a_risk_to_escalate_is_a_number_from_0_to_1(value):
    judge = log()["judge"]
    record = read_questions(judge[:, None], (judge[:, None] > 0.5).astype(int))
    with pytest.raises(InputError, match="escalate must be a risk from 0 to 1"):
        QuestionRules(risk=0.5, escalate=value).fit(record)
