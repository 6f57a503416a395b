import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError

COSTS = [[0.0, 10.0, 10.0], [1.0, 0.0, 4.0]]


def made(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.full(3, 0.6), n)
    return P, np.array([rng.choice(3, p=p) for p in P])


def test_it_is_the_least_expected_cost():
    P, _ = made(50)
    rule = cb.decisions.ExpectedCost(COSTS)
    assert rule.expected(P) == pytest.approx(P @ np.array(COSTS).T)
    assert (rule.decide(P) == (P @ np.array(COSTS).T).argmin(axis=1)).all()
    assert rule.decide([[1.0, 0.0, 0.0]]).tolist() == [0]


def test_two_classes_give_the_threshold_of_the_costs():
    p = np.linspace(0.0, 1.0, 1001)
    found = cb.decisions.ExpectedCost([[1.0, 10.0], [3.0, 2.0]]).decide(p)
    # Acting costs 3 - 1 = 2 where there was no event, and saves 10 - 2 = 8: from a risk of 2 / (2 +
    # 8); a tie waits.
    assert (found == (p > 0.2 + 1e-12)).all()


def test_chows_rule():
    P, _ = made(300)
    found = cb.decisions.ExpectedCost(abstain=0.25).decide(P)
    assert (found == np.where(P.max(axis=1) < 0.75, -1, P.argmax(axis=1))).all()


def test_capacity_takes_those_that_gain_most():
    P, _ = made(500)
    rule = cb.decisions.ExpectedCost([[0.0, 10.0, 10.0], [1.0, 0.0, 0.0]])
    free, saved = rule.decide(P), rule.expected(P) @ [1.0, -1.0]
    found = rule.decide(P, capacity=40)
    assert (free == 1).sum() > 40 == (found == 1).sum()
    assert set(np.flatnonzero(found == 1)) == set(np.argsort(-saved)[:40])
    assert (rule.decide(P, capacity=1000) == free).all()
    assert not rule.decide(P, capacity=0).any()
    person = cb.decisions.ExpectedCost(abstain=0.1)
    some = person.decide(P, capacity=30)
    assert (some == -1).sum() == 30
    assert set(np.flatnonzero(some == -1)) == set(np.argsort(P.max(axis=1))[:30])
    assert (some[some >= 0] == P.argmax(axis=1)[some >= 0]).all()
    only = cb.decisions.ExpectedCost(abstain=0.1).decide(P, capacity=5, limited=2)
    assert (only == 2).sum() == 5


def test_ties_for_the_last_places_go_by_key_whatever_the_order():
    p, key = np.full(100, 0.9), [f"row {i}" for i in range(100)]
    rule = cb.decisions.ExpectedCost([[0.0, 1.0], [1.0, 0.0]])
    found = rule.decide(p, capacity=10, key=key) == 1
    assert found.sum() == 10
    order = np.random.default_rng(0).permutation(100)
    assert (rule.decide(p, capacity=10, key=[key[i] for i in order]) == found[order]).all()
    others = np.stack(
        [rule.decide(p, capacity=10, key=key, random_state=seed) == 1 for seed in range(300)]
    )
    assert np.abs(others.mean(axis=0) - 0.1).max() < 5 * np.sqrt(0.09 / 300)


def test_costs_of_calibrated_and_of_false_probabilities():
    P, y = made(20_000)
    rule = cb.decisions.ExpectedCost(COSTS, abstain=2.0)
    honest = rule.costs_of(y, P)
    assert honest.said == pytest.approx(honest.cost, abs=0.05)
    assert 0.0 <= honest.regret < 0.02
    assert honest.cost <= honest.best_constant
    assert sum(one["n"] for one in honest.actions) == honest.n == 20_000
    chosen, costs = rule.decide(P), np.vstack([COSTS, np.full(3, 2.0)])
    assert honest.cost == pytest.approx(costs[chosen, y].mean())
    false = rule.costs_of(y, P[:, [1, 0, 2]])
    assert false.regret > 10.0 * honest.regret + 0.1
    assert false.cost > false.said + 0.1
    assert {one["action"] for one in false.actions} == {-1, 0, 1}
    weight = np.arange(20_000) % 3
    again, rows = rule.costs_of(y, P, sample_weight=weight), np.repeat(np.arange(20_000), weight)
    assert again.cost == pytest.approx(rule.costs_of(y[rows], P[rows]).cost)
    assert again.to_dict()["n"] == weight.sum()


def test_it_is_saved(tmp_path):
    P, _ = made(20)
    rule = cb.decisions.ExpectedCost(COSTS, abstain=2.0)
    assert (cb.load(rule.save(tmp_path / "rule.calibrant")).decide(P) == rule.decide(P)).all()
    assert repr(cb.decisions.ExpectedCost(abstain=0.1)) == "ExpectedCost(abstain=0.1)"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: cb.decisions.ExpectedCost([[0.0, -1.0], [1.0, 0.0]]), "at least 0; got -1.0"),
        (lambda: cb.decisions.ExpectedCost([[0.0, np.nan], [1.0, 0.0]]), "finite"),
        (lambda: cb.decisions.ExpectedCost([0.0, 1.0]), "must be \\(actions, classes\\)"),
        (lambda: cb.decisions.ExpectedCost(abstain=-0.5), "at least 0"),
        (
            lambda: cb.decisions.ExpectedCost(COSTS).decide([0.5]),
            "a column for each of the 2 classes; got 3",
        ),
        (lambda: cb.decisions.ExpectedCost().decide([0.5], capacity=-1), "capacity must be"),
        (
            lambda: cb.decisions.ExpectedCost().decide([0.5], capacity=1, limited="abstain"),
            "needs its cost",
        ),
        (
            lambda: cb.decisions.ExpectedCost().decide([0.5], capacity=1, limited=2),
            "limited must be",
        ),
        (
            lambda: cb.decisions.ExpectedCost().decide(
                [0.5, 0.9], capacity=0, limited=1, key=["a"]
            ),
            "one name for each of the 2 rows",
        ),
    ],
)
def test_what_is_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()
