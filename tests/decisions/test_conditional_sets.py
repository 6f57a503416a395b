import numpy as np
import pytest

import calibrant as cb
from calibrant import ConformalSets
from calibrant._numerics.logistic import softmax
from calibrant.decisions import ConditionalSets
from calibrant.errors import InputError
from calibrant.testing import check_guarantee


def drawn(n, seed=0):
    """(P, y, member): two groups that overlap; the model is poor at rows of the first, and worse
    at those of both.
    """
    rng = np.random.default_rng(seed)
    logits, member = 2.0 * rng.normal(size=(n, 4)), rng.random((n, 2)) < 0.4
    truth = (
        logits
        * np.where(member[:, 0], 0.3, 1.0)[:, None]
        * np.where(member.all(axis=1), 0.0, 1.0)[:, None]
    )
    y = (softmax(truth).cumsum(axis=1) < rng.random(n)[:, None]).sum(axis=1).clip(0, 3)
    return softmax(logits), y, member


def held(sets, P, y, features):
    return sets.predict_set(P, features=features)[np.arange(len(y)), y]


def realised(runs, n, new, **options):
    """Coverage of all rows and of each group, by conditional and by plain sets, one number a
    run.
    """
    found, plain = {None: [], 0: [], 1: []}, []
    for seed in range(runs):
        P, y, member = drawn(n + new, seed)
        sets = ConditionalSets(**options).fit(P[:n], y[:n], features=member[:n])
        covered = held(sets, P[n:], y[n:], member[n:])
        for part, each in found.items():
            each.append(covered.mean() if part is None else covered[member[n:, part]].mean())
        usual = ConformalSets().fit(P[:n], y[:n]).predict_set(P[n:])[np.arange(new), y[n:]]
        plain.append(usual[member[n:, 0]].mean())
    return sets, found, plain


@pytest.mark.parametrize("smoothed", [False, True])
def test_groups_that_overlap_are_all_covered(smoothed):
    sets, found, plain = realised(40, 150, *((40,) if smoothed else (400,)), smoothed=smoothed)
    for each in found.values():
        check_guarantee(sets.guarantee_, each)
    assert np.mean(plain) < 0.85
    # The excess: d / (n + 1) of all rows, more by their share of a group's.
    assert np.mean(found[None]) < 0.9 + 3 / 151 + 0.01


def test_coverage_does_not_fall_off_along_a_feature():
    """Errors grow with x: weighted by x and by 1 - x, of which neither is negative, the coverage
    is at least the level.
    """
    tilted, plain = {0: [], 1: []}, []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        x, logits = rng.random(340), 2.0 * rng.normal(size=(340, 4))
        y = (
            (softmax(logits * (1.0 - x)[:, None]).cumsum(axis=1) < rng.random(340)[:, None])
            .sum(axis=1)
            .clip(0, 3)
        )
        P, new, rest = softmax(logits), slice(300, 340), np.arange(40)
        sets = ConditionalSets().fit(P[:300], y[:300], features=x[:300])
        covered = held(sets, P[new], y[new], x[new])
        tilted[0].append(np.average(covered, weights=1.0 - x[new]))
        tilted[1].append(np.average(covered, weights=x[new]))
        plain.append(
            np.average(
                ConformalSets().fit(P[:300], y[:300]).predict_set(P[new])[rest, y[new]],
                weights=x[new],
            )
        )
    check_guarantee(sets.guarantee_, tilted[0])
    check_guarantee(sets.guarantee_, tilted[1])
    assert np.mean(plain) < 0.88


def test_they_are_smaller_than_by_the_largest_limit():
    P, y, member = drawn(4000)
    one = ConditionalSets().fit(P[:2000], y[:2000], features=member[:2000])
    other = ConformalSets(by="overlapping").fit(P[:2000], y[:2000], groups=member[:2000])
    assert (
        one.predict_set(P[2000:], features=member[2000:]).sum()
        < other.predict_set(P[2000:], groups=member[2000:]).sum()
    )


def test_of_one_group_they_are_those_of_all_rows():
    P, y, _ = drawn(300)
    ones = np.ones((300, 1))
    one = ConditionalSets().fit(P, y, features=ones).predict_set(P, features=ones)
    assert (one == ConformalSets().fit(P, y).predict_set(P)).all()


def test_a_calibrator_has_rows_of_its_own():
    P, y, member = drawn(400)
    sets = ConditionalSets("raps", calibrator=cb.TemperatureScaling()).fit(P, y, features=member)
    assert sets.split_ == {"calibrator": 100.0, "penalty": 100.0, "certificate": 200.0}
    assert sets.guarantee_.n == 200
    assert sets.scores_.mass.sum() == 200
    assert len(sets.labels(P[:3], features=member[:3])) == 3


def test_features_far_from_all_that_was_seen_give_every_class():
    P, y, _ = drawn(300)
    sets = ConditionalSets().fit(P, y, features=np.linspace(0, 1, 300))
    assert sets.predict_set(P[:1], features=[1e5]).all()
    assert not sets.predict_set(P[:20], features=np.full(20, 0.5)).all()


@pytest.mark.parametrize(
    ("features", "match"),
    [
        (None, "features must be given"),
        (["a"] * 50, "features must hold numbers"),
        (np.full(50, np.nan), "finite numbers"),
        (np.ones((49, 2)), r"must be \(50, d\)"),
    ],
)
def test_features_that_cannot_be(features, match):
    P, y, _ = drawn(50)
    with pytest.raises(InputError, match=match):
        ConditionalSets().fit(P, y, features=features)
    with pytest.raises(InputError, match="must have the columns"):
        ConditionalSets().fit(P, y, features=y).predict_set(P, features=np.ones((50, 2)))


@pytest.mark.slow
@pytest.mark.parametrize("smoothed", [False, True])
def test_the_promise_in_many_runs(smoothed):
    sets, found, _ = realised(400, 100, *((100,) if smoothed else (400,)), smoothed=smoothed)
    for each in found.values():
        check_guarantee(sets.guarantee_, each)
