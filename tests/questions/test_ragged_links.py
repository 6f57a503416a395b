"""Tests of the likelihoods of ragged rows: derivatives, and known probabilities."""

import numpy as np
import pytest

from calibrant._numerics.pooling import RaggedRows, cumulative_logits, row_sums
from calibrant.questions import pooled_map as maps
from calibrant.questions.read import read_questions


def rows_of(kind, seed=0):
    rng = np.random.default_rng(seed)
    if kind == 0:
        P = rng.uniform(0.05, 0.95, (60, 3))
        record = read_questions(P, (rng.random(P.shape) < P).astype(int))
    elif kind == 2:
        P = rng.dirichlet(np.full(4, 3.0), 80)
        record = read_questions(P, rng.integers(0, 4, 80), ordered=True)
    else:
        log = []
        for i in range(90):
            names = list("ABCD")[: rng.integers(2, 5)]
            p = dict(zip(names, rng.dirichlet(np.ones(len(names))).tolist(), strict=True))
            log.append({"question": f"q{i % 2}", "probs": p, "label": str(rng.choice(names))})
        record = read_questions(log)
    leaves, index = maps.Leaves.of(record, kind)
    x = np.log(record.size) - np.log(record.size).mean()
    rows = maps._rows(record, kind, leaves, index, x, 1e-12)
    return maps._centred(rows, kind)[0]


@pytest.mark.parametrize("kind", [0, 1, 2])
def test_gradient_agrees_with_differences_and_information_with_its_definition(kind):
    rows, rng = rows_of(kind), np.random.default_rng(1)
    G, S = rows.n_groups, rows.n_slots
    scale = 0.02 if kind == 2 else 0.3
    theta, own = scale * rng.normal(size=(G, S + 3)), scale * rng.normal(size=(G, S + 1))
    value, gradient, information = rows.derivatives(*maps._predictors(rows, theta, own))
    assert value == pytest.approx(rows.likelihood(maps._predictors(rows, theta, own)[0]))
    for k in range(S + 3):
        ends = []
        for step in (1e-5, -1e-5):
            moved, turned = theta.copy(), own.copy()
            (turned if k == 0 else moved)[-1, k] += step
            ends.append(rows.likelihood(maps._predictors(rows, moved, turned)[0]))
        assert gradient[-1, k] == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-5, abs=1e-6)
    assert np.linalg.eigvalsh(information).min() > -1e-9
    # The information is the expected product of scores: over outcomes drawn from the model.
    P, _ = rows.probabilities(maps._predictors(rows, theta, own)[0])
    first = rows.start[0]
    total = np.zeros((S + 3, S + 3))
    size = rows.size[0]
    for j in range(size):
        alone = RaggedRows(
            **{
                **{k: getattr(rows, k) for k in ("cumulative", "n_groups", "n_slots")},
                "l": rows.l[first : first + size],
                "start": np.array([0, size]),
                "group": rows.group[:1],
                "slot": rows.slot[first : first + size],
                "centre": None if rows.centre is None else rows.centre[first : first + size],
                "x": rows.x[:1],
                "mass": np.eye(size)[j],
                "weight": np.ones(1),
            }
        )
        _, score, info = alone.derivatives(*maps._predictors(alone, theta, own))
        g = rows.group[0]
        total += P[first + j] * np.outer(score[g], score[g])
    assert info[g] == pytest.approx(total, abs=1e-9)


def test_cumulative_log_odds_and_sums():
    p = np.array([0.2, 0.5, 0.3, 0.9, 0.1])
    start = np.array([0, 3, 5])
    assert row_sums(p, start) == pytest.approx([1.0, 1.0])
    odds = cumulative_logits(p, start, 1e-9)
    assert odds == pytest.approx([np.log(0.25), np.log(7 / 3), 0.0, np.log(9.0), 0.0])
